"""The best part of a curve of errors is that of the whole curve."""

import numpy as np
import pytest

from steadyboost.boosters.dmcboost import error_line_search
from steadyboost.boosters.dmcboost.error_line_search import (
    best_of_curve,
    choose_interval,
    error_curve,
    merging_width,
)
from steadyboost.boosters.dmcboost.margin_state import scored_rows
from steadyboost.trees.parallel import serial_map, split_evenly


@pytest.mark.parametrize("digits", [1, 3, 12])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_interval_is_that_of_all_breakpoints(seed, digits, monkeypatch):
    """Ties are frequent with few digits; where buckets are few, groups reach across them."""
    monkeypatch.setattr(error_line_search, "BUCKETING_PAYS", 0)
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 2000)), 4
    scores = np.round(rng.normal(size=(n, k)), digits)
    y, votes = rng.integers(0, k, n), rng.integers(0, k, n)
    votes = np.where(rng.random(n) < 0.5, y, votes)
    weights = rng.integers(1, 4, n)
    named = scored_rows(scores, y), votes, weights
    whole = error_curve(*named, 1.0)
    some = best_of_curve(*named, merging_width(1.0), serial_map, split_evenly(n, 1 + seed % 2))
    assert len(some[0]) <= len(whole[0])
    assert some[2].max() == whole[2].max()
    chosen = []
    for low, high, right in (whole, some):
        at, _, step = choose_interval(right, low, high, False)
        chosen.append((np.append(-np.inf, high)[at], np.append(low, np.inf)[at], step))
    assert chosen[0] == chosen[1]
    assert (some[2][0], some[2][-1]) == (whole[2][0], whole[2][-1])
