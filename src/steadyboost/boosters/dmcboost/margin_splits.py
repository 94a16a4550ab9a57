"""Phase II of direct optimisation: splits scored by the mean of the smallest margins.

Cuts of a leaf, each with two labels, are put in order by a lower bound at a step and a threshold.
The first of them are searched for their own best step; while the best of these is far from the step
of the bound, cuts are put in order again, at its own. Where there are many rows, some of them find
the best step and threshold of a cut, and all of them evaluate it there.

The mean of the smallest margins is the largest, over steps t and thresholds r, of ``(m r - sum of w
max(r - N_i(t), 0)) / (m (c + t))``. For a pair (t, r), the ``probe``, that is a sum over rows of
their ``shortfalls``, and a histogram of these gives it for every cut and every two labels: never
more than what the cut is worth. ``scored`` are the scores of all rows, and ``lines`` those of
:mod:`steadyboost.boosters.dmcboost.margin_line_search`, for the labels that rows have now.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.error_search import purity_of, write_set
from steadyboost.boosters.dmcboost.margin_line_search import (
    FIRST_PART,
    MarginLines,
    MarginProblem,
    bottom_mean,
    line_of,
    search_step,
)
from steadyboost.boosters.dmcboost.margin_state import MarginState, ScoredRows, SearchSample
from steadyboost.boosters.dmcboost.search_tree import Leaf, LineSearchSplit
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import split_evenly
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains
from steadyboost.trees.splits.criteria import GINI
from steadyboost.trees.splits.search import number_bins, order_categories

MARGIN_DIGITS = 1e9  # margins that agree in so many digits are equal
SHORTFALL_ROWS = 1024  # rows whose words and shortfalls stay in the cache
SAMPLING_PAYS = 2**16  # rows from which on the best step of a cut is found on a sample of them
MIN_SAMPLE_ROWS = 2**13  # rows of that sample, at the least
MIN_ORDERING_ROWS = 2**13  # rows of a leaf by which its cuts are put in order, at the least
THREAD_ROWS = 2**16  # rows that a thread adds up at a time
EXACT_WORK = 2**17  # rows times searches of a leaf: all cuts are searched where that is enough
MIN_SEARCHED_CUTS = 5  # of a leaf: the line search is run on them even if that takes long
FULLY_COMPARED_CUTS = 2  # of those searched on a sample of the rows, compared on all rows
TRIED_LABELS = 3  # for each side of a cut, by the bound
SAME_STEP = 1.25  # steps within this factor are the same to a bound
MAX_ORDERINGS = 3  # how often cuts are put in order
STEPS = (1.0, 0.35, 2.5)  # parts of the last step at which cuts are put in order
FIRST_STEPS = (1 / 64, 1 / 16, 1 / 4)  # parts of the scale, where there is no step yet

Probe = tuple[float, float]  # a step, and the largest numerator at the bottom there


class CutTable(NamedTuple):
    """Cuts of a leaf, as kernels take them."""

    packed: np.ndarray
    places: np.ndarray  # of the cuts' features in ``packed``
    left_bitsets: np.ndarray
    labels: np.ndarray  # of both sides


NO_CUTS = CutTable(
    np.empty((0, 0), np.uint32),
    np.empty(0, np.int64),
    np.empty((0, BITSET_WORDS), np.uint32),
    np.empty((0, 2), np.int64),
)


@kernel
def _line(scored, i, label):
    scores, y, (own, first, second, best) = scored
    level, base = line_of(
        scores[i, np.uint64(label)], own[i], first[i], second[i], label == y[i], label == best[i]
    )
    return level, base, 1.0 if label == y[i] else -1.0


@kernel
def set_lines(scored, rows, label, lines):
    """Give rows a label."""
    level, base, way = lines
    for j in range(len(rows)):
        i = np.uint64(rows[j])
        level[i], base[i], way[i] = _line(scored, i, np.int64(label))


@kernel
def _label_rows(table, k, rows, out):
    """The label that the k-th cut gives to each of the rows."""
    packed, places, left_bitsets, labels = table
    words, shift = packed[places[k] >> 2], np.uint32(8 * (places[k] & 3))
    named = np.empty(256, dtype=np.int64)
    for b in range(256):
        named[b] = labels[k, 0] if contains(left_bitsets[k], b) else labels[k, 1]
    for j in range(len(rows)):
        bin_ = (words[np.uint64(rows[j])] >> shift) & np.uint32(255)
        out[j] = named[np.uint64(bin_)]


class CutSearch(NamedTuple):
    """The line search that each cut of a leaf gets: see ``margin_line_search.search_step``."""

    lines: MarginLines  # with the labels that rows have now
    weights: np.ndarray
    problem: MarginProblem
    floor: float
    top: float


@kernel
def search_cuts(scored, rows, table, numbers, search, found):
    """The best step of some cuts, threshold and margin there; the leaf's rows are listed."""
    level, base, way = search.lines
    # Copies: the rows of this leaf get other lines for each label that is tried.
    lines = MarginLines(level.copy(), base.copy(), way.copy())
    level, base, way = lines
    labels = np.empty(len(rows), dtype=np.int64)
    for k in numbers:
        _label_rows(table, k, rows, labels)
        for j in range(len(rows)):
            i = np.uint64(rows[j])
            level[i], base[i], way[i] = _line(scored, i, labels[j])
        best = search_step(lines, search.weights, search.problem, search.floor, search.top)
        found[k, 0], found[k, 1], found[k, 2] = best.begin, best.threshold, best.margin


