"""Phase I of direct optimisation: splits by the training error after the best step."""

from collections.abc import Iterable, Sequence

import numpy as np

from steadyboost.boosters.dmcboost.breakpoints import (
    all_breakpoints,
    exponential_losses,
    find_positions,
)
from steadyboost.boosters.dmcboost.error_search import best_label, search_features
from steadyboost.boosters.dmcboost.error_sums import add_sides, sum_sides, sum_tallies, sum_turns
from steadyboost.boosters.dmcboost.linesearch import merge_points, merging_width
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample
from steadyboost.boosters.dmcboost.search_tree import Leaf, LineSearchSplit
from steadyboost.trees.histograms.row_statistics import parts
from steadyboost.trees.splits.bitset import BITSET_WORDS

EXACT_POINTS = 2**17  # breakpoints up to which all of them are used
EXACT_WORK = 4_000_000  # cells of scored curves up to which intervals are not merged
MOST_INTERVALS, INTERVALS = 4096, 256
FEW = 6  # rows per bin up to which they are added one by one
KEPT_CELLS = 2**21  # of the sums of a node, up to which those of several nodes are kept

NodeSums = tuple[np.ndarray, ...]  # see ``sums`` of steadyboost.boosters.dmcboost.error_search
Part = tuple[np.ndarray, float, float]  # weight right on each interval, losses of own and others


