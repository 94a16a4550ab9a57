"""Phase II of direct optimisation: splits by the bottom margins after the best step."""

from collections.abc import Sequence

import numpy as np

from steadyboost.trees.grower import partition
from steadyboost.trees.margin_scan import (
    MARGIN_DIGITS,
    best_label,
    find_shortfalls,
    list_cuts,
    set_lines,
)
from steadyboost.trees.margin_search import bottom_mean, climb
from steadyboost.trees.search_tree import Found, Leaf
from steadyboost.trees.splitting import SET_WORDS
from steadyboost.trees.standing import Sample, Standing

EXACT_WORK = 4_000_000  # rows times searches up to which every cut is searched
SHORTLIST = 2  # cuts that are searched beyond that
FIRST_STEPS = (1 / 256, 1 / 64, 1 / 16)  # probes before there is a step, in units of the scale


class MarginJudge:
    """The mean of the smallest margins after the best step; ``width`` ends its bisection."""

    def __init__(
        self, sample: Sample, standing: Standing, scale: float, bottom: float, width: float
    ):
        self.sample, self.standing, self.scale = sample, standing, scale
        self.scores = scores = standing.scores
        self.problem = sample.weights, bottom, scale, width
        n = len(scores)
        self.lines = self.standing.gaps, np.full(n, np.inf), np.full(n, -1.0)
        self.groups = sample.groups(sample.n_classes)
        self.step = 0.0

    def take(self, found: Found, leaves: Sequence[Leaf]) -> None:
        for leaf in leaves:
            self._set(leaf.rows, leaf.label, self.lines)
        self.step = found.step

    def _set(self, rows: np.ndarray, label: int, lines: tuple[np.ndarray, ...]) -> None:
        set_lines(self.scores, self.sample.y, self.standing.arrays, rows, label, lines)

    def search(self, leaf: Leaf, others: Sequence[Leaf]) -> Found | None:
        sample, (cuts, sets) = self.sample, self._cuts(leaf)
        if not len(cuts):
            return None
        searches = len(cuts) * 2 * sample.n_classes
        exact = searches * len(self.scores) <= EXACT_WORK
        order = np.arange(len(cuts))
        if not exact:
            order = np.lexsort((order, -cuts[:, 4], -cuts[:, 3]))[:SHORTLIST]

        def judge(at: int) -> Found:
            labels = None if exact else (int(cuts[at, 1]), int(cuts[at, 2]))
            impurity = sample.impurity(cuts[at, 4])
            return self._judge(leaf, int(cuts[at, 0]), sets[at], impurity, labels)

        return min(sample.run(judge, order.tolist()), key=lambda found: found.key)

    def _judge(
        self,
        leaf: Leaf,
        feature: int,
        left_set: np.ndarray,
        impurity: float,
        labels: tuple[int, int] | None,
    ) -> Found:
        """Search a cut by itself, with given labels or with the best, the left one first."""
        rows, lines = leaf.rows.copy(), tuple(line.copy() for line in self.lines)
        scratch = np.empty_like(rows)
        n_left = partition(*self.sample.binned.column(feature), left_set, rows, scratch)
        sides = rows[:n_left], rows[n_left:]
        if labels is None:
            labels = self._best(sides[0], lines), self._best(sides[1], lines)
        else:
            for side, label in zip(sides, labels, strict=True):
                self._set(side, label, lines)
        weights, bottom, scale, width = self.problem
        step, _, margin = climb(lines, weights, bottom, scale, scale, width)
        return Found((-round(margin * MARGIN_DIGITS), impurity), feature, left_set, labels, step)

    def _best(self, rows: np.ndarray, lines: tuple[np.ndarray, ...]) -> int:
        mass = self.sample.mass_of(rows)
        standing, y = self.standing.arrays, self.sample.y
        return int(best_label(self.scores, y, standing, rows, mass, lines, self.problem)[1])

    def label_all(self, rows: np.ndarray) -> int:
        return self._best(rows, self.lines)

    def _cuts(self, leaf: Leaf) -> tuple[np.ndarray, np.ndarray]:
        probes, outside = self._probes(leaf)
        sample, rows, n_classes = self.sample, leaf.rows, self.sample.n_classes
        shortfalls = np.empty((len(rows), (n_classes + 1) * len(probes)))
        weights, bottom = self.problem[:2]
        find_shortfalls(
            self.scores, sample.y, self.standing.arrays, weights, rows, probes, shortfalls
        )
        floors = bottom * probes[:, 1]
        factors = 1 / (bottom * (self.scale + probes[:, 0]))
        binned = sample.binned

        def list_group(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            room = 2 * int((binned.n_bins + binned.has_missing)[features].sum())
            cuts, sets = np.empty((room, 5)), np.zeros((room, SET_WORDS), dtype=np.uint32)
            packed, places, layout, names = binned.group(features)
            n = list_cuts(
                packed, places, layout, rows, sample.y, sample.whole, shortfalls,
                outside, leaf.label, floors, factors, cuts, sets,
            )  # fmt: skip
            cuts[:n, 0] = names[cuts[:n, 0].astype(int)]
            return cuts[:n], sets[:n]

        found = sample.run(list_group, self.groups)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def _probes(self, leaf: Leaf) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a step and the threshold there, and the shortfalls outside a leaf."""
        weights, bottom, scale, _ = self.problem
        level, base, way = self.lines
        probes, outside = [], []
        for step in [self.step] if self.step > 0 else [part * scale for part in FIRST_STEPS]:
            _, _, threshold = bottom_mean(self.lines, weights, bottom, scale, step)
            probes.append((step, threshold))
            short = weights * np.maximum(threshold - np.minimum(level, base + way * step), 0)
            outside.append(short.sum() - short[leaf.rows].sum())
        return np.array(probes), np.array(outside)
