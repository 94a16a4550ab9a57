"""Cases of C4.5 where most values are zero: only the others have entries.

A column is its entries by ascending value, missing values last; a row is its entries by
attribute.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel


class SparseData(NamedTuple):
    """What a tree is grown from, in place of `DenseData`.

    Attributes
    ----------
    starts : int64 array (n_features + 1,)
        The entries of attribute f are those from ``starts[f]`` to ``starts[f + 1]``.
    rows, values : arrays (n_entries,)
        Row and value of each entry; by attribute, then by value, missing values last.
    row_starts : int64 array (n_rows + 1,)
        The same entries row by row.
    row_features, row_places : int32 arrays (n_entries,)
        Attribute, ascending within a row, and place in ``values``.
    found : int32 array (n_entries,)
        Scratch: the entries of the node at hand.
    marked : bool array (n_rows,)
        Scratch, all False: the rows of the node at hand.
    zeros : float64 array (n_classes,)
        Scratch: class weights of the rows whose value is zero.
    column : float64 array (n_rows,)
        Scratch: values of the attribute at hand.
    n_values, labels, n_classes
        As in `DenseData`; there are no discrete attributes.
    """

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    row_starts: np.ndarray
    row_features: np.ndarray
    row_places: np.ndarray
    found: np.ndarray
    marked: np.ndarray
    zeros: np.ndarray
    column: np.ndarray
    n_values: np.ndarray
    labels: np.ndarray
    n_classes: int


@dataclass(frozen=True)
class SparseCases:
    """Cases by attribute and by row, for any labels; made once for many trees."""

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    row_starts: np.ndarray
    row_features: np.ndarray
    row_places: np.ndarray

    @classmethod
    def sort(
        cls, starts: np.ndarray, rows: np.ndarray, values: np.ndarray, n_rows: int
    ) -> "SparseCases":
        """From compressed columns without zeros, rows ascending."""
        features = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        by_value = np.lexsort((values, features))
        place = np.empty(len(rows), dtype=np.int32)
        place[by_value] = np.arange(len(rows))
        by_row = np.argsort(rows, kind="stable")
        row_starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        return cls(
            starts, rows[by_value], values[by_value], row_starts, features[by_row], place[by_row]
        )

    def data(self, n_values: np.ndarray, labels: np.ndarray, n_classes: int) -> SparseData:
        """The cases with labels, and room to work in."""
        return SparseData(
            **vars(self),
            found=np.empty(len(self.rows), np.int32),
            marked=np.zeros(len(self.row_starts) - 1, np.bool_),
            zeros=np.empty(n_classes),
            column=np.empty(len(self.row_starts) - 1),
            n_values=n_values,
            labels=labels,
            n_classes=n_classes,
        )


@kernel
def read_rows(data, f, rows, low, high, out):
    """Write the value of an attribute in some rows to ``out``, at their own places."""
    starts, features = data.row_starts, data.row_features
    places, values = data.row_places, data.values
    for i in range(low, high):
        row = rows[i]
        first, last = starts[row], starts[row + 1]
        end = last
        while first < last:
            middle = (first + last) // 2
            if features[middle] < f:
                first = middle + 1
            else:
                last = middle
        stored = first < end and features[first] == f
        out[row] = values[places[first]] if stored else 0.0
