"""Phase II of direct optimisation: splits by the bottom margins after the best step.

Cuts of a leaf, each with two labels, are put in order by a bound at a step and a threshold, see
:mod:`steadyboost.trees.margin_scan`. The first of them are searched for their own best step; while
the best of these is far from the step of the bound, cuts are put in order again, at its own.

Of many rows, some tell the best step and threshold of a cut, and all what it is worth there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steadyboost.trees.margin_scan import (
    MARGIN_DIGITS,
    list_cuts,
    search_cut,
    set_lines,
    shortfall,
    shortfall_change,
    shortfall_room,
    sum_shortfalls,
)
from steadyboost.trees.margin_search import FIRST_PART, bottom_mean, seek
from steadyboost.trees.search_tree import Found, Leaf
from steadyboost.trees.splitting import SET_WORDS
from steadyboost.trees.standing import Sample, Standing
from steadyboost.trees.tree import parts

MANY = 2**16  # rows of which some tell about the best step of a cut
SOME = 2**13  # how many do, at the least
LISTED = 2**15  # rows of a leaf that tell about the order of its cuts, at the least
STRETCH = 2**14  # rows that stay in the cache while several cuts are looked at
EXACT_WORK = 2**17  # rows times searches of a leaf: all cuts are searched where that is enough
FEWEST, FEW = 8, 4  # cuts that are searched at the least; of many rows, that are compared on all
LABELS = 3  # for each side of a cut, by the bound
NEAR = 1.25  # steps within this factor are the same to a bound
MOST_LISTS = 3  # how often cuts are put in order
FIRST_STEPS = (1 / 64, 1 / 16, 1 / 4)  # parts of the scale, where there is no step yet

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
Rows = tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]  # scores, labels, standing
Probe = tuple[float, float]  # a step, and the largest numerator at the bottom there


class LabelledRows:
    """Rows with the labels that a tree has given them so far, and the problem of the best step."""

    def __init__(self, sample: Sample, of: Rows, limits: tuple[float, float, float]):
        self.sample, self.of, self.weights = sample, of, sample.weights
        self.mass, self.scale, width = limits
        self.problem = self.mass, self.scale, self.scale, width
        own, first = of[2][:2]
        self.lines: Triple = own - first, np.full(len(own), np.inf), np.full(len(own), -1.0)

    def every(self, stride: int, width: float) -> "LabelledRows":
        """Each stride-th row, before any of them has a label."""
        rows = np.arange(0, len(self.weights), stride)
        sample = self.sample.take(rows, self.weights[rows], self.sample.whole[rows])
        share = self.mass * float(sample.weights.sum() / self.weights.sum())
        standing = tuple(array[rows] for array in self.of[2])
        return LabelledRows(
            sample, (self.of[0][rows], sample.y, standing), (share, self.scale, width)
        )

    @cached_property
    def floor(self) -> float:
        """The threshold without a step, whatever the labels."""
        return self.threshold(0.0)

    def threshold(self, step: float) -> float:
        """The largest numerator at the bottom after a step."""
        return float(bottom_mean(self.lines, self.weights, self.mass, self.scale, step)[2])


@dataclass(frozen=True)
class Rated:
    """A cut of a leaf, and what it is worth at its best step."""

    place: int  # among all cuts
    cut: np.ndarray
    left_set: np.ndarray
    probe: Probe
    margin: float

    @property
    def labels(self) -> tuple[int, int]:
        return int(self.cut[1]), int(self.cut[2])

    @property
    def order(self) -> tuple[float, ...]:
        """Margin, impurity, mass of other labels, place."""
        return -round(self.margin * MARGIN_DIGITS), *self.cut[4:].tolist(), self.place


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
        self.all = self.some = LabelledRows(sample, of, (bottom, scale, width))
        n = len(sample.y)
        self.stride = 1 << (n // SOME).bit_length() - 1 if n >= MANY else 1
        if self.stride > 1:
            self.some = self.all.every(self.stride, max(width, step / 64))
        self.groups = sample.groups(sample.n_classes)

    def _of_some(self, rows: np.ndarray) -> np.ndarray:
        """Their places among some of the rows."""
        return rows if self.stride == 1 else rows[rows % self.stride == 0] // self.stride

    def take(self, found: Found, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        def give_label(leaf: Leaf) -> None:
            set_lines(self.all.of, leaf.rows, leaf.label, self.all.lines)
            if self.stride > 1:
                set_lines(self.some.of, self._of_some(leaf.rows), leaf.label, self.some.lines)

        self.sample.run(give_label, [leaf for leaf in leaves if leaf.label != parent.label])
        self.step = found.step

    def search(self, leaf: Leaf, others: Sequence[Leaf]) -> Found | None:
        parts_of_scale = [part * self.all.scale for part in FIRST_STEPS]
        steps = [self.step] if self.step > 0 else parts_of_scale
        probes, rated = [(step, self.some.threshold(step)) for step in steps], {}
        for _ in range(MOST_LISTS):
            for probe in probes:
                self._rate(leaf, probe, rated)
            if not rated:
                return None
            best = min(rated.values(), key=lambda one: one.order)
            if any(probe[0] / NEAR <= best.probe[0] <= probe[0] * NEAR for probe in probes):
                break
            probes = [best.probe]
        if self.stride > 1:
            best = self._best_of_all(leaf, sorted(rated.values(), key=lambda one: one.order)[:FEW])
        return Found(best.order[:2], int(best.cut[0]), best.left_set, best.labels, best.probe[0])

    def _rate(self, leaf: Leaf, probe: Probe, rated: dict[tuple, Rated]) -> None:
        """Search the first cuts by their bound at a probe, but for those that have been."""
        some, rows = self.some, self._of_some(leaf.rows)
        cuts, sets = self._cuts(leaf, probe)
        top = min(2 * probe[0], some.scale) if probe[0] > 0 else some.scale / FIRST_PART
        most = int(min(len(cuts), max(FEWEST, EXACT_WORK // len(some.weights))))
        first = np.lexsort((cuts[:, 4], cuts[:, 3]))[:most].tolist()
        floor, columns = some.floor, {}

        def search(at: int) -> Rated:
            cut, left_set = cuts[at], sets[at]
            how = columns[int(cut[0])], left_set, cut[1:3].astype(np.int64)
            found = search_cut(
                some.of, rows, *how, some.lines, some.weights, some.problem, floor, top
            )
            return Rated(at, cut, left_set, (found[0], found[3]), found[2])

        new = [at for at in first if (at, *cuts[at, 1:3]) not in rated]
        for feature in {int(cuts[at, 0]) for at in new}:
            columns[feature] = some.sample.binned.column(feature)
        for one in self.sample.run(search, new):
            rated[one.place, *one.cut[1:3]] = one

    def _best_of_all(self, leaf: Leaf, few: list[Rated]) -> Rated:
        """The best of a few cuts, by what all rows say at the probe of each."""
        own, run, binned = self.all, self.sample.run, self.sample.binned
        columns = [binned.column(int(one.cut[0])) for one in few]

        def of_all(at: slice) -> list[float]:
            lines = tuple(line[at] for line in own.lines)
            return [shortfall(lines, own.weights[at], one.probe) for one in few]

        def of_leaf(at: slice) -> list[float]:
            rows, state = leaf.rows[at], (own.lines, own.weights)
            return [
                shortfall_change(own.of, rows, column, one.left_set, one.labels, *state, one.probe)
                for one, column in zip(few, columns, strict=True)
            ]

        n = len(own.weights), len(leaf.rows)
        spans = [parts(length, -(-length // STRETCH)) for length in n]
        short = np.sum(run(of_all, spans[0]) + run(of_leaf, spans[1]), axis=0)
        worth = [
            (own.mass * threshold - missing) / (own.mass * (own.scale + step))
            for missing, (step, threshold) in zip(short, (one.probe for one in few), strict=True)
        ]
        new = [replace(one, margin=float(g)) for one, g in zip(few, worth, strict=True)]
        return min(new, key=lambda one: one.order)

    def label_all(self, rows: np.ndarray) -> int:
        own, mass = self.all, self.sample.mass_of(rows)
        tried = []
        for label in range(self.sample.n_classes):
            set_lines(own.of, rows, label, own.lines)
            found = seek(own.lines, own.weights, own.problem, own.floor, own.scale / FIRST_PART)
            tried.append((-round(found[2] * MARGIN_DIGITS), -mass[label], label))
        return min(tried)[2]

    def _cuts(self, leaf: Leaf, probe: Probe) -> tuple[np.ndarray, np.ndarray]:
        """All cuts of a leaf with their shortfalls at a probe, and bins going left."""
        n, k = len(self.sample.y), self.sample.n_classes
        n_labels = k if int(self.sample.binned.offsets[-1]) * k**2 * n <= EXACT_WORK else min(k, LABELS)
        rows = leaf.rows[:: max(1, len(leaf.rows) // LISTED)]
        found = [self._cuts_of_group(rows, probe, n_labels, group) for group in self.groups]
        cuts, sets = (np.concatenate(both) for both in zip(*found, strict=True))
        cuts[:, 4] = np.round(cuts[:, 4] / self.sample.whole.sum(), 12)  # equal splits tie
        return cuts, sets

    def _cuts_of_group(
        self, rows: np.ndarray, probe: Probe, n_labels: int, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sample, own, room = self.sample, self.all, shortfall_room(self.sample.n_classes)
        of = own.of, own.weights, sample.whole
        sums = sample.sum_stretches(
            lambda read, some: sum_shortfalls(read, *of, some, probe),
            sample.columns(features), rows, room + sample.n_classes,
        )  # fmt: skip
        mass = sums[:, room:].astype(np.int64)
        n = 2 * len(sums) * n_labels**2
        cuts, sets = np.empty((n, 6)), np.zeros((n, SET_WORDS), np.uint32)
        n = list_cuts(features, sample.binned.layout, sums, mass, n_labels, cuts, sets)
        return cuts[:n], sets[:n]