@kernel
def _sum_shortfalls(scored, rows, labels, weights, step, threshold):
    """The shortfalls of rows with these labels.

    Free of branches, and four sums side by side, so that none waits for the last.
    """
    scores, y, (own, first, second, best) = scored
    lanes = np.zeros(4)
    for j in range(len(rows)):
        i, label = np.uint64(rows[j]), labels[j]
        rest = second[i] if label == best[i] else first[i]
        other = max(rest, scores[i, np.uint64(label)] + step)
        top = first[i] - step if label == y[i] else other
        lanes[np.uint64(j & 3)] += weights[i] * max(threshold - own[i] + top, 0.0)
    return lanes.sum()


@kernel
def sum_shortfalls_of(scored, rows, label, table, weights, probes, short):
    """Add up ``w max(r - N(t), 0)`` at each probe, over rows with a label.

    If there is a table of cuts, one for each probe, rows have the labels of these. Rows are read
    block by block, so that they are in the cache for all probes.
    """
    labels = np.full(SHORTFALL_ROWS, label)
    for start in range(0, len(rows), SHORTFALL_ROWS):
        block = rows[start : start + SHORTFALL_ROWS]
        for k in range(len(probes)):
            if len(table.places) > 0:
                _label_rows(table, k, block, labels)
            short[k] += _sum_shortfalls(scored, block, labels, weights, probes[k, 0], probes[k, 1])


def shortfall_width(n_classes):
    """Channels for the shortfalls of all labels and none: whole vectors."""
    return (n_classes + 4) // 4 * 4


_shortfall_width = kernel(shortfall_width)


@kernel
def _find_shortfalls(scored, weights, rows, probe, falling, out):
    """The shortfalls of rows that have any, for each label (and none); how many have."""
    scores, y, (own, first, second, best) = scored
    n_classes, (step, threshold), n = scores.shape[1], probe, np.uint64(0)
    for j in range(len(rows)):
        i = np.uint64(rows[j])
        falling[n] = np.uint64(j)
        n += np.uint64(own[i] - first[i] - step < threshold)
    for j in range(n):
        i, short = np.uint64(rows[falling[j]]), out[j]
        margin, weight, values = own[i] - first[i], weights[i], scores[i]
        still, moved = max(threshold - margin, 0.0), threshold + step - own[i]
        for k in range(n_classes):
            value = moved + values[k]
            short[k] = weight * (value if value > still else still)
        rest = min(own[i] - second[i], margin - step)
        short[np.uint64(best[i])] = weight * max(threshold - rest, 0.0)
        short[np.uint64(y[i])] = weight * max(threshold - (margin + step), 0.0)
        short[n_classes] = weight * still
    return n


