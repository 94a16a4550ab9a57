"""Nodes of a tree that is growing; ``tree`` and ``limits`` are those of the grower."""

from functools import partial

from steadyboost.trees.criteria import EDGE
from steadyboost.trees.jit import plain, shared, standing


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
def next_open(open_nodes, n_open, gain, best_first):
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


@standing
def close(totals, gain, depth, units, value):
    """Write sums and gains as shares of so many units; the largest depth."""
    deepest = depth[0]
    for node in range(len(depth)):
        gain[node] = gain[node] / units if gain[node] > 0 else 0.0
        for c in range(totals.shape[1]):
            value[node, c] = totals[node, c] / units
        if depth[node] > deepest:
            deepest = depth[node]
    return deepest
