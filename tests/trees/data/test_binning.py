"""Cut points and bins against numpy and against what they promise."""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.trees.data.binning import (
    MAX_BINS,
    assign_bins,
    few_distinct,
    find_cuts,
    midpoints,
    padded,
    quantile_cuts,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = sys.float_info.max
SMALLEST = 5e-324


def bins_of(values, cuts):
    return all_bins_of(np.asarray(values, dtype=float)[:, None], [cuts])[:, 0]


def all_bins_of(X, cuts, features=None, missing=None):
    out = np.full(((len(cuts) + 3) // 4, len(X), 4), 7, dtype=np.uint8)
    assign_bins(
        X,
        np.arange(len(cuts)) if features is None else np.array(features),
        padded(*cuts),
        np.array([len(own) for own in cuts]),
        out,
        np.zeros(len(cuts), dtype=np.int64) if missing is None else missing,
    )
    return out.transpose(1, 0, 2).reshape(len(X), 4 * len(out))


def cuts_of(values, weights=None, max_bins=MAX_BINS, sample=None):
    return find_cuts(np.asarray(values, dtype=float), weights, max_bins, sample)


def bin_weights(values, weights, cuts):
    return np.bincount(bins_of(values, cuts), weights=weights, minlength=len(cuts) + 1)


def assert_cuts_lie_between(distinct, cuts):
    assert len(cuts) == max(len(distinct) - 1, 0)
    assert np.isfinite(cuts).all()
    assert (distinct[:-1] <= cuts).all()
    assert (cuts < distinct[1:]).all()


@pytest.mark.parametrize("n_distinct", [1, 2, 3, 100, 254, 255])
def test_few_distinct_values_get_a_bin_each(n_distinct):
    rng = np.random.default_rng(n_distinct)
    distinct = np.sort(rng.normal(size=n_distinct))
    places = np.concatenate([np.arange(n_distinct), rng.integers(n_distinct, size=500)])
    np.testing.assert_array_equal(bins_of(distinct[places], cuts_of(distinct[places])), places)


def test_one_value_too_many_is_cut_at_quantiles():
    values = np.random.default_rng(0).permutation(1024) % 256
    cuts = cuts_of(values)
    assert len(cuts) <= 254
    assert len(np.unique(bins_of(values, cuts))) == len(cuts) + 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(FINITE, st.just(np.nan)), max_size=60), st.integers(1, 70))
def test_distinct_values_are_those_of_numpy(values, limit):
    values = np.array(values, dtype=float)
    expected = np.unique(values[~np.isnan(values)])
    out = padded(np.empty(0))[0]
    n_distinct = few_distinct(values, limit, out)
    if len(expected) > limit:
        assert n_distinct == -1
    else:
        np.testing.assert_array_equal(out[:n_distinct], expected)


def test_cuts_are_midpoints():
    np.testing.assert_array_equal(cuts_of([8.0, 1, 2, 4, 2, np.nan, 1]), [1.5, 3, 6])


@settings(max_examples=100, deadline=None)
@given(st.sets(FINITE, min_size=2, max_size=20))
def test_a_cut_is_never_its_upper_neighbour(values):
    distinct = np.unique(np.array(sorted(values)))
    assert_cuts_lie_between(distinct, midpoints(distinct))


@pytest.mark.parametrize(
    "distinct",
    [
        [1.0, np.nextafter(1.0, 2.0)],
        [-np.nextafter(1.0, 2.0), -1.0],
        [0.0, SMALLEST, 2 * SMALLEST, 3 * SMALLEST],
        [-SMALLEST, 0.0],
        [-LARGEST, LARGEST],
        [-LARGEST, -LARGEST / 2, 0.0, LARGEST / 2, LARGEST],
        [np.nextafter(LARGEST, 0), LARGEST],
    ],
)
def test_extreme_neighbours_are_kept_apart_without_a_warning(distinct):
    distinct = np.array(distinct)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cuts = cuts_of(distinct)
    assert_cuts_lie_between(distinct, cuts)
    np.testing.assert_array_equal(bins_of(distinct, cuts), np.arange(len(distinct)))


@pytest.mark.parametrize(
    "values",
    [[], [np.nan, np.nan], [3.0], [3.0, 3.0, np.nan]],
    ids=["empty", "gaps", "one row", "constant"],
)
def test_a_column_without_two_values_has_no_cuts(values):
    cuts = cuts_of(values)
    assert cuts.shape == (0,)
    np.testing.assert_array_equal(bins_of(values, cuts), np.isnan(np.array(values)))


@pytest.mark.parametrize("max_bins", [2, 3, 16, 100, 255])
@pytest.mark.parametrize("weighted", [False, True])
def test_quantile_bins_have_nearly_equal_weight(max_bins, weighted):
    rng = np.random.default_rng(max_bins)
    values = rng.exponential(size=5000)
    weights = rng.exponential(size=5000) if weighted else np.ones(5000)
    cuts = cuts_of(values, weights if weighted else None, max_bins)
    assert len(cuts) == max_bins - 1
    share = weights.sum() / max_bins
    assert np.abs(bin_weights(values, weights, cuts) - share).max() <= weights.max() * (1 + 1e-9)


def test_quantiles_follow_the_weights():
    values = np.arange(1000.0)
    weights = np.where(values < 500, 1e-6, 1.0)
    assert (cuts_of(values, weights, 10) >= 499).all()


def test_a_weight_is_a_repeated_value():
    rng = np.random.default_rng(1)
    values, times = rng.normal(size=400), rng.integers(1, 5, size=400)
    weighted = cuts_of(values, times.astype(float), 20)
    np.testing.assert_array_equal(weighted, cuts_of(values.repeat(times), None, 20))


def test_equal_values_share_a_bin_however_heavy():
    values = np.concatenate([np.zeros(5000), np.linspace(-1, 1, 1000)])
    cuts = cuts_of(values, None, 32)
    bins = bins_of(values, cuts)
    assert (bins[:5000] == bins[0]).all()
    assert (bins[values > 0] > bins[0]).all()
    assert len(cuts) < 31


def test_quantile_cuts_are_midpoints_between_neighbours():
    values = np.random.default_rng(2).normal(size=1000)
    cuts = cuts_of(values, None, 50)
    assert np.isin(cuts, midpoints(np.unique(values))).all()


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(FINITE, min_size=1, max_size=60),
    max_bins=st.integers(2, 20),
    data=st.data(),
)
def test_quantile_cuts_ascend_and_leave_no_bin_empty(values, max_bins, data):
    values = np.array(values)
    weight = st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values))
    cuts = quantile_cuts(values, np.array(data.draw(weight), dtype=float), max_bins)
    assert len(cuts) < max_bins
    assert (np.diff(cuts) > 0).all()
    assert (bin_weights(values, np.ones(len(values)), cuts) > 0).all()