@kernel
def _add_shortfalls(words, shift, start, falling, n, shortfalls, sums):
    for j in range(n):
        bin_ = (words[falling[j]] >> shift) & np.uint32(255)
        own, added = sums[start + np.uint64(bin_)], shortfalls[j]
        for c in range(len(added)):
            own[c] += added[c]


@kernel
def sum_shortfalls(columns, scored, weights, integer_weights, rows, probe):
    """Sums of shortfalls for each label (and none) per bin, and class masses, after them."""
    packed, places, starts = columns
    y, n_classes = scored.y, scored.scores.shape[1]
    n_columns = _shortfall_width(n_classes)
    sums = np.zeros((starts[-1], n_columns + n_classes))
    shortfalls, falling = (
        np.zeros((SHORTFALL_ROWS, n_columns)),
        np.empty(SHORTFALL_ROWS + 1, dtype=np.uint64),
    )
    words = np.empty(SHORTFALL_ROWS, dtype=np.uint32)
    for begin in range(0, len(rows), SHORTFALL_ROWS):
        some = rows[begin : begin + SHORTFALL_ROWS]
        n = _find_shortfalls(scored, weights, some, probe, falling, shortfalls)
        group = np.int64(-1)
        for f in range(len(places)):
            if places[f] >> 2 != group:
                group = places[f] >> 2
                for j in range(len(some)):
                    words[j] = packed[group, np.uint64(some[j])]
            shift, start = np.uint32(8 * (places[f] & 3)), np.uint64(starts[f])
            for j in range(len(some)):
                row = np.uint64(some[j])
                cell = start + np.uint64((words[np.uint64(j)] >> shift) & np.uint32(255))
                sums[cell, np.uint64(n_columns) + np.uint64(y[row])] += integer_weights[row]
            _add_shortfalls(words, shift, start, falling, n, shortfalls, sums)
    return sums


@kernel
def _write_cuts(feature, parts, masses, n_labels, cuts):
    """A cut with any two of the best labels of its sides; how many are written."""
    (left, right), (left_mass, right_mass), n = parts, masses, 0
    purity, k = purity_of(left_mass, right_mass), len(left_mass)
    on_left, on_right = np.argsort(left[:k]), np.argsort(right[:k])
    for l in on_left[:n_labels]:
        for r in on_right[:n_labels]:
            cuts[n, 0], cuts[n, 1], cuts[n, 2] = feature, l, r
            cuts[n, 3], cuts[n, 4] = left[l] + right[r], -purity
            cuts[n, 5] = -left_mass[l] - right_mass[r]
            n += 1
    return n


