"""Trees whose splits are drawn in part: random forests and extremely randomised trees.

At each node some features are drawn, and the best of their splits, or of one random split of
each, is taken. Categories are put in the order of their share of a class that is drawn, too; gaps
come before or after all values, by the toss of a coin. Sums are of 64-bit floating point: a tree
depends on its seed and its rows alone.
"""

from dataclasses import dataclass

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.jit import inner, kernel
from steadyboost.trees.splitting import SET_WORDS
from steadyboost.trees.tree import GrownTree

FEW = 24  # rows that are sorted by insertion
PLACES = 257  # of bins in order, one of them for gaps
NOTHING = 1e-12  # share of a node's mass that is lost in rounding
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


@inner
def _draw(state):
    """64 random bits (SplitMix64): the same on every machine."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inner
def _below(n, state):
    return np.int64((_draw(state) >> np.uint64(16)) % np.uint64(n))


@inner
def _uniform(state):
    return np.float64(_draw(state) >> np.uint64(11)) * 2.0**-53


@inner
def _order_bins(column, labels, weights, own, totals, width, gap, categorical, place, state):
    """Write the place in order of each bin."""
    for b in range(width):
        place[b] = b + 1
    if categorical:
        draw, wanted = _uniform(state) * totals.sum(), 0
        while wanted < len(totals) - 1 and draw >= totals[wanted]:
            draw -= totals[wanted]
            wanted += 1
        share, mass = np.zeros(width), np.zeros(width)
        for i in own:
            mass[column[i]] += weights[i]
            share[column[i]] += weights[i] * (labels[i] == wanted)
        for b in range(width):
            share[b] = share[b] / mass[b] if mass[b] > 0 else _uniform(state)
        order = np.argsort(share)
        for k in range(width):
            place[order[k]] = k + 1
    elif _uniform(state) < 0.5:
        place[gap] = 0


@inner
def _sort(column, place, own, counts, order):
    """Rows of a node by the place of their bin."""
    m = len(own)
    if m <= FEW:
        for k in range(m):
            row, at, j = own[k], place[column[own[k]]], k
            while j > 0 and place[column[order[j - 1]]] > at:
                order[j] = order[j - 1]
                j -= 1
            order[j] = row
        return
    counts[:] = 0
    for k in range(m):
        counts[place[column[own[k]]] + 1] += 1
    for p in range(1, len(counts)):
        counts[p] += counts[p - 1]
    for k in range(m):
        at = place[column[own[k]]]
        order[counts[at]] = own[k]
        counts[at] += 1


@inner
def _best_cut(column, place, labels, weights, order, totals, min_leaf, left):
    """The last place that goes left, and the score of that split: sum of squares over mass."""
    best, cut = -np.inf, -1
    right = totals.copy()
    left[:] = 0
    whole = totals.sum()
    left_mass, right_mass = 0.0, whole
    left_squares, right_squares = 0.0, (totals * totals).sum()
    m = len(order)
    for k in range(m - 1):
        c, w = labels[order[k]], weights[order[k]]
        left_squares += w * (2 * left[c] + w)
        right_squares += w * (w - 2 * right[c])
        left[c] += w
        right[c] -= w
        left_mass += w
        right_mass -= w
        here = place[column[order[k]]]
        if here == place[column[order[k + 1]]] or k + 1 < min_leaf or m - k - 1 < min_leaf:
            continue
        if min(left_mass, right_mass) <= NOTHING * whole:
            continue
        score = left_squares / left_mass + right_squares / right_mass
        if score > best:
            best, cut = score, here
    return cut, best


@inner
def _random_cut(column, place, labels, weights, own, totals, min_leaf, left, state):
    """As ``_best_cut``, for a random place between the first and the last."""
    low, high = PLACES, 0
    for i in own:
        at = place[column[i]]
        low, high = min(low, at), max(high, at)
    if low == high:
        return -1, -np.inf
    cut, n_left = low + _below(high - low, state), 0
    left[:] = 0
    for i in own:
        if place[column[i]] <= cut:
            left[labels[i]] += weights[i]
            n_left += 1
    if n_left < min_leaf or len(own) - n_left < min_leaf:
        return -1, -1.0  # a feature that was tried in vain
    mass, squares, others = 0.0, 0.0, 0.0
    for c in range(len(left)):
        mass += left[c]
        squares += left[c] * left[c]
        others += (totals[c] - left[c]) ** 2
    whole = totals.sum()
    if min(mass, whole - mass) <= NOTHING * whole:
        return -1, -1.0
    return cut, squares / mass + others / (whole - mass)


@inner
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
    own[n_left:] = scratch[:n_right]
    return n_left


@kernel
def _grow(bytes_, layout, labels, weights, rows, rule, tree):
    """Grow a tree on ``rows``, which are reordered; returns its number of nodes."""
    places, n_bins, categorical = layout
    n_drawn, min_leaf, random_cuts, seed = rule
    feature, children, left_set, value, gain, depth = tree
    state = np.full(1, seed, dtype=np.uint64)
    n_features, k = len(n_bins), value.shape[1]
    names = np.arange(n_features)
    span = np.empty((len(feature), 2), dtype=np.int64)
    span[0, 0], span[0, 1] = 0, len(rows)
    scratch, order = np.empty_like(rows), np.empty_like(rows)
    counts = np.empty(PLACES + 2, dtype=np.int64)
    place, chosen = np.empty(PLACES, dtype=np.int64), np.empty(PLACES, dtype=np.int64)
    left = np.empty(k)
    n_nodes, node, depth[0] = 1, 0, 0
    while node < n_nodes:
        own = rows[span[node, 0] : span[node, 1]]
        totals = value[node]
        totals[:] = 0
        for i in own:
            totals[labels[i]] += weights[i]
        mass = totals.sum()
        score = (totals * totals).sum() / mass
        best, cut, on = score * (1 + 1e-12), -1, -1
        feature[node], gain[node] = -1, 0.0
        tried, drawn = 0, 0
        if len(own) < 2 * min_leaf or score >= mass * (1 - 1e-12):
            drawn = n_features  # nothing to gain
        while drawn < n_features and tried < n_drawn:
            swap = drawn + _below(n_features - drawn, state)
            names[drawn], names[swap] = names[swap], names[drawn]
            f = names[drawn]
            drawn += 1
            column, width = bytes_[places[f] >> 2, :, places[f] & 3], n_bins[f] + 1
            _order_bins(
                column, labels, weights, own, totals, width, n_bins[f], categorical[f], place, state
            )
            if random_cuts:
                at, found = _random_cut(
                    column, place, labels, weights, own, totals, min_leaf, left, state
                )
            else:
                _sort(column, place, own, counts[: width + 2], order)
                at, found = _best_cut(
                    column, place, labels, weights, order[: len(own)], totals, min_leaf, left
                )
            tried += found > -np.inf
            if found > best:
                best, cut, on = found, at, f
                chosen[:] = place
        if on >= 0:
            column = bytes_[places[on] >> 2, :, places[on] & 3]
            n_left = _send(column, chosen, cut, own, scratch)
            feature[node], gain[node] = on, best - score
            for b in range(n_bins[on] + 1):
                if chosen[b] <= cut:
                    left_set[node, b >> 5] |= np.uint32(1) << np.uint32(b & 31)
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
    """A tree of the rows that weigh anything; its values are the shares of the labels.

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
    shape = (places, layout[1][places], layout[3][places])
    bytes_ = packed.view(np.uint8).reshape(len(packed), packed.shape[1], 4)
    n_drawn = growth.n_drawn(len(names))
    rule = n_drawn, growth.min_samples_leaf, growth.random_cuts, int(rng.integers(2**31))
    n_nodes = _grow(bytes_, shape, labels, weights, rows, rule, tree)
    return _finished(tree, n_nodes, all_names[places], float(weights[rows].sum()))


def _empty(capacity: int, n_labels: int) -> tuple[np.ndarray, ...]:
    return (
        np.empty(capacity, dtype=np.int32),
        np.empty((capacity, 2), dtype=np.int32),
        np.zeros((capacity, SET_WORDS), dtype=np.uint32),
        np.empty((capacity, n_labels)),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
    )


def _finished(
    tree: tuple[np.ndarray, ...], n_nodes: int, names: np.ndarray, mass: float
) -> GrownTree:
    feature, children, left_set, value, gain, depth = (part[:n_nodes].copy() for part in tree)
    leaf = feature < 0
    children[leaf] = np.flatnonzero(leaf)[:, None]
    return GrownTree(
        feature=np.where(leaf, 0, names[feature]).astype(np.int32),
        children=children,
        left_set=left_set,
        value=value / value.sum(axis=1, keepdims=True),
        gain=gain / mass,
        depth=int(depth.max()),
    )
