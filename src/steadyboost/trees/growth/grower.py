"""Growth of a whole tree in one compiled call, on one thread.

The loop of :func:`grow`: build the histograms of the nodes that were added last, search their best
splits, choose the next node to split, and send its rows to its children. Only the smaller child's
rows are added up; the larger one's histogram is the rest of their parent's.
"""

import numpy as np

from steadyboost.trees.growth.partition import assign_children, partition_node
from steadyboost.trees.histograms.build import build_histogram, subtract
from steadyboost.trees.histograms.small_node import build_small_histogram, restore_bins
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.criteria import EDGE, gain_of
from steadyboost.trees.splits.search import find_split

NO_SLOT = -1  # a node without a histogram
ROOT = -2  # in place of a slot: the root's histogram, which is known and is not to be changed


@kernel
def may_split(total, depth, n_leaves, criterion, limits):
    """Whether a node is worth a histogram: not at a limit, and not of one class."""
    if depth >= limits.max_depth or n_leaves >= limits.max_leaves:
        return False
    if criterion >= EDGE:
        return True
    n_present = 0
    for c in range(len(total)):
        n_present += total[c] > 0
    return n_present > 1


@kernel
def _pop_next(open_nodes, n_open, gain, best_first):
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


@kernel
def add_children(tree, node, left, left_sums):
    """Write the children of a split node at places ``left`` and ``left + 1``."""
    for side in range(2):
        child = left + side
        tree.children[node, side] = child
        tree.depth[child] = tree.depth[node] + 1
        for c in range(tree.totals.shape[1]):
            own = tree.totals[node, c] - left_sums[c] if side else left_sums[c]
            tree.totals[child, c] = own


@kernel
def _widen(pool, free):
    """Twice as many slots; all new ones are free (none was)."""
    n = len(pool)
    wider, free = np.empty((2 * n, pool.shape[1]), dtype=np.int64), np.empty(2 * n, dtype=np.int64)
    wider[:n] = pool
    for k in range(n):
        free[k] = n + k
    return wider, free


@kernel
def _search_node(bins, hist, tree, node, split, state):
    """Find a node's best split by its histogram; its score."""
    score, state.split_feature[node] = find_split(
        hist, bins.features, bins.layout, tree.totals[node], split, state.search,
        tree.left_bitset[node], state.left_sums[node],
    )  # fmt: skip
    return score


@kernel
def _search_small_node(bins, stats, rows, tree, node, split, state):
    """Find the best split of a node of few rows, by the bins that they have; its score."""
    total, left_bitset, small = tree.totals[node], tree.left_bitset[node], state.small
    left_sums = state.left_sums[node]
    hist = small.hist[: build_small_histogram(bins, stats, rows, small)]
    score, feature = find_split(
        hist, bins.features, small.layout, total, split, state.search, left_bitset, left_sums
    )
    if feature >= 0:
        restore_bins(bins, feature, left_sums, total, split.criterion, small, left_bitset)
    state.split_feature[node] = feature
    return score


@kernel
def _list_all(rows):
    for k in range(len(rows)):
        rows[k] = k


@kernel
def _send_rows(bins, tree, node, left, rows, scratch, at_limit, state):
    """Send a split node's rows to its children; whether the left child has at most half.

    ``state.span`` of the root is negative until its rows are listed. Children at the limit of the
    depth are leaves: their rows are assigned at once.
    """
    span, fresh = state.span, state.span[node, 0] < 0
    start, stop = 0 if fresh else span[node, 0], span[node, 1]
    own, n_left = rows[start:stop], np.int64(0)
    if at_limit:
        if fresh:
            _list_all(own)
        assign_children(bins, tree, node, own, left, state.goes_left, state.node_of_row)
        stop = start
    else:
        first = np.int64(0 if fresh else -1)
        n_left = partition_node(bins, tree, node, own, scratch, state.goes_left, first)
    span[left, 0], span[left, 1] = start, start + n_left
    span[left + 1, 0], span[left + 1, 1] = start + n_left, stop
    return 2 * n_left <= len(own)


