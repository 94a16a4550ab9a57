"""Factors in [0, 1] that take a hypothesis the less seriously, the surer the score is already.

A factor q is a function of u = beta |H|.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from steadyboost.trees.jit import kernel


@kernel
def _add_exponential(scores, votes, step, beta):
    for i in range(len(votes)):
        score = scores[i, 0]
        gain = step * np.exp(-beta * abs(score))
        scores[i, 0] = score + (gain if votes[i] else -gain)


@kernel
def _add_reciprocal(scores, votes, step, beta):
    for i in range(len(votes)):
        score = scores[i, 0]
        gain = step / (1 + beta * abs(score))
        scores[i, 0] = score + (gain if votes[i] else -gain)


@kernel
def _add_by(factor, scores, votes, step):
    for i in range(len(votes)):
        gain = step * factor[i]
        scores[i, 0] += gain if votes[i] else -gain


class Factor:
    """A factor by its logarithm and its values; ``add`` lets a stage count by it."""

    def __init__(self, beta: float):
        self.beta = beta

    def log(self, scores: np.ndarray) -> np.ndarray:
        """ln q of each row."""
        raise NotImplementedError

    def values(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(self.log(scores))

    def add(self, scores: np.ndarray, votes: np.ndarray, step: float) -> None:
        """H gains the step times q times h, with q at the old H."""
        _add_by(self.values(scores), scores, votes, step)


class Exponential(Factor):
    """q(u) = exp(-u)."""

    def log(self, scores: np.ndarray) -> np.ndarray:
        return -self.beta * np.abs(scores[:, 0])

    def add(self, scores: np.ndarray, votes: np.ndarray, step: float) -> None:
        _add_exponential(scores, votes, step, self.beta)


class InversePolynomial(Factor):
    """q(u) = (1 + u)**-power."""

    def __init__(self, beta: float, power: float):
        super().__init__(beta)
        self.power = power

    def log(self, scores: np.ndarray) -> np.ndarray:
        return -self.power * np.log1p(self.beta * np.abs(scores[:, 0]))

    def add(self, scores: np.ndarray, votes: np.ndarray, step: float) -> None:
        if self.power == 1:
            _add_reciprocal(scores, votes, step, self.beta)
        else:
            super().add(scores, votes, step)


class Given(Factor):
    """A user's function of u."""

    def __init__(self, beta: float, function: Callable[[np.ndarray], Any]):
        super().__init__(beta)
        self.function = function

    def values(self, scores: np.ndarray) -> np.ndarray:
        u = self.beta * np.abs(scores[:, 0])
        factor = np.asarray(self.function(u), dtype=float)
        if factor.shape != u.shape or not ((factor >= 0) & (factor <= 1)).all():
            raise ValueError(
                f"regularizer={self.function!r} must turn an array of u = beta * |H| into numbers "
                f"in [0, 1] of the same shape; for shape {u.shape} it gave {factor.shape}"
                + ("." if factor.shape != u.shape else f", from {factor.min()} to {factor.max()}.")
            )
        return factor

    def log(self, scores: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.values(scores))
