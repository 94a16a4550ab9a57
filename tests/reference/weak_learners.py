"""FindAttrTest and FindDecRule, slowly: every test is tried, every sum is over rows.

``channels`` are integers, a vector for each row: its weight at its own label; or, for ``edges``,
what naming each label is worth, and last the row's mass. Columns are those of `reference.tree`.
"""

import math
from dataclasses import dataclass

import numpy as np

ALL = 2**60  # what all weight together is, but for rounding
TOLERANCE = 1e-12


def sum_up(channels, rows):
    """Sums over some rows, as integers of any size."""
    return [int(s) for s in channels[rows].astype(object).sum(axis=0)] if len(rows) else None


def best_answer(sums, edges):
    """The heaviest class, or all labels worth naming; as a set."""
    if edges:
        return frozenset(c for c, s in enumerate(sums[:-1]) if s > 0)
    return frozenset([sums.index(max(sums))])


def worth(answer, sums):
    return sum(sums[c] for c in answer)


def mass(channels, rows, edges):
    return int((channels[rows, -1] if edges else channels[rows].sum(axis=1)).sum())


def rows_with_mass(channels, edges):
    rows = np.arange(len(channels))
    return rows[(channels[:, -1] if edges else channels.sum(axis=1)) > 0]


# FindAttrTest


@dataclass(frozen=True)
class AttributeTest:
    """The bins that say yes, None where the question is only whether the value is missing."""

    worth: int
    feature: int
    yes: frozenset | None


def missing(column, rows):
    return rows[column.bins[rows] == column.n_bins]


def tests_on(column):
    """The bins that say yes, for every test on one column."""
    if column.categorical:
        return [frozenset([b]) for b in range(column.n_bins)]
    return [frozenset(range(b + 1)) for b in range(column.n_bins)]


def parts_of(column, yes, rows):
    """Rows that say yes, that say no, and that are missing."""
    bins = column.bins[rows]
    known, said = bins < column.n_bins, np.isin(bins, sorted(yes))
    return rows[said & known], rows[~said & known], rows[~known]


def worth_of_parts(channels, parts, edges):
    total = 0
    for part in parts:
        if len(part):
            sums = sum_up(channels, part)
            total += worth(best_answer(sums, edges), sums)
    return total


def best_test_on(column, feature, channels, rows, edges):
    """The best test on a column, None where it is constant; the first of equals."""
    best = None
    for yes in tests_on(column):
        parts = parts_of(column, yes, rows)
        if len(parts[0]) and len(parts[1]):
            found = AttributeTest(worth_of_parts(channels, parts, edges), feature, yes)
            if best is None or found.worth > best.worth:
                best = found
    gaps = missing(column, rows)
    if best is None and 0 < len(gaps) < len(rows):
        parts = gaps, np.setdiff1d(rows, gaps)
        return AttributeTest(worth_of_parts(channels, parts, edges), feature, None)
    return best


def attribute_test(columns, channels, edges):
    """The best of all tests, None where all columns are constant; the first of equals."""
    rows, best = rows_with_mass(channels, edges), None
    for feature, column in enumerate(columns):
        found = best_test_on(column, feature, channels, rows, edges)
        if found is not None and (best is None or found.worth > best.worth):
            best = found
    return best


def part_numbers(test, columns, channels, edges):
    """0, 1 or 2 for each row: it says yes, no, or is missing where training rows are, too."""
    if test is None:
        return np.zeros(len(channels), dtype=int)
    column, rows = columns[test.feature], rows_with_mass(channels, edges)
    gaps = column.bins == column.n_bins
    said = np.isin(column.bins, sorted(test.yes or ()))
    out = np.where(said, 0, 1)
    if len(missing(column, rows)):
        out[gaps] = 2
    else:
        yes = mass(channels, rows[said[rows]], edges)
        out[gaps] = 0 if 2 * yes > mass(channels, rows, edges) else 1
    return out


