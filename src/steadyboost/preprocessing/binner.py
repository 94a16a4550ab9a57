"""From numbers to bins: cut points are learnt once per fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.preprocessing.sparse import bin_sparse, compress
from steadyboost.trees.data.binned import Binned, BinnedRows
from steadyboost.trees.data.binning import MAX_BINS, assign_bins, find_cuts, padded
from steadyboost.trees.data.sparse_binning import find_sparse_cuts
from steadyboost.trees.growth.tree import SHARDING_PAYS
from steadyboost.trees.histograms.row_statistics import Run, one_by_one, parts

SAMPLE_ROWS = 200_000  # enough rows for the quantiles of a column
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
        run: Run = one_by_one,
    ) -> "Binner":
        """Many rows are sampled: the same for any seed, so that equal tables have equal bins."""
        n, n_features = X.shape
        sample, run = None, _if_large(X, run)
        if n > SAMPLE_ROWS:
            drawn = np.random.default_rng(0).choice(n, SAMPLE_ROWS, replace=False, shuffle=False)
            sample = np.sort(drawn)
        if issparse(X):
            table = compress(X)
            found = find_sparse_cuts(table, weights, max_bins, sample, run)
            return cls(found, table.has_missing, categorical)

        def learn_column(f: int) -> tuple[np.ndarray, bool]:
            column = _column(X, f)
            limit = MAX_BINS if categorical[f] else max_bins
            return find_cuts(column, weights, limit, sample), bool(np.isnan(column).any())

        learnt = run(learn_column, range(n_features))
        missing = np.array([missing for _, missing in learnt], dtype=np.int64)
        return cls([cuts for cuts, _ in learnt], missing, categorical)

    @property
    def n_bins(self) -> np.ndarray:
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    def bin(
        self,
        X: Any,
        run: Run = one_by_one,
        features: np.ndarray | None = None,
    ) -> BinnedRows:
        """Rows of encoded numbers as bins; only ``features``, if given, are right."""
        run = _if_large(X, run)
        if issparse(X):
            return bin_sparse(X, self, run, features)
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

        missing = np.bitwise_or.reduce(run(bin_part, parts(n, -(-n // BIN_ROWS))))
        return Binned(packed, n_bins, self.has_missing | missing, self.categorical)


def _if_large(X: Any, run: Run) -> Run:
    """``run`` for much data: one thread more, even if it only waits, takes time in each round."""
    return run if X.shape[0] * X.shape[1] >= SHARDING_PAYS else one_by_one


def _column(X: np.ndarray, f: int) -> np.ndarray:
    return np.ascontiguousarray(X[:, f], dtype=np.float64)
