"""Growth of a whole tree in one compiled call.

Structures travel as plain tuples of arrays:

``bins``    (packed, features, layout, joint): the binned rows, the features to use, per feature
            (offsets, n_bins, has_missing, categorical or None), and joint columns or None; or
            five parts where rows are stored sparsely, see :mod:`steadyboost.trees.sparse_kernels`
``sums``    (labels, weights, counted, same_label), or three parts, (channels, counted, same_label):
            what is added up, as integers; ``counted`` and its labels are empty unless rows count
``rule``    (criterion, min_mass, min_count) or with l2, see :mod:`steadyboost.trees.criteria`
``limits``  (max_depth, max_leaves, best_first)
``tree``    (feature, children, left_set, totals, gain, depth), an entry per node; a leaf is its own
            child
``room``    (nodes, pool, free, beside, state, root, crew): per node (sums that go left, feature to
            split on, slot of its histogram, or those that are open), a histogram per slot, slots
            that are free, what nodes of few rows, searches, partitions and histograms write to,
            state, the root's histogram where it is known, and what threads share large nodes by,
            see :mod:`steadyboost.trees.large`; None for one thread, and then none of that is
            compiled
"""

from functools import partial

import numpy as np

from steadyboost.trees.compact import fill_compact, restore_bins
from steadyboost.trees.criteria import gain_of
from steadyboost.trees.filling import fill, subtract
from steadyboost.trees.jit import plain, shared, standing
from steadyboost.trees.large import (
    begin_large,
    best_offer,
    fill_large,
    place_large,
    search_shared,
    send_large,
)
from steadyboost.trees.nodes import add_children, may_split, next_open
from steadyboost.trees.sending import list_all, send_rows
from steadyboost.trees.splitting import find_split
from steadyboost.trees.state import (
    FEW,
    FIRST,
    FRESH,
    LARGE,
    N_FREE,
    N_LEAVES,
    N_NODES,
    N_OPEN,
    OF_ROOT,
    SHARED,
    SMALL,
)

NARROW = 0  # in place of a number of nodes: a wider room is needed
ROOT = -2  # in place of a slot: the histogram of a root that is known, and is not to be changed


@plain
def _begin(slot, free, span, state, crew):
    """The root is its own smaller child; where rows have not been listed, it is known."""
    slot[:] = -1
    if state[FRESH]:
        slot[0] = ROOT
    for k in range(len(free)):
        free[k] = k
    state[N_NODES], state[N_LEAVES], state[N_OPEN], state[N_FREE] = 1, 1, 0, len(free)
    state[FIRST], state[SMALL], state[LARGE] = 0, 0, 0
    if crew is not None:
        begin_large(crew, span[0, 1], state)


@plain
def _fill_leaves(bins, tree, n_nodes, span, rows, node_of_row, state, crew):
    """Write the leaves of rows where they have not been written yet.

    What a search has left in leaves goes.
    """
    if crew is not None:
        place_large(bins, rows, tree, n_nodes, span, node_of_row, crew, state)
    list_all(rows, state)
    for node in range(n_nodes):
        if tree[1][node, 0] == node:
            tree[2][node], tree[4][node] = 0, 0.0
            for k in range(span[node, 0], span[node, 1]):
                node_of_row[rows[k]] = node


# As called from kernels.
_may_split, _add_children = may_split.bare, add_children.bare
_gain_of, _subtract, _fill = gain_of.bare, subtract.bare, fill.bare


@plain
def _take_slot(node, slot, free, state):
    state[N_FREE] -= 1
    slot[node] = free[state[N_FREE]]


@plain
def _fill_node(bins, sums, rows, node, span, n_channels, gather, state, crew, hist):
    if crew is not None and crew[1][0][node] >= 0:
        n_rows = span[node, 1] - span[node, 0]
        fill_large(bins, sums, rows, node, n_rows, n_channels, crew, hist)
        return
    _fill(bins, sums, rows, span[node : node + 1], n_channels, gather, hist)


