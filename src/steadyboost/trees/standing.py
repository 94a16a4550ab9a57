"""How each row stands: its own score against the best two others, and where votes turn it."""

from dataclasses import dataclass, replace

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.histogram import sum_labels
from steadyboost.trees.jit import inlined, inner, kernel
from steadyboost.trees.linesearch import NEVER, breakpoint_of, stand
from steadyboost.trees.margin_search import bottom_threshold
from steadyboost.trees.sharded import Run
from steadyboost.trees.tree import SMALL, one_by_one, parts

GROUP_CELLS = 2**23  # of histograms that are made at a time
DRAWERS = 4096  # for edges, so that a point is compared with few of them
BLOCK = 4096  # rows whose losses stay in the cache

_bottom_threshold = bottom_threshold.bare


@kernel
def all_breakpoints(scores, y, standing, rows, out):
    """Breakpoints of the listed rows for every vote; how many there are."""
    own, first, second, best = standing
    n = 0
    for i in rows:
        for c in range(scores.shape[1]):
            point = breakpoint_of(
                scores[i, c], own[i], first[i], second[i], c == y[i], c == best[i]
            )
            if point < NEVER:
                out[n] = point
                n += 1
    return n


@inlined
def _drawer(value, origin, factor):
    return np.uint64(min(max((value - origin) * factor, 0.0), DRAWERS - 1.0))


@inner
def _file_edges(edges):
    """Drawers of one width over the sorted edges, and how many edges are before each of them."""
    factor = DRAWERS / (edges[-1] - edges[0]) if len(edges) > 1 else 0.0
    before = np.zeros(DRAWERS + 1, dtype=np.uint16)
    for k in range(len(edges)):
        before[_drawer(edges[k], edges[0], factor) + np.uint64(1)] += 1
    for d in range(DRAWERS):
        before[d + 1] += before[d]
    return edges[0], factor, before


@inlined
def _position(point, edges, drawers):
    """How many edges are before a point, plus 1: most drawers have no edge or one to compare."""
    origin, factor, before = drawers
    drawer = _drawer(point, origin, factor)
    low, high = np.uint64(before[drawer]), np.uint64(before[drawer + np.uint64(1)])
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if edges[middle] < point:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low + np.uint64(1)


@kernel
def find_positions(scores, y, standing, edges, width, start, positions):
    """For each label and row, the first interval in which a vote has turned the row.

    Interval j begins at the (j - 1)-th of the edges; ``len(edges) + 1`` stands for beyond, and the
    next number for rows that stay wrong. ``start`` is the number of the first row. A row that is
    wrong by two labels is not turned but by its own.
    """
    own, first, second, best = standing
    drawers, never = _file_edges(edges), np.uint64(len(edges) + 2)
    for i in range(len(y)):
        row, out = np.uint64(i), np.uint64(start + i)
        if own[row] > first[row]:
            for c in range(scores.shape[1]):
                point = own[row] - scores[row, np.uint64(c)] - width
                positions[np.uint64(c), out] = _position(point, edges, drawers)
        else:
            for c in range(scores.shape[1]):
                positions[np.uint64(c), out] = never
            if own[row] > second[row]:
                point = own[row] - first[row] - width
                positions[np.uint64(best[row]), out] = _position(point, edges, drawers)
        point = first[row] - own[row] - width
        positions[np.uint64(y[row]), out] = _position(point, edges, drawers)


