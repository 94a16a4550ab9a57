"""Histograms, row by row."""

import numpy as np
from reference.tree_cases import unpack

from steadyboost.trees.histograms.build import build_histogram, build_scratch, n_cells


def row_vectors(sums):
    """What each row adds, as a dense array of integers."""
    if sums.channels is not None:
        return sums.channels
    vectors = np.zeros((len(sums.labels), sums.n_channels), dtype=np.int64)
    vectors[np.arange(len(sums.labels)), sums.labels] = sums.weights
    return vectors


def by_kernel(bins, sums, rows, counting):
    """Sums and counts per bin of the features of ``bins``, as kernels build them."""
    stats = sums.statistics(counting)
    hist = np.full(n_cells(bins, stats), -1, dtype=np.int64)
    build_histogram(bins, stats, rows.astype(np.int32), build_scratch(bins, stats, len(rows)), hist)
    return hist


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
