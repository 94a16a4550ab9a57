"""Rows of a data set with their scores and weights, in blocks that threads can share.

Blocks depend on the number of rows alone, and sums are added block by block in a fixed order, so
that results do not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from steadyboost.core.raised import RaisedScores
from steadyboost.core.scores import PERFECT
from steadyboost.core.workers import Workers
from steadyboost.learners.base import Data

BLOCK_ROWS = 65_536


@dataclass
class Block:
    """A stretch of rows; all arrays are views or owned by it alone."""

    number: int
    rows: slice
    y: np.ndarray
    base: np.ndarray | None  # log of the user's weights
    scores: np.ndarray
    raised: RaisedScores | None = None  # where a booster weighs (row, label) pairs
    memory: np.ndarray | None = None  # where a booster keeps more of a row than its scores


class Rows:
    """Data, labels and the running state of boosting on them."""

    def __init__(
        self,
        data: Data,
        y: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None,
        workers: Workers,
        n_outputs: int | None = None,
        scores: Sequence[np.ndarray] | None = None,
        costs: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
    ):
        """``n_outputs`` columns of scores, one per class by default; or ``scores``, by block.

        ``costs``, where a booster is given any: what each label costs in each row. ``numbers``:
        the rows' places in what the user passed.
        """
        self.data, self.y, self.n_classes, self.workers = data, y, n_classes, workers
        self.n_outputs = n_classes if n_outputs is None else n_outputs
        self.sample_weight, self.costs, self.numbers = weights, costs, numbers
        n = len(y)
        self.weights = np.empty(n)
        n_blocks = 1 if n <= BLOCK_ROWS else 2 * -(-n // (2 * BLOCK_ROWS))
        bounds = np.linspace(0, n, n_blocks + 1).astype(int)
        self.mass = n if weights is None else max(n, float(weights.sum()))  # rows by their weight
        base = None if weights is None else np.log(weights)
        self.blocks = [
            Block(
                number,
                slice(a, b),
                y[a:b],
                None if base is None else base[a:b],
                np.zeros((b - a, self.n_outputs), order="F") if scores is None else scores[number],
            )
            for number, (a, b) in enumerate(pairwise(bounds.tolist()))
        ]

    def __len__(self) -> int:
        return len(self.y)

    def each(self, function: Callable[[Block], Any]) -> list[Any]:
        """Results of a function of each block, in order."""
        return self.workers.run(function, self.blocks)

    def total(self, function: Callable[[Block], Any]) -> Any:
        """Sum over the blocks."""
        results = self.each(function)
        return results[0] if len(results) == 1 else sum(results[1:], results[0])

    def take(self, rows: np.ndarray, workers: Workers) -> "Rows":
        """Some of the rows, with fresh scores; they share the bins' cuts."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        costs = None if self.costs is None else self.costs[rows]
        data, y = self.data.take(rows), self.y[rows]
        return Rows(data, y, self.n_classes, weights, workers, self.n_outputs, costs=costs)

    def problem(self, p: int, y: np.ndarray) -> "Rows":
        """The same rows with two classes, and the p-th column of the scores as theirs."""
        scores = [block.scores[:, p : p + 1] for block in self.blocks]
        return Rows(self.data, y, 2, self.sample_weight, Workers(1), scores=scores)

    def floored(self, error: float) -> float:
        """The error, or that of half a row if it is none."""
        return max(PERFECT, 1 / (2 * self.mass)) if error <= PERFECT else error

    def keep_raised(self) -> None:
        """Keep the exponentials of the scores up to date from here on."""
        for block in self.blocks:
            block.raised = RaisedScores(block.scores, block.y)

    @property
    def scores(self) -> np.ndarray:
        return np.concatenate([block.scores for block in self.blocks])

    def weigh(self, log_weights: Callable[[Block], np.ndarray]) -> None:
        """Set the weights to exp(log_weights(block)) times the user's, summing to one.

        Everything is shifted by the largest exponent before it is raised, so that thousands of
        rounds neither overflow nor underflow.
        """

        def raise_block(block: Block) -> tuple[float, float]:
            logs = log_weights(block)
            if block.base is not None:
                logs = logs + block.base
            top = float(logs.max())
            raised = self.weights[block.rows]
            np.exp(np.subtract(logs, top, out=raised), out=raised)
            return top, float(raised.sum())

        tops, sums = np.transpose(self.each(raise_block))
        factors = np.exp(tops - tops.max())
        factors /= factors @ sums

        def normalise(block: Block) -> None:
            self.weights[block.rows] *= factors[block.number]

        self.each(normalise)
