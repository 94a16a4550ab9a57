"""Histograms against sums over rows by numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.histograms import by_kernel, by_numpy
from reference.tree_cases import pack, random_columns, sums_for

from steadyboost.trees.histograms.build import LABEL_ROWS, subtract


def check(binned, sums, rows, features, counting=False):
    hist = by_kernel(binned.bins(np.asarray(features)), sums, rows, counting)
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
    n_rows = 2 * every * LABEL_ROWS + 77
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
    bins = pack(columns).bins()
    in_part = rng.random(n_rows) < share
    whole = by_kernel(bins, sums, np.arange(n_rows), True)
    part = by_kernel(bins, sums, np.flatnonzero(in_part), True)
    subtract(whole, part, whole)
    rest = by_kernel(bins, sums, np.flatnonzero(~in_part), True)
    np.testing.assert_array_equal(whole, rest)
