"""Trees whose splits are drawn in part: random forests and extremely randomised trees.

At each node some features are drawn, and the best of their splits, or of one random split of
each, is taken. Categories are put in the order of their share of a class that is drawn, too;
missing values come before or after all others, at random. Sums are of 64-bit floating
point: a tree depends on its seed and its rows alone.

These trees are grown by their own loop because they are deep: a node has few rows, which are sorted
feature by feature in less time than the histogram of all features would take.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.grower import TreeArrays
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import include
from steadyboost.trees.splits.criteria import signal_share

MOST_FEATURES = 1024  # that a tree of a sparse table chooses from
INSERTION_SORT_ROWS = 24  # rows that are sorted by insertion
N_PLACES = 257  # of bins in order, one of them for missing values
CATEGORIES = -2  # in place of the bin that comes first
ROUNDING_SHARE = 1e-12  # share of a node's mass that is lost in rounding
# Cells of a histogram (places times labels) per row of a node: fewer, and cuts are searched place
# by place; more, and row by row, as most cells would be empty.
CELLS_PER_ROW = 4


@dataclass(frozen=True)
class RandomGrowth:
    """How a random tree grows."""

    min_samples_leaf: int = 1
    random_cuts: bool = False  # one random split of each feature, or the best of all
    weighs_categories: bool = False  # whether their gains count by the share that is no chance

    @staticmethod
    def n_drawn(n_features: int) -> int:
        """Features that are drawn at a node."""
        return max(1, int(np.sqrt(n_features)))


class RandomParams(NamedTuple):
    """The parameters of :class:`RandomGrowth` as the kernels take them."""

    n_drawn: int
    min_leaf: int
    random_cuts: bool
    weighs_categories: bool


class ByteColumns(NamedTuple):
    """The features to choose from: number f is in ``bins[places[f] // 4, :, places[f] % 4]``."""

    bins: np.ndarray
    places: np.ndarray
    n_bins: np.ndarray
    categorical: np.ndarray


class NodeRows(NamedTuple):
    """Labels and weights of the rows of a node, in adjacent memory, and their sums.

    ``totals`` are the weights of the labels, ``mass`` is their sum and ``squares`` that of their
    squares.
    """

    labels: np.ndarray
    weights: np.ndarray
    totals: np.ndarray
    mass: float
    squares: float


class CutScratch(NamedTuple):
    """What the search for a cut writes to: by row of the node, by place, and by label."""

    places: np.ndarray
    order: np.ndarray
    counts: np.ndarray
    hist: np.ndarray  # weights by place and label
    left: np.ndarray
    right: np.ndarray


class RandomState(NamedTuple):
    """The state of growth: rows by node, features in the order drawn, random bits, scratch."""

    span: np.ndarray  # where a node's rows begin and end in the list of rows
    features: np.ndarray
    seed: np.ndarray
    other_rows: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    place: np.ndarray  # of each bin of the feature that is tried
    best_place: np.ndarray  # and of the best one so far, if it has categories
    search: CutScratch

    @classmethod
    def allocate(
        cls, rows: np.ndarray, labels: np.ndarray, n_features: int, tree: TreeArrays, seed: int
    ) -> "RandomState":
        n, (capacity, n_labels) = len(rows), tree.totals.shape
        return cls(
            np.empty((capacity, 2), dtype=np.int64),
            np.arange(n_features),
            np.full(1, seed, dtype=np.uint64),
            np.empty_like(rows),
            np.empty(n, dtype=labels.dtype),
            np.empty(n),
            np.empty(N_PLACES, dtype=np.int32),
            np.empty(N_PLACES, dtype=np.int32),
            CutScratch(
                np.empty(n, dtype=np.int32),
                np.empty(n, dtype=np.int32),
                np.empty(N_PLACES + 2, dtype=np.int32),
                np.empty((N_PLACES + 1, n_labels)),
                np.empty(n_labels),
                np.empty(n_labels),
            ),
        )


@kernel
def draw(seed):
    """64 random bits (SplitMix64): the same on every machine."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = seed[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def below(n, seed):
    return np.int64((draw(seed) >> np.uint64(16)) % np.uint64(n))


@kernel
def uniform(seed):
    # The 53 highest bits, as many as the fraction of a float holds.
    return np.float64(draw(seed) >> np.uint64(11)) * 2.0**-53


@kernel
def _order_categories(places, node, place, seed):
    """Write the place of each bin in an order that is drawn; ``places`` are bins plus 1.

    Returns the share of the differences between categories that is no chance.
    """
    labels, weights, totals = node.labels, node.weights, node.totals
    rest, wanted = uniform(seed) * node.mass, 0
    while wanted < len(totals) - 1 and rest >= totals[wanted]:
        rest -= totals[wanted]
        wanted += 1
    share, masses = np.zeros(len(place)), np.zeros(len(place))
    for i in range(len(places)):
        masses[places[i] - 1] += weights[i]
        share[places[i] - 1] += weights[i] * (labels[i] == wanted)
    n_present, between, mean = 0, 0.0, totals[wanted] / node.mass
    for b in range(len(place)):
        if masses[b] > 0:
            share[b] /= masses[b]
            between += masses[b] * (share[b] - mean) ** 2
            n_present += 1
        else:  # categories that the node has not seen get a place at random
            share[b] = uniform(seed)
    order = np.argsort(share)
    for k in range(len(place)):
        place[order[k]] = k + 1
    noise = node.mass / len(labels) * mean * (1 - mean)  # a row's variance
    return signal_share(between, n_present, noise)


@kernel
def _read_places(column, rows, first_bin, places):
    """Write the places of numbers, where one bin comes first; the lowest and the highest place."""
    low, high = np.int32(N_PLACES), np.int32(0)
    for k in range(len(rows)):
        bin_ = np.int32(column[rows[k]])
        at = np.int32(0) if bin_ == first_bin else bin_ + np.int32(1)
        places[k] = at
        low, high = min(low, at), max(high, at)
    return low, high


@kernel
def _sort(places, counts, order):
    """Rows of a node by their places."""
    m = len(places)
    if m <= INSERTION_SORT_ROWS:
        for k in range(m):
            at, j = places[k], k
            while j > 0 and places[order[j - 1]] > at:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
        return
    counts[:] = 0
    for k in range(m):
        counts[places[k] + 1] += 1
    for p in range(1, len(counts)):
        counts[p] += counts[p - 1]
    for k in range(m):
        order[counts[places[k]]] = k
        counts[places[k]] += 1


@kernel
def _best_cut(node, places, order, min_leaf, left, right):
    """The last place that goes left, and the score of that split: sum of squares over mass.

    Sums are updated row by row: moving weight w of a class with weight v changes v^2 by w (2v + w).
    """
    best, cut = -np.inf, -1
    for c in range(len(node.totals)):
        left[c], right[c] = 0.0, node.totals[c]
    left_mass, right_mass, left_squares, right_squares = 0.0, node.mass, 0.0, node.squares
    m, here = len(order), places[order[0]]
    for k in range(m - 1):
        c, w = node.labels[order[k]], node.weights[order[k]]
        left_squares += w * (2 * left[c] + w)
        right_squares += w * (w - 2 * right[c])
        left[c] += w
        right[c] -= w
        left_mass += w
        right_mass -= w
        last, here = here, places[order[k + 1]]
        if last == here or k + 1 < min_leaf or m - k - 1 < min_leaf:
            continue
        if min(left_mass, right_mass) <= ROUNDING_SHARE * node.mass:
            continue
        score = left_squares / left_mass + right_squares / right_mass
        if score > best:
            best, cut = score, last
    return cut, best


@kernel
def _best_cut_by_place(node, places, low, high, min_leaf, scratch):
    """As ``_best_cut``, from the sums of the places from the lowest to the highest."""
    hist, counts, left, right = scratch.hist, scratch.counts, scratch.left, scratch.right
    n_labels, m = len(node.totals), len(places)
    for p in range(high - low + 1):
        counts[p] = 0
        for c in range(n_labels):
            hist[p, c] = 0.0
    for k in range(m):
        p = np.uint64(places[k] - low)
        hist[p, np.uint64(node.labels[k])] += node.weights[k]
        counts[p] += 1
    best, cut, n_left = -np.inf, -1, 0
    for c in range(n_labels):
        left[c], right[c] = 0.0, node.totals[c]
    left_mass, left_squares, right_squares = 0.0, 0.0, node.squares
    for p in range(high - low):
        if counts[p] == 0:
            continue
        n_left += counts[p]
        for c in range(n_labels):
            w = hist[p, c]
            left_squares += w * (2 * left[c] + w)
            right_squares += w * (w - 2 * right[c])
            left[c] += w
            right[c] -= w
            left_mass += w
        right_mass = node.mass - left_mass
        if n_left < min_leaf or min(left_mass, right_mass) <= ROUNDING_SHARE * node.mass:
            continue
        if m - n_left < min_leaf:
            break
        score = left_squares / left_mass + right_squares / right_mass
        if score > best:
            best, cut = score, low + p
    return cut, best


@kernel
def _random_cut(node, places, low, high, min_leaf, left, seed):
    """As ``_best_cut``, for a random place from the lowest to the one before the highest."""
    totals = node.totals
    m, cut, n_left = len(places), low + below(high - low, seed), 0
    left[:] = 0
    for i in range(m):
        goes = places[i] <= cut
        left[node.labels[i]] += node.weights[i] * goes
        n_left += goes
    if n_left < min_leaf or m - n_left < min_leaf:
        return -1, -1.0  # the feature does not split this node
    mass, squares, others = 0.0, 0.0, 0.0
    for c in range(len(left)):
        mass += left[c]
        squares += left[c] * left[c]
        others += (totals[c] - left[c]) ** 2
    if min(mass, node.mass - mass) <= ROUNDING_SHARE * node.mass:
        return -1, -1.0
    return cut, squares / mass + others / (node.mass - mass)


@kernel
def _place_categories(column, rows, node, place, places, seed):
    """As :func:`_read_places` where bins are categories, in their order; and their signal."""
    low, high = _read_places(column, rows, -1, places)
    if low == high:
        return low, high, 1.0
    signal = _order_categories(places, node, place, seed)
    low, high = np.int32(N_PLACES), np.int32(0)
    for k in range(len(rows)):
        places[k] = place[places[k] - 1]
        low, high = min(low, places[k]), max(high, places[k])
    return low, high, signal


@kernel
def _try_feature(column, first_bin, rows, node, params, place, scratch, seed):
    """The best, or a random, cut of a feature and its score.

    Numbers have ``first_bin``, the bin before all others or -1; categories have -2, and the place
    of each is written, and gains may count by the share of their differences that is no chance.
    """
    places, order, min_leaf, signal = scratch.places, scratch.order, params.min_leaf, 1.0
    if first_bin == CATEGORIES:
        low, high, signal = _place_categories(column, rows, node, place, places, seed)
    else:
        low, high = _read_places(column, rows, first_bin, places)
    if low == high:
        return -1, -np.inf
    # Arrays and not their structure are passed on: each field costs time in every call.
    if params.random_cuts:
        cut, score = _random_cut(node, places, low, high, min_leaf, scratch.left, seed)
    elif (high - low + 1) * len(node.totals) <= CELLS_PER_ROW * len(rows):
        cut, score = _best_cut_by_place(node, places, low, high, min_leaf, scratch)
    else:
        _sort(places, scratch.counts[: len(place) + 2], order)
        cut, score = _best_cut(node, places, order, min_leaf, scratch.left, scratch.right)
    if signal == 1.0 or not params.weighs_categories:
        return cut, score
    own = node.squares / node.mass
    return cut, own + (score - own) * signal


@kernel
def _first_bin(n_bins, categorical, seed):
    """The bin before all others: that of missing values or none, as is drawn."""
    if categorical:
        return CATEGORIES
    return n_bins if uniform(seed) < 0.5 else -1


@kernel
def _partition(column, place, first_bin, cut, rows, scratch):
    """Rows that go left first; how many.

    As :func:`~steadyboost.trees.growth.partition.partition`, by place: a table of all bins, which
    that one makes, would take longer than the few rows of most nodes. Without a branch: which way
    a row goes cannot be foreseen.
    """
    n_left = 0
    for k in range(len(rows)):
        row = rows[k]
        bin_ = np.int32(column[row])
        if first_bin == CATEGORIES:
            goes_left = place[bin_] <= cut
        else:  # the place of a number is its bin plus 1
            goes_left = (bin_ < cut) | (bin_ == first_bin)
        rows[n_left], scratch[k - n_left] = row, row
        n_left += goes_left
    for k in range(len(rows) - n_left):
        rows[n_left + k] = scratch[k]
    return n_left


@kernel
def _include_left(place, first_bin, cut, n_places, left_bitset):
    """Write the bins that go left as a set."""
    if first_bin == CATEGORIES:
        for b in range(n_places):
            if place[b] <= cut:
                include(b, left_bitset)
        return
    for b in range(cut):
        include(b, left_bitset)
    if first_bin >= 0:
        include(first_bin, left_bitset)


@kernel
def _read_node(rows, labels, weights, state, totals):
    """Copy the labels and weights of a node's rows side by side, and add them up."""
    m = len(rows)
    own_labels, own_weights = state.labels[:m], state.weights[:m]
    totals[:] = 0
    for k in range(m):
        c, w = labels[rows[k]], weights[rows[k]]
        own_labels[k], own_weights[k] = c, w
        totals[c] += w
    mass, squares = 0.0, 0.0
    for c in range(len(totals)):
        mass += totals[c]
        squares += totals[c] * totals[c]
    return NodeRows(own_labels, own_weights, totals, mass, squares)


@kernel
def _grow(columns, labels, weights, rows, params, tree, state):
    """Grow a tree on ``rows``, which are reordered; returns its number of nodes."""
    span, names, search, seed = state.span, state.features, state.search, state.seed
    n_bins, n_features = columns.n_bins, len(columns.n_bins)
    span[0, 0], span[0, 1] = 0, len(rows)
    n_nodes, node = 1, 0
    while node < n_nodes:  # breadth first: children are appended
        inside = rows[span[node, 0] : span[node, 1]]
        own = _read_node(inside, labels, weights, state, tree.totals[node])
        m = len(inside)
        own_places, own_order = search.places[:m], search.order[:m]
        scratch = CutScratch(
            own_places, own_order, search.counts, search.hist, search.left, search.right
        )
        score = own.squares / own.mass
        best, cut, best_feature, best_first = score * (1 + 1e-12), -1, -1, -1  # less is rounding
        tried, drawn = 0, 0
        if m < 2 * params.min_leaf or score >= own.mass * (1 - ROUNDING_SHARE):
            drawn = n_features  # too small, or pure
        # Features that are constant in the node do not count as tried, as in scikit-learn.
        while drawn < n_features and tried < params.n_drawn:
            swap = drawn + below(n_features - drawn, seed)
            names[drawn], names[swap] = names[swap], names[drawn]
            f = names[drawn]
            drawn += 1
            place = state.place[: n_bins[f] + 1]
            column = columns.bins[columns.places[f] >> 2, :, columns.places[f] & 3]
            first_bin = _first_bin(n_bins[f], columns.categorical[f], seed)
            at, found = _try_feature(column, first_bin, inside, own, params, place, scratch, seed)
            tried += found > -np.inf
            if found > best:
                best, cut, best_feature, best_first = found, at, f, first_bin
                if columns.categorical[f]:
                    for b in range(len(place)):
                        state.best_place[b] = place[b]
        if best_feature >= 0:
            byte = columns.places[best_feature]
            column = columns.bins[byte >> 2, :, byte & 3]
            place, n_places = state.best_place, n_bins[best_feature] + 1
            n_left = _partition(column, place, best_first, cut, inside, state.other_rows)
            tree.feature[node], tree.gain[node] = best_feature, best - score
            _include_left(place, best_first, cut, n_places, tree.left_bitset[node])
            middle = span[node, 0] + n_left
            for side in range(2):
                tree.children[node, side] = n_nodes + side
                tree.depth[n_nodes + side] = tree.depth[node] + 1
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
    """A tree of the rows of positive weight; its values are the weights of the labels.

    It chooses from the listed features; of many, from some of them.
    """
    rng = np.random.default_rng(seed)
    names = np.arange(binned.n_features) if features is None else features
    if len(names) > MOST_FEATURES:
        names = np.sort(rng.choice(names, MOST_FEATURES, replace=False))
    packed, places, layout, all_names = binned.group(names)
    rows = np.flatnonzero(weights).astype(np.int32)
    tree = TreeArrays.allocate(2 * max(1, len(rows) // growth.min_samples_leaf) - 1, n_labels)
    tree = tree._replace(totals=np.empty(tree.totals.shape))
    bins = packed.view(np.uint8).reshape(len(packed), packed.shape[1], 4)
    categorical = binned.categorical[all_names[places]]
    columns = ByteColumns(bins, places, layout.n_bins[places], categorical)
    params = RandomParams(
        growth.n_drawn(len(names)),
        growth.min_samples_leaf,
        growth.random_cuts,
        growth.weighs_categories,
    )
    state = RandomState.allocate(rows, labels, len(names), tree, int(rng.integers(2**31)))
    n_nodes = _grow(columns, labels, weights, rows, params, tree, state)
    return _finished(tree.first(n_nodes), all_names[places], float(weights[rows].sum()))


def _finished(tree: TreeArrays, names: np.ndarray, mass: float) -> GrownTree:
    is_leaf = tree.children[:, 0] == np.arange(len(tree.children))
    return GrownTree(
        feature=np.where(is_leaf, 0, names[tree.feature]).astype(np.int32),
        children=tree.children,
        left_bitset=tree.left_bitset,
        value=tree.totals,
        gain=tree.gain / mass,
        depth=int(tree.depth.max()),
    )
