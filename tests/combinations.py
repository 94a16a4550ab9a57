"""Fewer cases than all combinations of parameters, which still cross what can interact.

A full product of boosters, learners and inputs runs the same lines of code hundreds of times.
"""

from itertools import combinations, product

import pytest


def pairwise(**values):
    """Parametrise by few rows in which every value of a parameter meets every one of another.

    Rows are chosen greedily, those with most missing pairs first.
    """
    names, choices = list(values), [list(of_one) for of_one in values.values()]
    rows = pairwise_rows([range(len(of_one)) for of_one in choices])
    cases = [[choices[k][i] for k, i in enumerate(row)] for row in rows]
    return pytest.mark.parametrize(names, cases)


def pairwise_rows(ranges):
    """Rows of indices that hold every pair of indices in every two columns."""
    columns = list(combinations(range(len(ranges)), 2))
    missing = {(a, i, b, j) for a, b in columns for i in ranges[a] for j in ranges[b]}
    everything, rows = list(product(*ranges)), []
    while missing:
        found = max(everything, key=lambda row: len(missing & pairs_of(row, columns)))
        missing -= pairs_of(found, columns)
        rows.append(found)
    return rows


def pairs_of(row, columns):
    return {(a, row[a], b, row[b]) for a, b in columns}
