"""Growing a C4.5 tree: choose a test, send the cases down, repeat.

Every continuous attribute has a list of the node's rows in ascending order of its values. The
lists come sorted and are dealt out stably, so that nothing is sorted inside a tree. Open nodes
wait on a stack, and so do their segments of the lists: the node taken next always owns the last
segment, hence its branches may overwrite it and run past its end, which they do when missing
values put a row into several branches.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
"""

import math

import numpy as np

from steadyboost.trees.c45.cases import (
    ATTRIBUTE,
    BRANCHES,
    CASES,
    ERRORS,
    FIRST,
    MAJORITY,
    MISSING,
    PARENT,
    THRESHOLD,
    AnyData,
    Branches,
    Nodes,
    deal_rows,
    deal_weights,
    lay_out,
    make_leaf,
    send,
    sum_up,
)
from steadyboost.trees.c45.sparse import choose_sparse_test, sparse_training_value
from steadyboost.trees.c45.split import (
    EPSILON,
    REJECTED,
    ROUNDING,
    Rules,
    continuous_test,
    discrete_test,
    pick,
)
from steadyboost.trees.c45.work import N_NODES, N_OPEN, N_PLACES, start_work, with_room
from steadyboost.trees.jit import kernel


@kernel
def is_open(nodes, node, min_cases):
    """Whether a node may be split: more than one class, and cases for two branches."""
    cases = nodes.values[node, CASES]
    pure = nodes.weights[node, nodes.links[node, MAJORITY]] == cases
    return not pure and cases >= 2.0 * min_cases - ROUNDING


@kernel
def choose_test(data, nodes, node, work, low, high, rules):
    """Compare the best test on each attribute; return the best attribute, -1 if there is none."""
    if len(data) > 4:
        return choose_sparse_test(data, nodes, node, work, low, high, rules)
    gains, infos, cuts = work.tests[0], work.tests[1], work.tests[2]
    for f in range(gains.size):
        gains[f] = 0.0
    # A discrete attribute is tested once on a path; a continuous one gets its gain below.
    above = nodes.links[node, PARENT]
    while above >= 0:
        gains[nodes.links[above, ATTRIBUTE]] = REJECTED
        above = nodes.links[above, PARENT]
    list_of = 0
    for f in range(gains.size):
        column, v = data.columns[f], data.n_values[f]
        if v == 0:
            list_of += 1
            gains[f], infos[f], cuts[f] = continuous_test(
                column,
                data.labels,
                work.weight,
                work.lists[list_of],
                low,
                high,
                nodes.values[node, CASES],
                rules,
                work.sides,
            )
        elif gains[f] != REJECTED:
            gains[f], infos[f] = discrete_test(
                column, data.labels, work.weight, work.lists[0], low, high, rules, work.table, v
            )
            cuts[f] = math.nan
    return pick(gains, infos, data.n_values, rules)


@kernel
def training_value(data, f, order, rank, weights, cut):
    """Largest value of the whole training data up to the cut: C4.5 only cuts at such values."""
    if len(data) > 4:
        return sparse_training_value(data, f, weights, cut)
    column, order = data.columns[f], order[rank[f]]
    begin, end = 0, order.size
    while begin < end:
        mid = (begin + end) // 2
        if column[order[mid]] <= cut:
            begin = mid + 1
        else:
            end = mid
    last = begin - 1
    while weights[order[last]] <= 0.0:
        last -= 1
    return column[order[last]]


@kernel
def add_branches(data, nodes, node, first, n_branches, rows, weight, low, high, branches):
    """Append the branches of a node as leaves; an empty one takes the majority from above."""
    for b in range(first, first + n_branches):
        for c in range(data.n_classes):
            nodes.weights[b, c] = 0.0
    for i in range(low, high):
        row = rows[i]
        c, b = data.labels[row], branches.of_row[row]
        if b == MISSING:
            for v in range(n_branches):
                nodes.weights[first + v, c] += weight[row] * branches.share[v]
        else:
            nodes.weights[first + b, c] += weight[row]
    for v in range(n_branches):
        majority = 0 if branches.size[v] > 0 else nodes.links[node, MAJORITY]
        make_leaf(nodes, first + v, sum_up(nodes, first + v, majority))
        nodes.links[first + v, PARENT] = node


@kernel
def deal_lists(work, low, high, branches, n_branches, end):
    """Deal the segment of a node out to its branches, in place."""
    rows, weights = work.lists[0], work.weights
    deal_weights(rows, weights, low, high, branches, n_branches, work.hand_weights)
    for i in range(low, end):
        weights[i] = work.hand_weights[i]
    for j in range(work.lists.shape[0]):
        deal_rows(work.lists[j], low, high, branches, n_branches, work.hand)
        for i in range(low, end):
            work.lists[j, i] = work.hand[i]


