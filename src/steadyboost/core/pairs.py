"""Weights of (row, wrong label) pairs, D(i, l) ~ exp(S(l) - S(y_i)) times a factor of the row.

AdaBoost.OC, AdaBoost.M2 and MSmoothBoost keep such a distribution. Here it is never stored: what
a round needs are a few sums over labels, taken in one pass over the scores. The exponents are
shifted row by row, so that thousands of rounds neither overflow nor underflow.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from steadyboost.core.exponential import exp
from steadyboost.core.rows import Block, Rows
from steadyboost.trees.jit import kernel

Damping = Callable[[np.ndarray], np.ndarray | float]

SAFE = 300.0  # differences of scores up to here can be raised as they are, and squared
TINY = 1e-250  # what a colouring separates is summed by logarithms below this
CHUNK = 256  # rows whose sums stay in the first-level cache

# Contraction lets a product and a sum be one instruction; everything else is as written.
_pair_kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})


@kernel
def _hide_own(scores, y, own):
    """Set the rows' own scores to -inf, and keep them in ``own``."""
    for i in range(len(y)):
        label = np.uint64(y[i])
        own[i] = scores[np.uint64(i), label]
        scores[np.uint64(i), label] = -np.inf


@kernel
def _restore_own(scores, y, own):
    for i in range(len(y)):
        scores[np.uint64(i), np.uint64(y[i])] = own[i]


@_pair_kernel
def _sum_pairs(scores, y, shift, colors, total, other):
    """Sums of exp(S(l) - shift) over the wrong labels, and over those of the other colour.

    The rows' own scores must be -inf. One sum per colour, chunk by chunk, keeps the loop free of
    choices.
    """
    sums = np.empty((2, CHUNK))
    for start in range(0, len(y), CHUNK):
        m = min(CHUNK, len(y) - start)
        base = shift[start : start + m]
        for j in range(m):
            sums[0, j] = 0.0
            sums[1, j] = 0.0
        for c in range(scores.shape[1]):
            column = scores[start : start + m, c]
            own = sums[colors[c]]
            for j in range(m):
                own[j] += exp(column[j] - base[j])
        for j in range(m):
            total[start + j] = sums[0, j] + sums[1, j]
            other[start + j] = sums[1 - colors[y[start + j]], j]


@_pair_kernel
def _sum_by_label(scores, y, shift, factor, out):
    """Pair weights added up by (label, own label)."""
    for c in range(scores.shape[1]):
        for i in range(len(y)):
            if y[i] != c:
                out[c, y[i]] += factor[i] * exp(scores[i, c] - shift[i])


@_pair_kernel
def _write_edges(scores, y, shift, factor, total, out):
    k = scores.shape[1]
    for c in range(k):
        for i in range(len(y)):
            out[i, c] = -factor[i] * exp(scores[i, c] - shift[i])
    for i in range(len(y)):
        out[i, k] = factor[i] * total[i]
        out[i, y[i]] = out[i, k]


def log_sum_exp(scores: np.ndarray) -> np.ndarray:
    """ln of the rows' sums of exp(scores)."""
    top = scores.max(axis=1)
    return top + np.log(np.exp(scores - top[:, None]).sum(axis=1))