def answers_by_part(parts, channels, edges):
    """The answer of each row, a set: the best one of its part.

    As shares, so that labels of equal weight are not told apart by how integers were rounded.
    """
    rows, answers = rows_with_mass(channels, edges), {}
    for part in np.unique(parts[rows]):
        sums = sum_up(channels, rows[parts[rows] == part])
        answers[part] = best_answer([s / ALL for s in sums], edges)
    return [answers[part] for part in parts]


# FindDecRule


def conditions_on(column, rows):
    """The bins that pass, for every test that a rule may make of a column: none at empty bins."""
    bins = [b for b in range(column.n_bins) if (column.bins[rows] == b).any()]
    if column.categorical:
        return [frozenset([b]) for b in bins]
    sides = [(range(b + 1), range(b + 1, column.n_bins)) for b in bins]
    return [frozenset(side) for both in sides for side in both]


def passing(columns, condition, rows):
    feature, bins = condition
    return rows[np.isin(columns[feature].bins[rows], sorted(bins))]


def inside(columns, tests, rows):
    for test in tests:
        rows = passing(columns, test, rows)
    return rows


def entropy(shares):
    total = sum(shares)
    return sum(s * math.log(total / s) for s in shares if s > 0)


def potential(channels, rows, edges):
    """Weighted entropy of the classes; for edges, of gain and cost of every label."""
    if not edges:
        return entropy([s / ALL for s in sum_up(channels, rows) or []])
    gains = sum_up(np.maximum(channels[:, :-1], 0), rows) or []
    costs = sum_up(np.maximum(-channels[:, :-1], 0), rows) or []
    return sum(entropy([g / ALL, c / ALL]) for g, c in zip(gains, costs, strict=True))


def grow_rule(columns, channels, edges, rows, max_tests):
    """Add the test of least potential; of equals, the one that leaves more of it inside."""
    tests, covered = [], rows
    now = potential(channels, rows, edges)
    while potential(channels, covered, edges) > TOLERANCE and len(tests) != max_tests:
        best = (math.inf, -math.inf, None)
        for feature, column in enumerate(columns):
            for bins in conditions_on(column, covered):
                left = passing(columns, (feature, bins), covered)
                if 0 < len(left) < len(covered):
                    own = potential(channels, left, edges)
                    both = own + potential(channels, np.setdiff1d(rows, left), edges)
                    lower = both < best[0] - TOLERANCE
                    equal = abs(both - best[0]) <= TOLERANCE
                    if lower or (equal and own > best[1] + TOLERANCE):
                        best = (both, own, (feature, bins))
        if best[0] >= now - TOLERANCE:
            return tests
        tests.append(best[2])
        now, covered = best[0], passing(columns, best[2], covered)
    return tests


def held_out_worth(columns, channels, edges, tests, grown_on, held_out):
    """What a rule is worth on held-out rows, with the answers that it learnt on the others."""
    total, parts = 0, []
    for rows in (grown_on, held_out):
        into = inside(columns, tests, rows)
        parts.append((into, np.setdiff1d(rows, into)))
    for learnt, held in zip(*parts, strict=True):
        sums = sum_up(channels, learnt) or [0] * channels.shape[1]
        if len(held):
            total += worth(best_answer(sums, edges), sum_up(channels, held))
    return total


def decision_rule(columns, channels, edges, grown_on, held_out, max_tests=None):
    """The tests of a rule that is grown on some rows and pruned on others."""
    tests = grow_rule(columns, channels, edges, grown_on, max_tests)
    if len(held_out) == 0:
        return tests
    worths = [
        held_out_worth(columns, channels, edges, tests[:j], grown_on, held_out)
        for j in range(len(tests) + 1)
    ]
    return tests[: worths.index(max(worths))]


def rule_parts(tests, columns):
    """1 for each row inside the rule, 0 for each outside."""
    rows = np.arange(len(columns[0].bins))
    return np.isin(rows, inside(columns, tests, rows)).astype(int)
