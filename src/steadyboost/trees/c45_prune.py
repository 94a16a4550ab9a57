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
from numba import njit

from steadyboost.trees.c45_cases import (
    ATTRIBUTE,
    BRANCHES,
    CASES,
    ERRORS,
    FIRST,
    MAJORITY,
    THRESHOLD,
    Branches,
    Data,
    Nodes,
    deal_rows,
    deal_weights,
    lay_out,
    longer,
    make_leaf,
    send,
    sum_up,
)

# C4.5 prefers the smaller tree unless the larger one saves more than this many errors.
SLACK = 0.1
# Branches whose weights differ by less are equally large.
SAME_SIZE = 1e-9
# Upper quantiles of the normal distribution, between which C4.5 interpolates.
TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


class Cases(NamedTuple):
    """Cases of the nodes at work, each node with its own segment.

    Attributes
    ----------
    rows, weights : arrays
        The cases.
    classes : float64 array (n_classes,)
        Scratch.
    needed : int64 array (1,)
        Length that the arrays should have had.
    """

    rows: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    needed: np.ndarray


class Level(NamedTuple):
    """How pessimistic to be: C4.5's CF, and the square of the normal deviate it stands for."""

    confidence: float
    deviate2: float


@njit(cache=True, nogil=True)
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
    if errors < 0.9999:
        none = cases * (1.0 - math.exp(math.log(confidence) / cases))
        if errors < 1e-6:
            return none
        return none + errors * (limit_above_one(cases, 1.0, deviate2) - none)
    return limit_above_one(cases, errors, deviate2)


@njit(cache=True, nogil=True)
def limit_above_one(cases, errors, deviate2):
    """Extra errors of a leaf with at least one error."""
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    seen = errors + 0.5
    spread = math.sqrt(deviate2 * (seen * (1.0 - seen / cases) + deviate2 / 4.0))
    return cases * (seen + deviate2 / 2.0 + spread) / (cases + deviate2) - errors


@njit(cache=True, nogil=True)
def leaf_errors(classes, level):
    """Errors charged to a leaf with these class weights."""
    cases, most = 0.0, 0.0
    for w in classes:
        cases += w
        most = max(most, w)
    return cases - most + extra_errors(cases, cases - most, level.confidence, level.deviate2)


@njit(cache=True, nogil=True)
def count_classes(labels, cases, low, high, out):
    """Write the weight of the cases by class into ``out``."""
    for c in range(out.size):
        out[c] = 0.0
    for i in range(low, high):
        out[labels[cases.rows[i]]] += cases.weights[i]


@njit(cache=True, nogil=True)
def deal_cases(data, nodes, node, low, high, cases, branches, stack, top):
    """Send the cases of a node to its branches, into the room after its own segment.

    The branches that get cases are put on the stack. Returns the new top of the stack, or -1 if
    there is not enough room; the first of ``cases.needed`` says how much is needed.
    """
    n_branches, threshold = nodes.links[node, BRANCHES], nodes.values[node, THRESHOLD]
    column = data.columns[nodes.links[node, ATTRIBUTE]]
    rows, weights = cases.rows, cases.weights
    missing = send(column, threshold, n_branches, rows, weights, low, high, branches)
    for b in range(n_branches):
        branches.wanted[b] = branches.size[b] > 0
    cases.needed[0] = lay_out(branches, n_branches, missing, high)
    if cases.needed[0] > rows.size:
        return -1
    deal_weights(rows, weights, low, high, branches, n_branches, weights)
    deal_rows(rows, low, high, branches, n_branches, rows)
    for b in range(n_branches):
        if branches.wanted[b]:
            stack[top, 0] = nodes.links[node, FIRST] + b
            stack[top, 1] = branches.start[b]
            stack[top, 2] = branches.start[b] + branches.size[b] + missing
            stack[top, 3] = False
            top += 1
    return top


@njit(cache=True, nogil=True)
def estimate(data, nodes, node, low, high, cases, branches, stack, top, level, enough):
    """Errors charged to a subtree if it had the cases of a segment.

    Counting stops above ``enough``. Works on the stack above ``top``. Returns -1 if there is not
    enough room for the cases.
    """
    total, bottom = 0.0, top
    stack[top, 0], stack[top, 1], stack[top, 2] = node, low, high
    top += 1
    while top > bottom and total <= enough:
        top -= 1
        node, low, high = stack[top, 0], stack[top, 1], stack[top, 2]
        if nodes.links[node, ATTRIBUTE] < 0:
            count_classes(data.labels, cases, low, high, cases.classes)
            total += leaf_errors(cases.classes, level)
        else:
            top = deal_cases(data, nodes, node, low, high, cases, branches, stack, top)
            if top < 0:
                return -1.0
    return total


