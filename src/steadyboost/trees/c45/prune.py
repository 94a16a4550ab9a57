"""Pessimistic pruning with subtree raising, as in release 8 of C4.5.

A leaf with N cases and E errors is charged the upper confidence limit of its number of errors.
From the bottom up, a test gives way to a leaf or to its largest branch when that costs no more
(Quinlan 1993, chapter 4). The limit is computed by C4.5's own rule (its ``AddErrs``): exact for
E = 0, linear between E = 0 and E = 1, and a continuity-corrected normal approximation above.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
"""

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
from steadyboost.trees.jit import kernel

# C4.5 prefers the smaller tree unless the larger one saves more than 0.1 errors; the rest is
# for rounding.
SLACK = 0.1 + 1e-9
# Branches whose weights differ by less are equally large.
SAME_SIZE = 1e-9
# Upper quantiles of the normal distribution, between which C4.5 interpolates.
TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
# Columns of the stack, and what there is to do with a node: give it its cases and those of its
# branches to them; when these are pruned, try the largest in its place; then choose.
NODE, TASK, LOW, HIGH = 0, 1, 2, 3
VISIT, COMPARE, DECIDE, ESTIMATE = 0, 1, 2, 3
# Entries of ``PruningCases.errors``.
SO_FAR, ENOUGH = 0, 1


class PruningCases(NamedTuple):
    """Cases of the nodes at work, each node with its own segment.

    Attributes
    ----------
    rows, weights : arrays
        The cases.
    classes : float64 array (n_classes,)
        Scratch.
    errors : float64 array (2,)
        Errors so far of a branch that is tried in the place of a node, and those at which it has
        lost.
    needed : int64 array (1,)
        Length that the arrays should have had.
    """

    rows: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    errors: np.ndarray
    needed: np.ndarray


class Confidence(NamedTuple):
    """How pessimistic to be: C4.5's CF, and the square of the normal deviate it stands for."""

    confidence: float
    deviate2: float


@kernel
def extra_errors(cases, errors, confidence, deviate2):
    """Errors to expect of a leaf beyond those it makes on its own cases.

    Parameters
    ----------
    cases, errors : float
        Weight of the cases, and of those not of the majority class.
    confidence : float
        C4.5's CF: the chance that the limit is too low.
    deviate2 : float
        Square of the normal deviate it stands for.
    """
    if cases <= 0.0:
        return 0.0
    # The constants here and below are those of C4.5's AddErrs.
    if errors < 0.9999:
        none = cases * (1.0 - math.exp(math.log(confidence) / cases))
        if errors < 1e-6:
            return none
        return none + errors * (limit_above_one(cases, 1.0, deviate2) - none)
    return limit_above_one(cases, errors, deviate2)


@kernel
def limit_above_one(cases, errors, deviate2):
    """Extra errors of a leaf with at least one error."""
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    seen = errors + 0.5
    spread = math.sqrt(deviate2 * (seen * (1.0 - seen / cases) + deviate2 / 4.0))
    return cases * (seen + deviate2 / 2.0 + spread) / (cases + deviate2) - errors


@kernel
def leaf_errors(classes, level):
    """Errors charged to a leaf with these class weights."""
    cases, most = 0.0, 0.0
    for w in classes:
        cases += w
        most = max(most, w)
    return cases - most + extra_errors(cases, cases - most, level.confidence, level.deviate2)


@kernel
def count_classes(labels, cases, low, high, out):
    """Write the weight of the cases by class into ``out``."""
    for c in range(out.size):
        out[c] = 0.0
    for i in range(low, high):
        out[labels[cases.rows[i]]] += cases.weights[i]


@kernel
def partition_cases(data, nodes, stack, top, cases, branches):
    """Give the cases of the node on top of the stack to its branches, after its own segment.

    The branches that get cases are put on the stack with the node's task; an estimate of the node
    itself is done then, and they take its place. Returns the new top, or -1 if the arrays are too
    short for the cases.
    """
    node, task = stack[top - 1, NODE], stack[top - 1, TASK]
    own = NodeCases(cases.rows, cases.weights, stack[top - 1, LOW], stack[top - 1, HIGH])
    n_branches = nodes.links[node, BRANCHES]
    test = Test(nodes.links[node, ATTRIBUTE], nodes.values[node, THRESHOLD], n_branches)
    missing = assign_branches(data, test, own, branches)
    for b in range(n_branches):
        branches.wanted[b] = branches.size[b] > 0
    cases.needed[0] = allocate_segments(branches, n_branches, missing, own.high)
    if cases.needed[0] > cases.rows.size:
        return -1
    partition_weights(own, branches, n_branches, cases.weights)
    partition_rows(cases.rows, own.low, own.high, branches, n_branches, cases.rows)
    if task == ESTIMATE:
        top -= 1
    for b in range(n_branches):
        if branches.wanted[b]:
            stack[top, NODE], stack[top, TASK] = nodes.links[node, FIRST] + b, task
            stack[top, LOW] = branches.start[b]
            stack[top, HIGH] = branches.start[b] + branches.size[b] + missing
            top += 1
    return top


