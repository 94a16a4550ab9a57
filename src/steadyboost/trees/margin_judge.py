"""Phase II of direct optimisation: splits by the bottom margins after the best step.

Where there are too many rows to search every cut, all of them are put in order by a bound (see
:mod:`steadyboost.trees.margin_scan`) at a step and a threshold. Those of the best cut are found
next, on some of the rows; while they are others, cuts are put in order again, at these. So the
chosen cut is the best one at its own step.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from steadyboost.trees.grower import partition
from steadyboost.trees.margin_scan import (
    MARGIN_DIGITS,
    best_label,
    list_cuts,
    set_lines,
    shortfall,
    shortfall_room,
    sum_shortfalls,
)
from steadyboost.trees.margin_search import FIRST_PART, bottom_mean
from steadyboost.trees.search_tree import Found, Leaf
from steadyboost.trees.splitting import SET_WORDS
from steadyboost.trees.standing import Sample, Standing
from steadyboost.trees.step_search import find_step

SOME = 2**13  # rows that tell about where the best step of a cut is
EXACT_WORK = 4_000_000  # rows times searches up to which every cut is searched
NEAR = 1.25  # steps within this factor are the same to a bound
MOST_LISTS = 3  # how often cuts are put in order again
FIRST_STEPS = (1 / 64, 1 / 16, 1 / 4)  # parts of the scale, where there is no step yet

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
Rows = tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]  # scores, labels, standing


class LabelledRows:
    """Rows with the labels that a tree has given them so far, and the problem of the best step."""

    def __init__(self, of: Rows, weights: np.ndarray, limits: tuple[float, float, float]):
        self.of, self.weights = of, weights
        self.mass, self.scale, self.width = limits
        own, first = of[2][:2]
        self.lines: Triple = (
            own - first,
            np.full(len(own), np.inf),
            np.full(len(own), -1.0),
        )

    def every(self, stride: int) -> "LabelledRows":
        """Each stride-th row, before any of them has a label."""
        scores, y, standing = self.of
        weights = self.weights[::stride].copy()
        share = self.mass * float(weights.sum() / self.weights.sum())
        own = tuple(array[::stride].copy() for array in standing)
        of = scores[::stride].copy(), y[::stride].copy(), own
        return LabelledRows(of, weights, (share, self.scale, self.width))

    def copies(self) -> Triple:
        level, base, way = self.lines
        return level.copy(), base.copy(), way.copy()

    def label(self, rows: np.ndarray, label: int, lines: Triple) -> None:
        set_lines(self.of, rows, label, lines)

    @cached_property
    def floor(self) -> float:
        """The threshold without a step, whatever the labels."""
        return self.threshold(self.lines, 0.0)

    def best_step(self, lines: Triple, guess: float) -> tuple[float, float]:
        """The step with the largest mean margin, and that margin."""
        problem = self.mass, self.scale, self.scale, self.width
        found = find_step(
            lambda at: tuple(line[at] for line in lines), self.weights, problem, guess
        )
        return found[0], found[2]

    def threshold(self, lines: Triple, step: float) -> float:
        """The largest numerator at the bottom after a step."""
        return float(bottom_mean(lines, self.weights, self.mass, self.scale, step)[2])


def _first_of(cuts: np.ndarray) -> int:
    """The largest bound, then the purest, then the first."""
    return int(np.lexsort((-cuts[:, 4], -cuts[:, 3]))[0])


class MarginJudge:
    """The mean of the smallest margins after the best step; ``width`` ends its bisection.

    ``step`` is one to begin with, if there is any.
    """

    def __init__(
        self,
        sample: Sample,
        standing: Standing,
        scale: float,
        bottom: float,
        width: float,
        step: float = 0.0,
    ):
        self.sample, self.step = sample, step
        of = standing.scores, sample.y, standing.arrays
        self.all = LabelledRows(of, sample.weights, (bottom, scale, width))
        self.stride_bits = max(0, (len(sample.y) // SOME).bit_length() - 1)
        self.some = self.all.every(1 << self.stride_bits)
        self.groups = sample.groups(sample.n_classes)

    def _sampled(self, rows: np.ndarray) -> np.ndarray:
        """Places among some of the rows."""
        return self._of_stride(rows) >> self.stride_bits

    def _of_stride(self, rows: np.ndarray) -> np.ndarray:
        return rows[(rows & ((1 << self.stride_bits) - 1)) == 0]

    def take(self, found: Found, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        def give_label(leaf: Leaf) -> None:
            self.all.label(leaf.rows, leaf.label, self.all.lines)
            self.some.label(self._sampled(leaf.rows), leaf.label, self.some.lines)

        self.sample.run(give_label, [leaf for leaf in leaves if leaf.label != parent.label])
        self.step = found.step

    def search(self, leaf: Leaf, others: Sequence[Leaf]) -> Found | None:
        cuts, sets = self._cuts(leaf, self._probe(self.step))
        if not len(cuts):
            return None
        searches = len(cuts) * 2 * self.sample.n_classes
        if searches * len(self.sample.y) > EXACT_WORK:
            return self._by_bound(leaf, cuts, sets)
        found = self.sample.run(
            lambda at: self._search_cut(leaf, cuts[at], sets[at]), range(len(cuts))
        )
        return min(found, key=lambda one: one.key)

    def _by_bound(self, leaf: Leaf, cuts: np.ndarray, sets: np.ndarray) -> Found:
        """The cut of the best bound at its own step."""
        step = self.step
        if step == 0:
            step = self._first_step(leaf)
            cuts, sets = self._cuts(leaf, self._probe(step))
        for _ in range(MOST_LISTS):
            best = _first_of(cuts)
            own, threshold, _ = self._own_probe(leaf, cuts[best], sets[best])
            if step / NEAR <= own <= step * NEAR:
                break
            step = own
            cuts, sets = self._cuts(leaf, (step, threshold))
        best = _first_of(cuts)
        labels = int(cuts[best, 1]), int(cuts[best, 2])
        return self._found(cuts[best], sets[best], labels, own, cuts[best, 3])

    def _first_step(self, leaf: Leaf) -> float:
        """Where there is no step to begin with: the best of what some lead to."""
        tried = []
        for part in FIRST_STEPS:
            cuts, sets = self._cuts(leaf, self._probe(part * self.all.scale))
            best = _first_of(cuts)
            tried.append(self._own_probe(leaf, cuts[best], sets[best]))
        return max(tried, key=lambda probe: probe[2])[0]

    def _own_probe(
        self, leaf: Leaf, cut: np.ndarray, left_set: np.ndarray
    ) -> tuple[float, float, float]:
        """The best step of a cut, threshold and margin there, by some of the rows."""
        some, lines = self.some, self.some.copies()
        rows = self._of_stride(leaf.rows)
        for side, label in zip(self._sides(rows, int(cut[0]), left_set), cut[1:3], strict=True):
            some.label(side >> self.stride_bits, int(label), lines)
        step, margin = some.best_step(lines, self.step)
        return step, some.threshold(lines, step), margin

    def _sides(self, rows: np.ndarray, feature: int, left_set: np.ndarray) -> list[np.ndarray]:
        rows, column = rows.copy(), self.sample.binned.column(feature)
        n_left = partition(*column, left_set, rows, np.empty_like(rows))
        return [rows[:n_left], rows[n_left:]]

    def _found(
        self,
        cut: np.ndarray,
        left_set: np.ndarray,
        labels: Sequence[int],
        step: float,
        g: float,
    ) -> Found:
        key = -round(g * MARGIN_DIGITS), self.sample.impurity(cut[4])
        return Found(key, int(cut[0]), left_set, (labels[0], labels[1]), step)

    def _search_cut(self, leaf: Leaf, cut: np.ndarray, left_set: np.ndarray) -> Found:
        """Search a cut by itself, with the best labels, the left one first."""
        lines = self.all.copies()
        labels = [self._best(side, lines) for side in self._sides(leaf.rows, int(cut[0]), left_set)]
        return self._found(cut, left_set, labels, *self.all.best_step(lines, self.step))

    def _best(self, rows: np.ndarray, lines: Triple) -> int:
        own, mass = self.all, self.sample.mass_of(rows)
        problem = own.mass, own.scale, own.scale, own.width
        top = min(2 * self.step, own.scale) if self.step > 0 else own.scale / FIRST_PART
        of = own.of, rows, mass, lines, own.weights
        return int(best_label(*of, problem, own.floor, top)[1])

    def label_all(self, rows: np.ndarray) -> int:
        return self._best(rows, self.all.lines)

    def _probe(self, step: float) -> tuple[float, float]:
        """A step, and the threshold there of some of the rows as they are labelled."""
        return step, self.some.threshold(self.some.lines, step)

    def _cuts(self, leaf: Leaf, probe: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """All cuts of a leaf with their bounds at a step and a threshold, and bins going left."""
        own, (step, threshold) = self.all, probe
        spans = self.sample.stretches(len(own.weights))
        short = sum(
            self.sample.run(
                lambda at: shortfall(tuple(l[at] for l in own.lines), own.weights[at], probe),
                spans,
            )
        )
        bound = own.mass * threshold, 1 / (own.mass * (own.scale + step)), short
        found = [self._cuts_of_group(leaf, probe, bound, group) for group in self.groups]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _cuts_of_group(
        self, leaf: Leaf, probe: tuple[float, float], bound: tuple, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sample, own, room = self.sample, self.all, shortfall_room(self.sample.n_classes)
        of = own.of, own.weights, sample.whole
        sums = sample.sum_stretches(
            lambda read, rows: sum_shortfalls(read, *of, rows, probe),
            sample.columns(features), leaf.rows, room + sample.n_classes,
        )  # fmt: skip
        mass = sums[:, room:].astype(np.int64)
        cuts, sets = np.empty((2 * len(sums), 5)), np.zeros((2 * len(sums), SET_WORDS), np.uint32)
        n = list_cuts(features, sample.binned.layout, sums, mass, leaf.label, bound, cuts, sets)
        return cuts[:n], sets[:n]
