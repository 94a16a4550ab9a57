"""The risk of a decision rule that answers by chance, with probabilities softmax(scores).

R = mean over rows of sum over z of g(z|x) c(z), where c(z) is what answering z costs in that row
(papers/004, eq. 4).
"""

from dataclasses import dataclass

import numpy as np

from steadyboost.core.rows import Block, Rows
from steadyboost.learners.base import sums_before
from steadyboost.trees.jit import inner, kernel


@inner
def _raise(scores, costs, out):
    """exp(scores) of a row, up to a factor; returns their sum and the mean cost."""
    top = scores.max()
    total, cost = 0.0, 0.0
    for z in range(len(out)):
        out[z] = np.exp(scores[z] - top)
        total += out[z]
        cost += out[z] * costs[z]
    return total, cost / total


@kernel
def _write_gradient(scores, table, which, shares, out):
    raised = np.empty(scores.shape[1])
    for i in range(len(scores)):
        costs = table[which[i]]
        total, mean = _raise(scores[i], costs, raised)
        for z in range(len(raised)):
            out[i, z] = shares[i] * (raised[z] / total) * (costs[z] - mean)


@kernel
def _write_drawn(scores, table, which, counts, chances, scale, out):
    raised = np.empty(scores.shape[1])
    last, drawn = len(raised) - 1, 0
    for i in range(len(scores)):
        if counts[i] == 0:
            continue
        costs = table[which[i]]
        total, mean = _raise(scores[i], costs, raised)
        for _ in range(counts[i]):
            left = chances[drawn] * total - raised[0]
            z = 0
            while left >= 0 and z < last:
                z += 1
                left -= raised[z]
            out[i, z] += scale * (costs[z] - mean)
            drawn += 1


def shares_of(rows: Rows) -> np.ndarray:
    """p(x): each row's share of the weight."""
    weights = rows.sample_weight
    return np.full(len(rows), 1 / rows.n_all) if weights is None else weights / rows.total_weight


def draw_rows(rows: Rows, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """How often each row is among ``n_draws`` from p(x)."""
    weights, counts = rows.sample_weight, np.empty(len(rows), dtype=np.int64)
    if weights is None:
        of_all = np.bincount(rng.integers(rows.n_all, size=n_draws), minlength=rows.n_all)
        for block, start in zip(rows.blocks, rows.starts, strict=True):
            counts[block.rows] = of_all[start : start + len(block)]
        return counts
    ends = [np.cumsum(weights[block.rows]) for block in rows.blocks]
    starts, total = sums_before(rows.workers, [own[-1] for own in ends], rows.order)
    places = np.sort(rng.random(n_draws) * total)
    for block, start, own in zip(rows.blocks, starts, ends, strict=True):
        counts[block.rows] = np.diff(np.searchsorted(places, np.append(start, start + own)))
    return counts


@dataclass(frozen=True)
class SoftRisk:
    """The risk of rows; ``table[which[i]]`` has the costs of row i.

    With ``label`` it is that of one label of several: the rule says yes or no, with scores F and
    -F of which the rows keep F, in that column.
    """

    rows: Rows
    table: np.ndarray
    which: np.ndarray
    label: int | None = None

    def scores(self, block: Block) -> np.ndarray:
        """Scores of all labels, or of no and yes to one of them."""
        if self.label is None:
            return block.scores
        own = block.scores[:, self.label]
        return np.array([-own, own]).T

    @property
    def n_columns(self) -> int:
        return self.table.shape[1] if self.label is None else 1

    def one_side(self, values: np.ndarray) -> np.ndarray:
        """What all columns say of a yes to the label."""
        return values if self.label is None else values[:, 1:] - values[:, :1]

    def gradient(self) -> np.ndarray:
        """g(z) (c(z) - mean cost), times the row's share (Proposition 2)."""
        shares = shares_of(self.rows)

        def in_block(block: Block) -> np.ndarray:
            scores, at = self.scores(block), block.rows
            out = np.empty(scores.shape, order="F")
            _write_gradient(scores, self.table, self.which[at], shares[at], out)
            return self.one_side(out)

        return joined(self.rows.each(in_block), self.n_columns)

    def drawn(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """An estimate: ``counts[i]`` labels z of row i are drawn from g.

        Each adds c(z) - mean cost to its pair, over the number of draws: eq. (8).
        """
        rows = self.rows
        sizes = [int(counts[block.rows].sum()) for block in rows.blocks]
        starts, n_draws = sums_before(rows.workers, sizes, rows.order)
        chances = rng.random(n_draws)

        def in_block(block: Block) -> np.ndarray:
            scores, at, start = self.scores(block), block.rows, starts[block.number]
            own = chances[start : start + sizes[block.number]]
            out = np.zeros(scores.shape, order="F")
            _write_drawn(scores, self.table, self.which[at], counts[at], own, 1 / n_draws, out)
            return self.one_side(out)

        return joined(self.rows.each(in_block), self.n_columns)


def joined(blocks: list[np.ndarray], n_columns: int) -> np.ndarray:
    """Blocks of rows as one array in column order."""
    if len(blocks) == 1:
        return np.asfortranarray(blocks[0])
    return np.asfortranarray(np.concatenate([np.empty((0, n_columns)), *blocks]))
