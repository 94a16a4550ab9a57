"""Columns of a linear model, from bins.

A numeric feature becomes one column: the middle of its bin, standardised, so that outliers count no
more than the outermost bins. A categorical one becomes a column of zeros and ones per category; a
numeric one of few values has these, too, as its numbers may be codes of categories. Where some
values were missing in training, a further column says so. What is the same in all rows has no
column. Made of bins alone, the columns are the same for rows in memory, in files and on other
machines.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from steadyboost.trees.data.binned import BinnedRows, SparseBinned

TINY = 1e-300
FEW_VALUES = range(3, 11)  # of a number, each of which has a column
MOST_DENSE = 2000  # columns of a sparse table that are made dense


@dataclass(frozen=True)
class Design:
    """What each bin of each feature is in the columns.

    Parameters
    ----------
    values : ndarray
        The standardised value of each bin of each feature, with one entry more per feature for
        missing values, which is zero; zeros for categories.
    has_indicator : ndarray of shape (n_features,)
        Whether a column says that a value is missing.
    has_levels : ndarray of shape (n_features,)
        Whether each bin has a column.
    n_bins, categorical : ndarray of shape (n_features,)
        As binned rows have them.
    """

    values: np.ndarray
    has_indicator: np.ndarray
    has_levels: np.ndarray
    n_bins: np.ndarray
    categorical: np.ndarray

    @classmethod
    def learn(cls, cuts: list[np.ndarray], binned: BinnedRows, weights: np.ndarray) -> "Design":
        """Standardise the columns of training rows."""
        values = [np.append(middles(own), 0.0) for own in cuts]
        counts = [_counts(binned, feature, weights) for feature in range(len(cuts))]
        has_indicator = np.array([0 < own[-1] < own.sum() for own in counts])
        kinds = binned.n_bins, binned.categorical
        has_levels = binned.categorical & (binned.n_bins > 1)
        plain = cls(np.concatenate(values), has_indicator, has_levels, *kinds)
        is_sparse = plain.is_sparse(binned)
        scale = _over_stored if is_sparse else _standardised
        for feature, own in enumerate(values):
            zero_bin = binned.zero_bins[feature] if isinstance(binned, SparseBinned) else 0
            own[:-1] = scale(own[:-1], counts[feature][:-1], zero_bin)
        few = np.isin(binned.n_bins, FEW_VALUES) & (not is_sparse)
        return replace(plain, values=np.concatenate(values), has_levels=few | has_levels)

    @cached_property
    def has_value(self) -> np.ndarray:
        """Whether a feature is a column of numbers: not if it is the same in all rows."""
        return ~self.categorical & (self.n_bins > 1)

    @cached_property
    def widths(self) -> np.ndarray:
        """Columns of each feature."""
        return self.has_value + np.where(self.has_levels, self.n_bins, 0) + self.has_indicator

    @property
    def n_columns(self) -> int:
        return int(self.widths.sum())

    def is_sparse(self, binned: BinnedRows) -> bool:
        """Whether rows stay sparse: wide tables only."""
        return isinstance(binned, SparseBinned) and self.n_columns > MOST_DENSE

    def table(self, feature: int) -> np.ndarray:
        """(bins + 1, columns): what each bin of a feature is, missing values last.

        The columns are the value, those of the levels, and the one of missing values.
        """
        n, at = int(self.n_bins[feature]), int(self._first_cells[feature])
        parts = [self.values[at : at + n + 1, None][:, : int(self.has_value[feature])]]
        levels = np.eye(n + 1)
        if self.has_levels[feature]:
            parts.append(levels[:, :n])
        if self.has_indicator[feature]:
            parts.append(levels[:, n:])
        return np.hstack(parts)

    def columns_of(self, binned: BinnedRows) -> Any:
        """(n, columns): an array, or sparse where zeros are zeros in the columns, too."""
        if not isinstance(binned, SparseBinned) or not self.is_sparse(binned):
            return self.matrix(binned)
        if self.values[self._first_cells + binned.zero_bins].any():  # learnt from dense rows
            return self.matrix(binned)
        return self.sparse_matrix(binned)

    @cached_property
    def _first_cells(self) -> np.ndarray:
        """Where the values of each feature begin."""
        return np.cumsum(self.n_bins + 1) - self.n_bins - 1

    def matrix(self, binned: BinnedRows) -> np.ndarray:
        """The columns as an array, in column order."""
        out = np.zeros((binned.n_rows, self.n_columns), order="F")
        stops = np.cumsum(self.widths)
        for feature, (stop, width) in enumerate(zip(stops, self.widths, strict=True)):
            table, bins = self.table(feature), bins_of(binned, feature)
            for column in range(width):
                np.take(table[:, column], bins, out=out[:, stop - width + column], mode="clip")
        return out

    def sparse_matrix(self, binned: SparseBinned) -> csr_array:
        """The same, whose values are zero in the bins of zero."""
        feature = np.repeat(np.arange(binned.n_features), np.diff(binned.starts))
        own = self.values[self._first_cells[feature] + binned.codes]
        missing = binned.codes >= self.n_bins[feature]
        column = (np.cumsum(self.widths) - self.widths)[feature]
        varies, shown = self.has_value[feature], missing & self.has_indicator[feature]
        entries = np.concatenate([own[varies], np.ones(shown.sum())])
        rows = np.concatenate([binned.rows[varies], binned.rows[shown]])
        columns = np.concatenate([column[varies], (column + varies)[shown]])
        return csr_array((entries, (rows, columns)), shape=(binned.n_rows, self.n_columns))


def middles(cuts: np.ndarray) -> np.ndarray:
    """A value for each bin, halfway between its cuts; outermost bins are as wide as the next.

    Values that are evenly spaced, with a bin each, are found exactly.
    """
    if len(cuts) < 2:
        return np.arange(len(cuts) + 1.0)
    first, last = cuts[1] / 2 - cuts[0] / 2, cuts[-1] / 2 - cuts[-2] / 2
    inner = cuts[:-1] / 2 + cuts[1:] / 2  # the sum of two large numbers would overflow
    return np.concatenate([[cuts[0] - first], inner, [cuts[-1] + last]])


def bins_of(binned: BinnedRows, feature: int) -> np.ndarray:
    """The bin of each row."""
    packed, place = binned.column(feature)
    return packed.view(np.uint8).reshape(*packed.shape, 4)[place >> 2, :, place & 3]


def _counts(binned: BinnedRows, feature: int, weights: np.ndarray) -> np.ndarray:
    """The weight in each bin; that of missing values comes last."""
    return np.bincount(bins_of(binned, feature), weights, minlength=binned.n_bins[feature] + 1)


def _standardised(values: np.ndarray, counts: np.ndarray, zero_bin: int) -> np.ndarray:
    """Values of mean 0 and standard deviation 1; zeros if they do not vary."""
    shifted = values / max(np.abs(values).max(), TINY)  # squares of large numbers would overflow
    return _divided(shifted - counts @ shifted / max(counts.sum(), TINY), counts)


def _over_stored(values: np.ndarray, counts: np.ndarray, zero_bin: int) -> np.ndarray:
    """Values that are 0 in the bin of zero, and whose mean square is 1 in the others.

    Divided by their standard deviation, rare entries would weigh more than any others.
    """
    shifted = values - values[zero_bin]
    stored = counts * (np.arange(len(counts)) != zero_bin)
    return _divided(shifted / max(np.abs(shifted).max(), TINY), stored)


def _divided(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Values over their root mean square, where they vary."""
    square = counts @ values**2 / max(counts.sum(), TINY)
    return values / np.sqrt(square) if square > TINY else np.zeros(len(values))
