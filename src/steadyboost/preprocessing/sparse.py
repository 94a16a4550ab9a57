"""Tables of scipy.sparse: compressed columns for the trees, blocks of rows for the rest."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.trees.data.sparse import SparseBinned
from steadyboost.trees.data.sparse_binning import Compressed, assign_sparse_bins

if TYPE_CHECKING:
    from steadyboost.preprocessing.binner import Binner

BLOCK_NUMBERS = 1 << 21  # that are made dense at once


def by_rows(X: Any) -> Any:
    """The same table, quick to slice by rows."""
    return X.tocsr() if issparse(X) else X


def dense_blocks(X: Any, columns: np.ndarray) -> Iterator[np.ndarray]:
    """Some columns in full, for some rows at a time."""
    X = X[:, columns].tocsr()
    step = max(1, BLOCK_NUMBERS // max(1, len(columns)))
    for start in range(0, X.shape[0], step):
        yield X[start : start + step].toarray(order="F")


def compress(X: Any) -> Compressed:
    """Columns with ascending rows, one entry each, and none of value zero; X stays as it is.

    The way over rows sorts the entries and keeps the order of duplicates, so that these are added
    up as ``toarray`` adds them.
    """
    if X.format == "csc" and X.has_canonical_format:
        columns = X
    else:
        columns = X.tocsr().tocsc()
        columns.sum_duplicates()
    # Read-only arrays would make numba compile everything a second time.
    values = np.require(columns.data, np.float64, ["C", "W"])
    rows = np.require(columns.indices, np.int32, ["C", "W"])
    starts = columns.indptr.astype(np.int64)
    stored = values != 0
    if not stored.all():
        starts = np.concatenate([[0], np.cumsum(stored)])[starts]
        rows, values = rows[stored], values[stored]
    return Compressed(starts, rows, values, X.shape[0])


def bin_sparse(
    X: Any,
    binner: "Binner",
    run: Callable[[Callable, Sequence], list],
    features: np.ndarray | None,
) -> SparseBinned:
    """Rows as bins in compressed columns; only ``features``, if given, are there."""
    if features is None:
        features = np.arange(X.shape[1])
    else:
        X = X[:, features]
    table = compress(X)
    codes, zeros = assign_sparse_bins(table, [binner.cuts[f] for f in features], run)
    n_stored, zero_bins = np.zeros((2, len(binner.cuts)), dtype=np.int64)
    n_stored[features], zero_bins[features] = np.diff(table.starts), zeros
    has_missing = binner.has_missing.copy()
    has_missing[features] |= table.has_missing
    return SparseBinned(
        np.concatenate([[0], np.cumsum(n_stored)]),
        table.rows,
        codes,
        zero_bins,
        table.n_rows,
        binner.n_bins,
        has_missing,
        binner.categorical,
    )
