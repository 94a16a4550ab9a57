"""Cuts and bins of compressed columns are those of the same columns in full, bit for bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.sparse_cases import table

from steadyboost.trees.data.binning import (
    Compressed,
    assign_sparse_bins,
    find_cuts,
    find_sparse_cuts,
)


def one_by_one(function, items):
    return [function(item) for item in items]


def compress(X):
    """Columns without zeros, entry by entry."""
    starts, rows, values = [0], [], []
    for column in X.T:
        stored = [i for i, value in enumerate(column) if value != 0]
        rows += stored
        values += [column[i] for i in stored]
        starts.append(len(rows))
    parts = np.array(starts), np.array(rows, dtype=np.int32), np.array(values, dtype=float)
    return Compressed(*parts, len(X))


def check(X, weights=None, max_bins=255, sample=None, run=one_by_one):
    compact = compress(X)
    cuts = find_sparse_cuts(compact, weights, max_bins, sample, run)
    codes, zero_bins = assign_sparse_bins(compact, cuts, run)
    assert len(cuts) == X.shape[1]
    np.testing.assert_array_equal(compact.has_missing, np.isnan(X).any(axis=0))
    for f, column in enumerate(X.T):
        column = np.ascontiguousarray(column)
        np.testing.assert_array_equal(cuts[f], find_cuts(column, weights, max_bins, sample))
        expected = [
            len(cuts[f]) + 1 if np.isnan(value) else sum(cut < value for cut in cuts[f])
            for value in column
        ]
        bins = np.full(len(X), zero_bins[f], dtype=np.uint8)
        bins[compact.column(f)[0]] = codes[compact.starts[f] : compact.starts[f + 1]]
        np.testing.assert_array_equal(bins, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 3, 8, 255])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_cuts_and_bins_are_those_of_full_columns(decimals, gaps, max_bins, weighted):
    rng = np.random.default_rng(0)
    X = table(rng, n=700, density=0.5, decimals=decimals, gaps=gaps)
    check(X, rng.exponential(size=700) if weighted else None, max_bins)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    density=st.floats(0, 1),
    gaps=st.sampled_from([0.0, 0.3, 1.0]),
    max_bins=st.integers(2, 9),
)
def test_any_columns(seed, n, density, gaps, max_bins):
    rng = np.random.default_rng(seed)
    X = table(rng, n, 5, density, gaps=gaps)
    check(X, None, max_bins)
    check(X, rng.integers(1, 4, size=n).astype(float), max_bins)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_the_rows_gives_the_same_quantiles(weighted):
    rng = np.random.default_rng(1)
    X = table(rng, n=900, density=0.6, decimals=12, gaps=0.1)
    sample = np.sort(rng.choice(900, 300, replace=False))
    X[sample, 2] = np.nan  # no known value in the sample: all rows decide
    check(X, rng.exponential(size=900) if weighted else None, 16, sample)


def test_weights_of_zeros_add_up_as_in_full_columns():
    """Cuts at quantiles may depend on the last bit of a sum."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        X = table(rng, n=300, n_features=3, density=0.4, decimals=12)
        check(X, rng.random(300), 7)


@pytest.mark.parametrize("value", [-3.0, 0.0, 5.0, np.nan])
def test_constant_columns(value):
    check(np.full((6, 3), value))


def test_zero_is_one_of_the_values_up_to_which_each_has_its_bin():
    for n in (254, 255, 256):
        column = np.concatenate([np.arange(1.0, n), np.zeros(3)])[:, None]
        check(column)
        check(column[:-3])
        check(-column)


def test_threads_share_the_columns():
    with ThreadPoolExecutor(3) as pool:
        X = table(np.random.default_rng(3), n_features=40, decimals=12, density=0.6)
        check(X, max_bins=20, run=lambda f, items: list(pool.map(f, items)))
