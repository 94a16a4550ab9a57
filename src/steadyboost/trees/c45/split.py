"""The choice of a test: gain, split information and gain ratio, as in release 8 of C4.5.

All information is in bits. The gain of a test counts the cases whose value is known and is
multiplied by their fraction; the split information counts the missing values as one more
outcome (Quinlan 1993, chapters 2 and 3). A threshold pays for having been chosen among many
(Quinlan 1996).

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
Quinlan, J. R. (1996). Improved use of continuous attributes in C4.5. Journal of Artificial
Intelligence Research, 4, 77-90.
"""

import math
from typing import NamedTuple

import numpy as np

from steadyboost.trees.c45.cases import CASES, MISSING, TIE, branch_of
from steadyboost.trees.jit import kernel

# C4.5's own tolerance, in bits for gains and in cases for errors.
EPSILON = 1e-3
# A sum of real weights may miss a whole number of cases by this much.
ROUNDING = 1e-6
# The gain of a test that is not allowed.
REJECTED = -1.0
# If a node has more than one in this many of all entries, they are listed in one pass over all
# entries; otherwise row by row, which needs a sort.
SWEEP = 16


class C45Params(NamedTuple):
    """How tests are chosen.

    Attributes
    ----------
    min_cases : float
        Weight that at least two branches of a test must have.
    mdl_correction : bool
        Whether a threshold pays for the number of cuts it was chosen from.
    gain_ratio : bool
        Whether tests compete by gain ratio rather than by gain.
    many : float
        Number of values from which on an attribute does not count in the average gain.
    """

    min_cases: float
    mdl_correction: bool
    gain_ratio: bool
    many: float


class NodeTotals(NamedTuple):
    """A node: the number of its rows, their weight, and their weight by class."""

    n_rows: int
    cases: float
    classes: np.ndarray


class Cut(NamedTuple):
    """The best cut of an attribute in a node.

    Attributes
    ----------
    rest : float
        Information of the two sides, times their weight.
    left : float
        Weight below the cut.
    lower, upper : float
        The values next to the cut on both sides.
    n_cuts : int
        Number of cuts that it was chosen from; 0 if there is none.
    """

    rest: float
    left: float
    lower: float
    upper: float
    n_cuts: int


class SortedCases(NamedTuple):
    """Cases by ascending value of an attribute; all arrays but ``order`` are by row."""

    column: np.ndarray
    labels: np.ndarray
    weight: np.ndarray
    order: np.ndarray


class NodeEntries(NamedTuple):
    """The entries of a node as indices ``found``, and what they are indices of."""

    found: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    weight: np.ndarray


@kernel
def xlogx(x):
    """Return x log2 x, and 0 for what rounding left of nothing."""
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def information_left(sides, left, known):
    """Information of the two sides of a cut, times their weight; ``left`` is that of the first."""
    rest = xlogx(left) + xlogx(known - left)
    for k in range(sides.shape[1]):
        rest -= xlogx(sides[0, k]) + xlogx(sides[1, k])
    return rest


@kernel
def smallest_side(known, n_classes, params):
    """Weight that a side of a cut must have."""
    # C4.5's own rule: a tenth of the cases per class, but not more than 25.
    return max(params.min_cases, min(25.0, 0.1 * known / n_classes))


@kernel
def gain_of_cut(cut, before, known, cases, params):
    """Gain, split information and threshold of a cut; ``before`` is the information without it."""
    gain = before - cut.rest
    if params.mdl_correction:
        gain -= math.log2(cut.n_cuts)
    if gain <= TIE * cases:
        return REJECTED, 0.0, math.nan
    left, right = cut.left, known - cut.left
    split_info = xlogx(cases) - xlogx(left) - xlogx(right) - xlogx(cases - known)
    middle = 0.5 * (cut.lower + cut.upper)
    # Rounding or overflow may carry the middle to the upper value.
    return gain / cases, split_info / cases, middle if middle < cut.upper else cut.lower


@kernel
def discrete_test(column, labels, cases, n_values, params, table):
    """Gain and split information of the test with one branch per value.

    Parameters
    ----------
    column, labels : arrays (n_rows,)
        The attribute and the classes.
    cases : NodeCases
        The cases of the node.
    n_values : int
        Number of values of the attribute.
    params : C45Params
        The minimum weight of a branch.
    table : float64 array (at least n_values + 2, n_classes)
        Scratch: class weights by value, of the missing values, of the known ones.

    Returns
    -------
    gain, split_info : float
        In bits; the gain is ``REJECTED`` if fewer than two branches have enough cases.
    """
    n_classes = table.shape[1]
    for v in range(n_values + 2):
        for c in range(n_classes):
            table[v, c] = 0.0
    for i in range(cases.low, cases.high):
        row = cases.rows[i]
        b = branch_of(column[row], math.nan, n_values)
        table[n_values if b == MISSING else b, labels[row]] += cases.weights[i]
    n_large, weight, outcomes, known_outcomes = 0, 0.0, 0.0, 0.0
    inside = 0.0
    for v in range(n_values + 1):
        total = 0.0
        for c in range(n_classes):
            total += table[v, c]
            if v < n_values:
                inside += xlogx(table[v, c])
                table[n_values + 1, c] += table[v, c]
        weight += total
        outcomes += xlogx(total)
        if v < n_values:
            known_outcomes += xlogx(total)
            n_large += total >= params.min_cases - ROUNDING
    if n_large < 2:
        return REJECTED, 0.0
    known, before = 0.0, 0.0
    for c in range(n_classes):
        known += table[n_values + 1, c]
        before += xlogx(table[n_values + 1, c])
    # The fraction of known cases times a mean over the known cases is a sum over all cases.
    gain = (xlogx(known) - before) - (known_outcomes - inside)
    return max(0.0, gain / weight), (xlogx(weight) - outcomes) / weight


