"""The choice of a threshold by C4.5 where most values are zero.

Zeros have no entries: their number in a node, and their weight by class, is what the entries of
an attribute lack of the node's. That is a subtraction of real numbers, so that trees agree with
those of full columns up to rounding, which the choice of tests forgives.
"""

import math

from steadyboost.trees.c45_cases import CASES, TIE
from steadyboost.trees.c45_split import (
    REJECTED,
    ROUNDING,
    gain_of_cut,
    information_left,
    pick,
    smallest_side,
)
from steadyboost.trees.jit import inner

SWEEP = 16  # all entries are looked at if a node has more than one in so many


@inner
def gather(data, rows, low, high):
    """List the entries of a node, by attribute and value; return how many there are."""
    found, marked, n = data.found, data.marked, 0
    for i in range(low, high):
        n += data.row_starts[rows[i] + 1] - data.row_starts[rows[i]]
    sweep, n = SWEEP * n > data.rows.size, 0
    for i in range(low, high):
        row = rows[i]
        marked[row] = sweep
        if not sweep:
            for k in range(data.row_starts[row], data.row_starts[row + 1]):
                found[n] = data.row_places[k]
                n += 1
    if not sweep:
        found[:n].sort()
        return n
    for k in range(data.rows.size):
        if marked[data.rows[k]]:
            found[n] = k
            n += 1
    for i in range(low, high):
        marked[rows[i]] = False
    return n


@inner
def known_entries(data, start, stop):
    """End of a node's entries of one attribute that have a value."""
    while stop > start and math.isnan(data.values[data.found[stop - 1]]):
        stop -= 1
    return stop


@inner
def weigh_sides(data, weight, start, end, stop, classes, sides):
    """Class weights of the zeros to ``data.zeros``, and of all known cases to the right side."""
    for c in range(classes.size):
        data.zeros[c] = sides[1, c] = classes[c]
        sides[0, c] = 0.0
    for i in range(start, stop):
        row = data.rows[data.found[i]]
        data.zeros[data.labels[row]] -= weight[row]
        if i >= end:
            sides[1, data.labels[row]] -= weight[row]


@inner
def next_value(data, at, end, zeros_to_come):
    """The smallest value yet to come: of the entry ``at``, or the zeros'."""
    if zeros_to_come and (at == end or data.values[data.found[at]] > 0.0):
        return 0.0
    return data.values[data.found[at]]


@inner
def move_value(data, weight, at, end, value, sides):
    """Move all cases of a value to the left side; return the next entry, and their weight."""
    moved = 0.0
    if value == 0.0:
        for c in range(sides.shape[1]):
            sides[0, c] += data.zeros[c]
            sides[1, c] -= data.zeros[c]
            moved += data.zeros[c]
        return at, moved
    while at < end and data.values[data.found[at]] == value:
        row = data.rows[data.found[at]]
        sides[0, data.labels[row]] += weight[row]
        sides[1, data.labels[row]] -= weight[row]
        moved += weight[row]
        at += 1
    return at, moved


@inner
def scan_sparse_cuts(data, weight, start, end, any_zeros, known, smallest, sides):
    """Find the cut after which the two sides hold the least information, as `scan_cuts` does.

    Returns that information, the weight below the cut, the values on both sides of it (NaN if
    there is no cut), and the number of cuts looked at.
    """
    least, below, lower, upper, n_cuts, left = math.inf, 0.0, math.nan, math.nan, 0, 0.0
    at, to_come = start, any_zeros
    while at < end or to_come:
        value = next_value(data, at, end, to_come)
        to_come = to_come and value != 0.0
        at, moved = move_value(data, weight, at, end, value, sides)
        left += moved
        if left > known - smallest + ROUNDING or (at == end and not to_come):
            break
        if left >= smallest - ROUNDING:
            n_cuts += 1
            rest = information_left(sides, left, known)
            if rest < least - TIE * known:
                least, below = rest, left
                lower, upper = value, next_value(data, at, end, to_come)
    return least, below, lower, upper, n_cuts


@inner
def sparse_test(data, weight, start, stop, n_rows, classes, cases, rules, sides):
    """Gain, split information and cut of the best threshold on one attribute of a node.

    Its entries are those from ``start`` to ``stop`` of ``data.found``; ``n_rows`` and
    ``classes`` are the number of the node's rows and their class weights.
    """
    end = known_entries(data, start, stop)
    any_zeros = n_rows > stop - start
    weigh_sides(data, weight, start, end, stop, classes, sides)
    known = 0.0
    for c in range(classes.size):
        known += sides[1, c]
    before = information_left(sides, 0.0, known)
    smallest = smallest_side(known, classes.size, rules)
    rest, left, lower, upper, n_cuts = scan_sparse_cuts(
        data, weight, start, end, any_zeros, known, smallest, sides
    )
    if n_cuts == 0:
        return REJECTED, 0.0, math.nan
    return gain_of_cut(before, rest, left, known, cases, lower, upper, n_cuts, rules)


@inner
def choose_sparse_test(data, nodes, node, work, low, high, rules):
    """Compare the best threshold on each attribute; return the best, -1 if there is none."""
    gains, infos, cuts = work.tests[0], work.tests[1], work.tests[2]
    for f in range(gains.size):
        gains[f], infos[f] = REJECTED, 0.0
    n = gather(data, work.lists[0], low, high)
    classes, cases = nodes.weights[node], nodes.values[node, CASES]
    start, f = 0, 0
    while start < n:
        while data.starts[f + 1] <= data.found[start]:
            f += 1
        stop = start
        while stop < n and data.found[stop] < data.starts[f + 1]:
            stop += 1
        gains[f], infos[f], cuts[f] = sparse_test(
            data, work.weight, start, stop, high - low, classes, cases, rules, work.sides
        )
        start = stop
    return pick(gains, infos, data.n_values, rules)


@inner
def sparse_training_value(data, f, weights, cut):
    """Largest value of the whole training data up to the cut, rows of weight zero left out."""
    n_zeros = 0
    for i in range(weights.size):
        n_zeros += weights[i] > 0.0
    best = -math.inf
    for k in range(data.starts[f], data.starts[f + 1]):
        if weights[data.rows[k]] > 0.0:
            n_zeros -= 1
            if data.values[k] <= cut:
                best = max(best, data.values[k])
    return max(best, 0.0) if n_zeros > 0 and cut >= 0.0 else best
