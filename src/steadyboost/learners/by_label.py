"""Rows in the order of their labels.

The cells of four columns and all labels may be too many for the first-level cache of a processor,
those of one label are not. Sums are of integers, so that the order changes no tree.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.learners.base import Data, Threads
from steadyboost.trees.binned import Binned, BinnedRows
from steadyboost.trees.tree import parts

MANY_ROWS = 65_536
MANY_COLUMNS = 32  # to be added up, for each weight and each leaf that is put in another order
CACHE_CELLS = 4096  # of eight bytes


class Ordered(NamedTuple):
    """The same rows and labels, with the place that each of them had."""

    binned: BinnedRows
    labels: np.ndarray
    places: np.ndarray

    def take(self, values: np.ndarray, n_parts: int, threads: Threads) -> np.ndarray:
        """A number per row, in this order."""
        out = np.empty_like(values)
        threads.run(
            lambda at: np.take(values, self.places[at], out=out[at], mode="clip"),
            parts(len(out), n_parts),
        )
        return out

    def put_back(self, values: np.ndarray, n_parts: int, threads: Threads) -> np.ndarray:
        """A number per row of this order, where the rows were."""
        out = np.empty_like(values)

        def put(at: slice) -> None:
            out[self.places[at]] = values[at]

        threads.run(put, parts(len(out), n_parts))
        return out


class ByLabel:
    """Orders rows by labels that are the same as in the last round: others may change again."""

    def __init__(self, data: Data) -> None:
        assert data.binned is not None
        self.binned = data.binned
        self._last: tuple[np.ndarray, Ordered | None] | None = None

    def of(self, labels: np.ndarray, n_labels: int) -> Ordered | None:
        """The rows in that order, None if it does not pay. Several threads may ask."""
        if not self.pays(n_labels):
            return None
        last = self._last
        if last is None or not np.array_equal(last[0], labels):
            self._last = labels.copy(), None
            return None
        if last[1] is not None:
            return last[1]
        places = np.argsort(labels, kind="stable")
        ordered = Ordered(self.binned.take(places), labels[places], places)
        self._last = last[0], ordered
        return ordered

    def pays(self, n_labels: int) -> bool:
        """Whether there are many rows and columns of more cells than the cache holds."""
        n_rows, n_features = self.binned.shape
        if not isinstance(self.binned, Binned) or n_rows < MANY_ROWS or n_features < MANY_COLUMNS:
            return False
        return 4 * n_labels * int(self.binned.offsets[-1]) > CACHE_CELLS * n_features
