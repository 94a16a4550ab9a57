"""Histograms against sums over rows by numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.histograms import by_numpy, row_vectors
from reference.tree_cases import pack, random_columns, sums_for

from steadyboost.trees.histograms.build import fill_histogram, subtract
from steadyboost.trees.histograms.dense import BLOCK
from steadyboost.trees.histograms.fixed_point import LANES, sum_labels, to_fixed_point
from steadyboost.trees.histograms.row_statistics import FixedPointSums

WHOLE = 2**60


def fixed_point(values, total):
    out = np.empty(len(values), dtype=np.int64)
    to_fixed_point(np.asarray(values, dtype=float), total, out)
    return out


def by_kernel(binned, sums, rows, features, counting):
    n_cells = binned.offsets[-1] * (sums.n_channels + counting)
    hist = np.full(n_cells, -1, dtype=np.int64)
    bins = binned.bins(np.asarray(features))
    fill_histogram(bins, sums.arrays(counting), rows.astype(np.int32), sums.n_channels, hist)
    return hist


def check(binned, sums, rows, features, counting=False):
    hist = by_kernel(binned, sums, rows, features, counting)
    np.testing.assert_array_equal(hist, by_numpy(binned, sums, rows, features, counting))


@pytest.mark.parametrize("n_features", range(1, 10))
@pytest.mark.parametrize("criterion", ["gini", "edge", "newton"])
@pytest.mark.parametrize("counting", [False, True])
def test_all_features_are_added_up(n_features, criterion, counting):
    rng = np.random.default_rng(n_features)
    columns = random_columns(rng, 300, numeric=n_features, n_bins=7)[:n_features]
    sums, _ = sums_for(rng, columns, criterion)
    check(pack(columns), sums, np.arange(300), np.arange(n_features), counting)


@pytest.mark.parametrize(
    "features", [[0], [3], [7], [1, 2], [0, 1, 2, 3], [4, 5, 6, 7], [2, 3, 4, 5, 6, 7], [0, 8, 9]]
)
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_only_the_wanted_features_are_added_up(features, criterion):
    rng = np.random.default_rng(0)
    columns = random_columns(rng, 200, numeric=8, gappy=2)
    sums, _ = sums_for(rng, columns, criterion)
    check(pack(columns), sums, np.arange(200), features, counting=True)


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(0),
        np.array([57]),
        np.arange(20, 60),
        np.arange(0, 400, 3),
        np.array([0, 1, 2, 398, 399]),
    ],
    ids=["none", "one", "a run", "gaps", "both ends"],
)
@pytest.mark.parametrize("criterion", ["gini", "newton"])
def test_only_the_listed_rows_are_added_up(rows, criterion):
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 400, numeric=4, gappy=1)
    sums, _ = sums_for(rng, columns, criterion)
    check(pack(columns), sums, rows, np.arange(5), counting=True)


@pytest.mark.parametrize("every", [1, 2])
def test_more_rows_than_a_block_are_added_up(every):
    rng = np.random.default_rng(2)
    n_rows = 2 * every * BLOCK + 77
    columns = random_columns(rng, n_rows, numeric=4, gappy=1)
    sums, _ = sums_for(rng, columns, "gini")
    check(pack(columns), sums, np.arange(0, n_rows, every), np.arange(5), counting=True)


def test_bins_up_to_the_last_byte_are_added_up():
    rng = np.random.default_rng(3)
    columns = random_columns(rng, 3000, numeric=2, gappy=2, n_bins=255)
    sums, _ = sums_for(rng, columns, "gini", n_labels=4)
    check(pack(columns), sums, np.arange(3000), np.arange(4))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 80), share=st.floats(0, 1))
def test_a_histogram_minus_its_part_is_exactly_the_rest(seed, n_rows, share):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows)
    sums, _ = sums_for(rng, columns, rng.choice(["gini", "edge", "newton"]))
    binned, features = pack(columns), np.arange(len(columns))
    in_part = rng.random(n_rows) < share
    whole = by_kernel(binned, sums, np.arange(n_rows), features, True)
    part = by_kernel(binned, sums, np.flatnonzero(in_part), features, True)
    subtract(whole, part, whole)
    rest = by_kernel(binned, sums, np.flatnonzero(~in_part), features, True)
    np.testing.assert_array_equal(whole, rest)


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


@pytest.mark.parametrize("criterion", ["gini", "edge", "newton"])
def test_totals_are_the_sums_of_rows(criterion):
    rng = np.random.default_rng(5)
    sums, _ = sums_for(rng, random_columns(rng, 60), criterion)
    rows = np.arange(0, 60, 7, dtype=np.int32)
    np.testing.assert_array_equal(sums.total(rows), row_vectors(sums)[rows].sum(axis=0))
    np.testing.assert_array_equal(sums.total(), row_vectors(sums).sum(axis=0))


def test_rows_without_weight_are_not_counted():
    labels, weights = np.zeros(4, dtype=np.int32), np.array([1.0, 0, 2, 0])
    by_label = FixedPointSums.of_labels(labels, weights, 2).arrays(counting=True)
    by_channel = FixedPointSums.of_channels(np.column_stack([-weights, weights])).arrays(counting=True)
    for arrays in (by_label, by_channel):
        np.testing.assert_array_equal(arrays[-2], [1, 0, 1, 0])