@kernel
def _close_leaves(tree, n_nodes, rows, state):
    """Write the leaves of rows where they have not been written yet.

    What a search has left in leaves goes.
    """
    if state.span[0, 0] < 0 and n_nodes == 1:
        _list_all(rows)
        state.span[0, 0] = 0
    for node in range(n_nodes):
        if tree.children[node, 0] == node:
            tree.left_bitset[node], tree.gain[node] = 0, 0.0
            for k in range(state.span[node, 0], state.span[node, 1]):
                state.node_of_row[rows[k]] = node


@kernel
def grow(bins, stats, rows, scratch, split, limits, tree, state):
    """Grow a tree; its number of nodes, and the pool of histograms, which may be a larger one.

    ``rows`` are reordered in place; ``scratch`` is as long. ``tree`` has the root's totals. Where
    ``state.root`` is known, ``rows`` are all and need not be listed.
    """
    span, slot, open_nodes, pool = state.span, state.slot, state.open_nodes, state.pool
    few, criterion, known = state.few, split.criterion, len(state.root) > 0
    free = np.arange(len(pool))
    n_nodes, n_leaves, n_open, n_free = np.int64(1), np.int64(1), np.int64(0), len(pool)
    first, small, large = np.int64(0), np.int64(0), np.int64(0)  # nodes that were added last
    span[0, 0], span[0, 1] = -1 if known else 0, len(rows)
    slot[0] = ROOT if known else NO_SLOT
    while True:
        useful = False
        for node in range(first, n_nodes):
            useful |= may_split(tree.totals[node], tree.depth[node], n_leaves, criterion, limits)
        n_large = len(rows) if n_nodes == 1 else span[large, 1] - span[large, 0]
        if useful and n_large > few and slot[small] == NO_SLOT:
            if n_free == 0:
                n_free = len(pool)
                pool, free = _widen(pool, free)
            n_free -= 1
            slot[small] = free[n_free]
            own = rows[span[small, 0] : span[small, 1]]
            build_histogram(bins, stats, own, state.build, pool[slot[small]])
            if slot[large] == ROOT:  # all other slots are free
                n_free -= 1
                slot[large] = free[n_free]
                subtract(state.root, pool[slot[small]], pool[slot[large]])
            elif large != small:
                subtract(pool[slot[large]], pool[slot[small]], pool[slot[large]])
        for node in range(first, n_nodes):
            tree.gain[node] = -np.inf
            n_rows = len(rows) if n_nodes == 1 else span[node, 1] - span[node, 0]
            if may_split(tree.totals[node], tree.depth[node], n_leaves, criterion, limits):
                if n_rows <= few:
                    own = rows[span[node, 0] : span[node, 1]]
                    score = _search_small_node(bins, stats, own, tree, node, split, state)
                else:
                    hist = state.root if slot[node] == ROOT else pool[slot[node]]
                    score = _search_node(bins, hist, tree, node, split, state)
                if score > -np.inf:
                    tree.gain[node] = gain_of(score, tree.totals[node], split)
            if tree.gain[node] > -np.inf:
                open_nodes[n_open] = node
                n_open += 1
            if slot[node] >= 0 and (tree.gain[node] == -np.inf or n_rows <= few):
                free[n_free] = slot[node]
                n_free += 1
                slot[node] = NO_SLOT
        if n_open == 0 or n_leaves >= limits.max_leaves:
            _close_leaves(tree, n_nodes, rows, state)
            return n_nodes, pool
        node = _pop_next(open_nodes, n_open, tree.gain, limits.best_first)
        tree.feature[node] = state.split_feature[node]
        add_children(tree, node, n_nodes, state.left_sums[node])
        at_limit = tree.depth[n_nodes] >= limits.max_depth
        left_is_small = _send_rows(bins, tree, node, n_nodes, rows, scratch, at_limit, state)
        first, small = n_nodes, n_nodes if left_is_small else n_nodes + 1
        large = 2 * first + 1 - small
        slot[small], slot[large] = NO_SLOT, slot[node]
        n_open, n_leaves, n_nodes = n_open - 1, n_leaves + 1, n_nodes + 2
