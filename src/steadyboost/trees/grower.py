"""Growth of a whole tree in one compiled call.

Structures travel as plain tuples of arrays:

``bins``    (packed, features, layout, joint): the binned rows, the features to use, per feature
            (offsets, n_bins, has_missing, categorical or None), and joint columns; or five
            parts where rows are stored sparsely, see :mod:`steadyboost.trees.sparse_kernels`
``sums``    (labels, weights, counted, same_label), or three parts, (channels, counted, same_label):
            what is added up, as integers; ``counted`` and its labels are empty unless rows count
``rule``    (criterion, min_mass, min_count) or with l2, see :mod:`steadyboost.trees.criteria`
``limits``  (max_depth, max_leaves, best_first)
``tree``    (feature or -1, children, left_set, totals, gain, depth), an entry per node
``room``    (nodes, pool, free, beside, state): per node (sums that go left, feature to split on,
            slot of its histogram, or those that are open), a histogram per slot, slots that are
            free, what nodes of few rows, searches, partitions and histograms write to, and state
"""

from functools import partial

import numpy as np

from steadyboost.trees.compact import compact_room, few_rows, fill_compact, restore_bins
from steadyboost.trees.criteria import EDGE
from steadyboost.trees.filling import fill, fill_few, gather_room, subtract
from steadyboost.trees.jit import plain, shared, standing
from steadyboost.trees.sending import send_rows, table_of_bins
from steadyboost.trees.splitting import SET_WORDS, find_split, gain_of, search_room

# Places in a grower's state: how many nodes (0 before it begins), leaves, open nodes and free slots
# there are; the first of the nodes that were added last, which of them has fewer rows, and more;
# how many rows are few.
N_NODES, N_LEAVES, N_OPEN, N_FREE, FIRST, SMALL, LARGE, FEW = range(8)

STATE = 4  # its place in the room

SLOTS = 4  # histograms to begin with: those of a tree of depth 4


