"""Weighted trees on binned rows, grown slowly: every split is tried, every sum is over rows.

Sums are shares of the total, in floating point. Two scores that differ by no more than
``Rules.tolerance`` are equal.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

CLASS_CRITERIA = ("gini", "entropy", "error")


@dataclass(frozen=True)
class Column:
    """One binned feature; bin ``n_bins`` is a missing value."""

    bins: np.ndarray
    n_bins: int
    categorical: bool = False


@dataclass(frozen=True)
class Rules:
    criterion: str = "gini"
    max_depth: float = math.inf
    max_leaf_nodes: float = math.inf
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    l2: float = 0.0
    tolerance: float = 1e-12
    category_noise: float = 0.0


@dataclass
class Split:
    """The present bins that go left, and what both sides score together."""

    score: float
    feature: int
    left_bins: tuple


class Node:
    """Rows, their channel sums and, once split, two children."""

    def __init__(self, rows, depth, place):
        self.rows, self.depth, self.place = rows, depth, place
        self.split = self.left = self.right = self.value = None
        self.gain = 0.0
        self.goes_left = frozenset()

    @property
    def is_leaf(self):
        return self.left is None

    def leaves(self):
        return [self] if self.is_leaf else self.left.leaves() + self.right.leaves()


def label_channels(labels, weights, n_labels):
    """One channel per label: the row's share of the weight at its own label."""
    channels = np.zeros((len(labels), n_labels))
    channels[np.arange(len(labels)), labels] = weights
    return channels / np.sum(weights)


def add_up(numbers):
    """A plain sum from left to right."""
    total = 0.0
    for number in numbers:
        total += float(number)
    return total


def mass_of(sums, criterion):
    return add_up(sums) if criterion in CLASS_CRITERIA else float(sums[-1])


def score_of(sums, rules):
    """The score of one side of a split, or of a node."""
    mass = mass_of(sums, rules.criterion)
    if rules.criterion == "gini":
        return add_up(v * v for v in sums) / mass
    if rules.criterion == "entropy":
        return add_up(v * math.log(v / mass) for v in sums if v > 0)
    if rules.criterion == "error":
        return float(max(sums))
    if rules.criterion == "edge":
        return add_up(abs(v) for v in sums[:-1])
    if rules.criterion == "max_edge":
        return float(max(sums[:-1])) + add_up(abs(v) for v in sums[:-1]) / 1024
    if rules.criterion == "norm":
        return math.sqrt(add_up(v * v for v in sums[:-1]))
    return float(sums[0]) ** 2 / (mass + rules.l2)


def present_bins(column, rows):
    return sorted(set(column.bins[rows].tolist()))


def numeric_prefixes(column, rows):
    """Bins up to a cut, first without and then with those of missing values."""
    present = present_bins(column, rows)
    known = [b for b in present if b < column.n_bins]
    prefixes = [tuple(known[:k]) for k in range(1, len(known) + 1)]
    if len(known) < len(present):
        prefixes += [(column.n_bins, *prefix) for prefix in prefixes]
    return prefixes


def category_order(column, rows, channels, criterion):
    """Present bins along the first principal component of their channel means."""
    bins = present_bins(column, rows)
    used = slice(0, 1) if criterion == "newton" else slice(0, -1)
    used = slice(None) if criterion in CLASS_CRITERIA else used
    total = channels[rows].sum(axis=0)
    sums = [channels[rows][column.bins[rows] == b].sum(axis=0) for b in bins]
    mass = [mass_of(s, criterion) for s in sums]
    centre = total[used] / mass_of(total, criterion)
    deviations = np.array([s[used] / m - centre for s, m in zip(sums, mass, strict=True)])
    return [bins[k] for k in order_along_main_axis(deviations, mass)]


def order_along_main_axis(deviations, mass):
    """The axis points to the bin that deviates most; equal places keep their order."""
    scatter = sum(m * np.outer(d, d) for m, d in zip(mass, deviations, strict=True))
    axis = np.linalg.eigh(scatter)[1][:, -1]
    sizes = [m * add_up(d * d) for m, d in zip(mass, deviations, strict=True)]
    farthest = deviations[sizes.index(max(sizes))]
    places = np.round(deviations @ (axis if farthest @ axis > 0 else -axis), 12)
    return np.argsort(places, kind="stable")


def category_prefixes(column, rows, channels, criterion):
    order = category_order(column, rows, channels, criterion)
    return [tuple(order[:k]) for k in range(1, len(order))]


def all_subsets(column, rows):
    """Every way to send some but not all present bins to the left."""
    present = present_bins(column, rows)
    return [s for size in range(1, len(present)) for s in combinations(present, size)]


