"""The risk of a decision rule that answers by chance, with probabilities softmax(scores).

R = mean over rows of sum over z of g(z|x) c(z), where c(z) is what answering z costs in that row
(papers/004, eq. 4).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.learners.base import sums_before
from steadyboost.trees.jit import kernel

EXP_CELLS = 1 << 17  # scores that are raised at a time, so that they stay in the second-level cache


@kernel
def _subtract_top(scores, start, out):
    """Scores of some rows, from ``start`` on, less the best of each."""
    top = np.full(out.shape[1], -np.inf)
    for z in range(len(out)):
        for j in range(len(top)):
            top[j] = scores[z, start + j] if scores[z, start + j] > top[j] else top[j]
    for z in range(len(out)):
        for j in range(len(top)):
            out[z, j] = scores[z, start + j] - top[j]


@kernel
def _add_up(raised, table, which, totals, means):
    """Sum of each row, and the mean cost of answering by its shares."""
    totals[:] = 0
    means[:] = 0
    for z in range(len(raised)):
        for j in range(len(totals)):
            totals[j] += raised[z, j]
            means[j] += raised[z, j] * table[np.uint64(which[j]), z]
    for j in range(len(totals)):
        means[j] /= totals[j]


@kernel
def _write_gradient(raised, factors, table, which, means, out):
    for z in range(len(raised)):
        for j in range(len(means)):
            cost = table[np.uint64(which[j]), z]
            out[z, j] = raised[z, j] * factors[j] * (cost - means[j])


class LabelDraws(NamedTuple):
    """Labels to draw: how many for each row, uniform numbers for all, and what one counts."""

    counts: np.ndarray
    chances: np.ndarray
    scale: float


@kernel
def _write_drawn(raised, totals, table, which, means, draws, out):
    """Draw labels by the soft-max, and add up their centred costs."""
    last, drawn = len(raised) - 1, 0
    for j in range(len(draws.counts)):
        for _ in range(draws.counts[j]):
            left = draws.chances[drawn] * totals[j] - raised[0, j]
            z = 0
            while left >= 0 and z < last:
                z += 1
                left -= raised[z, j]
            out[z, j] += draws.scale * (table[which[j], z] - means[j])
            drawn += 1


def shares_of(rows: TrainingState, weights: np.ndarray | None) -> np.ndarray:
    """p(x): each row's share of the weight; zeros where nothing weighs anything."""
    if weights is None:
        return np.full(len(rows), 1 / rows.n_all)
    total = rows.total_weight if weights is rows.sample_weight else rows.sum(weights)
    return weights / total if total > 0 else np.zeros(len(rows))


def draw_rows(
    rows: TrainingState, weights: np.ndarray | None, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """How often each row is among ``n_draws`` from p(x); never, where nothing weighs anything."""
    counts = np.zeros(len(rows), dtype=np.int64)
    if weights is None:
        of_all = np.bincount(rng.integers(rows.n_all, size=n_draws), minlength=rows.n_all)
        for chunk, start in zip(rows.chunks, rows.starts, strict=True):
            counts[chunk.rows] = of_all[start : start + len(chunk)]
        return counts
    ends = [np.cumsum(weights[chunk.rows]) for chunk in rows.chunks]
    starts, total = sums_before(rows.workers, [own[-1] for own in ends], rows.order)
    places = np.sort(rng.random(n_draws) * total)
    if total == 0:
        return counts
    for chunk, start, own in zip(rows.chunks, starts, ends, strict=True):
        counts[chunk.rows] = np.diff(np.searchsorted(places, np.append(start, start + own)))
    return counts


class Raised(NamedTuple):
    """Rows with exp(scores) up to a factor, (labels, n), and the sum over labels."""

    rows: slice
    values: np.ndarray
    totals: np.ndarray
    which: np.ndarray
    means: np.ndarray


@dataclass(frozen=True)
class SoftRisk:
    """The risk of rows; ``table[which[i]]`` has the costs of row i.

    Rows count by ``weights``, None for all alike. With ``label`` it is the risk of one label of
    several: the rule says yes or no, with scores F and -F of which the rows keep F, in that column.
    """

    rows: TrainingState
    weights: np.ndarray | None
    table: np.ndarray
    which: np.ndarray
    label: int | None = None

    def scores(self, chunk: RowChunk) -> np.ndarray:
        """Scores of all labels, or of no and yes to one of them, (labels, n)."""
        if self.label is None:
            return chunk.scores.T
        own = chunk.scores[:, self.label]
        return np.array([-own, own])

    def each(self, function: Callable[[Raised], np.ndarray]) -> np.ndarray:
        """Values of all rows, in column order, from those of some raised rows, (labels, n).

        Where one label is asked about, they are what both columns say of a yes.
        """
        n_labels = self.table.shape[1]
        out = np.empty((n_labels if self.label is None else 1, len(self.rows)))
        size = max(1, EXP_CELLS // n_labels)
        spans = [
            (chunk, self.scores(chunk), start)
            for chunk in self.rows.chunks
            for start in range(0, len(chunk), size)
        ]

        def fill(span: tuple[RowChunk, np.ndarray, int]) -> None:
            chunk, scores, start = span
            raised = self.raised(scores, start, min(size, len(chunk) - start), chunk.rows.start)
            values = function(raised)
            out[:, raised.rows] = values if self.label is None else values[1:] - values[:1]

        self.rows.workers.run(fill, spans)
        return out.T

    def raised(self, scores: np.ndarray, start: int, n: int, first: int) -> Raised:
        """So many rows of a chunk, from ``start`` on; its first is row ``first``."""
        at = slice(first + start, first + start + n)
        values, which = np.empty((len(scores), n)), self.which[at]
        totals, means = np.empty(n), np.empty(n)
        _subtract_top(scores, start, values)
        np.exp(values, out=values)
        _add_up(values, self.table, which, totals, means)
        return Raised(at, values, totals, which, means)

    def gradient(self) -> np.ndarray:
        """g(z) (c(z) - mean cost), times the row's share (Proposition 2)."""
        shares = shares_of(self.rows, self.weights)

        def write(raised: Raised) -> np.ndarray:
            at, values, totals, which, means = raised
            _write_gradient(values, shares[at] / totals, self.table, which, means, values)
            return values

        return self.each(write)

    def drawn(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """An estimate: ``counts[i]`` labels z of row i are drawn from g.

        Each adds c(z) - mean cost to its pair, over the number of draws: eq. (8).
        """
        rows = self.rows
        sizes = [int(counts[chunk.rows].sum()) for chunk in rows.chunks]
        starts, n_draws = sums_before(rows.workers, sizes, rows.order)
        chances = rng.random(n_draws)
        first = np.empty(len(rows), dtype=np.int64)  # of the draws of each row
        for chunk, start in zip(rows.chunks, starts, strict=True):
            own = counts[chunk.rows]
            first[chunk.rows] = start + np.cumsum(own) - own

        def write(raised: Raised) -> np.ndarray:
            at, values, totals, which, means = raised
            out = np.zeros(values.shape)
            draws = LabelDraws(counts[at], chances[first[at.start] :], 1 / max(1, n_draws))
            _write_drawn(values, totals, self.table, which, means, draws, out)
            return out

        return self.each(write)
