"""Phase I of direct optimisation: splits scored by the training error after the best step.

The kernels here make the sums over the rows of a node that the search needs, by the bins of
columns: the features themselves, or columns that bundle several of them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.error_line_search import (
    all_breakpoints,
    exponential_losses,
    find_positions,
    merge_points,
    merging_width,
)
from steadyboost.boosters.dmcboost.error_search import (
    Breakpoints,
    IntervalEnds,
    LeafContribution,
    NodeSums,
    PartSums,
    SearchNode,
    add_row,
    best_label,
    search_features,
)
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample
from steadyboost.boosters.dmcboost.search_tree import Leaf, LineSearchSplit
from steadyboost.trees.data.bundling import add_vector_marginals
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import split_evenly
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains

BREAKPOINT_ROWS = 2048  # rows whose words and breakpoints fit into the cache
LOSS_ROWS = 512  # rows whose losses fit into it
EXACT_POINTS = 2**17  # breakpoints up to which all of them are used
EXACT_WORK = 4_000_000  # cells of scored curves up to which intervals are not merged
MAX_INTERVALS, MERGED_INTERVALS = 4096, 256  # at the most without merging; and after it
HISTOGRAM_ROWS_PER_BIN = 6  # rows per bin up to which they are added one by one
CACHED_CELLS = 2**21  # of the sums of a node, up to which those of several nodes are kept


class RowLosses(NamedTuple):
    """What each row adds to the sums of a node."""

    y: np.ndarray
    weights: np.ndarray  # as integers
    right_now: np.ndarray  # the weight, where a row is right without a vote
    other: np.ndarray  # exponential losses against each other label, (n, labels)
    total: np.ndarray  # and in all


class RowJumps(NamedTuple):
    """Some rows, the intervals in which a vote turns them, and the weight that turns right."""

    rows: np.ndarray
    at: np.ndarray
    jumps: np.ndarray


@kernel
def _gather(words, rows, n, out):
    for j in range(n):
        out[j] = words[np.uint64(rows[j])]


@kernel
def _list_jumps(rows, label, breakpoints, never, listed):
    """Those rows that a vote for a label can turn, where, and their jumps; how many there are."""
    y, weights, positions = breakpoints.y, breakpoints.weights, breakpoints.positions[label]
    turned, at, jumps = listed
    n = np.uint64(0)
    for j in range(len(rows)):
        row = np.uint64(rows[j])
        turned[n], at[n] = rows[j], positions[row]
        jumps[n] = weights[row] if y[row] == label else -weights[row]
        n += np.uint64(positions[row] < never)
    return np.int64(n)


@kernel
def _add_four(words, n, at, jumps, starts, width, sums):
    """Four columns at once: one load of their packed bins serves four sums."""
    wide, mask = np.uint64(width), np.uint64(255)
    base0, base1 = np.uint64(starts[0]) * wide, np.uint64(starts[1]) * wide
    base2, base3 = np.uint64(starts[2]) * wide, np.uint64(starts[3]) * wide
    for j in range(n):
        word, jump, place = np.uint64(words[j]), jumps[j], np.uint64(at[j])
        sums[base0 + (word & mask) * wide + place] += jump
        sums[base1 + ((word >> np.uint64(8)) & mask) * wide + place] += jump
        sums[base2 + ((word >> np.uint64(16)) & mask) * wide + place] += jump
        sums[base3 + (word >> np.uint64(24)) * wide + place] += jump


@kernel
def _add_one(words, shift, n, at, jumps, start, width, sums):
    wide, base = np.uint64(width), np.uint64(start) * np.uint64(width)
    for j in range(n):
        bin_ = (np.uint64(words[j]) >> np.uint64(shift)) & np.uint64(255)
        sums[base + bin_ * wide + np.uint64(at[j])] += jumps[j]


@kernel
def _add_jumps(columns, listed, n, width, words, sums):
    """Add jumps per (bin, interval), four columns at a time where there are as many."""
    packed, places, starts = columns
    turned, at, jumps = listed
    f = np.int64(0)
    while f < len(places):
        group, stop = places[f] >> 2, f
        while stop < len(places) and places[stop] >> 2 == group:
            stop += 1
        _gather(packed[group], turned, n, words)
        if stop - f == 4:
            _add_four(words, n, at, jumps, starts[f:], width, sums)
        else:
            for k in range(f, stop):
                _add_one(words, 8 * (places[k] & 3), n, at, jumps, starts[k], width, sums)
        f = stop


@kernel
def _cumulate(jumps, mass, label, hist):
    """From jumps to the weight that is right on each interval."""
    width = hist.shape[2] + 1
    for cell in range(len(hist)):
        own, out = jumps[cell * width : (cell + 1) * width], hist[cell, label]
        turned = np.int64(0)
        for j in range(width):
            turned += own[j]
        right = mass[cell, label] - turned  # right before the first breakpoint
        for j in range(width - 1):  # the last column has those beyond all intervals
            right += own[j]
            out[j] = right


@kernel
def sum_jumps(columns, bundles, starts, labels, rows, breakpoints, mass, hist):
    """Weight right by (bin, label, interval) of a node's rows, for some of the labels.

    ``bundles`` says which features the columns bundle; it has no members where they bundle none.
    """
    joined, width = len(bundles.members) > 0, hist.shape[2] + 1
    sums = np.empty(columns.starts[-1] * width, dtype=hist.dtype)
    single = np.empty(len(hist) * width if joined else 0, dtype=hist.dtype)
    words = np.empty(BREAKPOINT_ROWS + 1, dtype=np.uint32)
    listed = RowJumps(
        np.empty(BREAKPOINT_ROWS + 1, dtype=rows.dtype),
        np.empty(BREAKPOINT_ROWS + 1, dtype=breakpoints.positions.dtype),
        np.empty(BREAKPOINT_ROWS + 1, dtype=hist.dtype),
    )
    for k in labels:
        sums[:] = 0
        for begin in range(0, len(rows), BREAKPOINT_ROWS):
            some = rows[begin : begin + BREAKPOINT_ROWS]
            n = _list_jumps(some, k, breakpoints, width, listed)
            _add_jumps(columns, listed, n, width, words, sums)
        if joined:
            single[:] = 0
            add_vector_marginals(bundles, sums, starts, width, single)
        _cumulate(single if joined else sums, mass, k, hist)


@kernel
def sum_losses(columns, rows, row_losses):
    """Sums per bin: losses of the own label, of others, class masses, weight right without votes.

    The labels' losses as others come first, then those as own ones, then masses: all are whole
    numbers below 2**53, or losses.
    """
    packed, places, starts = columns
    y, weights, right, other, total = row_losses
    n_classes = other.shape[1]
    out = np.zeros((starts[-1], 3 * n_classes + 1))
    words = np.empty(LOSS_ROWS, dtype=np.uint32)
    for begin in range(0, len(rows), LOSS_ROWS):
        some = rows[begin : begin + LOSS_ROWS]
        group = np.int64(-1)
        for f in range(len(places)):
            if places[f] >> 2 != group:
                group = places[f] >> 2
                _gather(packed[group], some, len(some), words)
            shift, start = np.uint32(8 * (places[f] & 3)), np.uint64(starts[f])
            for j in range(len(some)):
                row = np.uint64(some[j])
                bin_ = (words[np.uint64(j)] >> shift) & np.uint32(255)
                sums, losses = out[start + np.uint64(bin_)], other[row]
                for c in range(n_classes):
                    sums[c] += losses[c]
                label = np.uint64(n_classes) + np.uint64(y[row])
                sums[label] += total[row]
                sums[label + np.uint64(n_classes)] += weights[row]
                sums[np.uint64(3 * n_classes)] += right[row]
    return out


@kernel
def sum_sides(hist, losses, left_bitset, labels):
    """What both sides of a split add with their labels: the weight right on each interval, losses.

    ``hist`` and ``losses`` are those of the feature that is split on.
    """
    n_cells, n_classes, width = hist.shape
    curves, both = np.zeros((2, width), dtype=hist.dtype), np.zeros((2, 2))
    for bin_ in range(n_cells):
        side = 1 - contains(left_bitset, bin_)
        label, curve = labels[side], curves[side]
        own = hist[bin_, label]
        for j in range(width):
            curve[j] += own[j]
        both[side, 0] += losses[bin_, n_classes + label]
        both[side, 1] += losses[bin_, label]
    return curves, both


@kernel
def add_sides(columns, rows, row_losses, breakpoints, left_bitset, labels, curves, losses):
    """As ``sum_sides``, row by row where there is no histogram: added to ``curves`` and losses."""
    packed, place = columns.packed, columns.places[0]
    y, other, total = row_losses.y, row_losses.other, row_losses.total
    words, shift = packed[place >> 2], np.uint32(8 * (place & 3))
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        side = 1 - contains(left_bitset, np.int64((words[row] >> shift) & np.uint32(255)))
        label = labels[side]
        add_row(row, label, breakpoints, curves[side])
        if y[row] == label:
            losses[side, 0] += total[row]
        losses[side, 1] += other[row, label]


class ErrorSplitScorer:
    """Phase I: the training error after the best step, then the exponential loss there."""

    def __init__(self, sample: SearchSample, margin_state: MarginState, scale: float):
        self.sample, self.margin_state, self.width = sample, margin_state, merging_width(scale)
        self.scores = scores = margin_state.scores
        self.ends = self._ends()
        self.n_intervals = len(self.ends.low) + 1
        scratch = margin_state.scratch.array("positions", scores.size, np.uint16)
        self.positions = scratch.reshape(sample.n_classes, len(scores))
        self.row_losses = self._row_losses()
        self.breakpoints = Breakpoints(self.row_losses.y, self.row_losses.weights, self.positions)
        self.share = 1 / float(self.row_losses.total.sum())
        self.groups = sample.groups(sample.n_classes * self.n_intervals)
        self.bundles = sample.binned.bundles(sample.n_classes)
        # Half the memory, where all rows together do not overflow.
        self.dtype = np.dtype(np.int32 if sample.integer_weights.sum() < 2**31 else np.int64)
        self._right = np.zeros(self.n_intervals, dtype=self.dtype)  # of all leaves together
        self._curves: dict[int, np.ndarray] = {}  # of each of them
        self._losses = np.zeros((2, 2 * len(scores)))  # as well
        self._sides: dict[int, list[LeafContribution]] = {}
        self._pairs: dict[int, tuple[int, Sequence[Leaf]]] = {}
        self._sums: dict[int, list[NodeSums]] = {}

    def _ends(self) -> IntervalEnds:
        """Ends of groups of breakpoints: of all, or of some that part them evenly."""
        n, k = self.scores.shape
        exact = n * k <= EXACT_POINTS
        rows = np.arange(0, n, 1 if exact else -(-2 * n * k // EXACT_POINTS))
        points = np.zeros(len(rows) * k + 1)
        count = all_breakpoints(self.margin_state.rows, rows, points[1:])
        points = np.sort(points[: count + 1])
        low, high, sums = (
            np.empty(count + 1),
            np.empty(count + 1),
            np.empty(count + 1, np.int64),
        )
        m = merge_points(points, np.ones_like(sums), self.width, low, high, sums)
        low, high, sums = low[:m], high[:m], sums[:m]
        limit = EXACT_WORK // (2 * k * int(self.sample.binned.offsets[-1])) if exact else 0
        if m > max(MERGED_INTERVALS, min(limit, MAX_INTERVALS)):
            shares = np.arange(1, MERGED_INTERVALS) / MERGED_INTERVALS * (count + 1)
            chosen = np.searchsorted(np.cumsum(sums), shares)
            chosen = np.union1d(chosen, np.searchsorted(high, 0.0))
            low, high = low[chosen], high[chosen]
        return IntervalEnds(low, high)

    def _row_losses(self) -> RowLosses:
        """Also finds the positions of the breakpoints of all rows."""
        sample, edges = self.sample, self.ends.high

        def place(at: slice) -> None:
            rows = self.margin_state.rows.at(at)
            find_positions(rows, edges, self.width, at.start, self.positions)

        sample.run(place, self.margin_state.parts)
        other, total = exponential_losses(sample, self.margin_state)
        right_now = np.where(self.margin_state.margins > 0, sample.integer_weights, 0)
        return RowLosses(sample.y, sample.integer_weights, right_now, other, total)

    def apply(self, found: LineSearchSplit, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        if parent.place in self._curves:
            self._right -= self._curves.pop(parent.place)
            self._losses[:, parent.place] = 0.0
        for leaf, (curve, *losses) in zip(leaves, self._sides.pop(parent.place), strict=True):
            self._right += curve
            self._curves[leaf.place], self._losses[:, leaf.place] = curve, losses
            self._pairs[leaf.place] = parent.place, leaves

    def _elsewhere(self, place: int) -> LeafContribution:
        """The contribution of all leaves but one."""
        if place not in self._curves:
            return LeafContribution(self._right, 0.0, 0.0)
        n_places = 1 + next(reversed(self._curves))  # they came in the order of their places
        before, after = self._losses[:, :place], self._losses[:, place + 1 : n_places]
        own, others = (before.sum(axis=1) + after.sum(axis=1)).tolist()
        return LeafContribution(self._right - self._curves[place], own, others)

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> LineSearchSplit | None:
        elsewhere = self._elsewhere(leaf.place)
        best = None
        for group, sums in zip(self.groups, self._sums_of(leaf), strict=True):
            found = self._search_group(leaf, elsewhere, group, sums)
            if found is not None and (best is None or found.key < best.key):
                best = found
                self._sides[leaf.place] = self._sides_of(leaf, found, group, sums)
        return best

    def _sides_of(
        self, leaf: Leaf, found: LineSearchSplit, group: np.ndarray, sums: NodeSums
    ) -> list[LeafContribution]:
        feature = np.array([found.feature])
        if len(sums.hist):
            cells = self._cells(group, feature, sums)
            curves, losses = sum_sides(cells.hist, cells.losses, found.left_bitset, found.labels)
        else:
            columns, sides = self.sample.columns(feature), (found.left_bitset, found.labels)
            curves, losses = np.zeros((2, self.n_intervals), self.dtype), np.zeros((2, 2))
            add_sides(columns, leaf.rows, self.row_losses, self.breakpoints, *sides, curves, losses)
            losses *= self.share
        both = zip(curves, losses.tolist(), strict=True)
        return [LeafContribution(curve, *own) for curve, own in both]

    def _cells(self, group: np.ndarray, features: np.ndarray, sums: NodeSums) -> NodeSums:
        """The sums of some features of a group, without a gap between them."""
        offsets = self.sample.binned.offsets
        first = offsets[group[0]]
        at = slice(offsets[features[0]] - first, offsets[features[-1] + 1] - first)
        return NodeSums(*(own[at] for own in sums))

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
        return n_cells * self.n_intervals <= CACHED_CELLS

    def _is_sparse(self, rows: np.ndarray) -> bool:
        """Whether bins have so few rows that no histogram is made of them."""
        return (
            len(rows) * self.sample.binned.n_features
            < HISTOGRAM_ROWS_PER_BIN * self.sample.binned.offsets[-1]
        )

    def _summed(self, leaf: Leaf) -> Iterable[NodeSums]:
        """Sums by bin, one group of features after the other."""
        dense = not self._is_sparse(leaf.rows)
        return (self._sum_group(leaf.rows, features, dense) for features in self.groups)

    def _sum_group(self, rows: np.ndarray, features: np.ndarray, dense: bool = True) -> NodeSums:
        sample, k = self.sample, self.sample.n_classes
        single = sample.columns(features)
        tally = sample.sum_blocks(
            lambda columns, some: sum_losses(columns, some, self.row_losses),
            single,
            rows,
            3 * k + 1,
        )
        mass = tally[:, 2 * k : 3 * k].astype(np.int64)
        hist = np.empty((len(mass) if dense else 0, k, self.n_intervals), dtype=self.dtype)
        if dense:
            columns, bundles = sample.bundled(single, len(rows), self.n_intervals + 1)
            of = rows, self.breakpoints, mass
            sample.run(
                lambda at: sum_jumps(columns, bundles, single.starts, np.arange(k)[at], *of, hist),
                split_evenly(k, min(k, sample.n_parts)),
            )
        losses, right_now = self.share * tally[:, : 2 * k], tally[:, 3 * k].astype(np.int64)
        return NodeSums(hist, mass, losses, right_now)

    def _search_group(
        self, leaf: Leaf, elsewhere: LeafContribution, group: np.ndarray, sums: NodeSums
    ) -> LineSearchSplit | None:
        """The best split on a group of features, of which each thread takes some."""

        def search(features: np.ndarray) -> LineSearchSplit | None:
            left_bitset = np.zeros(BITSET_WORDS, dtype=np.uint32)
            own, layout = self._cells(group, features, sums), self.sample.binned.layout
            node = SearchNode(leaf.rows, self.sample.columns(features), self.breakpoints)
            weight, loss, purity, feature, left, right = search_features(
                features, layout, node, own, elsewhere, leaf.label, self.ends, left_bitset
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
        curves, mass, losses = (own.sum(axis=0, dtype=own.dtype) for own in sums[:3])
        return int(best_label(PartSums(curves, mass, losses, sums.right_now), self.ends))
