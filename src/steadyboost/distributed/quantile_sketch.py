"""Quantiles of a column of numbers, from partitions that are read separately.

A sketch lists values with the weight between each of them and the one before. As long as there are
at most ``MAX_SKETCH_VALUES`` of them, they are all the values, with their own weights, and the
sketch is exact. More are compressed: the rank of a number is then too low by at most
``1 / MAX_SKETCH_VALUES`` of the weight. Merging adds no error but that
of compressing again. This is a weighted version of the summary of Greenwald and Khanna (2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyboost.trees.data.binning import cuts_between, midpoints

MAX_SKETCH_VALUES = 8192  # about 32 values for each of 255 bins


@dataclass(frozen=True)
class QuantileSketch:
    """Ascending values, their weights, and how much weight at most is missing at any number."""

    values: np.ndarray
    masses: np.ndarray
    error: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray | None) -> "QuantileSketch":
        """The sketch of numbers, none of them missing."""
        distinct, inverse = np.unique(values, return_inverse=True)
        masses = np.bincount(inverse, weights=weights, minlength=len(distinct))
        return cls(distinct, masses.astype(float)).compressed()

    @classmethod
    def merged(cls, parts: Sequence["QuantileSketch"]) -> "QuantileSketch":
        """The sketch of all numbers of several sketches."""
        values = np.concatenate([part.values for part in parts])
        distinct, inverse = np.unique(values, return_inverse=True)
        weights = np.concatenate([part.masses for part in parts])
        masses = np.bincount(inverse, weights=weights, minlength=len(distinct))
        return cls(distinct, masses, sum(part.error for part in parts)).compressed()

    def compressed(self) -> "QuantileSketch":
        """At most ``MAX_SKETCH_VALUES`` values, at about equal distances in rank."""
        if len(self.values) <= MAX_SKETCH_VALUES:
            return self
        below = np.cumsum(self.masses)
        shares = np.floor(below / below[-1] * (MAX_SKETCH_VALUES - 1))
        passes = np.diff(shares, prepend=0.0) > 0
        passes[-1] = True
        kept = np.flatnonzero(passes)
        masses = np.diff(below[kept], prepend=0.0)
        return QuantileSketch(
            self.values[kept], masses, self.error + below[-1] / (MAX_SKETCH_VALUES - 1)
        )

    def cuts(self, max_bins: int) -> np.ndarray:
        """As :func:`~steadyboost.trees.data.binning.find_cuts`, up to the error."""
        if len(self.values) <= max_bins:
            return midpoints(self.values)
        return cuts_between(self.values, self.masses, max_bins)