class BlockPairs:
    """A block's pairs: weight(i, l) = factor[i] * exp(S(l) - shift[i])."""

    def __init__(self, block: Block, colors: np.ndarray, damping: Damping, reach: float):
        self.block, self.reach = block, reach
        n = len(block.y)
        self.shift, self.total, self.other = np.empty(n), np.empty(n), np.empty(n)
        lead = self.sum_for(colors)
        self.log_factor = lead + damping(lead + np.log(self.total))
        if block.base is not None:
            self.log_factor += block.base
        self.factor = np.exp(self.log_factor - self.log_factor.max())

    def sum_for(self, colors: np.ndarray) -> np.ndarray:
        """Sum all pairs and those of the other colour; the shift less the own score."""
        scores, y, own = self.block.scores, self.block.y, np.empty(len(self.shift))
        _hide_own(scores, y, own)
        self.shift = own if self.reach <= SAFE else scores.max(axis=1)
        _sum_pairs(scores, y, self.shift, colors, self.total, self.other)
        _restore_own(scores, y, own)
        return self.shift - own

    def log_other(self, colors: np.ndarray) -> np.ndarray:
        """ln of each row's weight of the other colour, up to a constant of all rows."""
        scores, y = self.block.scores, self.block.y
        sides = np.array([log_sum_exp(scores[:, colors == color]) for color in (1, 0)])
        return self.log_factor - self.shift + sides[colors[y], np.arange(len(y))]


class Pairs:
    """A distribution over the pairs of all rows, as the scores stand.

    ``damping`` gives the logarithm of a further factor of each row, from
    ``ln(sum over l of exp(S(l) - S(y_i)))``, how strongly the scores speak against its label.
    ``colors`` is the colouring that is going to be asked, where it is known already.
    """

    def __init__(self, rows: Rows, damping: Damping, colors: np.ndarray | None = None):
        self.rows, self.colors = rows, colors
        first = np.zeros(rows.n_classes, dtype=np.int8) if colors is None else colors
        self.parts = rows.each(lambda b: BlockPairs(b, first, damping, rows.reach))
        tops = np.array([part.log_factor.max() for part in self.parts])
        for part, lead in zip(self.parts, np.exp(tops - tops.max()), strict=True):
            part.factor *= lead
        total = sum(float((part.factor * part.total).sum()) for part in self.parts)
        for part in self.parts:
            part.factor /= total
        self.log_total = float(tops.max() + np.log(total))

    def _each(self, function: Callable[[BlockPairs], np.ndarray | float | None]) -> list:
        return self.rows.workers.run(function, self.parts)

    def affinity(self) -> np.ndarray:
        """w(l, l') = sum of D(i, l) over the rows with label l' (003, section 2.3)."""
        k = self.rows.n_classes

        def of_part(part: BlockPairs) -> np.ndarray:
            out = np.zeros((k, k))
            block = part.block
            _sum_by_label(block.scores, block.y, part.shift, part.factor, out)
            return out

        return sum(self._each(of_part), np.zeros((k, k)))

    def ask(self, colors: np.ndarray) -> float:
        """Set the rows' weights to D(i) for a colouring; returns U, the weight that it separates.

        D(i) = sum of D(i, l) over the labels l of the other colour, divided by U (003, Fig. 3).
        """
        weights = self.rows.weights

        def of_part(part: BlockPairs) -> float:
            own = weights[part.block.rows]
            if colors is not self.colors:
                part.sum_for(colors)
            np.multiply(part.factor, part.other, out=own)
            return float(own.sum())

        separated = sum(self._each(of_part))
        if separated < TINY:
            return self._ask_by_logarithms(colors)
        weights /= separated
        return separated

    def _ask_by_logarithms(self, colors: np.ndarray) -> float:
        """As ``ask``: U may be too small for a float, but the rows' shares of it are not."""
        weights = self.rows.weights
        for part in self.parts:
            weights[part.block.rows] = part.log_other(colors)
        top = float(weights.max())
        np.exp(weights - top, out=weights)
        total = float(weights.sum())
        weights /= total
        return float(np.exp(top + np.log(total) - self.log_total))

    def edges(self) -> np.ndarray:
        """A(i, l) = -D(i, l), and A(i, y_i) = the sum of D(i, .): what a vote for l is worth.

        The last column is the row's mass.
        """
        out = np.empty((len(self.rows), self.rows.n_classes + 1))

        def of_part(part: BlockPairs) -> None:
            block = part.block
            _write_edges(
                block.scores, block.y, part.shift, part.factor, part.total, out[block.rows]
            )

        self._each(of_part)
        return out
