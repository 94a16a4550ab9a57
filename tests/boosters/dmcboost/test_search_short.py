"""Splits that are judged at some of the steps, or by a bound: what they are worth on real data."""

import numpy as np
import pytest
from reference import tree as trees
from reference.tree_cases import pack
from sklearn.datasets import load_digits

from steadyboost.boosters.dmcboost import error_splits, margin_splits
from steadyboost.boosters.dmcboost.error_line_search import choose_interval, error_curve
from steadyboost.boosters.dmcboost.error_splits import ErrorSplitScorer
from steadyboost.boosters.dmcboost.margin_line_search import MarginProblem, find_step, lines_along
from steadyboost.boosters.dmcboost.margin_splits import MarginSplitScorer
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample
from steadyboost.boosters.dmcboost.search_tree import search_tree

ROUNDS, PIXELS = 8, (10, 21, 33, 42, 60)


@pytest.fixture(scope="module")
def digits():
    """Some pixels of handwritten digits, and how they stand before rounds of both phases."""
    X, y = load_digits(return_X_y=True)
    X, y, n, k = X[:500].astype(int) // 2, y[:500].astype(np.int32), 500, 10
    columns = [trees.Column(X[:, f], 9) for f in PIXELS]
    sample = SearchSample(pack(columns), y, k, np.ones(n), np.ones(n, dtype=np.int64))
    scores, scale, states = np.zeros((n, k)), 0.0, []
    for round_ in range(2 * ROUNDS):
        states.append((MarginState(sample, scores.copy()), scale))
        if round_ < ROUNDS:
            votes = search_tree(sample, ErrorSplitScorer(sample, *states[-1]), 3, None)[2]
            step = least_error(sample, *states[-1], votes)[1]
        else:
            scorer = MarginSplitScorer(sample, *states[-1], 0.3 * n, 1e-6)
            votes = search_tree(sample, scorer, 2, None)[2]
            step = largest_margin(sample, *states[-1], votes)[0] + 0.05
        scores[np.arange(n), votes] += step
        scale += abs(step)
    return sample, states


def least_error(sample, margin_state, scale, votes):
    """Rows that are wrong after the best step, exactly, and the step."""
    own = margin_state.rows, votes, sample.integer_weights, scale
    low, high, right = error_curve(*own)
    return len(votes) - right.max(), choose_interval(right, low, high, False)[2]


def largest_margin(sample, margin_state, scale, votes):
    """The best step, exactly, and the bottom margin after it."""
    lines = lines_along(margin_state.rows, votes, 1.0)
    problem = MarginProblem(0.3 * len(votes), scale, scale, 1e-6)
    return find_step(lines.at, sample.weights, problem)[::2]


@pytest.mark.parametrize("round_", range(1, ROUNDS))
def test_errors_at_256_steps_choose_as_well_as_all(digits, round_, monkeypatch):
    sample, states = digits
    found = []
    for limit in (error_splits.EXACT_WORK, 0):
        monkeypatch.setattr(error_splits, "EXACT_WORK", limit)
        scorer = ErrorSplitScorer(sample, *states[round_])
        votes = search_tree(sample, scorer, 1, None)[2]
        found.append(least_error(sample, *states[round_], votes)[0])
    assert scorer.n_intervals <= 258
    assert found[1] == found[0]


def test_the_searched_cuts_have_the_best_of_all(digits, monkeypatch):
    """Of 3,200 cuts with their labels, 128 are searched at each step; where n is 1024, as many."""
    sample, states = digits
    n, found = len(sample.y), []
    for limit in (10**12, 128 * n):
        monkeypatch.setattr(margin_splits, "EXACT_WORK", limit)
        scorers = [MarginSplitScorer(sample, *state, 0.3 * n, 1e-6) for state in states[2:]]
        votes = [search_tree(sample, scorer, 1, None)[2] for scorer in scorers]
        own = zip(states[2:], votes, strict=True)
        found.append([largest_margin(sample, *state, named)[1] for state, named in own])
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