def empty_tree(capacity: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """Room for ``capacity`` nodes."""
    return (
        np.full(capacity, -1, dtype=np.int64),
        np.zeros((capacity, 2), dtype=np.int64),
        np.zeros((capacity, SET_WORDS), dtype=np.uint32),
        np.zeros((capacity, n_channels), dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
    )


def begin(slot, free, state):
    """The root is its own smaller child."""
    slot[:] = -1
    for k in range(len(free)):
        free[k] = k
    state[N_NODES], state[N_LEAVES], state[N_OPEN], state[N_FREE] = 1, 1, 0, len(free)
    state[FIRST], state[SMALL], state[LARGE] = 0, 0, 0


_begin = plain(begin)


class Room:
    """What growing a tree takes besides the tree: the same again for the next one.

    Best first keeps a histogram per open leaf; depth first, which grows the same tree where leaves
    are not limited, keeps one per level; nodes of few rows have none.
    """

    def __init__(
        self, bins: tuple, sums: tuple, n_rows: int, n_channels: int, capacity: int
    ) -> None:
        few, counting = few_rows(bins), len(sums[-1]) > 0
        state = np.zeros(8, dtype=np.int64)
        state[FEW] = few
        nodes = (
            np.empty((capacity, n_channels), dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
        )
        pool = np.empty((SLOTS, int(bins[2][0][-1]) * (n_channels + counting)), dtype=np.int64)
        beside = (
            compact_room(bins, n_channels, few),
            search_room(n_channels),
            table_of_bins(),
            gather_room(bins, sums, n_rows, n_channels),
        )
        self.arrays = nodes, pool, np.empty(SLOTS, dtype=np.int64), beside, state

    def begin_with(self, root: np.ndarray) -> None:
        """Begin a tree whose root's histogram is known."""
        (_, _, slot, _), pool, free, _, state = self.arrays
        begin(slot, free, state)
        state[N_FREE] -= 1
        slot[0] = free[state[N_FREE]]
        pool[slot[0]] = root

    def widen(self) -> None:
        """Twice as many slots; all new ones are free (none was)."""
        nodes, pool, _, beside, state = self.arrays
        n_slots = len(pool)
        wider = np.concatenate([pool, np.empty_like(pool)])
        free = np.arange(n_slots, 3 * n_slots)
        state[N_FREE] = n_slots
        self.arrays = nodes, wider, free, beside, state


@partial(shared, inside=plain)
def may_split(total, depth, n_leaves, criterion, limits):
    """Whether a node is worth a histogram: not at a limit, and not of one class."""
    if depth >= limits[0] or n_leaves >= limits[1]:
        return False
    if criterion >= EDGE:
        return True
    n_present = 0
    for c in range(len(total)):
        n_present += total[c] > 0
    return n_present > 1


@plain
def _next_open(open_nodes, n_open, gain, best_first):
    """Take the node to split next off the list: the largest gain, or depth first."""
    place = n_open - 1
    if best_first:
        for k in range(n_open):
            better = gain[open_nodes[k]] > gain[open_nodes[place]]
            tie = gain[open_nodes[k]] == gain[open_nodes[place]]
            if better or (tie and open_nodes[k] < open_nodes[place]):
                place = k
    node = open_nodes[place]
    open_nodes[place] = open_nodes[n_open - 1]
    return node


@partial(shared, inside=plain)
def add_children(tree, node, left, left_sums):
    """Write the children of a split node at places ``left`` and ``left + 1``."""
    _, children, _, totals, _, depth = tree
    for side in range(2):
        child = left + side
        children[node, side] = child
        depth[child] = depth[node] + 1
        for c in range(totals.shape[1]):
            totals[child, c] = totals[node, c] - left_sums[c] if side else left_sums[c]


@plain
def _fill_leaves(tree, n_nodes, span, rows, node_of_row):
    for node in range(n_nodes):
        if tree[0][node] < 0:
            for k in range(span[node, 0], span[node, 1]):
                node_of_row[rows[k]] = node


# As called from kernels.
_may_split, _add_children = may_split.bare, add_children.bare
_gain_of, _subtract, _fill = gain_of.bare, subtract.bare, fill.bare


@plain
def _add_up_new(bins, sums, rows, few, rule, limits, tree, span, slot, pool, free, gather, state):
    """Histograms of the nodes that were added last; whether there was a free slot, if it takes one.

    Only the smaller one is added up; the larger one's is the rest of their parent's.
    """
    totals, depth = tree[3], tree[5]
    small, large, n_leaves = state[SMALL], state[LARGE], state[N_LEAVES]
    useful = _may_split(totals[large], depth[large], n_leaves, rule[0], limits)
    useful |= _may_split(totals[small], depth[small], n_leaves, rule[0], limits)
    if not useful or slot[small] >= 0 or span[large, 1] - span[large, 0] <= few:
        return True
    if state[N_FREE] == 0:
        return False
    state[N_FREE] -= 1
    slot[small] = free[state[N_FREE]]
    own, hist = rows[span[small, 0] : span[small, 1]], pool[slot[small]]
    if not fill_few(bins, sums, own, totals.shape[1], hist):
        _fill(bins, sums, own, totals.shape[1], gather, hist)
    if large != small:
        _subtract(pool[slot[large]], hist)
    return True


@plain
def _search_node(bins, sums, rows, few, hist, compact, search, total, rule, left_set, left_sums):
    """The gain of a node's best split and its feature; by the bins of its rows where these are few.

    ``hist`` is read where they are not.
    """
    layout = bins[2]
    if len(rows) <= few:
        hist = compact[0][: fill_compact(bins, sums, rows, len(total), compact)]
        layout = compact[5]
    score, feature = find_split(hist, bins[1], layout, total, rule, search, left_set, left_sums)
    if len(rows) <= few and feature >= 0:
        restore_bins(bins, feature, left_sums, total, rule[0], compact, left_set)
    return _gain_of(score, total, rule), feature


@plain
def _search_new(bins, sums, rows, few, rule, limits, tree, span, nodes, pool, free, room, state):
    """Look for splits of the nodes that were added last; those that have one are open."""
    left_sets, totals, gain, depth = tree[2], tree[3], tree[4], tree[5]
    left_sums, split_on, slot, open_nodes = nodes
    for node in range(state[FIRST], state[N_NODES]):
        gain[node] = -np.inf
        own = rows[span[node, 0] : span[node, 1]]
        if _may_split(totals[node], depth[node], state[N_LEAVES], rule[0], limits):
            gain[node], split_on[node] = _search_node(
                bins, sums, own, few, pool[slot[node]], room[0], room[1], totals[node], rule,
                left_sets[node], left_sums[node],
            )  # fmt: skip
        if gain[node] > -np.inf:
            open_nodes[state[N_OPEN]] = node
            state[N_OPEN] += 1
        if slot[node] >= 0 and (gain[node] == -np.inf or len(own) <= few):
            free[state[N_FREE]] = slot[node]
            state[N_FREE] += 1
            slot[node] = -1


@plain
def _split_next(bins, rows, scratch, limits, tree, span, node_of_row, nodes, goes_left, state):
    """Split an open node."""
    left_sums, split_on, slot, open_nodes = nodes
    node, first = _next_open(open_nodes, state[N_OPEN], tree[4], limits[2]), state[N_NODES]
    tree[0][node] = split_on[node]
    _add_children(tree, node, first, left_sums[node])
    left_small = send_rows(
        bins, node, first, rows, scratch, limits[0], tree, span, node_of_row, goes_left
    )
    state[N_OPEN] -= 1
    state[N_LEAVES] += 1
    state[N_NODES] += 2
    state[FIRST], state[SMALL] = first, first if left_small else first + 1
    state[LARGE] = 2 * first + 1 - state[SMALL]
    slot[state[SMALL]], slot[state[LARGE]] = -1, slot[node]


@partial(shared, inside=plain, outside=standing)
def go_on(bins, sums, rows, scratch, rule, limits, tree, span, node_of_row, room):
    """Begin or go on with a tree: its number of nodes, or 0 if it needs a wider room to go on.

    ``rows`` are reordered in place; ``scratch`` is as long; ``tree`` holds the root's totals and
    room for the rest, ``span`` each node's range in ``rows``.
    """
    nodes, pool, free, beside, state = room
    few = state[FEW]
    if state[N_NODES] == 0:
        _begin(nodes[2], free, state)
    while True:  # a condition would be compiled twice
        if not _add_up_new(
            bins, sums, rows, few, rule, limits, tree, span, nodes[2], pool, free, beside[3], state
        ):
            return np.int64(0)
        _search_new(
            bins, sums, rows, few, rule, limits, tree, span, nodes, pool, free, beside, state
        )
        if state[N_OPEN] == 0 or state[N_LEAVES] >= limits[1]:
            n_nodes, state[N_NODES] = state[N_NODES], 0
            _fill_leaves(tree, n_nodes, span, rows, node_of_row)
            return n_nodes
        _split_next(bins, rows, scratch, limits, tree, span, node_of_row, nodes, beside[2], state)


def grow(bins, sums, rows, scratch, rule, limits, tree, span, node_of_row, root=None) -> int:
    """Grow one tree; returns its number of nodes. ``root``: the histogram of all rows, if known."""
    capacity, n_channels = tree[3].shape
    room, n_nodes = Room(bins, sums, len(rows), n_channels, capacity), 0
    if root is not None:
        room.begin_with(root)
    while n_nodes == 0:
        n_nodes = go_on(
            bins, sums, rows, scratch, rule, limits, tree, span, node_of_row, room.arrays
        )
        if n_nodes == 0:
            room.widen()
    return n_nodes
