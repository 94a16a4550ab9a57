"""Phase II of direct optimisation: splits by the bottom margins after the best step.

Cuts of a leaf, each with two labels, are put in order by a bound at a step and a threshold, see
:mod:`steadyboost.boosters.dmcboost.margin_scan`. The first of them are searched for their own best
step; while the best of these is far from the step of the bound, cuts are put in order again, at its
own.

Of many rows, some tell the best step and threshold of a cut, and all what it is worth there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steadyboost.boosters.dmcboost.margin_scan import (
    MARGIN_DIGITS,
    list_cuts,
    search_cuts,
    set_lines,
    shortfall_width,
    sum_shortfalls,
    sum_shortfalls_of,
)
from steadyboost.boosters.dmcboost.margin_search import FIRST_PART, bottom_mean, seek
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample
from steadyboost.boosters.dmcboost.search_tree import Leaf, LineSearchSplit
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.histograms.row_statistics import parts
from steadyboost.trees.splits.bitset import BITSET_WORDS

MANY = 2**16  # rows of which some tell about the best step of a cut
SOME = 2**13  # how many do, at the least
LISTED = 2**13  # rows of a leaf that tell about the order of its cuts, at the least
STRETCH = 2**16  # rows that a thread adds up at a time
EXACT_WORK = 2**17  # rows times searches of a leaf: all cuts are searched where that is enough
FEWEST, FEW = 5, 2  # cuts that are searched at the least; of many rows, that are compared on all
LABELS = 3  # for each side of a cut, by the bound
NEAR = 1.25  # steps within this factor are the same to a bound
MOST_LISTS = 3  # how often cuts are put in order
STEPS = (1.0, 0.35, 2.5)  # parts of the last step at which cuts are put in order
FIRST_STEPS = (1 / 64, 1 / 16, 1 / 4)  # parts of the scale, where there is no step yet

NO_CUTS = (
    np.empty((0, 0), np.uint32),
    np.empty(0, np.int64),
    np.empty((0, BITSET_WORDS), np.uint32),
    np.empty((0, 2), np.int64),
)

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
RowArrays = tuple[
    np.ndarray, np.ndarray, tuple[np.ndarray, ...]
]  # scores, labels, scores of rivals
Probe = tuple[float, float]  # a step, and the largest numerator at the bottom there


class LabelledRows:
    """Rows with the labels that a tree has given them so far, and the problem of the best step."""

    def __init__(self, sample: SearchSample, of: RowArrays, limits: tuple[float, float, float]):
        self.sample, self.of, self.weights = sample, of, sample.weights
        self.mass, self.scale, width = limits
        self.problem = self.mass, self.scale, self.scale, width

    @cached_property
    def lines(self) -> Triple:
        """Of rows without a label; they change as they get one."""
        own, first = self.of[2][:2]
        return own - first, np.full(len(own), np.inf), np.full(len(own), -1.0)

    def every(self, stride: int, width: float) -> "LabelledRows":
        """Each stride-th row, before any of them has a label."""
        rows = np.arange(0, len(self.weights), stride)
        sample = self.sample.take(rows, self.weights[rows], self.sample.whole[rows])
        share = self.mass * float(sample.weights.sum() / self.weights.sum())
        rival_scores = tuple(array[rows] for array in self.of[2])
        return LabelledRows(
            sample, (self.of[0][rows], sample.y, rival_scores), (share, self.scale, width)
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

    place: int  # among all cuts, whatever their labels
    cut: np.ndarray
    left_bitset: np.ndarray
    probe: Probe
    margin: float

    @property
    def order(self) -> tuple[float, ...]:
        """Margin, impurity, mass of other labels, place, labels."""
        return -round(self.margin * MARGIN_DIGITS), *self.cut[4:], self.place, *self.cut[1:3]


def _table(binned: BinnedRows, cuts: np.ndarray, sets: np.ndarray) -> tuple[np.ndarray, ...]:
    """Cuts as kernels take them."""
    features, at = np.unique(cuts[:, 0].astype(np.int64), return_inverse=True)
    packed, places, _, _ = binned.group(features)
    return packed, places[at], sets, cuts[:, 1:3].astype(np.int64)


class MarginSplitScorer:
    """The mean of the smallest margins after the best step; ``width`` ends its bisection.

    ``step`` is one to begin with, if there is any.
    """

    def __init__(
        self,
        sample: SearchSample,
        margin_state: MarginState,
        scale: float,
        bottom: float,
        width: float,
        step: float = 0.0,
    ):
        self.sample, self.step = sample, step
        of = margin_state.scores, sample.y, margin_state.arrays
        self.all = self.some = LabelledRows(sample, of, (bottom, scale, width))
        n = len(sample.y)
        self.stride_bits = (n // SOME).bit_length() - 1 if n >= MANY else 0
        if self.stride_bits:
            self.some = self.all.every(1 << self.stride_bits, max(width, step / 64))
        self.groups = sample.groups(sample.n_classes)
        k, n_bins = sample.n_classes, int(sample.binned.offsets[-1])
        self.n_labels = k if n_bins * k**2 * n <= EXACT_WORK else min(k, LABELS)

    def _of_some(self, rows: np.ndarray) -> np.ndarray:
        """Their places among some of the rows."""
        if not self.stride_bits:
            return rows
        return rows[(rows & ((1 << self.stride_bits) - 1)) == 0] >> self.stride_bits

    def apply(self, found: LineSearchSplit, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        def give_label(leaf: Leaf) -> None:
            set_lines(self.some.of, self._of_some(leaf.rows), leaf.label, self.some.lines)

        self.sample.run(give_label, [leaf for leaf in leaves if leaf.label != parent.label])
        self.step = found.step

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> LineSearchSplit | None:
        probes = [(step, self.some.threshold(step)) for step in self._first_steps(leaf)]
        rated: dict[tuple[float, ...], Rated] = {}
        rows = self._of_some(leaf.rows)
        for _ in range(MOST_LISTS):
            for probe in probes:
                self._rate(leaf, rows, probe, rated)
            if not rated:
                return None
            found = sorted(rated.values(), key=lambda one: one.order)
            best = found[0].probe
            if any(step / NEAR <= best[0] <= step * NEAR for step, _ in probes):
                break
            probes = [best]
        chosen = self._best_of_all(leaf, leaves, found[:FEW]) if self.stride_bits else found[0]
        labels = int(chosen.cut[1]), int(chosen.cut[2])
        feature, step = int(chosen.cut[0]), chosen.probe[0]
        return LineSearchSplit(chosen.order[:2], feature, chosen.left_bitset, labels, step)

    def _first_steps(self, leaf: Leaf) -> list[float]:
        """That of the last split, and others where there are few rows, or none has a label yet."""
        if self.step == 0:
            return [part * self.all.scale for part in FIRST_STEPS]
        n = 3 if not self.stride_bits else 2 if leaf.label < 0 else 1
        return [part * self.step for part in STEPS[:n]]

    def _rate(
        self, leaf: Leaf, rows: np.ndarray, probe: Probe, rated: dict[tuple[float, ...], Rated]
    ) -> None:
        """Search the first cuts by their bound at a probe, but for those that have been.

        ``rows`` are those of the leaf among some.
        """
        some, run = self.some, self.sample.run
        cuts, sets = self._cuts(leaf, probe)
        most = int(min(len(cuts), max(FEWEST, EXACT_WORK // len(self.sample.y))))
        first = np.lexsort((cuts[:, 4], cuts[:, 3]))[:most].tolist()
        names = {at: (at // self.n_labels**2, *cuts[at, 1:3]) for at in first}
        new = [at for at in first if names[at] not in rated]
        table, found = _table(some.sample.binned, cuts[new], sets[new]), np.empty((len(new), 3))
        leaf_of_some = some.of, rows, table
        top = min(2 * probe[0], some.scale)
        how = some.lines, some.weights, some.problem, some.floor, top, found
        shares = np.array_split(np.arange(len(new)), self.sample.n_threads)
        run(lambda numbers: search_cuts(*leaf_of_some, numbers, *how), shares)
        for at, (step, threshold, margin) in zip(new, found.tolist(), strict=True):
            place = names[at][0]
            rated[names[at]] = Rated(place, cuts[at], sets[at], (step, threshold), margin)

    def _best_of_all(self, leaf: Leaf, leaves: Sequence[Leaf], few: list[Rated]) -> Rated:
        """The best of a few cuts, each evaluated on all rows at its own probe."""
        own, probes = self.all, np.array([one.probe for one in few])
        both = np.stack([one.cut for one in few]), np.stack([one.left_bitset for one in few])
        table = _table(self.sample.binned, *both)
        different, at = np.unique(probes, axis=0, return_inverse=True)

        def add_up(piece: tuple[Leaf, slice]) -> np.ndarray:
            one, part = piece
            inside = one is leaf
            short = np.zeros(len(probes if inside else different))
            labels = np.int64(one.label), table if inside else NO_CUTS
            points = own.weights, probes if inside else different, short
            sum_shortfalls_of(own.of, one.rows[part], *labels, *points)
            return short if inside else short[at]

        pieces = [
            (one, part)
            for one in leaves
            for part in parts(len(one.rows), -(-len(one.rows) // STRETCH))
        ]
        short = np.sum(self.sample.run(add_up, pieces), axis=0)
        margins = (own.mass * probes[:, 1] - short) / (own.mass * (own.scale + probes[:, 0]))
        pairs = zip(few, margins.tolist(), strict=True)
        return min((replace(one, margin=g) for one, g in pairs), key=lambda one: one.order)

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
        rows = leaf.rows[:: max(1, len(leaf.rows) // LISTED)]
        found = [self._cuts_of_group(rows, probe, group) for group in self.groups]
        cuts, sets = (np.concatenate(both) for both in zip(*found, strict=True))
        cuts[:, 4] = np.round(cuts[:, 4] / self.sample.whole.sum(), 12)  # equal splits tie
        return cuts, sets

    def _cuts_of_group(
        self, rows: np.ndarray, probe: Probe, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sample, own, width = self.sample, self.all, shortfall_width(self.sample.n_classes)
        of = own.of, own.weights, sample.whole
        sums = sample.sum_stretches(
            lambda read, some: sum_shortfalls(read, *of, some, probe),
            sample.columns(features), rows, width + sample.n_classes,
        )  # fmt: skip
        mass = sums[:, width:].astype(np.int64)
        n = 2 * len(sums) * self.n_labels**2
        cuts, sets = np.empty((n, 6)), np.zeros((n, BITSET_WORDS), np.uint32)
        n = list_cuts(features, sample.binned.layout, sums, mass, self.n_labels, cuts, sets)
        return cuts[:n], sets[:n]
