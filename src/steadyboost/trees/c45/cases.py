"""Cases and nodes of C4.5, and which branch of a test each case takes.

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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel

# Columns of ``Nodes.links``.
ATTRIBUTE, FIRST, BRANCHES, PARENT, MAJORITY = 0, 1, 2, 3, 4
# Columns of ``Nodes.values``.
THRESHOLD, CASES, ERRORS = 0, 1, 2
# Differences below this are rounding: the earlier test or class keeps its place.
TIE = 1e-10
# The branch of a case whose tested value is missing.
MISSING = -1


class SparseValues(NamedTuple):
    """The values of attributes that are mostly zero, and scratch for the current node.

    A column is its entries by ascending value, missing values last; a row is its entries by
    attribute.

    Attributes
    ----------
    starts : int64 array (n_features + 1,)
        The entries of attribute f are those from ``starts[f]`` to ``starts[f + 1]``.
    rows, values : arrays (n_entries,)
        Row and value of each entry; by attribute, then by value, missing values last.
    row_starts : int64 array (n_rows + 1,)
        The same entries row by row.
    row_features, row_places : int32 arrays (n_entries,)
        Attribute, ascending within a row, and index in ``values``.
    found : int32 array (n_entries,)
        Scratch: the entries of the node.
    marked : bool array (n_rows,)
        Scratch, all False: the rows of the node.
    zeros : float64 array (n_classes,)
        Scratch: class weights of the rows whose value is zero.
    column : float64 array (n_rows,)
        Scratch: values of one attribute.
    """

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    row_starts: np.ndarray
    row_features: np.ndarray
    row_places: np.ndarray
    found: np.ndarray
    marked: np.ndarray
    zeros: np.ndarray
    column: np.ndarray


class TrainingData(NamedTuple):
    """What a tree is grown from.

    Attributes
    ----------
    columns : float64 array (n_features, n_rows)
        The attributes, one contiguous row each; NaN is a missing value. Empty if sparse.
    n_values : int64 array (n_features,)
        Number of values of a discrete attribute, 0 for a continuous one.
    labels : int64 array (n_rows,)
        Class codes.
    n_classes : int
        Number of classes.
    sparse : SparseValues or None
        The attributes, all of them continuous, where most values are zero. Functions that
        depend on it take it as an argument of its own: numba leaves out what None does not need.
    """

    columns: np.ndarray
    n_values: np.ndarray
    labels: np.ndarray
    n_classes: int
    sparse: SparseValues | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of attributes and of rows."""
        if self.sparse is None:
            return self.columns.shape
        return len(self.sparse.starts) - 1, len(self.sparse.row_starts) - 1


@dataclass(frozen=True)
class SparseCases:
    """Cases by attribute and by row, for any labels; made once for many trees."""

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    row_starts: np.ndarray
    row_features: np.ndarray
    row_places: np.ndarray

    @classmethod
    def sort(
        cls, starts: np.ndarray, rows: np.ndarray, values: np.ndarray, n_rows: int
    ) -> "SparseCases":
        """From compressed columns without zeros, rows ascending."""
        features = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        by_value = np.lexsort((values, features))
        place = np.empty(len(rows), dtype=np.int32)
        place[by_value] = np.arange(len(rows))
        by_row = np.argsort(rows, kind="stable")
        row_starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        return cls(
            starts, rows[by_value], values[by_value], row_starts, features[by_row], place[by_row]
        )

    def with_scratch(self, n_classes: int) -> SparseValues:
        """The cases as kernels take them, with scratch arrays."""
        return SparseValues(
            **vars(self),
            found=np.empty(len(self.rows), np.int32),
            marked=np.zeros(len(self.row_starts) - 1, np.bool_),
            zeros=np.empty(n_classes),
            column=np.empty(len(self.row_starts) - 1),
        )


class NodeCases(NamedTuple):
    """The cases of a node: ``rows`` and their ``weights``, from ``low`` to ``high``."""

    rows: np.ndarray
    weights: np.ndarray
    low: int
    high: int