@kernel
def scan_cuts(cases, low, high, known, smallest, sides):
    """Find the cut after which the two sides hold the least information.

    The cases ``low`` to ``high`` of the order have a known value and the weight ``known``;
    ``sides[1]`` holds their class weights and is used up. A cut lies between two different values
    and leaves at least ``smallest`` on each side.
    """
    column, labels, weight, order = cases
    least, weight_below, at, n_cuts, left = math.inf, 0.0, low, 0, 0.0
    value = column[order[low]]
    for i in range(low, high - 1):
        c = labels[order[i]]
        w = weight[order[i]]
        following = column[order[i + 1]]
        left += w
        sides[0, c] += w
        sides[1, c] -= w
        if left > known - smallest + ROUNDING:
            break
        if value < following and left >= smallest - ROUNDING:
            n_cuts += 1
            rest = information_left(sides, left, known)
            if rest < least - TIE * known:
                least, weight_below, at = rest, left, i
        value = following
    return Cut(least, weight_below, column[order[at]], column[order[at + 1]], n_cuts)


@kernel
def continuous_test(cases, low, high, total, params, sides):
    """Gain, split information and cut of the best threshold on an attribute.

    Parameters
    ----------
    cases : SortedCases
        The rows of the node are those from ``low`` to ``high`` of the order, those without a
        value last.
    total : float
        Weight of the node.
    params : C45Params
        The minimum weight of a branch, and whether to correct for the number of cuts.
    sides : float64 array (2, n_classes)
        Scratch.

    Returns
    -------
    gain, split_info, cut : float
        The cut is the middle between two values; the gain is ``REJECTED`` if nothing is gained.
    """
    column, labels, weight, order = cases
    while high > low and math.isnan(column[order[high - 1]]):
        high -= 1
    if high - low < 2 or column[order[low]] == column[order[high - 1]]:
        return REJECTED, 0.0, math.nan
    n_classes = sides.shape[1]
    for c in range(n_classes):
        sides[0, c] = sides[1, c] = 0.0
    for i in range(low, high):
        sides[1, labels[order[i]]] += weight[order[i]]
    known, before = 0.0, 0.0
    for c in range(n_classes):
        known += sides[1, c]
        before += xlogx(sides[1, c])
    smallest = smallest_side(known, n_classes, params)
    cut = scan_cuts(cases, low, high, known, smallest, sides)
    if cut.n_cuts == 0:
        return REJECTED, 0.0, math.nan
    return gain_of_cut(cut, xlogx(known) - before, known, total, params)


@kernel
def choose_attribute(gains, infos, n_values, params):
    """Choose the attribute of best gain ratio among those of at least average gain, or -1.

    Attributes with very many values would pull the average up and do not count in it, unless
    there are no others.
    """
    all_many, total, n_tests = True, 0.0, 0
    for f in range(gains.size):
        all_many &= n_values[f] >= params.many
    for f in range(gains.size):
        if gains[f] >= 0.0 and (all_many or n_values[f] < params.many):
            total += gains[f]
            n_tests += 1
    average = total / n_tests if n_tests > 0 else math.inf
    best, best_worth = -1, -EPSILON
    for f in range(gains.size):
        worth = gains[f]
        if params.gain_ratio:
            allowed = worth >= average - EPSILON and infos[f] > EPSILON
            worth = worth / infos[f] if allowed else REJECTED
        if gains[f] >= 0.0 and infos[f] > 0.0 and worth > best_worth + TIE:
            best, best_worth = f, worth
    return best


@kernel
def list_entries(sparse, rows, low, high):
    """List the entries of a node, by attribute and value; return how many there are."""
    found, marked, n = sparse.found, sparse.marked, 0
    for i in range(low, high):
        n += sparse.row_starts[rows[i] + 1] - sparse.row_starts[rows[i]]
    sweep, n = SWEEP * n > sparse.rows.size, 0
    for i in range(low, high):
        row = rows[i]
        marked[row] = sweep
        if not sweep:
            for k in range(sparse.row_starts[row], sparse.row_starts[row + 1]):
                found[n] = sparse.row_places[k]
                n += 1
    if not sweep:
        found[:n].sort()
        return n
    for k in range(sparse.rows.size):
        if marked[sparse.rows[k]]:
            found[n] = k
            n += 1
    for i in range(low, high):
        marked[rows[i]] = False
    return n


