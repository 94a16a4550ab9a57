"""Tables of scipy.sparse: compressed columns for the trees, blocks of rows for the rest."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.trees.data.binning import Compressed

MOST_FEATURES = 2**24  # cuts, bins and names of each take memory even if it is empty
BLOCK_NUMBERS = 1 << 21  # that are made dense at once: 16 MB


def check_structure(X: Any) -> None:
    """Raise an error for a matrix whose indices are not those of its rows and columns.

    scipy checks indices when a matrix is made, but not when its arrays are changed afterwards;
    neither its compiled code nor ours checks them again.
    """
    if X.shape[1] > MOST_FEATURES:
        raise ValueError(
            f"X has {X.shape[1]:,} columns; at most {MOST_FEATURES:,} are possible. Leave out "
            "those that are empty, or hash them to fewer."
        )
    if X.format == "bsr":
        shape = tuple(n // b for n, b in zip(X.shape, X.blocksize, strict=True))
        _check_compressed(X, len(X.data), shape[0], shape[1])
    elif X.format in ("csr", "csc"):
        rows, columns = X.shape if X.format == "csr" else X.shape[::-1]
        _check_compressed(X, len(X.data), rows, columns)
    elif X.format == "dok":
        keys = np.array(list(X.keys()), dtype=np.int64).reshape(-1, 2)
        for axis, length in enumerate(X.shape):
            _check_indices(keys[:, axis], length)
    elif X.format == "coo":
        _need(len(X.row) == len(X.col) == len(X.data), "as many indices as values")
        _check_indices(X.row, X.shape[0])
        _check_indices(X.col, X.shape[1])
    elif X.format == "lil":
        for row, values in zip(X.rows, X.data, strict=True):
            _need(len(row) == len(values), "as many indices as values")
        every = np.fromiter((k for row in X.rows for k in row), dtype=np.int64)
        _check_indices(every, X.shape[1])


def _check_compressed(X: Any, n_stored: int, n_lines: int, length: int) -> None:
    starts, indices = X.indptr, X.indices
    _need(starts.dtype.kind in "iu" and starts.shape == (n_lines + 1,), "a start for each line")
    ascending = starts[0] == 0 and bool((starts[1:] >= starts[:-1]).all())
    _need(ascending and starts[-1] <= min(len(indices), n_stored), "ascending starts")
    _check_indices(indices[: starts[-1]], length)


def _check_indices(indices: np.ndarray, length: int) -> None:
    inside = len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < length)
    _need(indices.dtype.kind in "iu" and inside, f"indices from 0 to {length - 1}")


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(
            f"X is a sparse matrix that is damaged: it does not have {what}; make it anew from "
            "its values, rows and columns."
        )


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
    """Columns with ascending rows, one entry each, and none of value zero; X is not changed.

    Conversion to rows and back sorts the entries and keeps the order of duplicates, so that these
    are summed in the same order as by ``toarray``.
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
