"""What rows add to histograms, in fixed point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.histograms import row_vectors
from reference.tree_cases import random_columns, sums_for

from steadyboost.ensemble.workers import Workers
from steadyboost.trees.histograms.row_statistics import (
    LANES,
    SUM_ROWS,
    FixedPointSums,
    sum_labels,
    to_fixed_point,
)


@pytest.mark.parametrize("criterion", ["gini", "edge", "newton"])
def test_totals_are_the_sums_of_rows(criterion):
    rng = np.random.default_rng(5)
    sums, _ = sums_for(rng, random_columns(rng, 60), criterion)
    rows = np.arange(0, 60, 7, dtype=np.int32)
    np.testing.assert_array_equal(sums.total(rows), row_vectors(sums)[rows].sum(axis=0))
    np.testing.assert_array_equal(sums.total(), row_vectors(sums).sum(axis=0))


def test_rows_without_weight_are_not_counted():
    labels, weights = np.zeros(4, dtype=np.int32), np.array([1.0, 0, 2, 0])
    by_label = FixedPointSums.of_labels(labels, weights, 2).statistics(counting=True)
    by_channel = FixedPointSums.of_channels(np.column_stack([-weights, weights])).statistics(
        counting=True
    )
    for stats in (by_label, by_channel):
        np.testing.assert_array_equal(stats.counts, [1, 0, 1, 0])


@pytest.mark.parametrize("n", [100, SUM_ROWS, 3 * SUM_ROWS + 11])
def test_sums_of_labels_do_not_depend_on_the_number_of_threads(n):
    rng = np.random.default_rng(6)
    labels, weights = rng.integers(3, size=n).astype(np.int32), rng.exponential(size=n)
    alone = FixedPointSums.of_labels(labels, weights, 3)
    with Workers(3) as workers:
        shared = FixedPointSums.of_labels(labels, weights, 3, run=workers.run)
    np.testing.assert_array_equal(shared.weights, alone.weights)
    np.testing.assert_array_equal(shared.known_total, alone.known_total)
    np.testing.assert_array_equal(alone.known_total, row_vectors(alone).sum(axis=0))


WHOLE = 2**60


def fixed_point(values, total):
    out = np.empty(len(values), dtype=np.int64)
    to_fixed_point(np.asarray(values, dtype=float), total, out)
    return out


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50).filter(lambda w: sum(w) > 1e-3))
def test_integers_are_shares_of_two_to_the_sixty(weights):
    fixed = fixed_point(weights, sum(weights))
    assert abs(int(fixed.sum()) - WHOLE) <= 128 * len(weights)
    np.testing.assert_allclose(fixed / WHOLE, np.array(weights) / sum(weights), atol=1e-15)
    np.testing.assert_array_equal(fixed[np.array(weights) == 0], 0)


def test_negative_values_become_negative_integers():
    np.testing.assert_array_equal(fixed_point([-1, 2, 0, -1], 4), np.array([-1, 2, 0, -1]) * 2**58)


@pytest.mark.parametrize("weight", [0.0, 1e-310, 1e307])
def test_no_weight_is_too_small_or_too_large(weight):
    expected = WHOLE / 4 if weight else 0
    np.testing.assert_allclose(fixed_point([weight] * 4, 4 * weight), expected, rtol=1e-9)


def test_label_sums_are_those_of_bincount():
    rng = np.random.default_rng(4)
    labels, weights = rng.integers(5, size=100).astype(np.int32), rng.integers(9, size=100)
    rows, lanes = np.arange(0, 100, 3, dtype=np.int32), np.zeros((LANES, 5), dtype=np.int64)
    sum_labels(labels, weights, rows, lanes)
    np.testing.assert_array_equal(
        lanes.sum(axis=0), np.bincount(labels[rows], weights[rows], minlength=5)
    )
