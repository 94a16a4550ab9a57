"""Histograms of many rows, by threads that share what there is to do.

Rows are listed in segments. Where features are many, a thread takes some of them and all rows: then
there is nothing to merge. Else it takes some of the segments, and the histograms of all threads are
added up.

``adding``  (board, bounds, cuts, room, hists, taken, gathered): what threads share loops by (see
            :mod:`steadyboost.trees.crew`), where each segment of all rows begins and ends, and
            where each stretch of features does, what adding up takes besides, by thread, a
            histogram per thread, how many segments were taken, and room for the labels and weights
            of the rows in the order of their list
"""

import numpy as np

from steadyboost.trees.crew import LINE, Crew, shared_loop
from steadyboost.trees.filling import add_rows, gather_room
from steadyboost.trees.histogram import (
    BLOCK,
    add_group,
    gather,
    label_stride,
    turn,
    turns_pay,
)
from steadyboost.trees.jit import plain

COLUMNS = 16  # of a thread from which on it takes columns, not rows
SEGMENTS = 4  # for each thread
APART = 128  # bytes: two lines of the cache, as the next one may be fetched, too
CELLS = 8192  # of a histogram that are added up at a time


def cuts_of(features: np.ndarray) -> np.ndarray:
    """Where the features of each word of four begin, and where the last ones end."""
    return np.concatenate([[0], np.flatnonzero(np.diff(features >> 2)) + 1, [len(features)]])


def bounds_of(n: int, crew: Crew) -> np.ndarray:
    """Where each segment of so many rows begins and ends."""
    bounds = np.linspace(0, n, SEGMENTS * crew.n_threads + 1).astype(np.int64)
    return np.stack([bounds[:-1], bounds[1:]], axis=1)


def for_each(crew: Crew, room: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The same room for each thread, and so much behind it that no two write to the same line."""

    def widened(part: np.ndarray) -> tuple[int, ...]:
        per_row = part.itemsize * max(1, part[:1].size)
        return len(part) + -(-APART // per_row), *part.shape[1:]

    return tuple(np.empty((crew.n_threads, *widened(part)), part.dtype) for part in room)


def adding_room(bins: tuple, sums: tuple, n_rows: int, n_channels: int, crew: Crew) -> tuple:
    """What adding rows up takes."""
    wide = len(bins[1]) >= COLUMNS * crew.n_threads and bins[3] is None
    wide = wide and len(sums) == 4 and len(sums[-1]) == 0
    n_cells = int(bins[2][0][-1]) * (n_channels + (len(sums[-1]) > 0))
    n_gathered = n_rows if wide else 0
    return (
        crew.board,
        bounds_of(n_rows, crew),
        cuts_of(bins[1]),
        for_each(crew, gather_room(bins, sums, n_rows, n_channels)),
        np.empty((crew.n_threads, 0 if wide else n_cells), dtype=np.int64),
        np.zeros(2 * crew.n_threads * LINE, dtype=np.int64),
        (np.empty(n_gathered, dtype=np.int32), np.empty(n_gathered, dtype=np.int64)),
    )


@shared_loop
def _gather_segments(segment, who, args):
    rows, spans, labels, weights, gathered = args
    at = slice(spans[segment, 0], spans[segment, 1])
    gather(rows[at], labels, weights, gathered[0][at], gathered[1][at])


@shared_loop
def _add_columns(stretch, who, args):
    """Add all rows to the histogram of some features."""
    bins, cuts, rows, spans, gathered, room, n_rows, anew, n_channels, hist = args
    packed, features, offsets = bins[0], bins[1], bins[2][0]
    by_label, words = room[0][who], room[1][who]
    own = features[cuts[stretch] : cuts[stretch + 1]]
    first, end, stride = offsets[own[0]], offsets[own[-1] + 1], label_stride(offsets[-1])
    strides, into = (np.uint64(n_channels), np.uint64(1)), hist
    if anew:
        hist[first * n_channels : end * n_channels] = 0
    turned = turns_pay(n_rows, len(features), offsets[-1] * n_channels)
    if turned:
        strides, into = (np.uint64(1), np.uint64(stride)), by_label
        for c in range(n_channels):
            by_label[c * stride + first : c * stride + end] = 0
    for segment in range(len(spans)):
        stop = spans[segment, 1]
        for start in range(spans[segment, 0], stop, BLOCK):
            block = rows[start : start + BLOCK if start + BLOCK < stop else stop]
            column = packed[own[0] >> 2]
            for j in range(len(block)):
                words[j] = column[np.uint64(block[j])]
            add_group(
                words, own, np.int64(0), gathered[0][start:], gathered[1][start:], len(block),
                offsets, strides, into,
            )  # fmt: skip
    if turned:
        turn(by_label, first, end, stride, n_channels, hist)


@shared_loop
def _add_segments(task, who, args):
    """Add rows, as many as others leave, to a histogram of their own."""
    bins, sums, rows, spans, n_rows, taken, n_channels, room, hists = args
    own = (room[0][task], room[1][task], room[2][task], room[3][task], room[4][task])
    hists[task, :] = 0
    add_rows(bins, sums, rows, spans, n_rows, (taken, task), n_channels, own, hists[task])


@shared_loop
def _add_cells(part, who, args):
    hists, anew, hist = args
    start = part * CELLS
    own = hist[start : start + CELLS]
    if anew:
        own[:] = 0
    for k in range(len(hists)):
        added = hists[k, start : start + CELLS]
        for cell in range(len(own)):
            own[cell] += added[cell]


@plain
def add_shared(adding, bins, sums, rows, spans, n_rows, anew, n_channels, hist):
    """Add rows to a histogram, or write that of these rows ``anew``."""
    board, _, cuts, room, hists, taken, gathered = adding
    if hists.shape[1] == 0:
        if len(sums) == 4:  # known when this is compiled
            listed = rows, spans, sums[0], sums[1], gathered
            _gather_segments(board, len(spans), listed)
            by_columns = bins, cuts, rows, spans, gathered, room, n_rows, anew, n_channels, hist
            _add_columns(board, len(cuts) - 1, by_columns)
        return
    taken[:] = 0
    each = n_rows // len(hists)
    by_rows = bins, sums, rows, spans, each, taken, n_channels, room, hists
    _add_segments(board, len(hists), by_rows)
    _add_cells(board, (len(hist) + CELLS - 1) // CELLS, (hists, anew, hist))
