"""Growth of a whole tree in one compiled call.

Structures travel as plain tuples of arrays:

``bins``    (packed, features, layout, joint): the binned rows, the features to use, per feature
            (offsets, n_bins, has_missing, categorical or None), and joint columns; or five
            parts where rows are stored sparsely, see :mod:`steadyboost.trees.sparse_kernels`
``sums``    (labels, weights, counted, same_label), or three parts, (channels, counted, same_label):
            what is added up, as integers; ``counted`` and its labels are empty unless rows count
``rule``    (criterion, min_mass, min_count) or with l2, see :mod:`steadyboost.trees.criteria`
``limits``  (max_depth, max_leaves, best_first)
``tree``    (feature, children, left_set, totals, gain, depth), an entry per node; a leaf is its own
            child
``room``    (nodes, pool, free, beside, state, root, board): per node (sums that go left, feature to
            split on, slot of its histogram, or those that are open), a histogram per slot, slots
            that are free, what nodes of few rows, searches, partitions and histograms write to,
            state, the root's histogram where it is known, and what threads agree by, see
            :mod:`steadyboost.trees.agreement`
"""

from functools import partial

import numpy as np

from steadyboost.trees.agreement import agree, offer
from steadyboost.trees.compact import fill_compact, restore_bins
from steadyboost.trees.criteria import EDGE
from steadyboost.trees.filling import fill, fill_few, subtract
from steadyboost.trees.jit import plain, shared, standing
from steadyboost.trees.room import ROOT, begin
from steadyboost.trees.sending import list_all, part_of, send_rows
from steadyboost.trees.splitting import find_split, gain_of
from steadyboost.trees.state import (
    FEW,
    FIRST,
    LARGE,
    N_FREE,
    N_LEAVES,
    N_NODES,
    N_OPEN,
    OFFERED,
    SHARE,
    SMALL,
    TURN,
)

NARROW, WAITS = 0, -1  # in place of a number of nodes: a wider room is needed, or another thread

_begin = plain(begin)


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
def _fill_leaves(tree, n_nodes, span, rows, node_of_row, state):
    """Write the leaves of a thread's part of the rows, where these have not been written yet.

    What a search has left in them goes.
    """
    list_all(rows, state)
    for node in range(n_nodes):
        if tree[1][node, 0] == node:
            tree[2][node], tree[4][node] = 0, 0.0
            start, stop = part_of(span[node, 0], span[node, 1], state)
            for k in range(start, stop):
                node_of_row[rows[k]] = node


# As called from kernels.
_may_split, _add_children = may_split.bare, add_children.bare
_gain_of, _subtract, _fill = gain_of.bare, subtract.bare, fill.bare


@plain
def _take_slot(node, slot, free, state):
    state[N_FREE] -= 1
    slot[node] = free[state[N_FREE]]


@plain
def _add_up_new(
    bins, sums, rows, few, rule, limits, tree, span, slot, pool, free, gather, state, root
):
    """Histograms of the nodes that were added last; whether there was a free slot, if it takes one.

    Only the smaller one is added up; the larger one's is the rest of their parent's.
    """
    totals, depth = tree[3], tree[5]
    small, large, n_leaves = state[SMALL], state[LARGE], state[N_LEAVES]
    useful = _may_split(totals[large], depth[large], n_leaves, rule[0], limits)
    useful |= _may_split(totals[small], depth[small], n_leaves, rule[0], limits)
    if not useful or slot[small] != -1 or span[large, 1] - span[large, 0] <= few:
        return True
    if state[N_FREE] == 0:
        return False
    _take_slot(small, slot, free, state)
    own, hist = rows[span[small, 0] : span[small, 1]], pool[slot[small]]
    if not fill_few(bins, sums, own, totals.shape[1], hist):
        _fill(bins, sums, own, totals.shape[1], gather, hist)
    if slot[large] == ROOT:  # all other slots are free
        _take_slot(large, slot, free, state)
        _subtract(root, hist, pool[slot[large]])
    elif large != small:
        _subtract(pool[slot[large]], hist, pool[slot[large]])
    return True


@plain
def _search_node(bins, sums, rows, few, hist, compact, search, total, rule, left_set, left_sums):
    """A node's best split, its score and feature; by the bins of its rows where these are few.

    ``hist`` is read where they are not.
    """
    layout = bins[2]
    if len(rows) <= few:
        hist = compact[0][: fill_compact(bins, sums, rows, len(total), compact)]
        layout = compact[5]
    score, feature = find_split(hist, bins[1], layout, total, rule, search, left_set, left_sums)
    if len(rows) <= few and feature >= 0:
        restore_bins(bins, feature, left_sums, total, rule[0], compact, left_set)
    return score, feature


