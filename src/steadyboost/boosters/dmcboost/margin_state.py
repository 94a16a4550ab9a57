"""The margin state: the score of each row's label against the best two other labels (rivals)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.margin_line_search import bottom_threshold
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.data.bundling import NO_BUNDLES, FeatureBundles, pays, unbundle
from steadyboost.trees.growth.tree import SHARDING_PAYS
from steadyboost.trees.histograms.row_statistics import LANES, SUM_ROWS, scale_factors, sum_labels
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction, ScratchArrays, serial_map, split_evenly

GROUP_CELLS = 2**23  # histogram cells that are computed at a time
BRACKET_ROWS = 2**14  # size of the subsample that brackets the end of the bottom
N_BLOCKS = 8  # chunks of large data, whose partial sums are added

Edge = tuple[float, float]  # the largest margin of the bottom, and the share of tied rows in it


class ColumnBins(NamedTuple):
    """Bins of neighbouring columns, or bundles of them, of all rows."""

    packed: np.ndarray
    places: np.ndarray  # of the columns in ``packed``
    starts: np.ndarray  # where the bins of each begin in sums by bin, and the end of the last


class RivalScores(NamedTuple):
    """Score of each row's label and of the best two others, and which label is the best other."""

    own: np.ndarray
    first: np.ndarray
    second: np.ndarray
    best: np.ndarray

    @classmethod
    def allocate(cls, n: int) -> "RivalScores":
        return cls(np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64))

    def at(self, rows: slice | np.ndarray) -> "RivalScores":
        return RivalScores(*[array[rows] for array in self])


class ScoredRows(NamedTuple):
    """Scores and labels of rows, with the rivals of these labels."""

    scores: np.ndarray
    y: np.ndarray
    rivals: RivalScores

    def at(self, rows: slice | np.ndarray) -> "ScoredRows":
        return ScoredRows(self.scores[rows], self.y[rows], self.rivals.at(rows))

    def contiguous(self) -> "ScoredRows":
        """Arrays without gaps, for which kernels are compiled: every tenth row has gaps."""
        rivals = RivalScores(*[np.ascontiguousarray(array) for array in self.rivals])
        return ScoredRows(np.ascontiguousarray(self.scores), np.ascontiguousarray(self.y), rivals)


