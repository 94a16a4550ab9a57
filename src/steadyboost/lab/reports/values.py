"""The features of some rows, as text for a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.preprocessing.encoder import as_frame

MOST_LETTERS = 160  # of one value


def feature_names(X: Any) -> list[str]:
    """Names of the columns of a table; numbers where it has none, nothing of a sparse one."""
    if X is None or issparse(X):
        return []
    frame = as_frame(X)
    return [f"x{k}" for k in range(X.shape[1])] if frame is None else list(frame.columns)


def values_of(X: Any, rows: np.ndarray, names: list[str]) -> list[list[str]]:
    """What the first columns, as many as there are names, hold in these rows."""
    if not names:
        return [[] for _ in rows]
    frame = as_frame(X)
    if frame is None:
        return [[written(value) for value in row] for row in X[rows, : len(names)].tolist()]
    return [[written(value) for value in row] for row in frame.select(names)[rows.tolist()].rows()]


def written(value: Any) -> str:
    """Short: six digits of a number, the beginning of a long text, nothing for a gap."""
    if value is None or value != value:
        return ""
    words = f"{value:.6g}" if isinstance(value, float) else str(value)
    return words if len(words) <= MOST_LETTERS else words[:MOST_LETTERS] + " …"
