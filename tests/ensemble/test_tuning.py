"""Racing values of a parameter, against running each of them alone."""

import numpy as np
import pytest
from common import assert_same_model, make, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from steadyboost import MSmoothBoostClassifier, Stump, Tree
from steadyboost.ensemble.tuning import race
from steadyboost.ensemble.validation import split_off

ROUNDS = 24
X, y = problem(n=400, k=4, noise=0.3)
COARSE = np.round(2 * X) / 2  # all rows and the training rows alone have the same bins


class Racing(MSmoothBoostClassifier):
    """Races the values it is told to."""

    values = (0.0, 0.5, 1.0)

    def tune(self, rows, learner):
        self.smoothing_ = 7.0
        self.path = race(self, rows, learner, "smoothing_", self.values)
        assert self.smoothing_ == 7.0


def raced(values, X=X, **params):
    params = {"estimator": Stump(), "n_estimators": ROUNDS, **params}
    booster = type("RacingThese", (Racing,), {"values": values})
    return make(booster, **params).fit(X, y).path


def errors_alone(value, X):
    """Held-out error after each round of a fit to the other rows."""
    train, test = split_off(y, 0.2, 0)
    model = make(MSmoothBoostClassifier, estimator=Stump(), smoothing=value, n_estimators=ROUNDS)
    model.fit(X[train], y[train])
    return [np.mean(p != y[test]) for p in model.staged_predict(X[test])]


def expected_path(values, errors):
    """Halve the field at 1/8, 1/4 and 1/2 of the rounds; all that is left runs to the end."""
    left, path = list(values), []
    for goal in (3, 6, 12, 24):
        now = sorted(left, key=lambda value: errors[value][goal - 1])
        kept = 0 if goal == 24 else -(-len(left) // 2)
        dropped = [(value, errors[value][goal - 1], goal) for value in now[kept:]]
        path = dropped + path
        left = [value for value in left if value in now[:kept]]
    return path


@pytest.mark.parametrize("values", [(0.0, 0.1, 0.3, 0.5, 1.0, 3.0), (1.0, 0.2, 0.0), (0.4,)])
def test_the_race_is_what_running_each_alone_gives(values):
    errors = {value: errors_alone(value, COARSE) for value in values}
    found = [(r["value"], r["error"], r["rounds"]) for r in raced(values, COARSE)]
    assert found == expected_path(values, errors)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 12), st.sampled_from([1, 2, 3, 5, 8, 9]))
def test_every_value_is_recorded_once_and_the_best_run_longest(n_values, n_estimators):
    values = tuple(np.linspace(0, 1, n_values))
    path = raced(values, n_estimators=n_estimators)
    assert sorted(record["value"] for record in path) == sorted(values)
    rounds = [record["rounds"] for record in path]
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[0] == n_estimators


def test_ties_go_to_the_value_named_first():
    values = tuple(0.5 + 1e-13 * offset for offset in (3, 0, 4, 1, 2, 8, 7, 5, 6))
    path = raced(values)
    assert [record["value"] for record in path if record["rounds"] == ROUNDS] == [*values[:2]]
    assert path[0]["error"] == path[1]["error"]


# Smoothing chosen by the booster


def chosen(n_jobs=None, X_y=None, **params):
    rows, labels = X_y or (X, y)
    params = {"estimator": Stump(), "n_estimators": ROUNDS, "smoothing": "auto", **params}
    return make(MSmoothBoostClassifier, n_jobs=n_jobs, **params).fit(rows, labels)


def test_automatic_smoothing_keeps_its_path_and_refits_on_all_rows():
    model = chosen()
    path = model.smoothing_path_
    assert sorted(record["value"] for record in path) == [k / 10 for k in range(11)]
    assert model.smoothing_ == path[0]["value"]
    finalists = [record for record in path if record["rounds"] == ROUNDS]
    assert path[: len(finalists)] == finalists
    best = min(record["error"] for record in finalists)
    assert path[0]["error"] == best
    assert model.smoothing_ == min(r["value"] for r in finalists if r["error"] == best)
    refit = make(
        MSmoothBoostClassifier, estimator=Stump(), n_estimators=ROUNDS, smoothing=model.smoothing_
    ).fit(X, y)
    assert_same_model(model, refit, X)


def test_automatic_smoothing_is_reproducible_with_any_number_of_threads():
    fits = [chosen(n_jobs) for n_jobs in (1, 1, 2)]
    for model in fits[1:]:
        assert model.smoothing_path_ == fits[0].smoothing_path_
        assert_same_model(model, fits[0], X)


def test_ties_go_to_the_smallest_lambda():
    """No value errs on rows that any tree tells apart."""
    apart = np.arange(300) % 3
    model = chosen(X_y=(apart[:, None] + 0.1 * X[:300], apart), estimator=Tree(3))
    assert {record["error"] for record in model.smoothing_path_} == {0}
    assert model.smoothing_ == min(record["value"] for record in model.smoothing_path_) == 0


@pytest.mark.parametrize("random_state", range(4))
def test_of_equal_finalists_the_smallest_lambda_is_chosen(random_state):
    model = chosen(X_y=load_iris(return_X_y=True), estimator=Tree(3), random_state=random_state)
    finalists = [r for r in model.smoothing_path_ if r["rounds"] == ROUNDS]
    least = min(record["error"] for record in finalists)
    best = [record["value"] for record in finalists if record["error"] == least]
    assert model.smoothing_ == min(best) == best[0]


def test_a_value_that_is_given_is_used_as_it_is():
    model = chosen(smoothing=0.25)
    assert model.smoothing_ == 0.25
    assert not hasattr(model, "smoothing_path_")
    for wrong in (-0.1, "none"):
        with pytest.raises(ValueError, match="smoothing"):
            chosen(smoothing=wrong)
