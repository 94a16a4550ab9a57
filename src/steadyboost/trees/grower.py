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
"""

from functools import partial

import numpy as np

from steadyboost.trees.compact import compact_room, few_rows, fill_compact, restore_bins
from steadyboost.trees.criteria import EDGE
from steadyboost.trees.filling import fill, subtract
from steadyboost.trees.jit import inner, kernel, merged, plain, shared
from steadyboost.trees.sending import send_rows, table_of_bins
from steadyboost.trees.splitting import SET_WORDS, find_split, gain_of, search_room

# Places in a grower's state: how many nodes, leaves, open nodes and free slots there are; the first
# of the nodes that were added last, and which of them has fewer rows, and more.
N_NODES, N_LEAVES, N_OPEN, N_FREE, FIRST, SMALL, LARGE = range(7)


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


@merged
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


@inner
def _wider(pool):
    """Twice as many histogram slots; all new ones are free (none was)."""
    n_slots, cells = pool.shape
    wider = np.empty((2 * n_slots, cells), dtype=np.int64)
    slots = np.empty(2 * n_slots, dtype=np.int64)
    for k in range(n_slots):
        slots[k] = n_slots + k
        for cell in range(cells):
            wider[k, cell] = pool[k, cell]
    return wider, slots


@merged
def _fill_leaves(tree, n_nodes, span, rows, node_of_row):
    for node in range(n_nodes):
        if tree[0][node] < 0:
            for k in range(span[node, 0], span[node, 1]):
                node_of_row[rows[k]] = node


# As called from kernels.
_may_split, _add_children = may_split.bare, add_children.bare
_gain_of, _subtract = gain_of.bare, subtract.bare


@merged
def _search_node(bins, sums, rows, few, hist, room, total, rule, left_set, left_sums):
    """The gain of a node's best split and its feature; by the bins of its rows where these are few.

    ``hist`` is read where they are not.
    """
    layout, (compact, search, _) = bins[2], room
    if len(rows) <= few:
        hist = compact[0][: fill_compact(bins, sums, rows, len(total), compact)]
        layout = compact[5]
    score, feature = find_split(hist, bins[1], layout, total, rule, search, left_set, left_sums)
    if len(rows) <= few and feature >= 0:
        restore_bins(bins, feature, left_sums, total, rule[0], compact, left_set)
    return _gain_of(score, total, rule), feature


@merged
def _search_new(bins, sums, rows, few, rule, limits, tree, span, nodes, pool, free, room, state):
    """Look for splits of the nodes that were added last; those that have one are open."""
    left_sets, totals, gain, depth = tree[2], tree[3], tree[4], tree[5]
    left_sums, split_on, slot, open_nodes = nodes
    for node in range(state[FIRST], state[N_NODES]):
        gain[node] = -np.inf
        own = rows[span[node, 0] : span[node, 1]]
        if _may_split(totals[node], depth[node], state[N_LEAVES], rule[0], limits):
            gain[node], split_on[node] = _search_node(
                bins, sums, own, few, pool[slot[node]], room, totals[node], rule,
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
def _grow_once(
    bins, sums, rows, scratch, few, rule, limits, tree, span, node_of_row, nodes, pool, free, room,
    state,
):  # fmt: skip
    """Add up the nodes that were added last, look for their splits, and split an open node.

    Returns whether there is more to do; without a free slot for a histogram nothing is done.
    """
    totals, gain, depth = tree[3], tree[4], tree[5]
    left_sums, split_on, slot, open_nodes = nodes
    small, large, n_leaves = state[SMALL], state[LARGE], state[N_LEAVES]
    useful = _may_split(totals[large], depth[large], n_leaves, rule[0], limits)
    useful |= _may_split(totals[small], depth[small], n_leaves, rule[0], limits)
    if useful and span[large, 1] - span[large, 0] > few:
        if state[N_FREE] == 0:
            return True
        state[N_FREE] -= 1
        slot[small] = free[state[N_FREE]]
        own = rows[span[small, 0] : span[small, 1]]
        fill(bins, sums, own, totals.shape[1], pool[slot[small]])
        if large != small:
            _subtract(pool[slot[large]], pool[slot[small]])
    _search_new(bins, sums, rows, few, rule, limits, tree, span, nodes, pool, free, room, state)
    if state[N_OPEN] == 0 or n_leaves >= limits[1]:
        return False
    node = _next_open(open_nodes, state[N_OPEN], gain, limits[2])
    first = state[N_NODES]
    tree[0][node] = split_on[node]
    _add_children(tree, node, first, left_sums[node])
    left_small = send_rows(
        bins, node, first, rows, scratch, limits[0], tree, span, node_of_row, room[2]
    )
    state[N_OPEN] -= 1
    state[N_LEAVES] += 1
    state[N_NODES] += 2
    state[FIRST], state[SMALL] = first, first if left_small else first + 1
    state[LARGE] = 2 * first + 1 - state[SMALL]
    slot[state[SMALL]], slot[state[LARGE]] = -1, slot[node]
    return True


@kernel
def grow(bins, sums, rows, scratch, rule, limits, tree, span, node_of_row):
    """Grow one tree on ``rows`` (reordered in place); returns its number of nodes.

    ``scratch`` is as long as ``rows``; ``tree`` holds the root's totals and room for the rest,
    ``span`` each node's range in ``rows``. Best first keeps a histogram per open leaf; depth first,
    which grows the same tree where leaves are not limited, keeps one per level; nodes of few rows
    have none.
    """
    capacity, n_channels = tree[3].shape
    nodes = (
        np.empty((capacity, n_channels), dtype=np.int64),  # sums that go left
        np.empty(capacity, dtype=np.int64),  # feature to split on
        np.full(capacity, -1, dtype=np.int64),  # slot of its histogram
        np.empty(capacity, dtype=np.int64),  # those that are open
    )
    cells = bins[2][0][-1] * (n_channels + (1 if len(sums[-1]) > 0 else 0))
    pool, free = np.empty((2, cells), dtype=np.int64), np.arange(2)
    state = np.zeros(7, dtype=np.int64)  # the root is its own smaller child
    state[N_NODES], state[N_LEAVES], state[N_FREE] = 1, 1, 2
    few = few_rows(bins)
    room = (compact_room(bins, n_channels, few), search_room(n_channels), table_of_bins())
    n_before = np.int64(0)
    while _grow_once(
        bins, sums, rows, scratch, few, rule, limits, tree, span, node_of_row, nodes, pool, free,
        room, state,
    ):  # fmt: skip
        if state[N_NODES] == n_before:
            state[N_FREE] = len(pool)
            pool, free = _wider(pool)
        n_before = state[N_NODES]
    _fill_leaves(tree, state[N_NODES], span, rows, node_of_row)
    return state[N_NODES]
