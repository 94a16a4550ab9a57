"""Summaries of columns: exact while they can be, and never further off than they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.distributed import quantile_sketch as quantiles
from steadyboost.distributed.quantile_sketch import QuantileSketch
from steadyboost.trees.data.binning import find_cuts

SHAPES = {
    "even": lambda rng, n: rng.random(n),
    "heavy tail": lambda rng, n: rng.standard_cauchy(n),
    "ties": lambda rng, n: np.floor(rng.exponential(200, n)),
    "one value and the rest": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.random(n)),
}


def parts_of(values, weights, n_parts):
    cuts = np.linspace(0, len(values), n_parts + 1).astype(int)[1:-1]
    owns = np.split(values, cuts), np.split(weights, cuts)
    return [QuantileSketch.of(*own) for own in zip(*owns, strict=True)]


def weight_up_to(values, weights, points):
    order = np.argsort(values)
    below = np.append(0, np.cumsum(weights[order]))
    return below[np.searchsorted(values[order], points, side="right")]


def check(summary, values, weights, points):
    """The weight up to any number is what the summary says, or more by its error at the most."""
    said = np.append(0, np.cumsum(summary.masses))
    said = said[np.searchsorted(summary.values, points, side="right")]
    more = weight_up_to(values, weights, points) - said
    rounding = 1e-9 * weights.sum()
    assert more.min() >= -rounding
    assert more.max() <= summary.error + rounding


@pytest.mark.parametrize("n_parts", [1, 5, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_are_as_good_as_stated(shape, n_parts, monkeypatch):
    monkeypatch.setattr(quantiles, "MAX_SKETCH_VALUES", 100)
    rng = np.random.default_rng(0)
    values, weights = SHAPES[shape](rng, 5000), rng.exponential(size=5000)
    summary = QuantileSketch.merged(parts_of(values, weights, n_parts))
    assert len(summary.values) <= 100
    assert summary.error <= 2 / 99 * weights.sum() * (1 + 1e-9)
    check(summary, values, weights, np.concatenate([values, rng.choice(values, 500) + 1e-9]))


def test_each_merge_of_merges_adds_one_share(monkeypatch):
    monkeypatch.setattr(quantiles, "MAX_SKETCH_VALUES", 64)
    rng = np.random.default_rng(1)
    values, weights = rng.random(6000), np.ones(6000)
    parts = parts_of(values, weights, 27)
    for level in range(2, 5):
        parts = [QuantileSketch.merged(parts[k : k + 3]) for k in range(0, len(parts), 3)]
        assert sum(part.error for part in parts) <= level / 63 * 6000 * (1 + 1e-9)
    check(parts[0], values, weights, values)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1), st.integers(1, 5), st.integers(2, 255))
def test_few_values_get_the_cuts_of_the_whole_column(numbers, n_parts, max_bins):
    values = np.array(numbers, dtype=float)
    merged = QuantileSketch.merged(parts_of(values, np.ones(len(values)), n_parts))
    assert merged.error == 0
    np.testing.assert_array_equal(merged.cuts(max_bins), find_cuts(values, None, max_bins))


@pytest.mark.parametrize("shape", SHAPES)
def test_bins_of_many_values_are_nearly_even(shape):
    rng = np.random.default_rng(2)
    values, weights = SHAPES[shape](rng, 60_000), rng.exponential(size=60_000)
    summary = QuantileSketch.merged(parts_of(values, weights, 6))
    exact, cuts = find_cuts(values, weights, 255), summary.cuts(255)
    assert abs(len(cuts) - len(exact)) <= 2
    bins = np.searchsorted(cuts, values)
    masses = np.bincount(bins, weights)
    heaviest = np.bincount(np.unique(values, return_inverse=True)[1], weights).max()
    assert masses.max() <= heaviest + weights.sum() / 255 + 2 * summary.error
    ranks = [weight_up_to(values, weights, own[:: len(own) // 20]) for own in (cuts, exact)]
    if len(cuts) == len(exact):
        assert np.abs(ranks[0] - ranks[1]).max() <= heaviest + 2 * summary.error


def test_no_values_have_no_cuts():
    nothing = QuantileSketch.of(np.empty(0), None)
    assert len(QuantileSketch.merged([nothing, nothing]).cuts(255)) == 0
