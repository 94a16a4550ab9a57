"""Encoder and binner from a table that is read batch by batch, as if it were read at once."""

from collections import Counter
from typing import Any

import numpy as np

from steadyboost.preprocessing.binner import SAMPLE_ROWS, Binner
from steadyboost.preprocessing.encoder import (
    Encoder,
    count_values,
    each_column,
    holds_dates,
    most_frequent,
    numeric_column,
    raw_column,
)
from steadyboost.trees.data.binning import add_distinct, midpoints, padded, quantile_cuts

SAMPLE_SLACK = 1.25  # sampled rows that are held, as a multiple of those that are wanted


class RunningCategories:
    """A categorical column: how often each value has occurred so far."""

    def __init__(self) -> None:
        self.counts: Counter = Counter()
        self.has_missing = False

    def add(self, column: Any) -> None:
        values = raw_column(column)
        counts = count_values(values)
        self.counts += counts
        self.has_missing |= counts.total() < len(values)

    def categories(self) -> list[Any]:
        return most_frequent(self.counts)


class RunningNumbers:
    """A numeric column: its distinct values as long as they are few."""

    def __init__(self, max_bins: int):
        self.max_bins = max_bins
        self.distinct = padded(np.empty(0))[0]
        self.n_distinct = 0  # -1 for more than max_bins
        self.has_missing = False

    def add(self, column: Any) -> np.ndarray:
        """Take in some values; the same as floats."""
        if holds_dates(column):
            raise ValueError(
                f"Column {column.name!r} holds dates, which cannot be read in batches; convert it "
                "to numbers, such as the days since 1970."
            )
        numbers = np.ascontiguousarray(numeric_column(column), dtype=np.float64)
        if self.n_distinct >= 0:
            self.n_distinct = add_distinct(numbers, self.max_bins, self.n_distinct, self.distinct)
        if not self.has_missing:
            self.has_missing = bool(np.isnan(numbers).any())
        return numbers

    def cuts(self, sampled: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Cut points, by all values if they are few, else by those of the sampled rows."""
        if self.n_distinct >= 0:
            return midpoints(self.distinct[: self.n_distinct])
        known = ~np.isnan(sampled)
        if not known.any():  # values are so rare that none was drawn: take the first ones
            return midpoints(self.distinct[: self.max_bins])
        return quantile_cuts(
            sampled[known], None if weights is None else weights[known], self.max_bins
        )


class RunningTable:
    """What encoder and binner need to know of rows that come in batches.

    Categories, few distinct values and gaps are counted over all rows. Quantiles are those of a
    sample: one random number is drawn for each row, and those with the smallest ones are taken, the
    rows that :func:`~steadyboost.preprocessing.binner.sample_of` draws of a table in memory, so
    that bins do not depend on how rows are read.
    """

    def __init__(self, categorical: np.ndarray, max_bins: int):
        self.categorical = categorical
        self.columns: list[Any] = [
            RunningCategories() if is_categorical else RunningNumbers(max_bins)
            for is_categorical in categorical.tolist()
        ]
        self._rng = np.random.default_rng(0)
        self._priorities = np.empty(0)
        self._rows = np.empty((0, np.count_nonzero(~categorical)))
        self._weights: np.ndarray | None = None
        self._limit = np.inf

    def add(self, X: Any, weights: np.ndarray | None) -> None:
        """Take in a batch of rows; weights of None are all equal, in all batches."""
        numbers = []
        for running, column in zip(self.columns, each_column(X), strict=True):
            found = running.add(column)
            if found is not None:
                numbers.append(found)
        priorities = self._rng.random(len(X))
        drawn = np.flatnonzero(priorities < self._limit)
        own = np.empty((len(drawn), len(numbers)))
        for place, values in enumerate(numbers):
            own[:, place] = values[drawn]
        self._priorities = np.append(self._priorities, priorities[drawn])
        self._rows = np.concatenate([self._rows, own])
        if weights is not None:
            before = np.empty(0) if self._weights is None else self._weights
            self._weights = np.append(before, weights[drawn])
        if len(self._rows) > SAMPLE_SLACK * SAMPLE_ROWS:
            self._reduce()

    def _reduce(self) -> None:
        """Keep the sample alone, in the order of the rows."""
        if len(self._rows) <= SAMPLE_ROWS:
            return
        kept = np.sort(np.argpartition(self._priorities, SAMPLE_ROWS)[:SAMPLE_ROWS])
        self._priorities, self._rows = self._priorities[kept], self._rows[kept]
        self._limit = self._priorities.max()
        if self._weights is not None:
            self._weights = self._weights[kept]

    def learn(self) -> tuple[Encoder, Binner]:
        """The encoder and the binner of all rows so far."""
        self._reduce()
        sampled = iter(self._rows.T)
        kept: list[list[Any] | None] = []
        cuts, missing = [], []
        for running in self.columns:
            if isinstance(running, RunningCategories):
                kept.append(running.categories())
                cuts.append(np.arange(len(kept[-1] or ()) - 1) + 0.5)
                missing.append(running.has_missing or len(running.counts) > len(kept[-1] or ()))
            else:
                kept.append(None)
                cuts.append(running.cuts(next(sampled), self._weights))
                missing.append(running.has_missing)
        return Encoder(kept), Binner(cuts, np.array(missing, dtype=np.int64), self.categorical)