@plain
def _add_up_new(
    bins, sums, rows, few, rule, limits, tree, span, slot, pool, free, gather, state, root, crew
):
    """Histograms of the nodes that were added last; whether there was a free slot, if it takes one.

    Only the smaller one is added up; the larger one's is the rest of their parent's, which threads
    that share them write as they search.
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
    hist = pool[slot[small]]
    _fill_node(bins, sums, rows, small, span, totals.shape[1], gather, state, crew, hist)
    state[OF_ROOT] = slot[large] == ROOT
    if state[OF_ROOT]:  # all other slots are free
        _take_slot(large, slot, free, state)
    if large != small and (crew is None or not state[SHARED]):
        parent = root if state[OF_ROOT] else pool[slot[large]]
        _subtract(parent, hist, pool[slot[large]])
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
def _search_together(bins, rule, limits, tree, nodes, pool, state, root, crew):
    """As ``_search_new``, of a large root, or children of a large node that have histograms."""
    totals, first, n_leaves = tree[3], state[FIRST], state[N_LEAVES]
    last = state[N_NODES] - 1
    one = root if nodes[2][first] == ROOT else pool[nodes[2][first]]
    wanted = (
        _may_split(totals[first], tree[5][first], n_leaves, rule[0], limits),
        last > first and _may_split(totals[last], tree[5][last], n_leaves, rule[0], limits),
    )
    hists, larger = (one, pool[nodes[2][last]]), np.int64(-1)
    if last > first and (wanted[0] or wanted[1]):
        larger = state[LARGE] - first
    parent = root if state[OF_ROOT] else pool[nodes[2][state[LARGE]]]
    search_shared(bins, hists, parent, larger, (totals[first], totals[last]), wanted, rule, crew)
    for node in range(first, last + 1):
        tree[4][node], nodes[1][node] = best_offer(
            node - first, bins, hists[node - first], totals[node], rule, crew, tree[2][node],
            nodes[0][node],
        )  # fmt: skip


@plain
def _search_new(
    bins, sums, rows, few, rule, limits, tree, span, nodes, pool, room, state, root, crew
):
    """Look for splits of the nodes that were added last."""
    if crew is not None:
        large = state[LARGE]
        if state[SHARED] and span[large, 1] - span[large, 0] > few:
            _search_together(bins, rule, limits, tree, nodes, pool, state, root, crew)
            return
    left_sets, totals, score, depth = tree[2], tree[3], tree[4], tree[5]
    left_sums, split_on, slot, _ = nodes
    for node in range(state[FIRST], state[N_NODES]):
        score[node] = -np.inf
        if _may_split(totals[node], depth[node], state[N_LEAVES], rule[0], limits):
            hist = root if slot[node] == ROOT else pool[slot[node]]
            score[node], split_on[node] = _search_node(
                bins, sums, rows[span[node, 0] : span[node, 1]], few, hist, room[0], room[1],
                totals[node], rule, left_sets[node], left_sums[node],
            )  # fmt: skip


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
def _send(
    bins, node, left, rows, scratch, max_depth, tree, span, node_of_row, goes_left, state, crew
):
    """Send a split node's rows to its children; whether the left child has at most half."""
    at_limit = tree[5][left] >= max_depth
    if crew is not None:
        slot = crew[1][0]
        state[SHARED] = slot[node] >= 0
        if state[SHARED]:
            return send_large(bins, node, left, rows, scratch, at_limit, tree, span, crew, state)
        slot[left], slot[left + 1] = -1, -1
    return send_rows(
        bins, node, left, rows, scratch, at_limit, tree, span, node_of_row, goes_left, state
    )


@plain
def _split_next(
    bins, rows, scratch, limits, tree, span, node_of_row, nodes, goes_left, state, crew
):
    """Split an open node."""
    left_sums, split_on, slot, open_nodes = nodes
    node, first = next_open(open_nodes, state[N_OPEN], tree[4], limits[2]), state[N_NODES]
    tree[0][node] = split_on[node]
    _add_children(tree, node, first, left_sums[node])
    left_small = _send(
        bins, node, first, rows, scratch, limits[0], tree, span, node_of_row, goes_left, state, crew
    )
    state[N_OPEN] -= 1
    state[N_LEAVES] += 1
    state[N_NODES] += 2
    state[FIRST], state[SMALL] = first, first if left_small else first + 1
    state[LARGE] = 2 * first + 1 - state[SMALL]
    slot[state[SMALL]], slot[state[LARGE]] = -1, slot[node]


@partial(shared, inside=plain, outside=standing)
def go_on(bins, sums, rows, scratch, rule, limits, tree, span, node_of_row, room):
    """Begin or go on with a tree: its number of nodes, or NARROW if this was not all.

    ``rows`` are reordered in place; ``scratch`` is as long; ``tree`` holds the root's totals and
    room for the rest, ``span`` each node's range in ``rows``.
    """
    nodes, pool, free, beside, state, root, crew = room
    few = state[FEW]
    if state[N_NODES] == 0:
        _begin(nodes[2], free, span, state, crew)
    while True:  # a condition would be compiled twice
        if not _add_up_new(
            bins, sums, rows, few, rule, limits, tree, span, nodes[2], pool, free, beside[3], state,
            root, crew,
        ):  # fmt: skip
            return np.int64(NARROW)
        _search_new(
            bins, sums, rows, few, rule, limits, tree, span, nodes, pool, beside, state, root, crew
        )
        _open_new(few, rule, tree, span, nodes, free, state)
        if state[N_OPEN] == 0 or state[N_LEAVES] >= limits[1]:
            n_nodes, state[N_NODES] = state[N_NODES], 0
            _fill_leaves(bins, tree, n_nodes, span, rows, node_of_row, state, crew)
            return n_nodes
        _split_next(
            bins, rows, scratch, limits, tree, span, node_of_row, nodes, beside[2], state, crew
        )