def score_of_split(column, rows, channels, left_bins, rules):
    """The score of both sides, None where one of them is too small."""
    left = np.isin(column.bins[rows], left_bins)
    sides = [rows[left], rows[~left]]
    if min(map(len, sides)) < rules.min_samples_leaf:
        return None
    sums = [channels[side].sum(axis=0) for side in sides]
    least = rules.min_weight_leaf * mass_of(channels.sum(axis=0), rules.criterion)
    if min(mass_of(s, rules.criterion) for s in sums) < least * (1 - 1e-9):
        return None
    score = score_of(sums[0], rules) + score_of(sums[1], rules)
    if not (column.categorical and rules.category_noise):
        return score
    own = score_of(channels[rows].sum(axis=0), rules)
    signal = signal_of(column, rows, channels, rules)
    return own + signal * (score - own) if signal else None


def signal_of(column, rows, channels, rules):
    """What is left of the squared differences between categories without those of chance."""
    bins = present_bins(column, rows)
    free = len(bins) - 10
    if free <= 0:
        return 1.0
    used = slice(0, 1) if rules.criterion == "newton" else slice(None)
    centre = channels[rows].sum(axis=0)
    centre = centre[used] / mass_of(centre, rules.criterion)
    between = 0.0
    for b in bins:
        sums = channels[rows][column.bins[rows] == b].sum(axis=0)
        mass = mass_of(sums, rules.criterion)
        between += mass * add_up((sums[used] / mass - centre) ** 2)
    by_chance = rules.category_noise * (free + math.sqrt(2 * free))
    return max(0.0, 1 - by_chance / between) if between > 0 else 0.0


def best_subset_score(column, rows, channels, rules):
    """The best score over all subsets of categories."""
    return max(
        score_of_split(column, rows, channels, subset, rules)
        for subset in all_subsets(column, rows)
    )


def candidates(column, rows, channels, criterion):
    if column.categorical:
        return category_prefixes(column, rows, channels, criterion)
    return numeric_prefixes(column, rows)


def find_split(columns, rows, channels, rules, features):
    """The best split; ties go to the first feature and to its first candidate."""
    best = None
    for f in features:
        for left_bins in candidates(columns[f], rows, channels, rules.criterion):
            score = score_of_split(columns[f], rows, channels, left_bins, rules)
            if score is not None and (best is None or score > best.score + rules.tolerance):
                best = Split(score, f, left_bins)
    return best


def may_split(node, rules):
    if node.depth >= rules.max_depth:
        return False
    return rules.criterion not in CLASS_CRITERIA or np.count_nonzero(node.value) > 1


def enough(gain, own, criterion):
    """An impure node may split without gain; edges and Newton sums must gain."""
    least = 1e-12 * abs(own)
    return gain >= -least if criterion in CLASS_CRITERIA else gain > least


def bins_to_the_left(column, split, rows, channels, criterion):
    """All bins that go left: those that the node does not have follow the heavier side."""
    left = np.isin(column.bins[rows], split.left_bins)
    masses = [mass_of(channels[side].sum(axis=0), criterion) for side in (rows[left], rows[~left])]
    absent = set(range(column.n_bins + 1)) - set(present_bins(column, rows))
    known = [b for b in split.left_bins if b < column.n_bins]
    goes_left = set(split.left_bins)
    if not column.categorical:
        goes_left |= set(range(max(known) + 1))
        absent &= {column.n_bins}
    return frozenset(goes_left | absent if masses[0] > masses[1] else goes_left)


def examine(node, columns, channels, rules, features):
    """Give a node its sums and the split it would make."""
    node.value = channels[node.rows].sum(axis=0)
    if not may_split(node, rules):
        return
    node.split = find_split(columns, node.rows, channels, rules, features)
    if node.split is None:
        return
    own = score_of(node.value, rules)
    node.gain = node.split.score - own
    if not enough(node.gain, own, rules.criterion):
        node.split = None


def split_node(node, columns, channels, rules, places):
    column = columns[node.split.feature]
    node.goes_left = bins_to_the_left(column, node.split, node.rows, channels, rules.criterion)
    left = np.isin(column.bins[node.rows], sorted(node.goes_left))
    node.left = Node(node.rows[left], node.depth + 1, places)
    node.right = Node(node.rows[~left], node.depth + 1, places + 1)
    return [node.left, node.right]


def grow(columns, channels, rules, *, rows=None, features=None):
    """Grow a tree on the rows with mass, the node of largest gain first."""
    rows = np.arange(len(channels)) if rows is None else np.asarray(rows)
    rows = rows[np.abs(channels[rows]).sum(axis=1) > 0]
    features = range(len(columns)) if features is None else features
    root = Node(rows, 0, 0)
    examine(root, columns, channels, rules, features)
    open_nodes, n_leaves = [root], 1
    while True:
        open_nodes = [node for node in open_nodes if node.split is not None]
        if not open_nodes or n_leaves >= rules.max_leaf_nodes:
            return root
        node = min(open_nodes, key=lambda node: (-round(node.gain, 12), node.place))
        open_nodes.remove(node)
        for child in split_node(node, columns, channels, rules, 2 * n_leaves - 1):
            examine(child, columns, channels, rules, features)
            open_nodes.append(child)
        n_leaves += 1


def find_leaf(node, row_bins):
    """The leaf of one row, a list of bins."""
    while not node.is_leaf:
        node = node.left if row_bins[node.split.feature] in node.goes_left else node.right
    return node
