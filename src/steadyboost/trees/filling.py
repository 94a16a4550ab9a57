"""The histogram of a node: by labels or channels, of dense or sparse rows, of many or few.

``bins`` and ``sums`` are those of :mod:`steadyboost.trees.grower`.
"""

from functools import partial

import numpy as np

from steadyboost.trees.histogram import (
    BLOCK,
    add_dense,
    add_labels,
    label_stride,
    n_threads_of,
    turn,
    turns_pay,
)
from steadyboost.trees.jit import plain, shared
from steadyboost.trees.joint import add_vectors, joint_pays, take_margins
from steadyboost.trees.sparse_kernels import fill_sparse


def gather_room(bins: tuple, sums: tuple, n_rows: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """Room for a histogram in another order, and for what a block of rows is gathered from.

    That is words of bins, labels, weights, and two channels.
    """
    dense, size = len(bins) == 4, min(BLOCK, n_rows)
    n_bins = int(bins[2][0][-1]) if dense else 0
    if dense and bins[3] is not None:
        n_bins = max(n_bins, int(bins[3][2][-1]))
    n_cells = label_stride.py_func(n_bins) * n_channels
    n_pairs = size if dense and len(sums) == 3 and n_channels == 2 else 0
    return (
        np.empty(n_cells, dtype=np.int64),
        np.empty(size, dtype=np.uint32),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty((n_pairs, 2), dtype=np.int64),
    )


@plain
def _add_columns(
    packed,
    columns,
    starts,
    joint,
    offsets,
    sums,
    rows,
    spans,
    n_rows,
    taken,
    n_channels,
    room,
    hist,
):
    """Add rows to the histogram of single columns, or of those that ``joint`` ones join."""
    place = np.int64(0)  # where to count: rows are gone through twice at the most
    if len(sums) == 3:
        into = hist
        if joint is not None:
            into = room[0][: starts[-1] * n_channels]
            into[:] = 0
        add_dense(packed, columns, starts, rows, spans, taken, sums[0], room, into)
        if joint is not None:
            add_vectors(joint, into, offsets, n_channels, hist)
        place += n_threads_of(taken)
    labels, added = sums[-1], sums[-2]
    width, out = np.int64(1), hist[offsets[-1] * n_channels :]
    for _ in range(len(sums) - 2):  # counts, then weights: one call, lest it be compiled twice
        if len(added) > 0:
            stride = label_stride(starts[-1])
            turned = joint is not None or turns_pay(n_rows, len(columns), starts[-1] * width)
            strides = (np.uint64(width), np.uint64(1))
            into = out
            if turned:
                strides = (np.uint64(1), np.uint64(stride))
                into = room[0][: stride * width]
                into[:] = 0
            add_labels(
                packed, columns, starts, rows, spans, taken, place, labels, added, strides, room,
                into,
            )  # fmt: skip
            if joint is not None:
                take_margins(joint, into, offsets, width, out)
            elif turned:
                turn(into, 0, starts[-1], stride, width, out)
        if len(sums) == 4:
            labels, added, width, out = sums[0], sums[1], n_channels, hist
            place += n_threads_of(taken)


@plain
def _add_rows(bins, joint, sums, rows, spans, n_rows, taken, n_channels, room, hist):
    packed, features, (offsets, _, _, _), _ = bins
    if joint is not None and joint_pays(joint, n_rows, len(features), n_channels):
        _add_columns(
            joint[0], joint[1], joint[2], joint, offsets, sums, rows, spans, n_rows, taken,
            n_channels, room, hist,
        )  # fmt: skip
        return
    _add_columns(
        packed, features, offsets, None, offsets, sums, rows, spans, n_rows, taken, n_channels,
        room, hist,
    )  # fmt: skip


@plain
def add_rows(bins, sums, rows, spans, n_rows, taken, n_channels, room, hist):
    """Add dense rows to a histogram: ``n_rows`` or so, those of the ``spans`` of a list.

    ``taken``: where threads that share them count which ones they have taken, see ``next_of``.
    """
    _add_rows(bins, bins[3], sums, rows, spans, n_rows, taken, n_channels, room, hist)


@partial(shared, inside=plain)
def fill(bins, sums, rows, spans, n_channels, room, hist):
    """Histogram of the first span of a list of rows."""
    start, stop = spans[0, 0], spans[0, 1]
    if len(bins) == 5:  # known when this is compiled
        fill_sparse(bins, sums, rows[start:stop], n_channels, hist)
        return
    hist[:] = 0
    add_rows(bins, sums, rows, spans, stop - start, None, n_channels, room, hist)


def fill_histogram(
    bins: tuple, sums: tuple, rows: np.ndarray, n_channels: int, hist: np.ndarray
) -> None:
    """Histogram of the listed rows; its tail counts rows where they are counted."""
    room, spans = gather_room(bins, sums, len(rows), n_channels), np.array([[0, len(rows)]])
    fill(bins, sums, rows, spans, n_channels, room, hist)


@partial(shared, inside=plain)
def subtract(parent, child, out):
    """The histogram of the child's sibling; it may take the place of the parent's."""
    for cell in range(len(parent)):
        out[cell] = parent[cell] - child[cell]
