"""Input-dependent factors in [0, 1] that shrink a hypothesis where the score is large.

A factor q is a function of u = beta |H|.
"""

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

from steadyboost.boosters.families.binary import against
from steadyboost.trees.jit import kernel

LARGEST = 708.0  # e**-u is a normal number up to here
POWERS_OF_TWO = 1 / log(2)  # e**u = 2**(u / ln 2)
LN_2, REST_OF_LN_2 = 0.6931471803691238, 1.9082149292705877e-10  # k times the first is exact
WHOLE = 1.5 * 2.0**52  # added to a number, it leaves a whole one in the lowest bits
LEAST = np.finfo(float).tiny  # in place of a factor of 0, so that all weights can be compared


@kernel
def _exp_of_minus(u):
    """e**-u for u >= 0 to two units in the last place.

    Without a branch or a call, so that loops over it become vector code, which a call of ``exp``
    prevents. e**-u is 2**k e**r with r in +-ln(2) / 2, and e**r is Pade's quotient of order 6.
    """
    u = u if u < LARGEST else LARGEST
    shifted = WHOLE - u * POWERS_OF_TWO
    k = shifted - WHOLE
    r = -u - k * LN_2 - k * REST_OF_LN_2
    x = r * r
    odd = r * ((42.0 * x + 10080.0) * x + 332640.0)
    even = ((x + 840.0) * x + 75600.0) * x + 665280.0
    two_to_k = (np.float64(shifted).view(np.int64) + 1023) << 52
    return (1.0 + 2.0 * (odd / (even - odd))) * np.int64(two_to_k).view(np.float64)


@kernel
def _exponentials(scores, beta, out):
    for i in range(len(out)):
        out[i] = _exp_of_minus(beta * abs(scores[i, 0]))


@kernel
def _against_exponential(scores, y, beta, out):
    for i in range(len(y)):
        score = scores[i, 0]
        out[i] = (-score if y[i] else score) - beta * abs(score)


@kernel
def _add_exponential(scores, votes, step, beta):
    for i in range(len(votes)):
        score = scores[i, 0]
        gain = step * _exp_of_minus(beta * abs(score))
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

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ln of exp(-y H) q."""
        logs = against(scores, y)
        logs += self.log(scores)
        return logs

    def add(self, scores: np.ndarray, votes: np.ndarray, step: float) -> None:
        """H gains the step times q times h, with q at the old H."""
        _add_by(self.values(scores), scores, votes, step)


class Exponential(Factor):
    """q(u) = exp(-u)."""

    def log(self, scores: np.ndarray) -> np.ndarray:
        return -self.beta * np.abs(scores[:, 0])

    def values(self, scores: np.ndarray) -> np.ndarray:
        out = np.empty(len(scores))
        _exponentials(scores, self.beta, out)
        return out

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        logs = np.empty(len(y))
        _against_exponential(scores, y, self.beta, logs)
        return logs

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
        return np.log(np.maximum(self.values(scores), LEAST))
