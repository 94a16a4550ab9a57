"""What is learnt batch by batch is what is learnt from the whole table."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.preprocessing import binner, running
from steadyboost.preprocessing.binner import Binner, sample_of
from steadyboost.preprocessing.encoder import Encoder
from steadyboost.preprocessing.running import RunningTable


def learnt(table, categorical, weights, max_bins, cuts):
    """By batches that end at ``cuts``."""
    whole = RunningTable(categorical, max_bins)
    bounds = [0, *sorted(cuts), len(table)]
    for start, stop in pairwise(bounds):
        whole.add(table.iloc[start:stop], None if weights is None else weights[start:stop])
    return whole.learn()


def assert_same(table, categorical, weights, max_bins, cuts):
    encoder, binned = learnt(table, categorical, weights, max_bins, cuts)
    expected = Encoder.learn(table, categorical)
    assert encoder == expected
    twin = Binner.learn(expected.encode(table), categorical, weights, max_bins)
    for own, other in zip(binned.cuts, twin.cuts, strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(binned.has_missing, twin.has_missing)
    np.testing.assert_array_equal(binned.categorical, twin.categorical)


def table_of(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "numbers": rng.normal(size=n),
            "few": rng.integers(0, 5, n),
            "gaps": np.where(rng.random(n) < 0.7, np.nan, rng.normal(size=n)),
            "none": np.full(n, np.nan),
            "text": np.array(list("abcdefgh"))[rng.integers(0, 8, n)],
        }
    )
    return table, np.array([False, False, False, False, True]), rng.exponential(size=n)


@pytest.fixture(params=[50, 10**6])
def sample_rows(request, monkeypatch):
    monkeypatch.setattr(binner, "SAMPLE_ROWS", request.param)
    monkeypatch.setattr(running, "SAMPLE_ROWS", request.param)


@pytest.mark.usefixtures("sample_rows")
@pytest.mark.parametrize("max_bins", [4, 255])
@pytest.mark.parametrize("weighted", [True, False])
def test_batches_give_the_encoder_and_the_cuts_of_the_table(weighted, max_bins):
    table, categorical, weights = table_of(400, seed=0)
    cuts = [1, 40, 41, 200]
    assert_same(table, categorical, weights if weighted else None, max_bins, cuts)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 300), max_size=6), st.integers(0, 5))
def test_any_batches_give_the_same(cuts, seed):
    table, categorical, weights = table_of(300, seed)
    assert_same(table, categorical, weights, 16, cuts)


def test_more_categories_than_bins_count_as_missing():
    table = pd.DataFrame({"text": [f"v{k:03}" for k in range(300)]})
    encoder, binned = learnt(table, np.array([True]), None, 255, [100])
    assert len(encoder.categories[0]) == 255
    assert binned.has_missing.tolist() == [1]


def test_rare_values_that_no_sampled_row_has_still_have_bins(monkeypatch):
    monkeypatch.setattr(running, "SAMPLE_ROWS", 10)
    numbers = np.full(1000, np.nan)
    free = np.setdiff1d(np.arange(1000), np.argsort(np.random.default_rng(0).random(1000))[:12])
    numbers[free[:20]] = np.arange(20.0)
    _, binned = learnt(pd.DataFrame({"x": numbers}), np.array([False]), None, 4, [500])
    np.testing.assert_array_equal(binned.cuts[0], [0.5, 1.5, 2.5])


def test_a_sample_is_drawn_without_replacement_and_evenly(monkeypatch):
    monkeypatch.setattr(binner, "SAMPLE_ROWS", 1000)
    assert sample_of(1000) is None
    rows = sample_of(10_000)
    assert len(np.unique(rows)) == len(rows) == 1000
    assert (np.diff(rows) > 0).all()
    counts = np.histogram(rows, bins=10, range=(0, 10_000))[0]
    assert counts.min() > 60


def test_dates_are_refused():
    table = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(ValueError, match="Column 'when' holds dates, which cannot be read in bat"):
        learnt(table, np.array([False]), None, 255, [1])