def test_gaps_do_not_move_quantiles():
    values = np.random.default_rng(3).normal(size=2000)
    gappy = np.insert(values, np.arange(0, 2000, 3), np.nan)
    np.testing.assert_array_equal(cuts_of(gappy, None, 30), cuts_of(values, None, 30))


def test_quantiles_come_from_the_sample_alone():
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=3000), rng.random(3000)
    sample = np.sort(rng.choice(3000, 1000, replace=False))
    np.testing.assert_array_equal(
        cuts_of(values, weights, 30, sample), cuts_of(values[sample], weights[sample], 30)
    )


def test_few_distinct_values_are_found_outside_the_sample():
    values = np.arange(100.0)
    np.testing.assert_array_equal(cuts_of(values, None, 255, np.arange(3)), cuts_of(values))


def test_a_sample_of_gaps_alone_is_no_obstacle():
    values = np.full(1000, np.nan)
    values[:300] = np.arange(300)
    cuts = cuts_of(values, None, 255, np.arange(500, 700))
    assert len(cuts) <= 254


@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 4, 7, 8, 127, 128, 129, 253, 254])
def test_bins_count_the_cuts_below(n_cuts):
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.normal(size=n_cuts))
    values = np.concatenate(
        [rng.normal(size=300), cuts, np.nextafter(cuts, 9), np.nextafter(cuts, -9)]
    )
    np.testing.assert_array_equal(bins_of(values, cuts), np.searchsorted(cuts, values))


@settings(max_examples=60, deadline=None)
@given(
    cuts=st.sets(FINITE, max_size=254).map(sorted),
    values=st.lists(st.floats(), max_size=30),
)
def test_bins_are_those_of_searchsorted(cuts, values):
    cuts, values = np.unique(np.array(cuts, dtype=float)), np.array(values, dtype=float)
    expected = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values))
    np.testing.assert_array_equal(bins_of(values, cuts), expected)


@pytest.mark.parametrize("shape", ["normal", "heavy tails", "two clumps", "integers"])
def test_bins_are_right_however_cuts_crowd(shape):
    rng = np.random.default_rng(5)
    values = {
        "normal": rng.normal(size=3000),
        "heavy tails": rng.standard_cauchy(3000) ** 3,
        "two clumps": np.concatenate([rng.normal(size=1500), 1e9 + rng.normal(size=1500)]),
        "integers": rng.integers(0, 200, 3000).astype(float),
    }[shape]
    cuts = cuts_of(values)
    probes = np.concatenate([values, cuts, [-np.inf, np.inf, -LARGEST, LARGEST]])
    np.testing.assert_array_equal(bins_of(probes, cuts), np.searchsorted(cuts, probes))


def test_columns_are_binned_by_their_own_cuts_and_others_left_alone():
    X = np.random.default_rng(6).normal(size=(700, 6))
    X[650, 4] = np.nan
    cuts, missing = [cuts_of(X[:, f], max_bins=9 + f) for f in range(6)], np.zeros(6, dtype=int)
    bins = all_bins_of(X, cuts, [0, 3, 4], missing)
    for f in (0, 3):
        np.testing.assert_array_equal(bins[:, f], np.searchsorted(cuts[f], X[:, f]))
    assert bins[650, 4] == len(cuts[4]) + 1
    assert missing.tolist() == [0, 0, 0, 0, 1, 0]
    assert (bins[:, [1, 2, 5, 6, 7]] == 7).all()
