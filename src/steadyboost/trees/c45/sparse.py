"""The choice of a threshold by C4.5 where most values are zero.

Zeros have no entries: their number in a node, and their weight by class, is what the entries of
an attribute lack of the node's. That is a subtraction of real numbers, so that trees agree with
those of full columns up to rounding, which the choice of tests forgives.
"""

import math

from steadyboost.trees.c45.cases import CASES, TIE
from steadyboost.trees.c45.split import REJECTED, ROUNDING, gain_of_cut, pick, smallest_side, xlogx
from steadyboost.trees.jit import kernel

SWEEP = 16  # all entries are looked at if a node has more than one in so many


@kernel
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


@kernel
def weigh_sides(entries, start, stop, classes, zeros, sides):
    """Class weights of the zeros, and on the right side those of all cases with a value.

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
    """Find the cut after which the two sides hold the least information, as `scan_cuts` does.

    Returns that information, the weight below the cut, the values on both sides of it, and the
    number of cuts looked at.
    """
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
            rest = xlogx(left) + xlogx(known - left)
            for c in range(sides.shape[1]):
                rest -= xlogx(sides[0, c]) + xlogx(sides[1, c])
            if rest < least - TIE * known:
                least, below, lower = rest, left, value
                upper = 0.0 if to_come and following > 0.0 else following
    return least, below, lower, upper, n_cuts


@kernel
def sparse_test(entries, start, stop, n_rows, classes, zeros, cases, rules, sides):
    """Gain, split information and cut of the best threshold on one attribute of a node.

    Its entries are those found from ``start`` to ``stop``; ``n_rows`` and ``classes`` are the
    number of the node's rows and their class weights.
    """
    end = weigh_sides(entries, start, stop, classes, zeros, sides)
    known, before = 0.0, 0.0
    for c in range(classes.size):
        known += sides[1, c]
        before += xlogx(sides[1, c])
    before = xlogx(known) - before
    smallest = smallest_side(known, classes.size, rules)
    rest, left, lower, upper, n_cuts = scan_sparse_cuts(
        entries, start, end, n_rows > stop - start, zeros, known, smallest, sides
    )
    if n_cuts == 0:
        return REJECTED, 0.0, math.nan
    return gain_of_cut(before, rest, left, known, cases, lower, upper, n_cuts, rules)


@kernel
def choose_sparse_test(data, nodes, node, work, low, high, rules):
    """Compare the best threshold on each attribute; return the best, -1 if there is none."""
    gains, infos, cuts = work.tests[0], work.tests[1], work.tests[2]
    for f in range(gains.size):
        gains[f], infos[f] = REJECTED, 0.0
    n = gather(data, work.lists[0], low, high)
    classes, cases = nodes.weights[node], nodes.values[node, CASES]
    starts, found, zeros, sides = data.starts, data.found, data.zeros, work.sides
    entries = (found, data.rows, data.values, data.labels, work.weight)
    start, f = 0, 0
    while start < n:
        while starts[f + 1] <= found[start]:
            f += 1
        stop = start
        while stop < n and found[stop] < starts[f + 1]:
            stop += 1
        gains[f], infos[f], cuts[f] = sparse_test(
            entries, start, stop, high - low, classes, zeros, cases, rules, sides
        )
        start = stop
    return pick(gains, infos, data.n_values, rules)


@kernel
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
