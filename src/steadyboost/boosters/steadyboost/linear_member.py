"""Multinomial logistic regression on standardised columns, cross-fitted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steadyboost.boosters.steadyboost.booster_member import deal_folds
from steadyboost.boosters.steadyboost.design import Design
from steadyboost.boosters.steadyboost.members import Member, SharedRows
from steadyboost.boosters.steadyboost.softmax_regression import CrossFit, Regression, cross_fit
from steadyboost.ensemble.scores import softmax
from steadyboost.learners.base import Data
from steadyboost.noise.noise_model import LEAST_ROWS, MOST_CELLS, some_rows
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.jit import kernel

MOST_ROWS = 8000  # that a regression is fitted to: it has few parameters
BLOCK_NUMBERS = 1 << 20  # of columns that are made at a time: 8 MB
CHUNK = 256  # rows whose products stay in the first-level cache
NO_NUMBERS = np.empty(0)


@kernel
def add_products(columns, coef, out):
    """Add ``columns @ coef`` to ``out``: the same for a row, whatever rows are beside it."""
    n = len(columns)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        for j in range(coef.shape[1]):
            sums = out[start:stop, j]
            for c in range(coef.shape[0]):
                factor, own = coef[c, j], columns[start:stop, c]
                for i in range(len(sums)):
                    sums[i] += factor * own[i]


def products(columns: Any, coef: np.ndarray, start: np.ndarray) -> np.ndarray:
    """``start + columns @ coef``, row by row, in column order."""
    if not isinstance(columns, np.ndarray):
        return np.asfortranarray(columns @ coef + start)  # scipy adds up a sparse row by itself
    if columns.shape[1] != len(coef):  # in a damaged file: the kernel does not look
        raise ValueError(f"{columns.shape[1]} columns do not fit {len(coef)} coefficients.")
    out = np.empty((len(columns), coef.shape[1]), order="F")
    out[:] = start
    add_products(columns, coef, out)
    return out


@dataclass
class LinearMember(Member):
    """Multinomial logistic regressions, one per fold, whose coefficients are averaged.

    Parameters
    ----------
    n_classes, n_folds : int
        Classes, and regressions.
    cuts : list of ndarray
        Cut points of the bins of each feature.
    design : Design or None
        The columns, once they are known.
    coef : ndarray of shape (columns, n_classes)
        Coefficients.
    intercept : ndarray of shape (n_classes,)
        Intercepts.
    """

    n_classes: int
    n_folds: int
    cuts: list[np.ndarray] = field(default_factory=list)
    design: Design | None = None
    coef: np.ndarray = field(default_factory=lambda: NO_NUMBERS)
    intercept: np.ndarray = field(default_factory=lambda: NO_NUMBERS)

    @property
    def n_columns(self) -> int:
        return self.n_classes

    # In prediction

    def proba(self, scores: np.ndarray) -> np.ndarray:
        return softmax(np.ascontiguousarray(scores))  # summed in the same order for one row

    def initial_scores(self, data: Data) -> np.ndarray | None:
        """What the regressions say, none of which needs the trees."""
        if self.design is None:
            return None
        assert data.binned is not None
        return products(self.map(data.binned), self.coef, self.intercept)

    def applies(self, binned: BinnedRows) -> bool:
        """Whether the member is for such a table; it knows nothing of others."""
        return True

    def map(self, binned: BinnedRows) -> Any:
        """The columns of rows."""
        assert self.design is not None
        return self.design.columns_of(binned)

    @property
    def n_mapped(self) -> int:
        """Numbers per row that the map makes."""
        assert self.design is not None
        return self.design.n_columns

    # In training

    def start(self, rows: SharedRows) -> None:
        """Fit the regressions; of many rows, to some."""
        self.train = rows
        self.design = Design.learn(self.cuts, rows.binned, rows.weights)
        self.folds = deal_folds(rows.y, self.n_folds, rows.seed, rows.row_of)
        if not self.applies(rows.binned):
            return
        most = min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // self.n_classes))
        some = some_rows(len(rows), most)
        own = rows.binned if len(some) == len(rows) else rows.binned.take(some)
        weights = rows.weights[some] / rows.weights[some].sum()
        self.found = self.cross_fit(own, rows.y[some], weights, self.folds[some])
        self.coef, self.intercept = self.found.coef.mean(axis=0), self.found.intercept.mean(axis=0)

    def cross_fit(
        self, binned: BinnedRows, y: np.ndarray, weights: np.ndarray, folds: np.ndarray
    ) -> CrossFit:
        """The regressions, on some of the rows."""
        problem = Regression(self.map(binned), y, weights, self.n_classes)
        return cross_fit(problem, folds, self.n_folds)

    def finish(self) -> np.ndarray:
        """Each row by the regression that left it out."""
        if not self.applies(self.train.binned):
            return np.full((len(self.train), self.n_classes), 1 / self.n_classes)
        proba = np.empty((len(self.train), self.n_classes))
        for rows, binned in self._blocks():
            proba[rows] = self.proba(self.held_out_scores(binned, self.folds[rows]))
        return proba

    def held_out_scores(self, binned: BinnedRows, fold: np.ndarray) -> np.ndarray:
        """The scores of rows by the regression that left out the fold of each."""
        columns, scores = self.map(binned), np.empty((len(fold), self.n_classes))
        for number in range(self.n_folds):
            held = np.flatnonzero(fold == number)
            scores[held] = columns[held] @ self.found.coef[number] + self.found.intercept[number]
        return scores

    def _blocks(self) -> Iterator[tuple[np.ndarray, BinnedRows]]:
        """The training rows, a block at a time."""
        assert self.design is not None
        n, binned = len(self.train), self.train.binned
        step = max(1, BLOCK_NUMBERS // max(1, self.n_mapped))
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            yield rows, binned if len(rows) == n else binned.take(rows)
