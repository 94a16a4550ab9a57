"""Growing a C4.5 tree: choose a test, partition the cases, repeat.

Every continuous attribute has a list of the node's rows in ascending order of its values. The
lists are sorted once and partitioned stably, so that nothing is sorted inside a tree. Open nodes
are on a stack, and so are their segments of the lists: the node taken next always owns the last
segment, hence its branches may overwrite it and run past its end, which they do when missing
values put a row into several branches.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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
    Branches,
    NodeCases,
    Nodes,
    Test,
    TrainingData,
    allocate_segments,
    assign_branches,
    extended,
    make_leaf,
    partition_rows,
    partition_weights,
    update_totals,
)
from steadyboost.trees.c45.split import (
    EPSILON,
    REJECTED,
    ROUNDING,
    C45Params,
    SortedCases,
    choose_attribute,
    choose_sparse_test,
    continuous_test,
    discrete_test,
    sparse_training_value,
)
from steadyboost.trees.jit import kernel

# Entries of ``GrowthState.counts``: nodes made, nodes on the stack, places wanted in the lists.
N_NODES, N_OPEN, N_PLACES = 0, 1, 2


class GrowthState(NamedTuple):
    """The state of a tree's growth, and scratch arrays.

    Attributes
    ----------
    lists : int32 array (1 + n_continuous, places)
        Rows of the open nodes: in row order, then by each continuous attribute.
    weights : float64 array (places,)
        Weights of the cases in the first list.
    stack : int64 array (capacity, 3)
        Open nodes, each with the begin and the end of its segment.
    counts : int64 array (3,)
        See ``N_NODES``, ``N_OPEN`` and ``N_PLACES``.
    spare_rows, spare_weights : arrays (places,)
        Scratch: one list while it is partitioned.
    weight : float64 array (n_rows,)
        Weights in the current node, by row.
    gains, split_infos, cuts : float64 arrays (n_features,)
        Of the best test on each attribute.
    sides, table : float64 arrays
        Class weights of the two sides of a cut, and of the values of a discrete attribute.
    """

    lists: np.ndarray
    weights: np.ndarray
    stack: np.ndarray
    counts: np.ndarray
    spare_rows: np.ndarray
    spare_weights: np.ndarray
    weight: np.ndarray
    gains: np.ndarray
    split_infos: np.ndarray
    cuts: np.ndarray
    sides: np.ndarray
    table: np.ndarray


def start_growth(data: TrainingData, order: np.ndarray, row_weights: np.ndarray) -> GrowthState:
    """Lists of the rows of positive weight, and scratch arrays."""
    rows = np.flatnonzero(row_weights > 0.0).astype(np.int32)
    lists = np.empty((order.shape[0] + 1, rows.size), np.int32)
    lists[0] = rows
    for j, by_value in enumerate(order):
        lists[j + 1] = by_value[row_weights[by_value] > 0.0]
    gains, split_infos, cuts = np.empty((3, data.n_values.size))
    return GrowthState(
        lists=lists,
        weights=row_weights[rows],
        stack=np.zeros((256, 3), np.int64),
        counts=np.zeros(3, np.int64),
        spare_rows=np.empty(rows.size, np.int32),
        spare_weights=np.empty(rows.size),
        weight=np.empty(row_weights.size),
        gains=gains,
        split_infos=split_infos,
        cuts=cuts,
        sides=np.empty((2, data.n_classes)),
        table=np.empty((data.n_values.max(initial=0) + 2, data.n_classes)),
    )


def with_capacity(nodes: Nodes, state: GrowthState, n_branches: int) -> tuple[Nodes, GrowthState]:
    """Longer arrays, as the compiled code has stopped for want of capacity."""
    n_nodes, n_places = state.counts[N_NODES] + n_branches, state.counts[N_PLACES]
    if n_nodes > state.stack.shape[0]:
        nodes = Nodes(*(extended(array, n_nodes) for array in nodes))
        state = state._replace(stack=extended(state.stack, n_nodes))
    if n_places > state.weights.size:
        weights = extended(state.weights, n_places)
        lists = np.ascontiguousarray(extended(state.lists.T, n_places).T)
        state = state._replace(
            lists=lists,
            weights=weights,
            spare_rows=extended(state.spare_rows, n_places),
            spare_weights=np.empty_like(weights),
        )
    return nodes, state


@kernel
def is_open(nodes, node, min_cases):
    """Whether a node may be split: more than one class, and cases for two branches."""
    cases = nodes.values[node, CASES]
    pure = nodes.weights[node, nodes.links[node, MAJORITY]] == cases
    return not pure and cases >= 2.0 * min_cases - ROUNDING


@kernel
def choose_test(data, sparse, nodes, node, state, low, high, params):
    """Compare the best test on each attribute; return the best attribute, -1 if there is none."""
    if sparse is not None:
        return choose_sparse_test(data, sparse, nodes, node, state, low, high, params)
    gains, infos, cuts = state.gains, state.split_infos, state.cuts
    for f in range(gains.size):
        gains[f] = 0.0
    # A discrete attribute is tested once on a path; a continuous one gets its gain below.
    above = nodes.links[node, PARENT]
    while above >= 0:
        gains[nodes.links[above, ATTRIBUTE]] = REJECTED
        above = nodes.links[above, PARENT]
    own, n_lists = NodeCases(state.lists[0], state.weights, low, high), 1
    for f in range(gains.size):
        column, v = data.columns[f], data.n_values[f]
        if v == 0:
            by_value = SortedCases(column, data.labels, state.weight, state.lists[n_lists])
            n_lists += 1
            gains[f], infos[f], cuts[f] = continuous_test(
                by_value, low, high, nodes.values[node, CASES], params, state.sides
            )
        elif gains[f] != REJECTED:
            gains[f], infos[f] = discrete_test(column, data.labels, own, v, params, state.table)
            cuts[f] = math.nan
    return choose_attribute(gains, infos, data.n_values, params)


@kernel
def training_value(data, sparse, f, order, rank, weights, cut):
    """Largest value of the training data up to the cut: C4.5 only cuts at such values."""
    if sparse is not None:
        return sparse_training_value(sparse, f, weights, cut)
    column, order = data.columns[f], order[rank[f]]
    begin, end = 0, order.size
    while begin < end:
        mid = (begin + end) // 2
        if column[order[mid]] <= cut:
            begin = mid + 1
        else:
            end = mid
    last = begin - 1
    while weights[order[last]] <= 0.0:  # rows of weight zero are not part of the training data
        last -= 1
    return column[order[last]]


@kernel
def add_branches(data, nodes, node, first, n_branches, cases, branches):
    """Append the branches of a node as leaves; an empty one takes the majority from above."""
    for b in range(first, first + n_branches):
        for c in range(data.n_classes):
            nodes.weights[b, c] = 0.0
    for i in range(cases.low, cases.high):
        row, weight = cases.rows[i], cases.weights[i]
        c, b = data.labels[row], branches.of_row[row]
        if b == MISSING:
            for v in range(n_branches):
                nodes.weights[first + v, c] += weight * branches.share[v]
        else:
            nodes.weights[first + b, c] += weight
    for v in range(n_branches):
        majority = 0 if branches.size[v] > 0 else nodes.links[node, MAJORITY]
        make_leaf(nodes, first + v, update_totals(nodes, first + v, majority))
        nodes.links[first + v, PARENT] = node


@kernel
def partition_lists(state, cases, branches, n_branches, end):
    """Partition the segment of a node among its branches, in place."""
    low, high = cases.low, cases.high
    partition_weights(cases, branches, n_branches, state.spare_weights)
    for i in range(low, end):
        state.weights[i] = state.spare_weights[i]
    for j in range(state.lists.shape[0]):
        partition_rows(state.lists[j], low, high, branches, n_branches, state.spare_rows)
        for i in range(low, end):
            state.lists[j, i] = state.spare_rows[i]


@kernel
def grow_on(data, order, rank, row_weights, params, nodes, state, branches):
    """Split open nodes until there is none left, or no capacity for the next split."""
    rows, counts, stack = state.lists[0], state.counts, state.stack
    while counts[N_OPEN] > 0 and counts[N_NODES] + branches.size.size <= stack.shape[0]:
        top, first = counts[N_OPEN] - 1, counts[N_NODES]
        node, low, high = stack[top, 0], stack[top, 1], stack[top, 2]
        for i in range(low, high):
            state.weight[rows[i]] = state.weights[i]
        f = choose_test(data, data.sparse, nodes, node, state, low, high, params)
        if f < 0:
            counts[N_OPEN] = top
            continue
        n_branches, threshold = data.n_values[f], math.nan
        if n_branches == 0:
            cut, n_branches = state.cuts[f], 2
            threshold = training_value(data, data.sparse, f, order, rank, row_weights, cut)
        cases = NodeCases(rows, state.weights, low, high)
        missing = assign_branches(data, Test(f, threshold, n_branches), cases, branches)
        add_branches(data, nodes, node, first, n_branches, cases, branches)
        for b in range(n_branches):
            branches.wanted[b] = is_open(nodes, first + b, params.min_cases)
        end = allocate_segments(branches, n_branches, missing, low)
        counts[N_PLACES] = end
        if end > state.weights.size:
            return
        if end > low:
            partition_lists(state, cases, branches, n_branches, end)
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


def grow(
    data: TrainingData, order: np.ndarray, row_weights: np.ndarray, params: C45Params
) -> Nodes:
    """Grow an unpruned tree.

    Parameters
    ----------
    data : TrainingData
        The training data.
    order : int32 array (n_continuous, n_rows)
        Rows by ascending value of each continuous attribute, missing values last; none for
        sparse data, which are in order.
    row_weights : float64 array (n_rows,)
        Rows of weight zero are not there.
    params : C45Params
        How tests are chosen.

    Returns
    -------
    Nodes
        The tree; nodes below a collapsed test are still in the arrays but nothing leads to them.
    """
    state = start_growth(data, order, row_weights)
    branches = Branches.allocate(row_weights.size, data.n_values)
    n = state.stack.shape[0]
    nodes = Nodes(np.zeros((n, 5), np.int64), np.zeros((n, 3)), np.zeros((n, data.n_classes)))
    rows = state.lists[0]
    nodes.weights[0] = np.bincount(data.labels[rows], state.weights, data.n_classes)
    nodes.links[0, PARENT] = -1
    make_leaf(nodes, 0, update_totals(nodes, 0, 0))
    state.stack[0] = 0, 0, rows.size
    state.counts[:] = 1, is_open(nodes, 0, params.min_cases), 0
    rank = np.cumsum(data.n_values == 0) - 1
    grow_on(data, order, rank, row_weights, params, nodes, state, branches)
    while state.counts[N_OPEN] > 0:
        nodes, state = with_capacity(nodes, state, branches.size.size)
        grow_on(data, order, rank, row_weights, params, nodes, state, branches)
    n_nodes = state.counts[N_NODES]
    collapse(nodes, n_nodes)
    return Nodes(*(array[:n_nodes] for array in nodes))
