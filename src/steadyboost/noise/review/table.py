"""The values of rows as a reviewer sees them: a data frame, an array or a sparse matrix as text."""

from collections.abc import Sequence
from datetime import datetime, time
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.noise.review.values import row_hash
from steadyboost.preprocessing.encoder import as_frame

LONG = 60  # letters of a value that make its column one of text, to be read
DIGITS = 6


class ShownTable:
    """A table by rows and columns, as text.

    Parameters
    ----------
    X : data frame, array, sparse matrix or None
        The table; None has no columns.
    """

    def __init__(self, X: Any):
        self.X = X.tocsr() if issparse(X) else X
        self.frame = None if X is None or issparse(X) else as_frame(X)

    @classmethod
    def of(cls, X: Any) -> "ShownTable":
        """A table, unless it is one already."""
        return X if isinstance(X, cls) else cls(X)

    def __len__(self) -> int:
        return 0 if self.X is None else self.X.shape[0]

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... of an array."""
        if self.X is None:
            return []
        if self.frame is not None:
            return [str(name) for name in self.frame.columns]
        shape = np.shape(self.X) if not issparse(self.X) else self.X.shape
        return [f"x{k}" for k in range(shape[1])]

    def column(self, place: int) -> np.ndarray:
        """A column as an array of numbers, or of objects."""
        if self.frame is not None:
            return self.frame[:, place].to_numpy()
        if issparse(self.X):
            return self.X[:, [place]].toarray()[:, 0]
        return np.asarray(self.X)[:, place]

    @cached_property
    def _columns(self) -> list[list[Any]]:
        return [_values(self.column(k)) for k in range(len(self.names))]

    def values(self, row: int) -> list[Any]:
        """All values of a row."""
        if issparse(self.X):
            return self.X[[row]].toarray()[0].tolist()
        return [column[row] for column in self._columns]

    def cells(self, row: int, places: Sequence[int]) -> list[str]:
        """Some values of a row, as text."""
        if issparse(self.X):
            own = self.X[[row]]
            return [shown(own[0, place]) for place in places]
        return [shown(self._columns[place][row]) for place in places]

    def texts(self, place: int, rows: np.ndarray) -> list[str]:
        """A column of some rows, as text."""
        values = self.column(place).tolist() if issparse(self.X) else self._columns[place]
        return [shown(values[row]) for row in rows.tolist()]

    def row(self, row: int) -> list[str]:
        """All values of a row, as text; none of a sparse matrix, whose columns are too many."""
        return [] if issparse(self.X) else self.cells(row, range(len(self.names)))

    def hash(self, row: int) -> str:
        """A hash by which the row is known again."""
        return row_hash(self.values(row))

    def is_long(self, place: int) -> bool:
        """Whether a column is text to be read."""
        if issparse(self.X):
            return False
        return any(isinstance(value, str) and len(value) > LONG for value in self._columns[place])


def _values(column: np.ndarray) -> list[Any]:
    """The values of a column; of dates in nanoseconds, numpy would make integers."""
    if column.dtype.kind == "M":
        column = column.astype("datetime64[us]")
    return column.tolist()


def shown(value: Any) -> str:
    """A value as text, with six digits of a number; missing values are empty.

    Examples
    --------
    >>> [shown(value) for value in (1 / 3, None, datetime(2020, 1, 2), datetime(2020, 1, 2, 3))]
    ['0.333333', '', '2020-01-02', '2020-01-02 03:00:00']
    """
    if value is None or value != value:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
