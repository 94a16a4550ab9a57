"""Sparse tables in every form they come in, and the same rows in full."""

import numpy as np
from reference.tree_cases import unpack
from scipy import sparse

from steadyboost.trees.data.binned import SparseBinned


def table(rng, n=200, n_features=11, density=0.25, decimals=1, gaps=0.0):
    """A full array that is mostly zeros, with ties and negative values; its last column is full."""
    X = rng.normal(size=(n, n_features)).round(decimals)
    X[rng.random(X.shape) >= density] = 0.0
    X[:, -1] = rng.integers(1, 5, size=n)
    X[rng.random(X.shape) < gaps] = np.nan
    return X


def labels(rng, X, k=3, noise=0.2):
    """Classes that depend on some of the columns, and on chance."""
    known = np.nan_to_num(X)
    y = (known[:, 0] > 0).astype(int) + (known[:, 1] != 0) + (known[:, -1] > 2)
    return np.where(rng.random(len(X)) < noise, rng.integers(k, size=len(X)), y % k)


def with_large_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def with_explicit_zeros(X):
    rows, columns = np.nonzero(np.ones(X.shape))
    keep = (X[rows, columns] != 0) | ((rows + columns) % 3 == 0)
    rows, columns = rows[keep], columns[keep]
    return sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)


def unsorted(X, kind=sparse.csr_array):
    """Entries of each row (or column) in reverse order."""
    X = kind(X)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:stop] = X.indices[start:stop][::-1].copy()
        X.data[start:stop] = X.data[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


def with_duplicates(X, kind=sparse.csr_array):
    """Each entry in three parts that are stored apart."""
    X = kind(X)
    counts = np.diff(X.indptr)
    parts = [np.split(array, X.indptr[1:-1]) for array in (X.indices, X.data)]
    indices = np.concatenate([np.tile(own, 3) for own in parts[0]])
    data = np.concatenate([np.concatenate([own * 0.3, own * 0.6, own * 0.1]) for own in parts[1]])
    starts = np.concatenate([[0], np.cumsum(3 * counts)])
    return kind((data, indices, starts), shape=X.shape)


def read_only(X):
    X = sparse.csc_array(X)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


FORMS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "lil_matrix": sparse.lil_matrix,
    "64-bit": with_large_indices,
    "explicit zeros": with_explicit_zeros,
    "unsorted rows": unsorted,
    "unsorted columns": lambda X: unsorted(X, sparse.csc_array),
    "duplicates in rows": with_duplicates,
    "duplicates in columns": lambda X: with_duplicates(X, sparse.csc_matrix),
    "read-only": read_only,
}


def compressed(binned, zero_bins):
    """Dense bins in compressed columns, entry by entry; each feature may leave out any one bin."""
    bins = unpack(binned)
    starts, rows, codes = [0], [], []
    for f, zero in enumerate(zero_bins):
        stored = [i for i in range(len(bins)) if bins[i, f] != zero]
        rows += stored
        codes += [bins[i, f] for i in stored]
        starts.append(len(rows))
    return SparseBinned(
        np.array(starts),
        np.array(rows, dtype=np.int32),
        np.array(codes, dtype=np.uint8),
        np.array(zero_bins, dtype=np.int64),
        binned.n_rows,
        binned.n_bins,
        binned.has_missing,
        binned.categorical,
    )


def sparsely(rng, binned):
    """The same rows; each feature leaves out its most frequent bin, or any other."""
    bins = unpack(binned)
    often = [np.bincount(column).argmax() for column in bins.T]
    chance = rng.integers(binned.n_bins)
    return compressed(binned, np.where(rng.random(len(often)) < 0.7, often, chance))