@kernel
def grow_on(data, order, rank, row_weights, rules, nodes, work, branches):
    """Split open nodes until there is none left, or no room for the next split."""
    rows, counts, stack = work.lists[0], work.counts, work.stack
    while counts[N_OPEN] > 0 and counts[N_NODES] + branches.size.size <= stack.shape[0]:
        top, first = counts[N_OPEN] - 1, counts[N_NODES]
        node, low, high = stack[top, 0], stack[top, 1], stack[top, 2]
        for i in range(low, high):
            work.weight[rows[i]] = work.weights[i]
        f = choose_test(data, nodes, node, work, low, high, rules)
        if f < 0:
            counts[N_OPEN] = top
            continue
        n_branches, threshold = data.n_values[f], math.nan
        if n_branches == 0:
            n_branches = 2
            threshold = training_value(data, f, order, rank, row_weights, work.tests[2, f])
        missing = send(data, f, threshold, n_branches, rows, work.weights, low, high, branches)
        add_branches(data, nodes, node, first, n_branches, rows, work.weight, low, high, branches)
        for b in range(n_branches):
            branches.wanted[b] = is_open(nodes, first + b, rules.min_cases)
        end = lay_out(branches, n_branches, missing, low)
        counts[N_PLACES] = end
        if end > work.weights.size:
            return
        if end > low:
            deal_lists(work, low, high, branches, n_branches, end)
        for b in range(n_branches):
            if branches.wanted[b]:
                stack[top, 0], stack[top, 1] = first + b, branches.start[b]
                stack[top, 2] = branches.start[b] + branches.size[b] + missing
                top += 1
        nodes.links[node, ATTRIBUTE] = f
        nodes.links[node, FIRST] = first
        nodes.links[node, BRANCHES] = n_branches
        nodes.values[node, THRESHOLD] = threshold
        counts[N_NODES], counts[N_OPEN] = first + n_branches, top


@kernel
def collapse(nodes, n_nodes):
    """Turn each test that errs no less on its cases than a leaf would into that leaf."""
    # Branches come after their parent, so that a walk backwards sees them first.
    for node in range(n_nodes - 1, -1, -1):
        first, n_branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        if n_branches > 0:
            below = 0.0
            for b in range(first, first + n_branches):
                below += nodes.values[b, ERRORS]
            as_leaf = nodes.values[node, CASES] - nodes.weights[node, nodes.links[node, MAJORITY]]
            nodes.values[node, ERRORS] = below
            if below >= as_leaf - EPSILON:
                make_leaf(nodes, node, as_leaf)


def grow(data: AnyData, order: np.ndarray, row_weights: np.ndarray, rules: Rules) -> Nodes:
    """Grow an unpruned tree.

    Parameters
    ----------
    data : AnyData
        The training data.
    order : int32 array (n_continuous, n_rows)
        Rows by ascending value of each continuous attribute, missing values last; none for
        sparse data, which are in order.
    row_weights : float64 array (n_rows,)
        Rows of weight zero are not there.
    rules : Rules
        How tests are chosen.

    Returns
    -------
    Nodes
        The tree; nodes below a collapsed test are still in the arrays but nothing leads to them.
    """
    work = start_work(data, order, row_weights)
    branches = Branches.room_for(row_weights.size, data.n_values)
    n = work.stack.shape[0]
    nodes = Nodes(np.zeros((n, 5), np.int64), np.zeros((n, 3)), np.zeros((n, data.n_classes)))
    rows = work.lists[0]
    nodes.weights[0] = np.bincount(data.labels[rows], work.weights, data.n_classes)
    nodes.links[0, PARENT] = -1
    make_leaf(nodes, 0, sum_up(nodes, 0, 0))
    work.stack[0] = 0, 0, rows.size
    work.counts[:] = 1, is_open(nodes, 0, rules.min_cases), 0
    rank = np.cumsum(data.n_values == 0) - 1
    grow_on(data, order, rank, row_weights, rules, nodes, work, branches)
    while work.counts[N_OPEN] > 0:
        nodes, work = with_room(nodes, work, branches.size.size)
        grow_on(data, order, rank, row_weights, rules, nodes, work, branches)
    n_nodes = work.counts[N_NODES]
    collapse(nodes, n_nodes)
    return Nodes(*(array[:n_nodes] for array in nodes))