@njit(cache=True, nogil=True)
def largest_branch(nodes, node):
    """Branch with the most cases; C4.5 takes the last of several."""
    best = first = nodes.links[node, FIRST]
    for b in range(first, first + nodes.links[node, BRANCHES]):
        if nodes.values[b, CASES] >= nodes.values[best, CASES] - SAME_SIZE:
            best = b
    return best


@njit(cache=True, nogil=True)
def branch_errors(nodes, node):
    """Sum of the errors of the branches."""
    total = 0.0
    first = nodes.links[node, FIRST]
    for b in range(first, first + nodes.links[node, BRANCHES]):
        total += nodes.values[b, ERRORS]
    return total


@njit(cache=True, nogil=True)
def take_place(nodes, node, branch):
    """Put a branch in the place of its parent."""
    for link in (ATTRIBUTE, FIRST, BRANCHES, MAJORITY):
        nodes.links[node, link] = nodes.links[branch, link]
    nodes.values[node, THRESHOLD] = nodes.values[branch, THRESHOLD]


@njit(cache=True, nogil=True)
def decide(data, nodes, node, low, high, cases, branches, stack, top, level, raising):
    """Keep a test whose branches are pruned, or replace it by a leaf or by its largest branch.

    Returns 0 if the node is done, 1 if a branch took its place and has to be pruned with the
    cases of the node, and -1 if there is not enough room for the cases.
    """
    as_leaf, as_tree = leaf_errors(nodes.weights[node], level), branch_errors(nodes, node)
    as_branch, largest = math.inf, largest_branch(nodes, node)
    if raising:
        enough = max(as_tree, as_leaf) + SLACK
        as_branch = estimate(
            data, nodes, largest, low, high, cases, branches, stack, top, level, enough
        )
        if as_branch < 0.0:
            return -1
    if as_leaf <= min(as_branch, as_tree) + SLACK:
        make_leaf(nodes, node, as_leaf)
    elif as_branch <= as_tree + SLACK:
        take_place(nodes, node, largest)
        return 1
    else:
        nodes.values[node, ERRORS] = as_tree
    return 0


@njit(cache=True, nogil=True)
def prune_on(data, nodes, cases, branches, stack, top, level, raising):
    """Prune until the stack is empty or there is no room; return the number of nodes left on it.

    A node is met twice: with its cases, and again when its branches are done.
    """
    while top > 0:
        node, low, high = stack[top - 1, 0], stack[top - 1, 1], stack[top - 1, 2]
        if stack[top - 1, 3]:
            outcome = decide(
                data, nodes, node, low, high, cases, branches, stack, top, level, raising
            )
            if outcome < 0:
                return top
            stack[top - 1, 3] = False
            top -= 1 - outcome
            continue
        count_classes(data.labels, cases, low, high, nodes.weights[node])
        sum_up(nodes, node, nodes.links[node, MAJORITY])
        if nodes.links[node, ATTRIBUTE] < 0:
            nodes.values[node, ERRORS] = leaf_errors(nodes.weights[node], level)
            top -= 1
            continue
        new_top = deal_cases(data, nodes, node, low, high, cases, branches, stack, top)
        if new_top < 0:
            return top
        stack[top - 1, 3] = True
        top = new_top
    return 0


def prune(
    data: Data, nodes: Nodes, row_weights: np.ndarray, confidence: float, raising: bool
) -> None:
    """Prune a tree in place.

    Parameters
    ----------
    data : Data
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
    classes, needed = np.empty(data.n_classes), np.array([8 * rows.size])
    cases = Cases(rows, row_weights[rows], classes, needed)
    branches = Branches.room_for(row_weights.size, data.n_values)
    level = Level(confidence, float(np.interp(confidence, TAILS, DEVIATES)) ** 2)
    # Every node twice at most, and once more for the estimate.
    stack = np.zeros((2 * len(nodes.links) + 2, 4), np.int64)
    stack[0] = 0, 0, rows.size, False
    top = 1
    while top > 0:
        cases = cases._replace(
            rows=longer(cases.rows, needed[0]), weights=longer(cases.weights, needed[0])
        )
        top = prune_on(data, nodes, cases, branches, stack, top, level, raising)