@kernel
def list_cuts(features, layout, sums, mass, n_labels, cuts, sets):
    """All cuts of a node, and bins going left; they come feature by feature, shortest prefix first.

    A cut is (feature, left label, right label, shortfall, impurity, other mass): the smaller, the
    better. ``sums`` and ``mass`` are those of the features' bins. Returns how many cuts there are.
    """
    offsets, n_bins, has_missing, categorical = layout
    n_classes = mass.shape[1]
    order, n = np.empty(257, dtype=np.int64), 0
    for f in features:
        start, stop = offsets[f] - offsets[features[0]], offsets[f + 1] - offsets[features[0]]
        own, cells, masses = stop - start, sums[start:stop], mass[start:stop]
        total, shape = masses.sum(axis=0), (n_bins[f], has_missing[f], categorical[f])
        passes = 1
        if has_missing[f] and not categorical[f] and masses[own - 1].sum() > 0:
            passes = 2
        for first in range(passes):
            n_order = np.int64(0)
            if categorical[f]:
                n_order = np.int64(order_categories(masses.ravel(), own, total, GINI, order))
            else:
                n_order = np.int64(number_bins(n_bins[f], np.int64(first), order))
            left, left_mass = np.zeros(sums.shape[1]), np.zeros(n_classes, dtype=np.int64)
            right, right_mass = cells.sum(axis=0), total.copy()
            for k in range(n_order):
                bin_ = order[k]
                if masses[bin_].sum() == 0:
                    continue
                left += cells[bin_]
                right -= cells[bin_]
                left_mass += masses[bin_]
                right_mass -= masses[bin_]
                if k < first or right_mass.sum() == 0:
                    continue
                parts, both = (left, right), (left_mass, right_mass)
                more = _write_cuts(f, parts, both, n_labels, cuts[n:])
                write_set(order, k + 1, 0, own, shape, masses, sets[n])
                for same in range(1, more):
                    sets[n + same] = sets[n]
                n += more
    return n


class LabelledRows:
    """Rows with the labels that a tree has given them so far, and the problem of the best step."""

    def __init__(self, sample: SearchSample, scored: ScoredRows, problem: MarginProblem):
        self.sample, self.scored, self.weights = sample, scored, sample.weights
        self.problem, self.mass, self.scale = problem, problem.mass, problem.scale

    @cached_property
    def lines(self) -> MarginLines:
        """Of rows without a label; they change as they get one."""
        own, n = self.scored.rivals.own, len(self.weights)
        level = own - self.scored.rivals.first
        return MarginLines(level, np.full(n, np.inf), np.full(n, -1.0))

    def every(self, stride: int, width: float) -> "LabelledRows":
        """Each stride-th row, before any of them has a label."""
        rows = np.arange(0, len(self.weights), stride)
        sample = self.sample.take(rows, self.weights[rows], self.sample.integer_weights[rows])
        share = self.mass * float(sample.weights.sum() / self.weights.sum())
        problem = self.problem._replace(mass=share, width=width)
        return LabelledRows(sample, self.scored.at(rows), problem)

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


