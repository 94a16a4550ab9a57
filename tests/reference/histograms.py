"""Histograms, row by row."""

import numpy as np
from reference.tree_cases import unpack


def row_vectors(sums):
    """What each row adds, as a dense array of integers."""
    if len(sums.channels):
        return sums.channels
    vectors = np.zeros((len(sums.labels), sums.n_channels), dtype=np.int64)
    vectors[np.arange(len(sums.labels)), sums.labels] = sums.weights
    return vectors


def by_numpy(binned, sums, rows, features, counting):
    """Sums and counts per bin, one feature after the other."""
    bins, vectors = unpack(binned), row_vectors(sums)
    cells = np.zeros((binned.offsets[-1], sums.n_channels), dtype=np.int64)
    counts = np.zeros(binned.offsets[-1], dtype=np.int64)
    for f in features:
        at = binned.offsets[f] + bins[rows, f]
        np.add.at(cells, at, vectors[rows])
        np.add.at(counts, at, vectors[rows].any(axis=1))
    return np.concatenate([cells.ravel(), counts]) if counting else cells.ravel()