@kernel
def sum_zeros(entries, start, stop, classes, zeros, sides):
    """Write the class weights of the zeros, and to the right side those of all known cases.

    Zeros have no entries: their number in a node, and their weight by class, is what the entries
    of an attribute lack of the node's. That is a subtraction of real numbers, so that trees agree
    with those of full columns up to rounding, which the choice of tests forgives.

    Returns the end of the entries that have a value.
    """
    found, rows, values, labels, weight = entries
    for c in range(classes.size):
        zeros[c] = sides[1, c] = classes[c]
        sides[0, c] = 0.0
    end = start
    for i in range(start, stop):
        row = rows[found[i]]
        zeros[labels[row]] -= weight[row]
        if math.isnan(values[found[i]]):
            sides[1, labels[row]] -= weight[row]
        else:
            end = i + 1
    return end


@kernel
def scan_sparse_cuts(entries, start, end, any_zeros, zeros, known, smallest, sides):
    """Find the best cut as `scan_cuts` does; zeros come before the first positive value."""
    found, rows, values, labels, weight = entries
    least, below, lower, upper, n_cuts, left = math.inf, 0.0, math.nan, math.nan, 0, 0.0
    at, to_come = start, any_zeros
    following = values[found[at]] if at < end else math.inf
    while at < end or to_come:
        value = 0.0 if to_come and following > 0.0 else following
        if value == 0.0:
            to_come = False
            for c in range(sides.shape[1]):
                sides[0, c] += zeros[c]
                sides[1, c] -= zeros[c]
                left += zeros[c]
        while following == value:
            row = rows[found[at]]
            sides[0, labels[row]] += weight[row]
            sides[1, labels[row]] -= weight[row]
            left += weight[row]
            at += 1
            following = values[found[at]] if at < end else math.inf
        if left > known - smallest + ROUNDING or (at == end and not to_come):
            break
        if left >= smallest - ROUNDING:
            n_cuts += 1
            rest = information_left(sides, left, known)
            if rest < least - TIE * known:
                least, below, lower = rest, left, value
                upper = 0.0 if to_come and following > 0.0 else following
    return Cut(least, below, lower, upper, n_cuts)


@kernel
def sparse_test(entries, start, stop, node, zeros, params, sides):
    """Gain, split information and cut of the best threshold on one attribute of a node.

    Its entries are those found from ``start`` to ``stop``; ``node`` has the node's totals.
    """
    end = sum_zeros(entries, start, stop, node.classes, zeros, sides)
    known, before = 0.0, 0.0
    for c in range(node.classes.size):
        known += sides[1, c]
        before += xlogx(sides[1, c])
    smallest = smallest_side(known, node.classes.size, params)
    any_zeros = node.n_rows > stop - start
    cut = scan_sparse_cuts(entries, start, end, any_zeros, zeros, known, smallest, sides)
    if cut.n_cuts == 0:
        return REJECTED, 0.0, math.nan
    return gain_of_cut(cut, xlogx(known) - before, known, node.cases, params)


@kernel
def choose_sparse_test(data, sparse, nodes, node, state, low, high, params):
    """Compare the best threshold on each attribute; return the best, -1 if there is none."""
    gains, infos, cuts = state.gains, state.split_infos, state.cuts
    for f in range(gains.size):
        gains[f], infos[f] = REJECTED, 0.0
    n = list_entries(sparse, state.lists[0], low, high)
    totals = NodeTotals(high - low, nodes.values[node, CASES], nodes.weights[node])
    starts, found = sparse.starts, sparse.found
    entries = NodeEntries(found, sparse.rows, sparse.values, data.labels, state.weight)
    start, f = 0, 0
    while start < n:
        while starts[f + 1] <= found[start]:
            f += 1
        stop = start
        while stop < n and found[stop] < starts[f + 1]:
            stop += 1
        gains[f], infos[f], cuts[f] = sparse_test(
            entries, start, stop, totals, sparse.zeros, params, state.sides
        )
        start = stop
    return choose_attribute(gains, infos, data.n_values, params)


@kernel
def sparse_training_value(sparse, f, weights, cut):
    """Largest value of the training data up to the cut, rows of weight zero left out."""
    n_zeros = 0
    for i in range(weights.size):
        n_zeros += weights[i] > 0.0
    best = -math.inf
    for k in range(sparse.starts[f], sparse.starts[f + 1]):
        if weights[sparse.rows[k]] > 0.0:
            n_zeros -= 1
            if sparse.values[k] <= cut:
                best = max(best, sparse.values[k])
    return max(best, 0.0) if n_zeros > 0 and cut >= 0.0 else best
