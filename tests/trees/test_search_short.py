"""Splits that are judged at some of the steps, or by a bound: what they are worth on real data."""

import numpy as np
import pytest
from reference import tree as trees
from reference.tree_cases import pack
from sklearn.datasets import load_digits

from steadyboost.trees import error_judge, margin_judge
from steadyboost.trees.error_judge import ErrorJudge
from steadyboost.trees.linesearch import choose_interval, error_curve
from steadyboost.trees.margin_judge import MarginJudge
from steadyboost.trees.margin_search import bottom_mean, margin_lines
from steadyboost.trees.search_tree import search_tree
from steadyboost.trees.standing import Sample, Standing
from steadyboost.trees.step_search import find_step

ROUNDS, PIXELS = 8, (10, 21, 33, 42, 60)


@pytest.fixture(scope="module")
def digits():
    """Some pixels of handwritten digits, and how they stand before rounds of both phases."""
    X, y = load_digits(return_X_y=True)
    X, y, n, k = X[:500].astype(int) // 2, y[:500].astype(np.int32), 500, 10
    columns = [trees.Column(X[:, f], 9) for f in PIXELS]
    sample = Sample(pack(columns), y, k, np.ones(n), np.ones(n, dtype=np.int64))
    scores, scale, states = np.zeros((n, k)), 0.0, []
    for round_ in range(2 * ROUNDS):
        states.append((Standing(sample, scores.copy()), scale))
        if round_ < ROUNDS:
            votes = search_tree(sample, ErrorJudge(sample, *states[-1]), 3, None)[2]
            step = least_error(sample, *states[-1], votes)[1]
        else:
            judge = MarginJudge(sample, *states[-1], 0.3 * n, 1e-6)
            votes = search_tree(sample, judge, 2, None)[2]
            step = largest_margin(sample, *states[-1], votes)[0] + 0.05
        scores[np.arange(n), votes] += step
        scale += abs(step)
    return sample, states


def least_error(sample, standing, scale, votes):
    """Rows that are wrong after the best step, exactly, and the step."""
    own = standing.scores, sample.y, standing.arrays, votes, sample.whole, scale
    low, high, right = error_curve(*own)
    return len(votes) - right.max(), choose_interval(right, low, high, False)[2]


def largest_margin(sample, standing, scale, votes):
    """The best step, exactly, and the bottom margin after it."""
    n = len(votes)
    lines = np.empty(n), np.empty(n), np.empty(n)
    margin_lines(standing.scores, sample.y, standing.arrays, votes, 1.0, *lines)
    problem = 0.3 * n, scale, scale, 1e-6
    return find_step(lambda at: tuple(line[at] for line in lines), sample.weights, problem)[::2]


@pytest.mark.parametrize("round_", range(1, ROUNDS))
def test_errors_at_256_steps_choose_as_well_as_all(digits, round_, monkeypatch):
    sample, states = digits
    found = []
    for limit in (error_judge.EXACT_WORK, 0):
        monkeypatch.setattr(error_judge, "EXACT_WORK", limit)
        judge = ErrorJudge(sample, *states[round_])
        votes = search_tree(sample, judge, 1, None)[2]
        found.append(least_error(sample, *states[round_], votes)[0])
    assert judge.n_intervals <= 258
    assert found[1] == found[0]


def test_the_bound_chooses_nearly_as_well_as_all_searches(digits, monkeypatch):
    """A search tries labels one after the other, so that the bound is at times even better."""
    sample, states = digits
    n, lost = len(sample.y), []
    for standing, scale in states[2:]:
        found = []
        for limit in (np.inf, 0):
            monkeypatch.setattr(margin_judge, "EXACT_WORK", limit)
            judge = MarginJudge(sample, standing, scale, 0.3 * n, 1e-6)
            votes = search_tree(sample, judge, 1, None)[2]
            found.append(largest_margin(sample, standing, scale, votes)[1])
        still = standing.gaps, np.full(n, np.inf), np.full(n, -1.0)
        now = bottom_mean(still, sample.weights, 0.3 * n, scale, 0.0)[0]
        lost.append((found[0] - found[1]) / (found[0] - now))
    assert np.median(lost) < 0.01
    assert np.mean(lost) < 0.1
