"""A cache of exp(S(l) - shift) for every wrong label, updated as the scores change.

Boosting over (row, label) pairs weights them by exponentials of score differences. A round
multiplies each exponential by one of two factors, which is much faster than computing it again.
The multiplication is deferred until the values are summed, which makes a pass over them anyway.
Before overflow or rounding errors can accumulate, the exponentials are recomputed from the scores.
A replayed run recomputes them in the same rounds.
"""

import numpy as np

from steadyboost.ensemble.scores import own_score
from steadyboost.trees.jit import kernel

RANGE = 300.0  # largest total change of an exponent between two recomputations
LIFE = 256  # largest number of multiplications between two recomputations
CHUNK = 256  # rows whose sums fit into the L1 cache


@kernel
def _hide_own(values, y, hidden):
    for i in range(len(y)):
        values[np.uint64(i), np.uint64(y[i])] = hidden


@kernel
def _multiply_and_sum(factors, votes, values, y, colors, total, other):
    """Multiply each row by the factors of its vote; sum it, and the labels of the other colour.

    One sum per colour, chunk by chunk, keeps the loop free of choices.
    """
    sums = np.empty((2, CHUNK))
    for start in range(0, len(y), CHUNK):
        m = min(CHUNK, len(y) - start)
        own_votes = votes[start : start + m]
        for j in range(m):
            sums[0, j] = 0.0
            sums[1, j] = 0.0
        for c in range(values.shape[1]):
            column = values[start : start + m, c]
            side = sums[colors[c]]
            zero, one = factors[0, c], factors[1, c]
            for j in range(m):
                value = column[j] * (one if own_votes[j] else zero)
                column[j] = value
                side[j] += value
        for j in range(m):
            total[start + j] = sums[0, j] + sums[1, j]
            other[start + j] = sums[1 - colors[y[start + j]], j]


@kernel
def _multiply_named(factors, votes, values):
    for i in range(len(votes)):
        vote = np.uint64(votes[i])
        values[np.uint64(i), vote] *= factors[vote]


@kernel
def _add_own_votes(points, votes, y, own):
    for i in range(len(y)):
        own[i] += points[np.uint64(y[i])] * np.float64(votes[i] == y[i])


@kernel
def _add_own(table, votes, y, own):
    for i in range(len(y)):
        own[i] += table[np.uint64(votes[i]), np.uint64(y[i])]


class ExpScoreCache:
    """``values[i, l] = exp(S(l) - shift[i])``, and 0 for the row's own label, scored ``own[i]``."""

    def __init__(self, scores: np.ndarray, y: np.ndarray):
        self.scores, self.y = scores, y
        self.values = np.empty_like(scores)
        self.refresh()

    def refresh(self) -> None:
        """Recompute the exponentials, shifted by the largest score of a wrong label in each row."""
        self.own = own_score(self.scores, self.y)
        np.copyto(self.values, self.scores)
        _hide_own(self.values, self.y, -np.inf)
        self.shift = self.values.max(axis=1)
        self.values -= self.shift[:, None]
        np.exp(self.values, out=self.values)
        self.drift, self.age, self._pending = 0.0, 0, False
        self._votes = np.zeros(len(self.y), dtype=np.int32)
        self._factors = np.ones((2, self.scores.shape[1]))

    def update(self, code: np.ndarray, step: float, votes: np.ndarray) -> None:
        """Update the exponentials for votes that have been added to the scores."""
        self.age += 1
        self.drift += abs(step) * float(np.abs(code).max())
        multiplies = votes.ndim == 1 and (code.ndim == 1 or len(code) == 2)
        if not multiplies or self.drift > RANGE or self.age > LIFE:
            self.refresh()
            return
        if code.ndim == 1:  # one label per row: nothing to put off
            _multiply_named(np.exp(step * code), votes, self.values)
            _add_own_votes(step * code, votes, self.y, self.own)
            return
        if self._pending:  # a replay does not sum
            self.sum_colors(np.zeros(code.shape[1], dtype=np.int8))
        table = step * code
        _add_own(table, votes, self.y, self.own)
        self._factors, self._votes, self._pending = np.exp(table), votes, True

    def sum_colors(self, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum of each row, and of its labels of another colour than its own."""
        total, other = np.empty(len(self.y)), np.empty(len(self.y))
        _multiply_and_sum(self._factors, self._votes, self.values, self.y, colors, total, other)
        self._factors, self._pending = np.ones_like(self._factors), False
        return total, other