@kernel
def compare(nodes, node, level):
    """Errors of a node as a leaf and as the test it is, and its largest branch.

    C4.5 takes the last of several branches of the same size.
    """
    as_tree = 0.0
    largest = first = nodes.links[node, FIRST]
    for b in range(first, first + nodes.links[node, BRANCHES]):
        as_tree += nodes.values[b, ERRORS]
        if nodes.values[b, CASES] >= nodes.values[largest, CASES] - SAME_SIZE:
            largest = b
    return leaf_errors(nodes.weights[node], level), as_tree, largest


@kernel
def decide(nodes, node, as_branch, level):
    """Keep a test, make it a leaf, or let its largest branch take its place; True if the last."""
    as_leaf, as_tree, largest = compare(nodes, node, level)
    if as_leaf <= min(as_branch, as_tree) + SLACK:
        make_leaf(nodes, node, as_leaf)
    elif as_branch > as_tree + SLACK:
        nodes.values[node, ERRORS] = as_tree
    else:
        nodes.links[node, ATTRIBUTE] = nodes.links[largest, ATTRIBUTE]
        nodes.links[node, FIRST] = nodes.links[largest, FIRST]
        nodes.links[node, BRANCHES] = nodes.links[largest, BRANCHES]
        nodes.links[node, MAJORITY] = nodes.links[largest, MAJORITY]
        nodes.values[node, THRESHOLD] = nodes.values[largest, THRESHOLD]
        return True
    return False


@kernel
def prune_on(data, nodes, stack, top, cases, branches, level, raising):
    """Prune until the stack is empty or the arrays are too short; return what is left of it."""
    errors = cases.errors
    while top > 0:
        node, task = stack[top - 1, NODE], stack[top - 1, TASK]
        low, high = stack[top - 1, LOW], stack[top - 1, HIGH]
        is_leaf = nodes.links[node, ATTRIBUTE] < 0
        if task == VISIT:
            count_classes(data.labels, cases, low, high, nodes.weights[node])
            update_totals(nodes, node, nodes.links[node, MAJORITY])
        if task == COMPARE:
            stack[top - 1, TASK] = DECIDE
            as_leaf, as_tree, largest = compare(nodes, node, level)
            errors[SO_FAR], errors[ENOUGH] = math.inf, max(as_leaf, as_tree) + SLACK
            if raising:
                errors[SO_FAR] = 0.0
                stack[top, NODE], stack[top, TASK] = largest, ESTIMATE
                stack[top, LOW], stack[top, HIGH] = low, high
                top += 1
        elif task == DECIDE:
            # A branch that takes the place has to be pruned anew, with the cases of this node.
            stack[top - 1, TASK] = VISIT
            if not decide(nodes, node, errors[SO_FAR], level):
                top -= 1
        elif task == ESTIMATE and (is_leaf or errors[SO_FAR] > errors[ENOUGH]):
            # A branch that has lost already is not looked into.
            count_classes(data.labels, cases, low, high, cases.classes)
            errors[SO_FAR] += leaf_errors(cases.classes, level)
            top -= 1
        elif task == VISIT and is_leaf:
            nodes.values[node, ERRORS] = leaf_errors(nodes.weights[node], level)
            top -= 1
        else:
            end = partition_cases(data, nodes, stack, top, cases, branches)
            if end < 0:
                return top
            if task == VISIT:  # it is compared when its branches are done
                stack[top - 1, TASK] = COMPARE
            top = end
    return 0


def prune(
    data: TrainingData, nodes: Nodes, row_weights: np.ndarray, confidence: float, raising: bool
) -> None:
    """Prune a tree in place.

    Parameters
    ----------
    data : TrainingData
        The training data.
    nodes : Nodes
        The tree. Its errors become the estimated ones; a leaf that no case reaches is charged
        nothing.
    row_weights : float64 array (n_rows,)
        The weights that the tree was grown with.
    confidence : float
        C4.5's CF.
    raising : bool
        Whether a test may be replaced by its largest branch.
    """
    rows = np.flatnonzero(row_weights > 0.0).astype(np.int32)
    classes, errors, needed = np.empty(data.n_classes), np.zeros(2), np.array([2 * rows.size])
    cases = PruningCases(rows, row_weights[rows], classes, errors, needed)
    branches = Branches.allocate(row_weights.size, data.n_values)
    level = Confidence(confidence, float(np.interp(confidence, TAILS, DEVIATES)) ** 2)
    # Every node is there once at most, and once more in an estimate.
    stack = np.zeros((2 * len(nodes.links) + 2, 4), np.int64)
    stack[0] = 0, VISIT, 0, rows.size
    top = 1
    while top > 0:
        cases = cases._replace(
            rows=extended(cases.rows, needed[0]), weights=extended(cases.weights, needed[0])
        )
        top = prune_on(data, nodes, stack, top, cases, branches, level, raising)