class Test(NamedTuple):
    """A test of an attribute; the threshold is NaN if it has a branch for each discrete value."""

    attribute: int
    threshold: float
    n_branches: int


class Branches(NamedTuple):
    """What is known of the branches of the current test; scratch, as wide as the widest test.

    Attributes
    ----------
    of_row : int32 array (n_rows,)
        The branch of each row of the node, or ``MISSING``.
    size : int64 array
        Number of cases with a known value.
    share : float64 array
        Fraction of the known weight.
    wanted : bool array
        Whether the branch gets a segment of its own.
    start, place : int64 arrays
        Where the segment of a branch begins, and where its next case goes.
    """

    of_row: np.ndarray
    size: np.ndarray
    share: np.ndarray
    wanted: np.ndarray
    start: np.ndarray
    place: np.ndarray

    @classmethod
    def allocate(cls, n_rows: int, n_values: np.ndarray) -> "Branches":
        """Arrays for the branches of any test."""
        v = max(2, n_values.max(initial=0))
        size, start, place = np.empty((3, v), np.int64)
        wanted = np.empty(v, np.bool_)
        return cls(np.empty(n_rows, np.int32), size, np.empty(v), wanted, start, place)


class Nodes(NamedTuple):
    """A tree under construction, with capacity for nodes to come.

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


def extended(array: np.ndarray, length: int) -> np.ndarray:
    """Return a longer copy, at least twice as long: copies then take linear time in all."""
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
def read_sparse_rows(sparse, f, cases):
    """Write the value of an attribute in the rows of a node to ``sparse.column``."""
    starts, features = sparse.row_starts, sparse.row_features
    for i in range(cases.low, cases.high):
        row = cases.rows[i]
        first, last = starts[row], starts[row + 1]
        end = last
        while first < last:  # a row's attributes ascend
            middle = (first + last) // 2
            if features[middle] < f:
                first = middle + 1
            else:
                last = middle
        stored = first < end and features[first] == f
        sparse.column[row] = sparse.values[sparse.row_places[first]] if stored else 0.0


@kernel
def column_for(data, sparse, f, cases):
    """A column that has the values of an attribute at least in the rows of a node."""
    if sparse is None:
        return data.columns[f]
    read_sparse_rows(sparse, f, cases)
    return sparse.column


@kernel
def assign_branches(data, test, cases, branches):
    """Write the branch of every case of a node, and the sizes and shares of the branches.

    Returns
    -------
    int
        Number of cases whose value is missing.
    """
    rows, weights = cases.rows, cases.weights
    _, threshold, n_branches = test
    for b in range(n_branches):
        branches.size[b] = 0
        branches.share[b] = 0.0
    column = column_for(data, data.sparse, test.attribute, cases)
    missing = 0
    known = 0.0
    for i in range(cases.low, cases.high):
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
def allocate_segments(branches, n_branches, missing, base):
    """Give each wanted branch a segment for its cases, one after the other; return the end."""
    end = base
    for b in range(n_branches):
        branches.start[b] = end
        if branches.wanted[b]:
            end += branches.size[b] + missing
    return end


@kernel
def partition_rows(source, low, high, branches, n_branches, target):
    """Copy rows to the segments of their branches; their order within a branch is kept."""
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
def partition_weights(cases, branches, n_branches, target):
    """Copy weights as `partition_rows` copies rows; where the value is missing, only a share."""
    rows, weights = cases.rows, cases.weights
    of_row, wanted, place = branches.of_row, branches.wanted, branches.place
    for b in range(n_branches):
        place[b] = branches.start[b]
    for i in range(cases.low, cases.high):
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
def update_totals(nodes, node, first):
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
    """Remove the test of a node."""
    nodes.links[node, ATTRIBUTE] = -1
    nodes.links[node, FIRST] = -1
    nodes.links[node, BRANCHES] = 0
    nodes.values[node, THRESHOLD] = math.nan
    nodes.values[node, ERRORS] = errors
