"""Histograms and columns of rows that store only some of their bins.

A feature that is not stored in a row is in the feature's zero bin.
"""

import numpy as np

from steadyboost.trees.jit import kernel


@kernel
def sort_by_row(columns, offsets, starts, cells):
    """Write the entries row by row; ``starts`` has one entry more than there are rows, all zero."""
    for row in columns.rows:
        starts[row + 1] += 1
    for i in range(1, len(starts)):
        starts[i] += starts[i - 1]
    place = starts.copy()
    for f in range(len(columns.starts) - 1):
        for k in range(columns.starts[f], columns.starts[f + 1]):
            row = columns.rows[k]
            cells[place[row]] = offsets[f] + columns.bins[k]
            place[row] += 1


@kernel
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


@kernel
def column_of(packed, sparse, feature):
    """Packed bins of all rows that have a feature, and its place in them."""
    if sparse is None:
        return packed, np.int64(feature)
    out = np.empty((1, len(sparse.row_starts) - 1), dtype=np.uint32)
    unpack(sparse.columns, np.full(1, feature, dtype=np.int64), 0, out)
    return out, np.int64(0)


@kernel
def _add_labels(sparse, rows, labels, weights, hist, total):
    """Add rows that have one label and one weight each."""
    starts, cells, n_channels = sparse.row_starts, sparse.cells, np.uint64(len(total))
    for i in rows:
        row = np.uint64(i)
        weight, label = weights[row], np.uint64(labels[row])
        total[label] += weight
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            hist[np.uint64(cells[k]) * n_channels + label] += weight


@kernel
def _add_channels(sparse, rows, channels, hist, total):
    """Add rows that have a vector of channels each."""
    starts, cells, n_channels = sparse.row_starts, sparse.cells, np.uint64(len(total))
    for i in rows:
        row = np.uint64(i)
        for c in range(n_channels):
            total[c] += channels[row, c]
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            cell = np.uint64(cells[k]) * n_channels
            for c in range(n_channels):
                hist[cell + c] += channels[row, c]


@kernel
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


@kernel
def add_sparse_rows(bins, sparse, stats, channels, rows, hist):
    """Add listed rows, as dense ones are; the histogram's tail counts rows where they count."""
    offsets, zero_bins = bins.layout.offsets, sparse.columns.zero_bins
    total = np.zeros(stats.n_channels, dtype=np.int64)
    if channels is None:
        _add_labels(sparse, rows, stats.labels, stats.weights, hist, total)
    else:
        _add_channels(sparse, rows, channels, hist, total)
    _add_zeros(bins.features, offsets, zero_bins, total, hist)
    if len(stats.counts) > 0:
        n_rows, tail = np.zeros(1, dtype=np.int64), hist[offsets[-1] * stats.n_channels :]
        _add_labels(sparse, rows, stats.no_labels, stats.counts, tail, n_rows)
        _add_zeros(bins.features, offsets, zero_bins, n_rows, tail)
