"""Trees whose splits are drawn in part: random forests and extremely randomised trees.

At each node some features are drawn, and the best of their splits, or of one random split of
each, is taken. Categories are put in the order of their share of a class that is drawn, too; gaps
come before or after all values, by the toss of a coin. Sums are of 64-bit floating point: a tree
depends on its seed and its rows alone.
"""

from dataclasses import dataclass

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.random_cut import (
    CATEGORIES,
    PLACES,
    below,
    order_numbers,
    try_feature,
    uniform,
)
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS

MOST_FEATURES = 1024  # that a tree of a sparse table chooses from


@dataclass(frozen=True)
class RandomGrowth:
    """How a random tree grows."""

    min_samples_leaf: int = 1
    random_cuts: bool = False  # one random split of each feature, or the best of all

    @staticmethod
    def n_drawn(n_features: int) -> int:
        """Features that are drawn at a node."""
        return max(1, int(np.sqrt(n_features)))


@kernel
def _drawn_gap(gap, state):
    """The bin of gaps, or none: whether they come before all values is drawn."""
    return gap if uniform(state) < 0.5 else -1


@kernel
def _send(column, place, cut, own, scratch):
    """Rows that go left first; how many."""
    n_left, n_right = 0, 0
    for k in range(len(own)):
        row = own[k]
        if place[column[row]] <= cut:
            own[n_left] = row
            n_left += 1
        else:
            scratch[n_right] = row
            n_right += 1
    for k in range(n_right):
        own[n_left + k] = scratch[k]
    return n_left


@kernel
def _read_node(rows, labels, weights, own, totals):
    """Copy the labels and weights of a node's rows side by side; its mass and sum of squares."""
    own_labels, own_weights = own
    totals[:] = 0
    for k in range(len(rows)):
        c, w = labels[rows[k]], weights[rows[k]]
        own_labels[k], own_weights[k] = c, w
        totals[c] += w
    mass, squares = 0.0, 0.0
    for c in range(len(totals)):
        mass += totals[c]
        squares += totals[c] * totals[c]
    return mass, squares


@kernel
def _grow(bytes_, layout, labels, weights, rows, rule, tree):
    """Grow a tree on ``rows``, which are reordered; returns its number of nodes."""
    n, k, n_features, capacity = len(rows), tree[3].shape[1], len(layout[1]), len(tree[0])
    by_row = (
        np.empty_like(rows),
        np.empty_like(labels),
        np.empty(n),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
    )
    by_bin = (
        np.empty(PLACES, dtype=np.int32),
        np.empty(PLACES, dtype=np.int32),
        np.empty(PLACES + 2, dtype=np.int32),
    )
    sides, names = (np.empty(k), np.empty(k)), np.arange(n_features)
    span, state = np.empty((capacity, 2), dtype=np.int64), np.full(1, rule[3], dtype=np.uint64)
    room = (by_row, by_bin, sides, names, span, state)
    return _grow_in(room, bytes_, layout, labels, weights, rows, rule, tree)


