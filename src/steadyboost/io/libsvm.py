"""libsvm (svmlight) text: a label and ``index:value`` pairs per row, kept sparse."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from steadyboost.io.columns import is_number
from steadyboost.io.delimited import open_text
from steadyboost.io.errors import TableError


def read_libsvm(path: Path, n_features: int | None) -> tuple[csr_matrix, np.ndarray]:
    """Rows of ``n_features`` columns, whose indices begin at 1, and labels as text."""
    _check_lines(path, n_features)
    X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right"))
        raise TableError(f"{path}: row {row} holds a value that is not a finite number.")
    return X, np.array([f"{label:.16g}" for label in y], dtype=object)


def _check_lines(path: Path, n_features: int | None) -> None:
    """The reader of scikit-learn does not say where a file is wrong."""
    row = 0
    with open_text(path) as lines:
        for line in lines:
            label, *pairs = line.partition("#")[0].split() or [""]
            if not label:
                continue
            row += 1
            if not (is_number(label) and isfinite(float(label))):
                raise TableError(f"{path}: row {row} begins with {label!r}, not with a number.")
            _check_pairs(path, row, pairs, n_features)
    if not row:
        raise TableError(f"{path} has no rows.")


def _check_pairs(path: Path, row: int, pairs: list[str], n_features: int | None) -> None:
    last = 0
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not (colon and index.isdecimal() and is_number(value)):
            raise TableError(f"{path}: row {row} has {pair!r}, which is not index:value.")
        if int(index) <= last:
            raise TableError(f"{path}: row {row} has index {index}; indices rise from 1.")
        last = int(index)
    if n_features is not None and last > n_features:
        raise TableError(f"{path}: row {row} has index {last}, but the model knows {n_features}.")
