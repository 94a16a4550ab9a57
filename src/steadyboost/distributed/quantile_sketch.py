"""Quantiles of a column of numbers, from partitions that are read separately.

A sketch lists values with the weight between each of them and the one before. As long as there
are at most ``CAPACITY`` of them, they are all the values, with their own weights, and nothing is
lost. More are compressed, which costs at most ``1 / CAPACITY`` of the weight: the weight up to any
number is what the sketch says, or more by less than that share. Merging adds nothing to this, but
for compressing again. This is a weighted version of the summary of Greenwald and Khanna (2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyboost.trees.data.binning import cuts_between, midpoints

CAPACITY = 8192  # about 32 values for each of 255 bins


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
        """At most ``CAPACITY`` values: those at which the weight passes a multiple of its share."""
        if len(self.values) <= CAPACITY:
            return self
        below = np.cumsum(self.masses)
        shares = np.floor(below / below[-1] * (CAPACITY - 1))
        passes = np.diff(shares, prepend=0.0) > 0
        passes[-1] = True
        kept = np.flatnonzero(passes)
        masses = np.diff(below[kept], prepend=0.0)
        return QuantileSketch(self.values[kept], masses, self.error + below[-1] / (CAPACITY - 1))

    def cuts(self, max_bins: int) -> np.ndarray:
        """As :func:`~steadyboost.trees.data.binning.find_cuts`, up to the error."""
        if len(self.values) <= max_bins:
            return midpoints(self.values)
        return cuts_between(self.values, self.masses, max_bins)
