"""The histogram of a node: by labels or channels, of dense or sparse rows, of many or few.

``bins`` and ``sums`` are those of :mod:`steadyboost.trees.grower`.
"""

from functools import partial

import numpy as np

from steadyboost.trees.histogram import add_dense, add_labels, add_row, turn, turns_pay
from steadyboost.trees.jit import plain, shared
from steadyboost.trees.joint import add_vectors, joint_pays, take_margins
from steadyboost.trees.sparse_kernels import fill_sparse

GATHERED = 64  # rows from which on gathering them pays


@shared
def fill_histogram(bins, sums, rows, n_channels, hist):
    """Histogram of the listed rows; its tail counts rows where they are counted."""
    if len(bins) == 5:  # known when this is compiled
        fill_sparse(bins, sums, rows, n_channels, hist)
        return
    packed, features, layout, joint = bins
    offsets = layout[0]
    hist[:] = 0
    joined = joint_pays(joint, len(rows), len(features), n_channels)
    columns, own_offsets = features, offsets
    if joined:
        packed, columns, own_offsets, _ = joint
    if len(sums) == 3:
        into = np.zeros(own_offsets[-1] * n_channels, dtype=np.int64) if joined else hist
        add_dense(packed, columns, own_offsets, rows, sums[0], into)
        if joined:
            add_vectors(joint, into, offsets, n_channels, hist)
    labels, added = sums[-1], sums[-2]
    width, out = np.int64(1), hist[offsets[-1] * n_channels :]
    for _ in range(len(sums) - 2):  # counts, then weights: one call, lest it be compiled twice
        if len(added) > 0:
            n_bins = own_offsets[-1]
            turned = joined or turns_pay(len(rows), len(columns), n_bins * width)
            strides = (np.uint64(width), np.uint64(1))
            into = out
            if turned:
                strides = (np.uint64(1), np.uint64(n_bins))
                into = np.zeros(n_bins * width, dtype=np.int64)
            add_labels(packed, columns, own_offsets, rows, labels, added, strides, into)
            if joined:
                take_margins(joint, into, offsets, width, out)
            elif turned:
                turn(into, width, out)
        if len(sums) == 4:
            labels, added, width, out = sums[0], sums[1], n_channels, hist


@plain
def _fill_few(bins, sums, rows, n_channels, hist):
    """As fill_histogram, row by row and nothing besides."""
    packed, features, offsets = bins[0], bins[1], bins[2][0]
    counts = hist[offsets[-1] * n_channels :]
    hist[:] = 0
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        for f in features:
            bin_ = (packed[f >> 2, row] >> np.uint32(8 * (f & 3))) & np.uint32(255)
            add_row(sums, row, offsets[f] + np.int64(bin_), n_channels, hist, counts)


_fill_histogram = fill_histogram.bare  # as called from kernels


@plain
def fill(bins, sums, rows, n_channels, hist):
    """As fill_histogram, the quicker way."""
    if len(bins) == 4 and len(rows) < GATHERED:
        _fill_few(bins, sums, rows, n_channels, hist)
    else:
        _fill_histogram(bins, sums, rows, n_channels, hist)


@partial(shared, inside=plain)
def subtract(parent, child):
    """Turn the parent's histogram into that of the child's sibling."""
    for cell in range(len(parent)):
        parent[cell] -= child[cell]