@dataclass(frozen=True)
class Sample:
    """Binned rows with their labels and weights; integer weights make equal errors tie."""

    binned: BinnedRows
    y: np.ndarray
    n_classes: int
    weights: np.ndarray
    whole: np.ndarray
    n_threads: int = 1
    run: Run = one_by_one

    def take(self, rows: np.ndarray, weights: np.ndarray, whole: np.ndarray) -> "Sample":
        """Some of the rows, ascending, with weights of their own."""
        binned, y = self.binned.take(rows), self.y[rows]
        return replace(self, binned=binned, y=y, weights=weights, whole=whole)

    def mass_of(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class."""
        lanes = np.zeros((4, self.n_classes), dtype=np.int64)
        sum_labels(self.y, self.whole, rows, lanes)
        return lanes.sum(axis=0)

    def impurity(self, purity: float) -> float:
        """Of two parts, as a share of all rows; rounded, so that equal splits tie."""
        return -round(purity / float(self.whole.sum()), 12)

    @property
    def n_parts(self) -> int:
        large = len(self.y) * self.n_classes >= SMALL
        return self.n_threads if large else 1

    def groups(self, cells_per_bin: int) -> list[np.ndarray]:
        """Features in groups, with histograms of a bounded size."""
        n_cells = int(self.binned.offsets[-1]) * cells_per_bin
        n_groups = max(-(-n_cells // GROUP_CELLS), self.binned.n_groups)
        groups = np.array_split(np.arange(self.binned.n_features), n_groups)
        return [group for group in groups if len(group)]


class Standing:
    """Scores as they stand, and each row's own against the best of the others."""

    def __init__(self, sample: Sample, scores: np.ndarray):
        self.scores = scores
        n = len(scores)
        self.arrays = (*(np.empty(n) for _ in range(3)), np.empty(n, dtype=np.int64))
        self.parts = parts(n, sample.n_parts)
        sample.run(lambda at: stand(scores[at], sample.y[at], *self.at(at)), self.parts)

    def at(self, rows: slice) -> tuple[np.ndarray, ...]:
        return tuple(array[rows] for array in self.arrays)

    @property
    def gaps(self) -> np.ndarray:
        """Numerators of the margins."""
        return self.arrays[0] - self.arrays[1]


@kernel
def bottom_edges(scores, y, standing, rows, shares, out):
    """What naming each label is worth in the listed rows; the last column is the rows' mass.

    The own label is worth a row's share, and each of its best rivals costs as much.
    """
    first = standing[1]
    n_classes = scores.shape[1]
    for j in range(len(rows)):
        i = rows[j]
        for k in range(n_classes):
            rival = k != y[i] and scores[i, k] == first[i]
            out[j, k] = shares[i] if k == y[i] else (-shares[i] if rival else 0.0)
        out[j, n_classes] = shares[i]


@kernel
def right_and_bottom(gaps, weights, whole, mass):
    """Integer weight of the rows that are right; the bottom's largest numerator, and its sum."""
    n, right = len(gaps), np.int64(0)
    values, masses = np.empty(n), np.empty(n)
    for i in range(n):
        right += whole[i] if gaps[i] > 0 else 0
        values[i], masses[i] = gaps[i], weights[i]
    floor = _bottom_threshold(values, masses, n, mass)
    total, left = 0.0, mass
    for i in range(n):
        own = weights[i] if gaps[i] < floor else 0.0
        total += own * gaps[i]
        left -= own
    return right, floor, total + left * floor


def floor_of(gaps: np.ndarray, weights: np.ndarray, mass: float) -> float:
    """The largest numerator at the bottom."""
    return float(bottom_threshold(gaps.copy(), weights.copy(), len(gaps), mass))


@kernel
def bottom_shares(gaps, weights, mass, floor):
    """How much of each row's weight is at the bottom; rows that tie share the last places."""
    below, tied = 0.0, 0.0
    for i in range(len(gaps)):
        below += weights[i] if gaps[i] < floor else 0.0
        tied += weights[i] if gaps[i] == floor else 0.0
    part = min(1.0, (mass - below) / tied)
    out = np.zeros(len(gaps))
    for i in range(len(gaps)):
        if gaps[i] <= floor:
            out[i] = weights[i] if gaps[i] < floor else part * weights[i]
    return out


@kernel
def weigh_others(values, y, weights, total):
    """Multiply each row by its weight, without its own label, and add it up."""
    for i in range(len(y)):
        row = values[i]
        row[np.uint64(y[i])] = 0.0
        added = 0.0
        for c in range(len(row)):
            row[c] *= weights[i]
            added += row[c]
        total[i] = added


def exponential_losses(sample: Sample, standing: Standing) -> tuple[np.ndarray, np.ndarray]:
    """``w exp(a(l) - a(y))`` of each wrong label and 0 for the own one, and its sum over labels.

    Both are multiplied by a factor that keeps them in range.
    """
    own, y, weights = standing.arrays[0], sample.y, sample.weights
    other, total = np.empty(standing.scores.shape), np.empty(len(y))
    shift = -standing.gaps.min()

    def raise_part(part: slice) -> None:
        for start in range(part.start, part.stop, BLOCK):
            at = slice(start, min(start + BLOCK, part.stop))
            block = other[at]
            np.subtract(standing.scores[at], (own[at] + shift)[:, None], out=block)
            np.exp(block, out=block)
            weigh_others(block, y[at], weights[at], total[at])

    sample.run(raise_part, standing.parts)
    return other, total
