"""Cases, nodes and the way cases go down a test: the ground that growing and pruning share.

A case is a row with a weight. C4.5 lets a case whose tested value is missing go down *every*
branch, with a part of its weight (Quinlan 1993, chapter 3), so the same row may be in several
nodes; within one node it occurs once. All functions work on segments of arrays and write their
results into arrays they are given. Compiled code never makes an array: loops over arrays made
beforehand compile in a fraction of the time.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
"""

import math
from typing import NamedTuple

import numpy as np

from steadyboost.trees.c45.sparse_cases import SparseData, read_rows
from steadyboost.trees.jit import kernel

# Columns of ``Nodes.links``.
ATTRIBUTE, FIRST, BRANCHES, PARENT, MAJORITY = 0, 1, 2, 3, 4
# Columns of ``Nodes.values``.
THRESHOLD, CASES, ERRORS = 0, 1, 2
# Differences below this are rounding: the earlier test or class keeps its place.
TIE = 1e-10
# The branch of a case whose tested value is missing.
MISSING = -1


class DenseData(NamedTuple):
    """What a tree is grown from.

    Attributes
    ----------
    columns : float64 array (n_features, n_rows)
        The attributes, one contiguous row each; NaN is a missing value.
    n_values : int64 array (n_features,)
        Number of values of a discrete attribute, 0 for a continuous one.
    labels : int64 array (n_rows,)
        Class codes.
    n_classes : int
        Number of classes.
    """

    columns: np.ndarray
    n_values: np.ndarray
    labels: np.ndarray
    n_classes: int


AnyData = DenseData | SparseData  # kernels tell them apart by their length when they are compiled


class Branches(NamedTuple):
    """What is known of the branches of the test at hand; scratch, as wide as the widest test.

    Attributes
    ----------
    of_row : int32 array (n_rows,)
        The branch of each row of the node, or ``MISSING``.
    size : int64 array
        Number of cases with a known value.
    share : float64 array
        Fraction of the known weight.
    wanted : bool array
        Whether the cases are to be dealt out.
    start, place : int64 arrays
        Where the cases of a branch begin, and where the next one goes.
    """

    of_row: np.ndarray
    size: np.ndarray
    share: np.ndarray
    wanted: np.ndarray
    start: np.ndarray
    place: np.ndarray

    @classmethod
    def room_for(cls, n_rows: int, n_values: np.ndarray) -> "Branches":
        """Make room for the branches of any test."""
        v = max(2, n_values.max(initial=0))
        ints = np.empty((3, v), np.int64)
        wanted = np.empty(v, np.bool_)
        return cls(np.empty(n_rows, np.int32), ints[0], np.empty(v), wanted, ints[1], ints[2])


class Nodes(NamedTuple):
    """A tree under construction, with room for nodes to come.

    The branches of a node are consecutive nodes from ``FIRST`` on. A node without attribute
    (-1) is a leaf. The threshold of a test on a discrete attribute is NaN.

    Attributes
    ----------
    links : int64 array (capacity, 5)
        Attribute, first branch, number of branches, parent, majority class.
    values : float64 array (capacity, 3)
        Threshold, weight of the cases, errors.
    weights : float64 array (capacity, n_classes)
        Weight of the cases by class.
    """

    links: np.ndarray
    values: np.ndarray
    weights: np.ndarray


def longer(array: np.ndarray, length: int) -> np.ndarray:
    """Return a copy with room for more along the first axis, at least twice the room."""
    more = np.empty((max(length, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    more[: array.shape[0]] = array
    return more


@kernel
def branch_of(value, threshold, n_branches):
    """Branch that a value takes; a value the attribute is not known to have counts as missing."""
    if math.isnan(value):
        return MISSING
    if not math.isnan(threshold):
        return 0 if value <= threshold else 1
    return int(value) if 0 <= value < n_branches else MISSING


@kernel
def column_for(data, f, rows, low, high):
    """A column that has the values of an attribute at least in the rows of a node."""
    if len(data) == 4:
        return data.columns[f]
    read_rows(data, f, rows, low, high, data.column)
    return data.column


@kernel
def send(data, f, threshold, n_branches, rows, weights, low, high, branches):
    """Find the branch of every case of a node.

    Parameters
    ----------
    data : AnyData
        The cases.
    f : int
        The tested attribute.
    threshold : float
        Threshold, or NaN for a discrete attribute.
    n_branches : int
        Number of branches.
    rows, weights : arrays
        The cases ``low`` to ``high``.
    branches : Branches
        Receives branches, sizes and shares.

    Returns
    -------
    int
        Number of cases whose value is missing.
    """
    for b in range(n_branches):
        branches.size[b] = 0
        branches.share[b] = 0.0
    column = column_for(data, f, rows, low, high)
    missing = 0
    known = 0.0
    for i in range(low, high):
        b = branch_of(column[rows[i]], threshold, n_branches)
        branches.of_row[rows[i]] = b
        if b == MISSING:
            missing += 1
        else:
            branches.size[b] += 1
            branches.share[b] += weights[i]
            known += weights[i]
    for b in range(n_branches):
        branches.share[b] = branches.share[b] / known if known > 0.0 else 0.0
    return missing


@kernel
def lay_out(branches, n_branches, missing, base):
    """Give each wanted branch room for its cases, one after the other; return the end."""
    end = base
    for b in range(n_branches):
        branches.start[b] = end
        if branches.wanted[b]:
            end += branches.size[b] + missing
    return end


@kernel
def deal_rows(source, low, high, branches, n_branches, target):
    """Copy rows to the places of their branches, in the same order within each branch."""
    of_row, wanted, place = branches.of_row, branches.wanted, branches.place
    for b in range(n_branches):
        place[b] = branches.start[b]
    for i in range(low, high):
        b = of_row[source[i]]
        if b == MISSING:
            for v in range(n_branches):
                if wanted[v]:
                    target[place[v]] = source[i]
                    place[v] += 1
        elif wanted[b]:
            target[place[b]] = source[i]
            place[b] += 1


@kernel
def deal_weights(rows, weights, low, high, branches, n_branches, target):
    """Copy weights as `deal_rows` copies rows; where the value is missing, only a share."""
    of_row, wanted, place = branches.of_row, branches.wanted, branches.place
    for b in range(n_branches):
        place[b] = branches.start[b]
    for i in range(low, high):
        b = of_row[rows[i]]
        if b == MISSING:
            for v in range(n_branches):
                if wanted[v]:
                    target[place[v]] = weights[i] * branches.share[v]
                    place[v] += 1
        elif wanted[b]:
            target[place[b]] = weights[i]
            place[b] += 1


@kernel
def sum_up(nodes, node, first):
    """Set the weight and the majority class of a node from its class weights.

    The majority is ``first`` if no other class weighs more, else the lowest that weighs most.
    Returns the weight of the other classes.
    """
    total = 0.0
    best = first
    for c in range(nodes.weights.shape[1]):
        total += nodes.weights[node, c]
        if nodes.weights[node, c] > nodes.weights[node, best] + TIE:
            best = c
    nodes.links[node, MAJORITY] = best
    nodes.values[node, CASES] = total
    return total - nodes.weights[node, best]


@kernel
def make_leaf(nodes, node, errors):
    """Take the test of a node away."""
    nodes.links[node, ATTRIBUTE] = -1
    nodes.links[node, FIRST] = -1
    nodes.links[node, BRANCHES] = 0
    nodes.values[node, THRESHOLD] = math.nan
    nodes.values[node, ERRORS] = errors