@kernel
def _grow_in(room, bytes_, layout, labels, weights, rows, rule, tree):
    """As _grow, in the given room."""
    by_row, by_bin, sides, names, span, state = room
    scratch, own_labels, own_weights, places, order = by_row
    place, chosen, counts = by_bin
    columns, n_bins, categorical = layout
    n_drawn, min_leaf, random_cuts, _ = rule
    feature, children, left_bitset, value, gain, depth = tree
    n_features = len(n_bins)
    span[0, 0], span[0, 1] = 0, len(rows)
    n_nodes, node, depth[0] = 1, 0, 0
    while node < n_nodes:
        inside = rows[span[node, 0] : span[node, 1]]
        m = len(inside)
        own, beside = (own_labels[:m], own_weights[:m]), (places[:m], order[:m], counts, sides)
        sums = _read_node(inside, labels, weights, own, value[node])
        mass, score = sums[0], sums[1] / sums[0]
        best, cut, on = score * (1 + 1e-12), -1, -1
        feature[node], gain[node] = -1, 0.0
        tried, drawn = 0, 0
        if m < 2 * min_leaf or score >= mass * (1 - 1e-12):
            drawn = n_features  # nothing to gain
        while drawn < n_features and tried < n_drawn:
            swap = drawn + below(n_features - drawn, state)
            names[drawn], names[swap] = names[swap], names[drawn]
            f = names[drawn]
            drawn += 1
            column, width = bytes_[columns[f] >> 2, :, columns[f] & 3], n_bins[f] + 1
            first_bin = CATEGORIES if categorical[f] else _drawn_gap(n_bins[f], state)
            at, found = try_feature(
                column, first_bin, inside, own, value[node], sums, (min_leaf, random_cuts),
                place[:width], beside, state,
            )  # fmt: skip
            tried += found > -np.inf
            if found > best:
                best, cut, on = found, at, f
                if categorical[f]:
                    for b in range(width):
                        chosen[b] = place[b]
                else:
                    order_numbers(chosen[:width], first_bin >= 0)
        if on >= 0:
            column = bytes_[columns[on] >> 2, :, columns[on] & 3]
            n_left = _send(column, chosen, cut, inside, scratch)
            feature[node], gain[node] = on, best - score
            for b in range(n_bins[on] + 1):
                if chosen[b] <= cut:
                    left_bitset[node, b >> 5] |= np.uint32(1) << np.uint32(b & 31)
            middle = span[node, 0] + n_left
            for side in range(2):
                children[node, side], depth[n_nodes + side] = n_nodes + side, depth[node] + 1
            span[n_nodes, 0], span[n_nodes, 1] = span[node, 0], middle
            span[n_nodes + 1, 0], span[n_nodes + 1, 1] = middle, span[node, 1]
            n_nodes += 2
        node += 1
    return n_nodes


def grow_random_tree(
    binned: BinnedRows,
    labels: np.ndarray,
    weights: np.ndarray,
    n_labels: int,
    growth: RandomGrowth,
    seed: int,
    features: np.ndarray | None = None,
) -> GrownTree:
    """A tree of the rows that weigh anything; its values are the weights of the labels.

    It chooses from the listed features; of many, from some of them.
    """
    rng = np.random.default_rng(seed)
    names = np.arange(binned.n_features) if features is None else features
    if len(names) > MOST_FEATURES:
        names = np.sort(rng.choice(names, MOST_FEATURES, replace=False))
    packed, places, layout, all_names = binned.group(names)
    rows = np.flatnonzero(weights).astype(np.int32)
    capacity = 2 * max(1, len(rows) // growth.min_samples_leaf) - 1
    tree = _empty(capacity, n_labels)
    categorical = binned.categorical[all_names[places]]
    shape = (places, layout.n_bins[places], categorical)
    bytes_ = packed.view(np.uint8).reshape(len(packed), packed.shape[1], 4)
    n_drawn = growth.n_drawn(len(names))
    rule = n_drawn, growth.min_samples_leaf, growth.random_cuts, int(rng.integers(2**31))
    n_nodes = _grow(bytes_, shape, labels, weights, rows, rule, tree)
    return _finished(tree, n_nodes, all_names[places], float(weights[rows].sum()))


def _empty(capacity: int, n_labels: int) -> tuple[np.ndarray, ...]:
    return (
        np.empty(capacity, dtype=np.int32),
        np.empty((capacity, 2), dtype=np.int32),
        np.zeros((capacity, BITSET_WORDS), dtype=np.uint32),
        np.empty((capacity, n_labels)),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
    )


def _finished(
    tree: tuple[np.ndarray, ...], n_nodes: int, names: np.ndarray, mass: float
) -> GrownTree:
    feature, children, left_bitset, value, gain, depth = (part[:n_nodes].copy() for part in tree)
    leaf = feature < 0
    children[leaf] = np.flatnonzero(leaf)[:, None]
    return GrownTree(
        feature=np.where(leaf, 0, names[feature]).astype(np.int32),
        children=children,
        left_bitset=left_bitset,
        value=value,
        gain=gain / mass,
        depth=int(depth.max()),
    )