@dataclass(frozen=True)
class SearchSample:
    """Binned rows with their labels and weights; integer weights make equal errors tie."""

    binned: BinnedRows
    y: np.ndarray
    n_classes: int
    weights: np.ndarray
    integer_weights: np.ndarray
    n_threads: int = 1
    run: MapFunction = serial_map

    def take(
        self, rows: np.ndarray, weights: np.ndarray, integer_weights: np.ndarray
    ) -> "SearchSample":
        """Some of the rows, ascending, with weights of their own."""
        binned, y = self.binned.take(rows), self.y[rows]
        return replace(self, binned=binned, y=y, weights=weights, integer_weights=integer_weights)

    def mass_of(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class."""
        lanes = np.zeros((LANES, self.n_classes), dtype=np.int64)
        sum_labels(self.y, self.integer_weights, rows, lanes)
        return lanes.sum(axis=0)

    def impurity(self, purity: float) -> float:
        """Of two parts, as a share of all rows; rounded, so that equal splits tie."""
        return -round(purity / float(self.integer_weights.sum()), 12)

    def columns(self, features: np.ndarray) -> ColumnBins:
        """The bins of neighbouring features."""
        packed, places, layout, _ = self.binned.group(features)
        offsets = layout.offsets[places[0] : places[-1] + 2]
        return ColumnBins(packed, places, offsets - offsets[0])

    def bundled(
        self, single: ColumnBins, n_rows: int, n_channels: int
    ) -> tuple[ColumnBins, FeatureBundles]:
        """What to add up: bundles of several of the single columns, where that pays."""
        packed, columns, starts, members = bundles = self.binned.bundles(self.n_classes)
        saved, n_cells = len(single.places) - len(columns), int(starts[-1]) * n_channels
        if len(members) == len(single.places) and pays(n_rows, saved, n_cells):
            return ColumnBins(packed, columns, starts), bundles
        return single, NO_BUNDLES

    def blocks(self, n_rows: int) -> list[slice]:
        """Rows to be added up at a time: the same ones for any number of threads."""
        return split_evenly(n_rows, N_BLOCKS if n_rows * self.n_classes >= SHARDING_PAYS else 1)

    def sum_blocks(
        self,
        add_up: Callable[[ColumnBins, np.ndarray], np.ndarray],
        single: ColumnBins,
        rows: np.ndarray,
        n_channels: int,
    ) -> np.ndarray:
        """Sums by bin."""
        columns, bundles = self.bundled(single, len(rows), n_channels)
        found = self.run(lambda at: add_up(columns, rows[at]), self.blocks(len(rows)))
        sums = found[0] if len(found) == 1 else np.sum(found, axis=0)
        return unbundle(bundles, sums, single.starts) if len(bundles.members) else sums

    @property
    def n_parts(self) -> int:
        large = len(self.y) * self.n_classes >= SHARDING_PAYS
        return self.n_threads if large else 1

    def groups(self, cells_per_bin: int) -> list[np.ndarray]:
        """Features in groups, with histograms of a bounded size."""
        n_cells = int(self.binned.offsets[-1]) * cells_per_bin
        n_groups = max(-(-n_cells // GROUP_CELLS), self.binned.n_groups)
        groups = np.array_split(np.arange(self.binned.n_features), n_groups)
        return [group for group in groups if len(group)]


class MarginState:
    """Current scores, the best two rivals of each row's label, and the margins (not normalised)."""

    def __init__(self, sample: SearchSample, scores: np.ndarray):
        n = len(scores)
        self.scores, self.rivals = scores, RivalScores.allocate(n)
        self.rows = ScoredRows(scores, sample.y, self.rivals)
        self.sample, self.parts = sample, split_evenly(n, sample.n_parts)
        sample.run(lambda at: find_rivals(*self.rows.at(at)), self.parts)
        self.margins = self.rivals.own - self.rivals.first  # not divided by the total step
        self.scratch = ScratchArrays()

    def move(self, votes: np.ndarray, step: float) -> None:
        """Add a step to the scores of the voted labels, and update the margins in place."""
        self.sample.run(
            lambda at: _move(self.rows.at(at), votes[at], step, self.margins[at]), self.parts
        )

    def _near_floor(self, mass: float) -> tuple[float, float]:
        """Likely bounds of the largest margin of the bottom, estimated on a subsample."""
        weights, every = self.sample.weights, len(self.margins) // BRACKET_ROWS
        if every < 2:
            return -np.inf, np.inf
        some, own = self.margins[::every], weights[::every]
        share = mass * float(own.sum() / weights.sum())
        return floor_of(some, own, 0.95 * share), floor_of(some, own, 1.05 * share)

    def bottom(self, mass: float) -> tuple[int, Edge, float]:
        """Integer weight of correctly classified rows; where the bottom ends, and its sum."""
        return self._bottom(mass, *self._near_floor(mass))

    def _bottom(self, mass: float, low: float, high: float) -> tuple[int, Edge, float]:
        weights, integers = self.sample.weights, self.sample.integer_weights

        def sum_below(at: slice) -> tuple:
            near = np.empty(at.stop - at.start + 1), np.empty(at.stop - at.start + 1)
            *sums, m = _sum_below(self.margins[at], weights[at], integers[at], low, high, *near)
            return *sums, near[0][:m], near[1][:m]

        found = self.sample.run(sum_below, self.sample.blocks(len(self.margins)))
        right, below, total = (sum(own[k] for own in found) for k in range(3))
        values, masses = (np.concatenate([own[k] for own in found]) for k in (3, 4))
        if low > -np.inf and not below < mass <= below + masses.sum():
            return self._bottom(mass, -np.inf, np.inf)
        edge, rest = bottom_of(values, masses, mass - below)
        return int(right), edge, float(total + rest)


@kernel
def bottom_edges(scored, rows, shares, fixed_point_scale, out):
    """What naming each label is worth in the listed rows; the last column is the rows' mass.

    The own label is worth a row's share, and each of its best rivals costs as much; in fixed point,
    where 2**60 stands for ``fixed_point_scale``.
    """
    scores, y, first = scored.scores, scored.y, scored.rivals.first
    n_classes = scores.shape[1]
    lift, factor = scale_factors(fixed_point_scale)
    for j in range(len(rows)):
        i = rows[j]
        share = np.int64(np.rint(shares[i] * lift * factor))
        for k in range(n_classes):
            out[j, k] = -share if scores[i, k] == first[i] else 0
        out[j, y[i]], out[j, n_classes] = share, share


@kernel
def _move(scored, votes, step, margins):
    """Add a step to the scores of the voted labels, and update rivals and margins in place."""
    scores, y, (own, first, second, best) = scored
    for i in range(len(y)):
        row, vote = np.uint64(i), np.int64(votes[i])
        before = scores[row, np.uint64(vote)]
        value = before + step
        scores[row, np.uint64(vote)] = value
        if vote == y[row]:
            own[row] = value
        elif step < 0:
            if before >= second[row]:
                first[row], second[row], best[row] = best_rivals(scores, i, np.int64(y[row]))
        elif vote == best[row]:
            first[row] = value
        elif value >= first[row]:
            if value > first[row] or vote < best[row]:
                best[row] = vote
            first[row], second[row] = value, first[row]
        elif value > second[row]:
            second[row] = value
        margins[row] = own[row] - first[row]


@kernel
def _sum_below(margins, weights, integers, low, high, values, masses):
    """Split rows by margin: below ``low``, from ``low`` to ``high``, above.

    Returns the integer weight of correctly classified rows, the mass and sum of margins below
    ``low``, and the number of rows in between, whose margins and weights are written.
    """
    right, mass, total, m = np.int64(0), 0.0, 0.0, 0
    for i in range(len(margins)):
        margin, weight = margins[i], weights[i]
        right += integers[i] if margin > 0 else 0
        below = weight if margin < low else 0.0
        mass += below
        total += below * margin
        values[m], masses[m] = margin, weight
        m += low <= margin <= high
    return right, mass, total, m


@kernel
def bottom_of(values, masses, mass):
    """Where the smallest values with this mass end, and their sum."""
    n = len(values)
    floor = bottom_threshold(values.copy(), masses.copy(), n, mass)
    total, left, tied = 0.0, mass, 0.0
    for i in range(n):
        own = masses[i] if values[i] < floor else 0.0
        tied += masses[i] if values[i] == floor else 0.0
        total += own * values[i]
        left -= own
    return (floor, min(1.0, left / tied)), total + left * floor


def floor_of(margins: np.ndarray, weights: np.ndarray, mass: float) -> float:
    """The largest margin of the bottom."""
    return float(bottom_threshold(margins.copy(), weights.copy(), len(margins), mass))


def bottom_shares(
    margins: np.ndarray, weights: np.ndarray, edge: Edge, run: MapFunction = serial_map
) -> np.ndarray:
    """How much of each row's weight is at the bottom; rows that tie share the last places."""
    spans, out = split_evenly(len(margins), -(-len(margins) // SUM_ROWS)), np.empty(len(margins))
    run(lambda at: _share(margins[at], weights[at], *edge, out[at]), spans)
    return out


@kernel
def _share(margins, weights, floor, part, out):
    for i in range(len(margins)):
        own = weights[i]
        out[i] = own if margins[i] < floor else (part * own if margins[i] == floor else 0.0)


def as_integer_weights(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Weights as integers, so that equal errors tie exactly.

    The factor is a power of two: weights that are whole numbers stay exact multiples of one
    another, and a row of weight 2 is two rows.
    """
    if weights is None:
        return np.ones(n, dtype=np.int64)
    _, exponent = np.frexp(weights.sum())
    return np.maximum(np.rint(np.ldexp(weights, 52 - int(exponent))), 1).astype(np.int64)


@kernel
def best_rivals(scores, i, own):
    """The best label of row i besides its own, its score, and that of the second best."""
    first, second, best = -np.inf, -np.inf, np.int64(-1)
    for c in range(scores.shape[1]):
        value = scores[np.uint64(i), np.uint64(c)]
        if c != own:
            if value > first:
                first, second, best = value, first, np.int64(c)
            elif value > second:
                second = value
    return first, second, best


@kernel
def find_rivals(scores, y, rivals):
    """Write the score of each row's label, and the best two of the other labels."""
    own, first, second, best = rivals
    for i in range(len(y)):
        first[i], second[i], best[i] = best_rivals(scores, i, np.int64(y[i]))
        own[i] = scores[np.uint64(i), np.uint64(y[i])]


def scored_rows(scores: np.ndarray, y: np.ndarray) -> ScoredRows:
    """Rows with the rivals of their labels."""
    rows = ScoredRows(scores, y, RivalScores.allocate(len(y)))
    find_rivals(*rows)
    return rows
