"""Racing values of a parameter, against running each of them alone."""

import numpy as np
import pytest
from common import assert_same_model, make, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from steadyboost import MSmoothBoostClassifier, Stump, Tree
from steadyboost.core.inputs import split_off
from steadyboost.core.racing import race

ROUNDS = 24
X, y = problem(n=400, k=4, noise=0.3)


class Racing(MSmoothBoostClassifier):
    """Races the values it is told to."""

    values = (0.0, 0.5, 1.0)

    def tune(self, rows, learner):
        self.smoothing_ = 7.0
        self.path = race(self, rows, learner, "smoothing_", self.values)
        assert self.smoothing_ == 7.0


def raced(values, X=X, y=y, **params):
    params = {"estimator": Stump(), "n_estimators": ROUNDS, **params}
    booster = type("RacingThese", (Racing,), {"values": values})
    return make(booster, **params).fit(X, y).path


def errors_alone(value):
    """Held-out error after each round of a fit to the other rows."""
    train, test = split_off(y, 0.2, 0)
    # All rows share the bins, as in the race: other cuts would make other stumps.
    weights = np.zeros(len(y))
    weights[train] = 1
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


def as_tuples(path):
    return [(record["value"], record["error"], record["rounds"]) for record in path]


@pytest.mark.parametrize("values", [(0.0, 0.1, 0.5, 1.0, 3.0), (1.0, 0.2)])
def test_the_race_is_what_running_each_alone_gives(values):
    assert max(len(np.unique(column)) for column in X.T) > 255  # bins may differ a little
    errors = {value: errors_alone(value) for value in values}
    found, expected = as_tuples(raced(values)), expected_path(values, errors)
    assert sorted(v for v, _, _ in found) == sorted(values)
    assert sorted(r for _, _, r in found) == sorted(r for _, _, r in expected)
    by_value = {v: (e, r) for v, e, r in found}
    for value, (error, rounds) in by_value.items():
        assert error == pytest.approx(errors[value][rounds - 1], abs=0.06)


def test_with_few_distinct_values_it_is_so_exactly():
    global X
    rounded = X.round(1)
    original, X = X, rounded
    try:
        values = (0.0, 0.1, 0.3, 0.5, 1.0, 3.0)
        errors = {value: errors_alone(value) for value in values}
        assert as_tuples(raced(values, rounded)) == expected_path(values, errors)
    finally:
        X = original


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 12), st.sampled_from([1, 2, 3, 5, 8, 9]))
def test_every_value_is_recorded_once_and_the_best_run_longest(n_values, n_estimators):
    values = tuple(np.linspace(0, 1, n_values))
    path = raced(values, n_estimators=n_estimators)
    assert sorted(record["value"] for record in path) == sorted(values)
    rounds = [record["rounds"] for record in path]
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[0] == n_estimators
    for run in set(rounds):
        errors = [record["error"] for record in path if record["rounds"] == run]
        assert len(set(rounds)) < 4 or errors == sorted(errors)


def test_equal_values_keep_their_order():
    path = raced((0.5,) * 6)
    assert len({record["error"] for record in path if record["rounds"] == ROUNDS}) == 1
    first = raced((0.9, 0.9, 0.9))
    assert [record["value"] for record in first] == [0.9] * 3


# Smoothing chosen by the booster


def chosen(n_jobs=None, X_y=None, **params):
    X, y = X_y or problem(n=400, k=4, noise=0.3)
    params = {"estimator": Stump(), "n_estimators": 24, "smoothing": "auto", **params}
    return make(MSmoothBoostClassifier, n_jobs=n_jobs, **params).fit(X, y), X


def test_automatic_smoothing_keeps_its_path_and_refits_on_all_rows():
    model, X = chosen()
    path = model.smoothing_path_
    assert sorted(record["value"] for record in path) == [k / 10 for k in range(11)]
    assert model.smoothing_ == path[0]["value"]
    finalists = [record for record in path if record["rounds"] == 24]
    assert path[: len(finalists)] == finalists
    best = min(record["error"] for record in finalists)
    assert path[0]["error"] == best
    assert model.smoothing_ == min(r["value"] for r in finalists if r["error"] == best)
    y = problem(n=400, k=4, noise=0.3)[1]
    refit = make(
        MSmoothBoostClassifier, estimator=Stump(), n_estimators=24, smoothing=model.smoothing_
    ).fit(X, y)
    assert_same_model(model, refit, X)


def test_automatic_smoothing_is_reproducible_with_any_number_of_threads():
    fits = [chosen(n_jobs) for n_jobs in (1, 1, 2)]
    for model, X in fits[1:]:
        assert model.smoothing_path_ == fits[0][0].smoothing_path_
        assert_same_model(model, fits[0][0], X)


def test_ties_go_to_the_smallest_lambda():
    model, _ = chosen(X_y=load_iris(return_X_y=True), estimator=Tree(3))
    assert [record["error"] for record in model.smoothing_path_] == [
        model.smoothing_path_[0]["error"]
    ] * 11
    assert model.smoothing_ == 0
