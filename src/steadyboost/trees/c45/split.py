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

from steadyboost.trees.c45.cases import MISSING, TIE, branch_of
from steadyboost.trees.jit import kernel

# C4.5's own tolerance, in bits for gains and in cases for errors.
EPSILON = 1e-3
# A sum of real weights may miss a whole number of cases by this much.
ROUNDING = 1e-6
# The gain of a test that is not allowed.
REJECTED = -1.0


class Rules(NamedTuple):
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
def smallest_side(known, n_classes, rules):
    """Weight that a side of a cut must have."""
    return max(rules.min_cases, min(25.0, 0.1 * known / n_classes))


@kernel
def gain_of_cut(before, rest, left, known, cases, lower, upper, n_cuts, rules):
    """Gain, split information and place of the best cut, which is between two values.

    ``before`` and ``rest`` are the information without and with it, ``left`` the weight below it.
    """
    gain = before - rest
    if rules.mdl_correction:
        gain -= math.log2(n_cuts)
    if gain <= TIE * cases:
        return REJECTED, 0.0, math.nan
    split_info = xlogx(cases) - xlogx(left) - xlogx(known - left) - xlogx(cases - known)
    cut = 0.5 * (lower + upper)
    # Rounding or overflow may carry the middle to the upper value.
    return gain / cases, split_info / cases, cut if cut < upper else lower


@kernel
def discrete_test(column, labels, weight, rows, low, high, rules, table, n_values):
    """Gain and split information of the test with one branch per value.

    Parameters
    ----------
    column, labels, weight : arrays (n_rows,)
        The attribute, the classes, and the weights in the node at hand.
    rows : int32 array
        The rows of the node are those from ``low`` to ``high``.
    rules : Rules
        The minimum weight of a branch.
    table : float64 array (at least n_values + 2, n_classes)
        Scratch: class weights by value, of the missing values, of the known ones.
    n_values : int
        Number of values.

    Returns
    -------
    gain, split_info : float
        In bits; the gain is ``REJECTED`` if fewer than two branches have enough cases.
    """
    n_classes = table.shape[1]
    for v in range(n_values + 2):
        for c in range(n_classes):
            table[v, c] = 0.0
    for i in range(low, high):
        row = rows[i]
        b = branch_of(column[row], math.nan, n_values)
        table[n_values if b == MISSING else b, labels[row]] += weight[row]
    n_large, cases, outcomes, known_outcomes = 0, 0.0, 0.0, 0.0
    inside = 0.0
    for v in range(n_values + 1):
        total = 0.0
        for c in range(n_classes):
            total += table[v, c]
            if v < n_values:
                inside += xlogx(table[v, c])
                table[n_values + 1, c] += table[v, c]
        cases += total
        outcomes += xlogx(total)
        if v < n_values:
            known_outcomes += xlogx(total)
            n_large += total >= rules.min_cases - ROUNDING
    if n_large < 2:
        return REJECTED, 0.0
    known, before = 0.0, 0.0
    for c in range(n_classes):
        known += table[n_values + 1, c]
        before += xlogx(table[n_values + 1, c])
    # The fraction of known cases times a mean over the known cases is a sum over all cases.
    gain = (xlogx(known) - before) - (known_outcomes - inside)
    return max(0.0, gain / cases), (xlogx(cases) - outcomes) / cases


@kernel
def scan_cuts(column, labels, weight, order, low, high, known, smallest, sides):
    """Find the cut after which the two sides hold the least information.

    The cases ``low`` to ``high`` of the order have a known value and the weight ``known``;
    ``sides[1]`` holds their class weights and is used up. A cut lies between two different values
    and leaves at least ``smallest`` on each side.

    Returns
    -------
    rest : float
        Information of the two sides, times their weight.
    left : float
        Weight below the cut.
    at : int
        Position in the order of the last case below the cut, -1 if there is no cut.
    n_cuts : int
        Number of cuts looked at.
    """
    least, weight_below, at, n_cuts, left = math.inf, 0.0, -1, 0, 0.0
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
    return least, weight_below, at, n_cuts


@kernel
def continuous_test(column, labels, weight, order, low, high, cases, rules, sides):
    """Gain, split information and cut of the best threshold on an attribute.

    Parameters
    ----------
    column, labels, weight : arrays (n_rows,)
        The attribute, the classes, and the weights in the node at hand.
    order : int32 array
        The rows of the node are those from ``low`` to ``high``, by ascending value, those
        without a value last.
    cases : float
        Weight of the node.
    rules : Rules
        The minimum weight of a branch, and whether to correct for the number of cuts.
    sides : float64 array (2, n_classes)
        Scratch.

    Returns
    -------
    gain, split_info, cut : float
        The cut is the middle between two values; the gain is ``REJECTED`` if nothing is gained.
    """
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
    smallest = smallest_side(known, n_classes, rules)
    rest, left, at, n_cuts = scan_cuts(
        column, labels, weight, order, low, high, known, smallest, sides
    )
    if at < 0:
        return REJECTED, 0.0, math.nan
    before = xlogx(known) - before
    lower, upper = column[order[at]], column[order[at + 1]]
    return gain_of_cut(before, rest, left, known, cases, lower, upper, n_cuts, rules)


@kernel
def pick(gains, infos, n_values, rules):
    """Choose the attribute of best gain ratio among those of at least average gain, or -1.

    Attributes with very many values would pull the average up and do not count in it, unless
    there are no others.
    """
    all_many, total, n_tests = True, 0.0, 0
    for f in range(gains.size):
        all_many &= n_values[f] >= rules.many
    for f in range(gains.size):
        if gains[f] >= 0.0 and (all_many or n_values[f] < rules.many):
            total += gains[f]
            n_tests += 1
    average = total / n_tests if n_tests > 0 else math.inf
    best, best_worth = -1, -EPSILON
    for f in range(gains.size):
        worth = gains[f]
        if rules.gain_ratio:
            allowed = worth >= average - EPSILON and infos[f] > EPSILON
            worth = worth / infos[f] if allowed else REJECTED
        if gains[f] >= 0.0 and infos[f] > 0.0 and worth > best_worth + TIE:
            best, best_worth = f, worth
    return best