def _table(binned: BinnedRows, cuts: np.ndarray, sets: np.ndarray) -> CutTable:
    features, at = np.unique(cuts[:, 0].astype(np.int64), return_inverse=True)
    packed, places, _, _ = binned.group(features)
    return CutTable(packed, places[at], sets, cuts[:, 1:3].astype(np.int64))


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
        problem = MarginProblem(bottom, scale, scale, width)
        self.all = self.some = LabelledRows(sample, margin_state.rows, problem)
        n = len(sample.y)
        self.stride_bits = (n // MIN_SAMPLE_ROWS).bit_length() - 1 if n >= SAMPLING_PAYS else 0
        if self.stride_bits:
            self.some = self.all.every(1 << self.stride_bits, max(width, step / 64))
        self.groups = sample.groups(sample.n_classes)
        k, n_bins = sample.n_classes, int(sample.binned.offsets[-1])
        self.n_labels = k if n_bins * k**2 * n <= EXACT_WORK else min(k, TRIED_LABELS)

    def _of_some(self, rows: np.ndarray) -> np.ndarray:
        """Their places among some of the rows."""
        if not self.stride_bits:
            return rows
        return rows[(rows & ((1 << self.stride_bits) - 1)) == 0] >> self.stride_bits

    def apply(self, found: LineSearchSplit, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        def give_label(leaf: Leaf) -> None:
            set_lines(self.some.scored, self._of_some(leaf.rows), leaf.label, self.some.lines)

        self.sample.run(give_label, [leaf for leaf in leaves if leaf.label != parent.label])
        self.step = found.step

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> LineSearchSplit | None:
        probes = [(step, self.some.threshold(step)) for step in self._first_steps(leaf)]
        rated: dict[tuple[float, ...], Rated] = {}
        rows = self._of_some(leaf.rows)
        for _ in range(MAX_ORDERINGS):
            for probe in probes:
                self._rate(leaf, rows, probe, rated)
            if not rated:
                return None
            found = sorted(rated.values(), key=lambda one: one.order)
            best = found[0].probe
            if any(step / SAME_STEP <= best[0] <= step * SAME_STEP for step, _ in probes):
                break
            probes = [best]
        chosen = (
            self._best_of_all(leaf, leaves, found[:FULLY_COMPARED_CUTS])
            if self.stride_bits
            else found[0]
        )
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
        most = int(min(len(cuts), max(MIN_SEARCHED_CUTS, EXACT_WORK // len(self.sample.y))))
        first = np.lexsort((cuts[:, 4], cuts[:, 3]))[:most].tolist()
        names = {at: (at // self.n_labels**2, *cuts[at, 1:3]) for at in first}
        new = [at for at in first if names[at] not in rated]
        table, found = _table(some.sample.binned, cuts[new], sets[new]), np.empty((len(new), 3))
        leaf_of_some = some.scored, rows, table
        top = min(2 * probe[0], some.scale)
        search = CutSearch(some.lines, some.weights, some.problem, some.floor, top)
        shares = np.array_split(np.arange(len(new)), self.sample.n_threads)
        run(lambda numbers: search_cuts(*leaf_of_some, numbers, search, found), shares)
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
            sum_shortfalls_of(own.scored, one.rows[part], *labels, *points)
            return short if inside else short[at]

        pieces = [
            (one, part)
            for one in leaves
            for part in split_evenly(len(one.rows), -(-len(one.rows) // THREAD_ROWS))
        ]
        short = np.sum(self.sample.run(add_up, pieces), axis=0)
        margins = (own.mass * probes[:, 1] - short) / (own.mass * (own.scale + probes[:, 0]))
        pairs = zip(few, margins.tolist(), strict=True)
        return min((replace(one, margin=g) for one, g in pairs), key=lambda one: one.order)

    def label_all(self, rows: np.ndarray) -> int:
        own, mass = self.all, self.sample.mass_of(rows)
        tried = []
        for label in range(self.sample.n_classes):
            set_lines(own.scored, rows, label, own.lines)
            found = search_step(
                own.lines, own.weights, own.problem, own.floor, own.scale / FIRST_PART
            )
            tried.append((-round(found.margin * MARGIN_DIGITS), -mass[label], label))
        return min(tried)[2]

    def _cuts(self, leaf: Leaf, probe: Probe) -> tuple[np.ndarray, np.ndarray]:
        """All cuts of a leaf with their shortfalls at a probe, and bins going left."""
        rows = leaf.rows[:: max(1, len(leaf.rows) // MIN_ORDERING_ROWS)]
        found = [self._cuts_of_group(rows, probe, group) for group in self.groups]
        cuts, sets = (np.concatenate(both) for both in zip(*found, strict=True))
        cuts[:, 4] = np.round(
            cuts[:, 4] / self.sample.integer_weights.sum(), 12
        )  # equal splits tie
        return cuts, sets

    def _cuts_of_group(
        self, rows: np.ndarray, probe: Probe, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sample, own, width = self.sample, self.all, shortfall_width(self.sample.n_classes)
        weighted = own.scored, own.weights, sample.integer_weights
        sums = sample.sum_blocks(
            lambda columns, some: sum_shortfalls(columns, *weighted, some, probe),
            sample.columns(features), rows, width + sample.n_classes,
        )  # fmt: skip
        mass = sums[:, width:].astype(np.int64)
        n = 2 * len(sums) * self.n_labels**2
        cuts, sets = np.empty((n, 6)), np.zeros((n, BITSET_WORDS), np.uint32)
        n = list_cuts(features, sample.binned.layout, sums, mass, self.n_labels, cuts, sets)
        return cuts[:n], sets[:n]
