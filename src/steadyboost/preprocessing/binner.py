"""From numbers to bins: cut points are learnt once per fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.preprocessing.sparse import compress
from steadyboost.trees.data.binned import Binned, BinnedRows, SparseBinned
from steadyboost.trees.data.binning import (
    MAX_BINS,
    assign_bins,
    assign_sparse_bins,
    find_dense_cuts,
    find_sparse_cuts,
    padded,
)
from steadyboost.trees.growth.tree import SHARDING_PAYS
from steadyboost.trees.parallel import MapFunction, serial_map, split_evenly

SAMPLE_ROWS = 200_000  # rows for the quantiles of a column, as in scikit-learn and LightGBM
BIN_ROWS = 65_536  # that a thread bins at a time


@dataclass
class Binner:
    """Cut points of each column, learnt from encoded numbers."""

    cuts: list[np.ndarray]
    has_missing: np.ndarray
    categorical: np.ndarray

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical: np.ndarray,
        weights: np.ndarray | None = None,
        max_bins: int = MAX_BINS,
        run: MapFunction = serial_map,
    ) -> "Binner":
        """Learn cuts; from a sample of large tables, the same for any ``random_state``."""
        run, sample = _if_large(X, run), sample_of(X.shape[0])
        if issparse(X):
            table = compress(X)
            found = find_sparse_cuts(table, weights, max_bins, sample, run)
            return cls(found, table.has_missing, categorical)
        # Categories keep a bin each, whatever max_bins.
        limits = np.where(categorical, MAX_BINS, max_bins).tolist()
        return cls(*find_dense_cuts(X, weights, limits, sample, run), categorical)

    @property
    def n_bins(self) -> np.ndarray:
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    def bin(
        self,
        X: Any,
        run: MapFunction = serial_map,
        features: np.ndarray | None = None,
    ) -> BinnedRows:
        """Rows of encoded numbers as bins; only those of ``features``, if given, are computed."""
        run = _if_large(X, run)
        if issparse(X):
            return self._bin_sparse(X, run, features)
        n, n_features = X.shape
        packed = np.zeros(((n_features + 3) // 4, n), dtype=np.uint32)
        bytes_ = packed.view(np.uint8).reshape(len(packed), n, 4)
        features = np.arange(n_features) if features is None else features
        cuts, n_bins = padded(*self.cuts), self.n_bins

        def bin_part(rows: slice) -> np.ndarray:
            missing = np.zeros(n_features, dtype=np.int64)
            part = np.ascontiguousarray(X[rows], dtype=np.float64)
            assign_bins(part, features, cuts, n_bins - 1, bytes_[:, rows], missing)
            return missing

        missing = np.bitwise_or.reduce(run(bin_part, split_evenly(n, -(-n // BIN_ROWS))))
        return Binned(packed, n_bins, self.has_missing | missing, self.categorical)

    def _bin_sparse(self, X: Any, run: MapFunction, features: np.ndarray | None) -> SparseBinned:
        """Rows as bins in compressed columns; only ``features``, if given, have entries."""
        if features is None:
            features = np.arange(X.shape[1])
        else:
            X = X[:, features]
        table = compress(X)
        codes, zeros = assign_sparse_bins(table, [self.cuts[f] for f in features], run)
        n_stored, zero_bins = np.zeros((2, len(self.cuts)), dtype=np.int64)
        n_stored[features], zero_bins[features] = np.diff(table.starts), zeros
        has_missing = self.has_missing.copy()
        has_missing[features] |= table.has_missing
        return SparseBinned(
            np.concatenate([[0], np.cumsum(n_stored)]),
            table.rows,
            codes,
            zero_bins,
            table.n_rows,
            self.n_bins,
            has_missing,
            self.categorical,
        )


def sample_of(n: int) -> np.ndarray | None:
    """The rows that cuts are learnt from, ascending; None for all.

    One random number is drawn for each row, and the rows with the smallest ones are taken. A stream
    of unknown length can be sampled in the same way (see :mod:`.running`).
    """
    if n <= SAMPLE_ROWS:
        return None
    priorities = np.random.default_rng(0).random(n)
    return np.sort(np.argpartition(priorities, SAMPLE_ROWS)[:SAMPLE_ROWS])


def _if_large(X: Any, run: MapFunction) -> MapFunction:
    """``run`` for large data only: threads, once started, cost time in each round even if idle."""
    return run if X.shape[0] * X.shape[1] >= SHARDING_PAYS else serial_map