class ErrorSplitScorer:
    """Phase I: the training error after the best step, then the exponential loss there."""

    def __init__(self, sample: SearchSample, margin_state: MarginState, scale: float):
        self.sample, self.margin_state, self.width = sample, margin_state, merging_width(scale)
        self.scores = scores = margin_state.scores
        self.ends = self._ends()
        self.n_intervals = len(self.ends[0]) + 1
        scratch = margin_state.scratch.array("positions", scores.size, np.uint16)
        self.positions = scratch.reshape(sample.n_classes, len(scores))
        self.tallies = self._tallies()
        self.share = 1 / float(self.tallies[-1].sum())
        self.groups = sample.groups(sample.n_classes * self.n_intervals)
        self.bundles = sample.binned.bundles(sample.n_classes)
        self.dtype = np.dtype(np.int32 if sample.whole.sum() < 2**31 else np.int64)
        self._right = np.zeros(self.n_intervals, dtype=self.dtype)  # of all leaves together
        self._curves: dict[int, np.ndarray] = {}  # of each of them
        self._losses = np.zeros((2, 2 * len(scores)))  # as well
        self._sides: dict[int, list[Part]] = {}
        self._pairs: dict[int, tuple[int, Sequence[Leaf]]] = {}
        self._sums: dict[int, list[NodeSums]] = {}

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of groups of breakpoints: of all, or of some that part them evenly."""
        n, k = self.scores.shape
        exact = n * k <= EXACT_POINTS
        rows = np.arange(0, n, 1 if exact else -(-2 * n * k // EXACT_POINTS))
        points = np.zeros(len(rows) * k + 1)
        sample = self.sample
        count = all_breakpoints(self.scores, sample.y, self.margin_state.arrays, rows, points[1:])
        points = np.sort(points[: count + 1])
        low, high, sums = (
            np.empty(count + 1),
            np.empty(count + 1),
            np.empty(count + 1, np.int64),
        )
        m = merge_points(points, np.ones_like(sums), self.width, low, high, sums)
        low, high, sums = low[:m], high[:m], sums[:m]
        limit = EXACT_WORK // (2 * k * int(sample.binned.offsets[-1])) if exact else 0
        if m > max(INTERVALS, min(limit, MOST_INTERVALS)):
            shares = np.arange(1, INTERVALS) / INTERVALS * (count + 1)
            chosen = np.searchsorted(np.cumsum(sums), shares)
            chosen = np.union1d(chosen, np.searchsorted(high, 0.0))
            low, high = low[chosen], high[chosen]
        return low, high

    def _tallies(self) -> tuple[np.ndarray, ...]:
        """See :mod:`steadyboost.boosters.dmcboost.error_sums`."""
        sample, edges = self.sample, self.ends[1]

        def place(at: slice) -> None:
            rows = self.scores[at], sample.y[at], self.margin_state.at(at)
            find_positions(*rows, edges, self.width, at.start, self.positions)

        sample.run(place, self.margin_state.parts)
        other, total = exponential_losses(sample, self.margin_state)
        right_now = np.where(self.margin_state.margins > 0, sample.whole, 0)
        return sample.y, sample.whole, right_now, other, total

    def apply(self, found: LineSearchSplit, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        if parent.place in self._curves:
            self._right -= self._curves.pop(parent.place)
            self._losses[:, parent.place] = 0.0
        for leaf, (curve, *losses) in zip(leaves, self._sides.pop(parent.place), strict=True):
            self._right += curve
            self._curves[leaf.place], self._losses[:, leaf.place] = curve, losses
            self._pairs[leaf.place] = parent.place, leaves

    def _around(self, place: int) -> Part:
        """The contribution of all leaves but one."""
        if place not in self._curves:
            return self._right, 0.0, 0.0
        n_places = 1 + next(reversed(self._curves))  # they came in the order of their places
        before, after = self._losses[:, :place], self._losses[:, place + 1 : n_places]
        own, others = (before.sum(axis=1) + after.sum(axis=1)).tolist()
        return self._right - self._curves[place], own, others

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> LineSearchSplit | None:
        around = self._around(leaf.place)
        best = None
        for group, sums in zip(self.groups, self._sums_of(leaf), strict=True):
            found = self._search_group(leaf, around, group, sums)
            if found is not None and (best is None or found.key < best.key):
                best = found
                self._sides[leaf.place] = self._sides_of(leaf, found, group, sums)
        return best

    def _sides_of(
        self, leaf: Leaf, found: LineSearchSplit, group: np.ndarray, sums: NodeSums
    ) -> list[Part]:
        feature = np.array([found.feature])
        if len(sums[0]):
            hist, _, cells, _ = self._cells(group, feature, sums)
            curves, losses = sum_sides(hist, cells, found.left_bitset, found.labels)
        else:
            read, sides = self.sample.columns(feature), (found.left_bitset, found.labels)
            curves, losses = np.zeros((2, self.n_intervals), self.dtype), np.zeros((2, 2))
            add_sides(read, leaf.rows, self.tallies, self.positions, *sides, curves, losses)
            losses *= self.share
        return [(curve, *both) for curve, both in zip(curves, losses.tolist(), strict=True)]

    def _cells(self, group: np.ndarray, features: np.ndarray, sums: NodeSums) -> NodeSums:
        """The sums of some features of a group, without a gap between them."""
        offsets = self.sample.binned.offsets
        first = offsets[group[0]]
        at = slice(offsets[features[0]] - first, offsets[features[-1] + 1] - first)
        return tuple(own[at] for own in sums)

    def _sums_of(self, leaf: Leaf) -> Iterable[NodeSums]:
        """Sums by bin of a leaf's rows; of two leaves of a split, the larger has what is left."""
        if leaf.place not in self._sums:
            parent, pair = self._pairs.get(leaf.place, (-1, ()))
            smaller, larger = sorted(pair or (leaf, leaf), key=lambda one: len(one.rows))
            if self._is_sparse(smaller.rows):
                return self._summed(leaf)
            if parent in self._sums:
                part = list(self._summed(smaller))
                whole = self._sums.pop(parent)
                for of_whole, of_part in zip(whole, part, strict=True):
                    for array, own in zip(of_whole, of_part, strict=True):
                        array -= own
                self._sums[smaller.place], self._sums[larger.place] = part, whole
            elif self._fits():
                self._sums[leaf.place] = list(self._summed(leaf))
            else:
                return self._summed(leaf)
        return self._sums[leaf.place]

    def _fits(self) -> bool:
        """Whether the sums of several nodes can be kept."""
        n_cells = int(self.sample.binned.offsets[-1]) * self.sample.n_classes
        return n_cells * self.n_intervals <= KEPT_CELLS

    def _is_sparse(self, rows: np.ndarray) -> bool:
        """Whether bins have so few rows that no histogram is made of them."""
        return len(rows) * self.sample.binned.n_features < FEW * self.sample.binned.offsets[-1]

    def _summed(self, leaf: Leaf) -> Iterable[NodeSums]:
        """Sums by bin, one group of features after the other."""
        dense = not self._is_sparse(leaf.rows)
        return (self._sum_group(leaf.rows, features, dense) for features in self.groups)

    def _sum_group(self, rows: np.ndarray, features: np.ndarray, dense: bool = True) -> NodeSums:
        sample, k = self.sample, self.sample.n_classes
        single = sample.columns(features)
        tally = sample.sum_stretches(
            lambda read, some: sum_tallies(read, some, self.tallies), single, rows, 3 * k + 1
        )
        mass = tally[:, 2 * k : 3 * k].astype(np.int64)
        hist = np.empty((len(mass) if dense else 0, k, self.n_intervals), dtype=self.dtype)
        if dense:
            read, bundles = sample.bundled(single, len(rows), self.n_intervals + 1)
            of = rows, self.tallies, self.positions, mass
            sample.run(
                lambda at: sum_turns(read, bundles, single[2], np.arange(k)[at], *of, hist),
                parts(k, min(k, sample.n_parts)),
            )
        return hist, mass, self.share * tally[:, : 2 * k], tally[:, 3 * k].astype(np.int64)

    def _search_group(
        self, leaf: Leaf, around: Part, group: np.ndarray, sums: NodeSums
    ) -> LineSearchSplit | None:
        """The best split on a group of features, of which each thread takes some."""
        turns = *self.tallies[:2], self.positions

        def search(features: np.ndarray) -> LineSearchSplit | None:
            left_bitset = np.zeros(BITSET_WORDS, dtype=np.uint32)
            own, layout = self._cells(group, features, sums), self.sample.binned.layout
            node = leaf.rows, self.sample.columns(features), turns
            weight, loss, purity, feature, left, right = search_features(
                features, layout, node, own, around, leaf.label, self.ends, left_bitset
            )
            if feature < 0:
                return None
            key = -weight, loss, self.sample.impurity(purity)
            return LineSearchSplit(key, int(feature), left_bitset, (left, right))

        n_parts = min(self.sample.n_parts, len(group))
        shares = np.array_split(group, n_parts) if n_parts > 1 else [group]
        found = [one for one in self.sample.run(search, shares) if one is not None]
        return min(found, key=lambda one: one.key, default=None)

    def label_all(self, rows: np.ndarray) -> int:
        sums = self._sum_group(rows, self.groups[0][:1])
        part = tuple(own.sum(axis=0, dtype=own.dtype) for own in sums[:3])
        return int(best_label((*part, sums[3]), self.ends))
