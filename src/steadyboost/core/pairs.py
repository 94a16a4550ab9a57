"""Weights of (row, wrong label) pairs, D(i, l) ~ exp(S(l) - S(y_i)) times a factor of the row.

AdaBoost.OC, AdaBoost.M2 and MSmoothBoost keep such a distribution. A row's pairs are held as
``raised[i, l] = exp(S(l) - top_i)``, the row's largest wrong score being ``top_i``, times one
factor per row; so nothing overflows or underflows, and a round takes one exponential per pair.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steadyboost.core.rows import Block, Rows
from steadyboost.trees.jit import kernel


@kernel
def _shift(scores, y, top, own, out):
    """Write scores less the row's largest wrong one, -inf for the row's own label."""
    n, k = scores.shape
    for i in range(n):
        top[i] = -np.inf
    for c in range(k):
        for i in range(n):
            score = scores[np.uint64(i), np.uint64(c)]
            if y[i] == c:
                own[i] = score
            elif score > top[i]:
                top[i] = score
    for c in range(k):
        for i in range(n):
            at = np.uint64(i)
            out[at, np.uint64(c)] = -np.inf if y[at] == c else scores[at, np.uint64(c)] - top[at]


@kernel
def _sum_all(raised, out):
    for c in range(raised.shape[1]):
        for i in range(len(out)):
            out[i] += raised[np.uint64(i), np.uint64(c)]


@kernel
def _sum_other_color(raised, y, colors, out):
    """Sum each row's pairs whose label has another colour than the row's own."""
    own = np.empty(len(y), dtype=np.int8)
    for i in range(len(y)):
        own[i] = colors[y[i]]
    for c in range(raised.shape[1]):
        color = colors[c]
        for i in range(len(y)):
            if own[i] != color:
                out[i] += raised[np.uint64(i), np.uint64(c)]


@kernel
def _sum_labels(raised, factor, y, out):
    """Add up the pairs by (label, own label): the affinity whose cuts are the values U."""
    for c in range(raised.shape[1]):
        for i in range(len(y)):
            out[c, y[i]] += factor[i] * raised[np.uint64(i), np.uint64(c)]


@dataclass
class BlockPairs:
    """The pairs of a block of rows: weight(i, l) = factor[i] * raised[i, l]."""

    block: Block
    raised: np.ndarray
    total: np.ndarray  # of each row of ``raised``
    log_factor: np.ndarray
    factor: np.ndarray

    @classmethod
    def weigh(
        cls, block: Block, damping: Callable[[np.ndarray], np.ndarray | float]
    ) -> "BlockPairs":
        n, scores = len(block.y), block.scores
        top, own, total = np.empty(n), np.empty(n), np.zeros(n)
        raised = np.empty_like(scores)
        _shift(scores, block.y, top, own, raised)
        np.exp(raised, out=raised)
        _sum_all(raised, total)
        lead = top - own
        log_factor = lead + damping(lead + np.log(total))
        if block.base is not None:
            log_factor += block.base
        return cls(block, raised, total, log_factor, np.exp(log_factor - log_factor.max()))


class Pairs:
    """A distribution over the pairs of all rows."""

    def __init__(self, rows: Rows, damping: Callable[[np.ndarray], np.ndarray | float]):
        """Weigh the pairs as the scores stand.

        ``damping`` gives the logarithm of a further factor of each row, from
        ``ln(sum over l of exp(S(l) - S(y_i)))``, how strongly the scores speak against its label.
        """
        self.rows = rows
        self.parts = rows.each(lambda block: BlockPairs.weigh(block, damping))
        top = max(float(part.log_factor.max()) for part in self.parts)
        for part in self.parts:
            part.factor *= np.exp(part.log_factor.max() - top)
        total = sum(float(part.factor @ part.total) for part in self.parts)
        for part in self.parts:
            part.factor /= total

    def affinity(self) -> np.ndarray:
        """w(l, l') = sum of D(i, l) over the rows with label l' (003, section 2.3)."""
        k = self.rows.n_classes

        def of_part(part: BlockPairs) -> np.ndarray:
            out = np.zeros((k, k))
            _sum_labels(part.raised, part.factor, part.block.y, out)
            return out

        return sum(self.rows.workers.run(of_part, self.parts), np.zeros((k, k)))

    def ask(self, colors: np.ndarray) -> float:
        """Set the rows' weights to D(i) for a colouring; returns U, the weight that it separates.

        D(i) = sum of D(i, l) over the labels l of the other colour, divided by U (003, Fig. 3).
        """
        weights = self.rows.weights

        def of_part(part: BlockPairs) -> float:
            own = weights[part.block.rows]
            own[:] = 0.0
            _sum_other_color(part.raised, part.block.y, colors, own)
            own *= part.factor
            return float(own.sum())

        separated = sum(self.rows.workers.run(of_part, self.parts))
        weights /= separated
        return separated

    def edges(self) -> np.ndarray:
        """A(i, l) = -D(i, l), and A(i, y_i) = the sum of D(i, .): what a vote for l is worth.

        The last column is the row's mass.
        """
        k = self.rows.n_classes
        out = np.empty((len(self.rows), k + 1))

        def of_part(part: BlockPairs) -> None:
            own = out[part.block.rows]
            np.multiply(part.raised, -part.factor[:, None], out=own[:, :k])
            own[:, k] = part.factor * part.total
            own[np.arange(len(own)), part.block.y] = own[:, k]

        self.rows.workers.run(of_part, self.parts)
        return out
