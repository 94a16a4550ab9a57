"""Histograms and columns of rows that store only some of their bins.

Kernels tell sparse ``bins`` by their five parts, when they are compiled: (columns, features,
layout, row_starts, cells). A feature that is not stored in a row is in the feature's zero bin.

``columns``            (starts, rows, bins, zero_bins): feature f has the entries ``starts[f]`` to
                       ``starts[f + 1]``, their rows ascending
``row_starts, cells``  the same entries row by row, as histogram cells ``offset[f] + bin``
"""

import numpy as np

from steadyboost.trees.jit import inner, kernel


@kernel
def sort_by_row(columns, offsets, starts, cells):
    """Write the entries row by row; ``starts`` has one entry more than there are rows, all zero."""
    column_starts, rows, bins, _ = columns
    for row in rows:
        starts[row + 1] += 1
    for i in range(1, len(starts)):
        starts[i] += starts[i - 1]
    place = starts.copy()
    for f in range(len(column_starts) - 1):
        for k in range(column_starts[f], column_starts[f + 1]):
            row = rows[k]
            cells[place[row]] = offsets[f] + bins[k]
            place[row] += 1


@inner
def _first_entry(rows, start, stop, row):
    """The first of a column's entries that is not before ``row``."""
    while start < stop:
        middle = (start + stop) // 2
        if rows[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def unpack(columns, features, first, out):
    """Bins of some features as dense rows have them, four to a word, from row ``first`` on."""
    starts, rows, bins, zero_bins = columns
    n = out.shape[1]
    for group in range(len(out)):
        own = features[4 * group : 4 * group + 4]
        word = np.uint32(0)
        for j in range(len(own)):
            word |= np.uint32(zero_bins[own[j]]) << np.uint32(8 * j)
        out[group, :] = word
        for j in range(len(own)):
            f, shift = own[j], np.uint32(8 * j)
            flip = np.uint32(zero_bins[f])
            k = _first_entry(rows, starts[f], starts[f + 1], first)
            while k < starts[f + 1] and rows[k] < first + n:
                out[group, rows[k] - first] ^= (np.uint32(bins[k]) ^ flip) << shift
                k += 1


def column_of(bins, feature):
    """Dense rows that have a feature, and its place in them; also called by kernels."""
    if len(bins) == 5:
        out = np.empty((1, len(bins[3]) - 1), dtype=np.uint32)
        unpack(bins[0], np.full(1, feature, dtype=np.int64), 0, out)
        return out, 0
    return bins[0], feature


@inner
def _add_labels(starts, cells, rows, labels, weights, n_channels, hist, total):
    """Add rows that have one label and one weight each."""
    channels = np.uint64(n_channels)
    for i in rows:
        row = np.uint64(i)
        weight, label = weights[row], np.uint64(labels[row])
        total[label] += weight
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            hist[np.uint64(cells[k]) * channels + label] += weight


@inner
def _add_channels(starts, cells, rows, channels, hist, total):
    """Add rows that have a vector of channels each."""
    n_channels = np.uint64(channels.shape[1])
    for i in rows:
        row = np.uint64(i)
        for c in range(n_channels):
            total[c] += channels[row, c]
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            cell = np.uint64(cells[k]) * n_channels
            for c in range(n_channels):
                hist[cell + c] += channels[row, c]


@inner
def _add_zeros(features, offsets, zero_bins, total, hist):
    """Give each feature's zero bin what its other bins lack of the total: exact, as integers."""
    n_channels = len(total)
    rest = np.empty(n_channels, dtype=np.int64)
    for f in features:
        for c in range(n_channels):
            rest[c] = total[c]
        for cell in range(offsets[f], offsets[f + 1]):
            for c in range(n_channels):
                rest[c] -= hist[cell * n_channels + c]
        zero = (offsets[f] + zero_bins[f]) * n_channels
        for c in range(n_channels):
            hist[zero + c] += rest[c]


@inner
def fill_sparse(bins, sums, rows, n_channels, hist):
    """Histogram of the listed rows, as of dense ones; its tail counts rows where they count."""
    columns, features, layout, starts, cells = bins
    offsets, zero_bins = layout[0], columns[3]
    hist[:] = 0
    if len(sums) == 3:
        total = np.zeros(n_channels, dtype=np.int64)
        _add_channels(starts, cells, rows, sums[0], hist, total)
        _add_zeros(features, offsets, zero_bins, total, hist)
    labels, added = sums[-1], sums[-2]
    width, out = np.int64(1), hist[offsets[-1] * n_channels :]
    for _ in range(len(sums) - 2):  # counts, then weights: one call, lest it be compiled twice
        if len(added) > 0:
            total = np.zeros(width, dtype=np.int64)
            _add_labels(starts, cells, rows, labels, added, width, out, total)
            _add_zeros(features, offsets, zero_bins, total, out)
        if len(sums) == 4:
            labels, added, width, out = sums[0], sums[1], n_channels, hist