@plain
def _search_new(bins, sums, rows, few, rule, limits, tree, span, nodes, pool, room, state, root):
    """Look for splits of the nodes that were added last; whether any of them may be split."""
    left_sets, totals, score, depth = tree[2], tree[3], tree[4], tree[5]
    left_sums, split_on, slot, _ = nodes
    searched = False
    for node in range(state[FIRST], state[N_NODES]):
        score[node] = -np.inf
        if _may_split(totals[node], depth[node], state[N_LEAVES], rule[0], limits):
            searched = True
            hist = root if slot[node] == ROOT else pool[slot[node]]
            score[node], split_on[node] = _search_node(
                bins, sums, rows[span[node, 0] : span[node, 1]], few, hist, room[0], room[1],
                totals[node], rule, left_sets[node], left_sums[node],
            )  # fmt: skip
    return searched


@plain
def _agree_on_new(tree, nodes, board, state):
    """Whether all threads that grow the tree have agreed on the splits of these nodes."""
    if board is None:  # one thread: the rest is not compiled then
        return True
    share, turn, added = state[SHARE], state[TURN], (state[FIRST], state[N_NODES])
    if state[OFFERED] == 0:
        offer(board, share, turn, added, tree[4], nodes[1], tree[2], nodes[0])
        state[OFFERED] = 1
    if not agree(board, share, turn, added, tree[4], nodes[1], tree[2], nodes[0]):
        return False
    state[TURN] += 1
    state[OFFERED] = 0
    return True


@plain
def _open_new(few, rule, tree, span, nodes, free, state):
    """Those of these nodes that have a split are open; histograms that nobody needs are free."""
    gain, slot, open_nodes = tree[4], nodes[2], nodes[3]
    for node in range(state[FIRST], state[N_NODES]):
        if gain[node] > -np.inf:
            gain[node] = _gain_of(gain[node], tree[3][node], rule)
        if gain[node] > -np.inf:
            open_nodes[state[N_OPEN]] = node
            state[N_OPEN] += 1
        n_rows = span[node, 1] - span[node, 0]
        if slot[node] >= 0 and (gain[node] == -np.inf or n_rows <= few):
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
        bins, node, first, rows, scratch, limits[0], tree, span, node_of_row, goes_left, state
    )
    state[N_OPEN] -= 1
    state[N_LEAVES] += 1
    state[N_NODES] += 2
    state[FIRST], state[SMALL] = first, first if left_small else first + 1
    state[LARGE] = 2 * first + 1 - state[SMALL]
    slot[state[SMALL]], slot[state[LARGE]] = -1, slot[node]


@partial(shared, inside=plain, outside=standing)
def go_on(bins, sums, rows, scratch, rule, limits, tree, span, node_of_row, room):
    """Begin or go on with a tree: its number of nodes, or NARROW or WAITS if this was not all.

    ``rows`` are reordered in place; ``scratch`` is as long; ``tree`` holds the root's totals and
    room for the rest, ``span`` each node's range in ``rows``.
    """
    nodes, pool, free, beside, state, root, board = room
    few = state[FEW]
    if state[N_NODES] == 0:
        _begin(nodes[2], free, state)
    while True:  # a condition would be compiled twice
        searched = True
        if state[OFFERED] == 0:
            if not _add_up_new(
                bins, sums, rows, few, rule, limits, tree, span, nodes[2], pool, free, beside[3],
                state, root,
            ):  # fmt: skip
                return np.int64(NARROW)
            searched = _search_new(
                bins, sums, rows, few, rule, limits, tree, span, nodes, pool, beside, state, root
            )
        if searched and not _agree_on_new(tree, nodes, board, state):
            return np.int64(WAITS)
        _open_new(few, rule, tree, span, nodes, free, state)
        if state[N_OPEN] == 0 or state[N_LEAVES] >= limits[1]:
            n_nodes, state[N_NODES] = state[N_NODES], 0
            _fill_leaves(tree, n_nodes, span, rows, node_of_row, state)
            return n_nodes
        _split_next(bins, rows, scratch, limits, tree, span, node_of_row, nodes, beside[2], state)
