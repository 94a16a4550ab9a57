"""Phase I of direct optimisation: splits by the training error after the best step."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from steadyboost.trees.error_search import best_label, search_features, sum_features
from steadyboost.trees.error_sums import count_events, list_events, part_of
from steadyboost.trees.linesearch import merge_points, merging_width
from steadyboost.trees.search_tree import Found, Leaf
from steadyboost.trees.splitting import SET_WORDS
from steadyboost.trees.standing import (
    Sample,
    Standing,
    all_breakpoints,
    exponential_losses,
    find_positions,
    padded,
)
from steadyboost.trees.tree import parts

EXACT_POINTS = 2**17  # breakpoints up to which all of them are looked at
EXACT_WORK = 4_000_000  # cells of judged curves up to which every interval is one by itself
MOST_INTERVALS, INTERVALS = 4096, 256
KEPT_CELLS = 2**21  # of the sums of a node, up to which those of several nodes are kept


def _subtract(pair: tuple[tuple, tuple]) -> None:
    for whole, part in zip(*pair, strict=True):
        whole -= part


class ErrorJudge:
    """Phase I: the training error after the best step, then the exponential loss there."""

    def __init__(self, sample: Sample, standing: Standing, scale: float):
        self.sample, self.standing, self.width = sample, standing, merging_width(scale)
        self.scores = scores = standing.scores
        self.ends = self._ends()
        self.n_intervals = len(self.ends[0]) + 1
        self.positions = np.empty((sample.n_classes, len(scores)), dtype=np.uint16)
        self.tallies = self._tallies()
        self.groups = sample.groups(sample.n_classes * (self.n_intervals + 1))
        self._known: dict[tuple[int, int], tuple] = {}
        self._pairs: dict[int, tuple[int, Sequence[Leaf]]] = {}
        self._sums: dict[int, list[tuple]] = {}
        self._room = self._events_room(len(scores))

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of groups of breakpoints: of all, or of some that part them evenly."""
        n, k = self.scores.shape
        exact = n * k <= EXACT_POINTS
        rows = np.arange(0, n, 1 if exact else -(-2 * n * k // EXACT_POINTS))
        points = np.zeros(len(rows) * k + 1)
        sample = self.sample
        count = all_breakpoints(self.scores, sample.y, self.standing.arrays, rows, points[1:])
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
        """See :mod:`steadyboost.trees.error_search`; losses are shares of their sum."""
        sample = self.sample
        edges, n_edges = padded(self.ends[1]), len(self.ends[1])

        def place(at: slice) -> None:
            scores, y, standing = self.scores[at], sample.y[at], self.standing.at(at)
            find_positions(
                scores,
                y,
                standing,
                edges,
                n_edges,
                self.width,
                at.start,
                self.positions,
            )

        sample.run(place, self.standing.parts)
        other, total = exponential_losses(sample, self.standing)
        right_now = np.where(self.standing.gaps > 0, sample.whole, 0)
        return sample.y, sample.whole, right_now, other, total

    def _part(self, leaf: Leaf) -> tuple:
        key = leaf.place, leaf.label
        if key not in self._known:
            self._known[key] = part_of(
                leaf.rows, leaf.label, self.positions, self.tallies, self.n_intervals
            )
        return self._known[key]

    def take(self, found: Found, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        for leaf in leaves:
            self._pairs[leaf.place] = parent.place, leaves

    def search(self, leaf: Leaf, others: Sequence[Leaf]) -> Found | None:
        outside = self.sample.run(self._part, others)
        curve = np.sum([part[0] for part in outside], axis=0, initial=np.int64(0))
        curve = np.zeros(self.n_intervals, dtype=np.int64) + curve
        losses = [float(sum(part[k] for part in outside)) for k in (1, 2)]
        search = partial(self._search_group, leaf.label, (curve, *losses))
        groups = list(zip(self.groups, self._sums_of(leaf), strict=True))
        found = [f for f in self.sample.run(search, groups) if f is not None]
        return min(found, key=lambda f: f.key) if found else None

    def _sums_of(self, leaf: Leaf) -> list[tuple]:
        """Sums by bin of a leaf's rows; of two leaves of a split, the larger has what is left."""
        if leaf.place not in self._sums:
            parent, pair = self._pairs.get(leaf.place, (-1, ()))
            if parent in self._sums:
                smaller, larger = sorted(pair, key=lambda one: len(one.rows))
                self._sums[smaller.place] = part = self._summed(smaller)
                self._sums[larger.place] = whole = self._sums.pop(parent)
                self.sample.run(_subtract, list(zip(whole, part, strict=True)))
            elif self._fits():
                self._sums[leaf.place] = self._summed(leaf)
            else:
                return self._summed(leaf)
        return self._sums[leaf.place]

    def _fits(self) -> bool:
        """Whether the sums of several nodes can be kept."""
        n_cells = int(self.sample.binned.offsets[-1]) * self.sample.n_classes
        return n_cells * (self.n_intervals + 1) <= KEPT_CELLS

    def _summed(self, leaf: Leaf) -> list[tuple]:
        events = self._events(leaf.rows)

        def sum_up(features: np.ndarray) -> tuple:
            packed, places, layout, _ = self.sample.binned.group(features)
            width = self.n_intervals + 1
            return sum_features(packed, places, layout, leaf.rows, events, self.tallies, width)

        return self.sample.run(sum_up, self.groups)

    def _events_room(self, n_rows: int) -> tuple[np.ndarray, ...]:
        size = n_rows * self.sample.n_classes + 1
        return (
            np.empty(size, np.int32),
            np.empty(size, np.uint16),
            np.empty(size, np.int64),
        )

    def _events(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        sample, never = self.sample, self.n_intervals + 1
        labels = [np.arange(sample.n_classes)[at] for at in parts(sample.n_classes, sample.n_parts)]
        counts = sample.run(
            lambda own: count_events(rows, self.positions[own[0] : own[-1] + 1], never),
            labels,
        )
        bounds = np.concatenate([[0], np.cumsum(np.concatenate(counts))])

        def write(own: np.ndarray) -> None:
            list_events(
                own,
                rows,
                sample.y,
                sample.whole,
                self.positions,
                never,
                bounds,
                *self._room,
            )

        sample.run(write, labels)
        return bounds, *self._room

    def _search_group(
        self, label: int, around: tuple, group: tuple[np.ndarray, tuple]
    ) -> Found | None:
        _, places, layout, names = self.sample.binned.group(group[0])
        left_set = np.zeros(SET_WORDS, dtype=np.uint32)
        weight, loss, purity, feature, left, right = search_features(
            places, layout, group[1], around, label, self.ends, left_set
        )
        if feature < 0:
            return None
        key = -weight, loss, self.sample.impurity(purity)
        return Found(key, int(names[feature]), left_set, (left, right))

    def label_all(self, rows: np.ndarray) -> int:
        k = self.sample.n_classes
        found = [self._part(Leaf(rows, label, 0, -1)) for label in range(k)]
        curves = np.array([part[0] for part in found])
        losses = np.array([part[1] for part in found] + [part[2] for part in found])
        return int(best_label(curves, losses, self.sample.mass_of(rows), self.ends))
