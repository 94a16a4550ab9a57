"""Rows of a data set with their scores and weights, in blocks that threads can share.

Blocks depend on the number of rows alone, and sums are added block by block in a fixed order, so
that results do not depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from steadyboost.core.raised import RaisedScores
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


class Rows:
    """Data, labels and the running state of boosting on them."""

    def __init__(
        self,
        data: Data,
        y: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None,
        workers: Workers,
    ):
        self.data, self.y, self.n_classes, self.workers = data, y, n_classes, workers
        self.sample_weight = weights
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
                np.zeros((b - a, n_classes), order="F"),
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
        return Rows(self.data.take(rows), self.y[rows], self.n_classes, weights, workers)

    def keep_raised(self) -> None:
        """Keep the exponentials of the scores up to date from here on."""
        for block in self.blocks:
            block.raised = RaisedScores(block.scores, block.y)

    @property
    def scores(self) -> np.ndarray:
        return np.concatenate([block.scores for block in self.blocks])

    def weigh(self, log_weights: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        """Set the weights to exp(log_weights(scores, y)) times the user's, summing to one.

        Everything is shifted by the largest exponent before it is raised, so that thousands of
        rounds neither overflow nor underflow.
        """

        def raise_block(block: Block) -> tuple[float, float]:
            logs = log_weights(block.scores, block.y)
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
