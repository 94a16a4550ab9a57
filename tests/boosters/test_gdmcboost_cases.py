"""GD-MCBoost: its line search, and what is special."""

import numpy as np
import pytest
from common import assert_same_model, make, problem, quiet
from scipy.special import logsumexp
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import steadyboost
from steadyboost import GDMCBoostClassifier, SAMMEClassifier, Tree
from steadyboost.boosters.gdmcboost import LARGEST_STEP, least
from steadyboost.ensemble import training_state as rows_module

each_leaves = pytest.mark.parametrize("leaves", ["codeword", "vector"])


# Line search


@pytest.mark.parametrize("target", [1e-6, 0.3, 5.0, 11.0])
def test_newton_finds_the_least_of_a_convex_function(target):
    def derivatives(step):
        away = step - target
        return np.array(
            [np.exp(3 * away) - np.exp(-5 * away), 3 * np.exp(3 * away) + 5 * np.exp(-5 * away)]
        )

    assert least(derivatives, LARGEST_STEP) == pytest.approx(target, abs=1e-11)


def test_newton_stops_at_the_largest_step():
    assert least(lambda step: np.array([-np.exp(-step), np.exp(-step)]), 7.5) == 7.5


def test_newton_halves_the_bracket_where_it_would_leave_it():
    def derivatives(step):  # |step - 2| with a rounded corner: far from it Newton overshoots
        away = 20 * (step - 2)
        return np.array([np.tanh(away), 20 / np.cosh(away) ** 2 + 1e-12])

    assert least(derivatives, LARGEST_STEP) == pytest.approx(2, abs=1e-11)


# Special cases


@each_leaves
def test_a_perfect_answer_is_the_last_and_counts_as_half_a_row_wrong(leaves):
    y = np.arange(60) % 4
    X = y[:, None] + np.random.default_rng(0).uniform(-0.4, 0.4, size=(60, 2))
    model = make(GDMCBoostClassifier, leaves=leaves).fit(X, y)
    assert model.n_iter_ == 1
    assert model.score(X, y) == 1
    assert model.estimator_weights_[0] == pytest.approx(np.log(2 * len(y) - 1) / 2)


@each_leaves
def test_a_thousand_rounds_stay_finite(leaves):
    X, y = problem(n=120, k=4, noise=0.3)
    model = make(GDMCBoostClassifier, leaves=leaves, n_estimators=1000, estimator=Tree(max_depth=2))
    model.fit(X, y)
    assert model.n_iter_ == 1000
    assert np.isfinite(model._scores(X)).all()
    assert np.isfinite(model.history_["log_risk"]).all()
    log_risk = model.history_["log_risk"]
    assert (np.diff(log_risk) < 0).all()
    before_last = [s.copy() for s in model._staged_scores(X)][-2]
    own = np.arange(4) == y[:, None]
    logs = (before_last - before_last[own][:, None])[~own]
    assert log_risk[-1] == pytest.approx(logsumexp(logs) - np.log(len(y)), rel=1e-10)


@each_leaves
def test_three_hundred_classes(leaves):
    y = np.arange(1500) % 300
    X = 2 * np.column_stack([y // 20, y % 20]) + np.random.default_rng(0).normal(size=(1500, 2))
    options = {"estimator": Tree(max_depth=6), "n_estimators": 15}
    model = make(GDMCBoostClassifier, leaves=leaves, **options).fit(X, y)
    assert (np.diff(model.history_["log_risk"]) < 0).all()
    assert model.score(X, y) > make(SAMMEClassifier, **options).fit(X, y).score(X, y)


@each_leaves
def test_no_edge_in_the_first_round_warns(leaves):
    X, y = np.zeros((30, 2)), np.arange(30) % 3
    model = make(GDMCBoostClassifier, leaves=leaves)
    with pytest.warns(UserWarning, match="no edge"):
        model.fit(X, y)
    assert model.n_iter_ == 1


def test_a_scikit_learn_learner_adds_means_of_codewords_by_its_probabilities():
    X, y = problem(k=4)
    model = make(GDMCBoostClassifier, estimator=GaussianNB(), leaves="vector").fit(X, y)
    votes = [h.predict_proba(X) for h in model.estimators_]
    total = sum(s * v for s, v in zip(model.estimator_weights_, votes, strict=True))
    np.testing.assert_allclose(model._scores(X), total, atol=1e-12)
    assert (np.diff(model.history_["log_risk"]) < 0).all()


def test_leaves_are_of_two_kinds():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="leaves"):
        quiet(GDMCBoostClassifier(leaves="corner").fit, X, y)


# Vectors, as the common tests have codewords


def test_vectors_go_on_from_where_they_were():
    X, y = problem(k=4)
    model = make(GDMCBoostClassifier, leaves="vector", n_estimators=4, warm_start=True).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    whole = make(GDMCBoostClassifier, leaves="vector", n_estimators=9).fit(X, y)
    assert_same_model(model, whole, X)


def test_vectors_are_saved(tmp_path):
    X, y = problem(k=4)
    model = make(GDMCBoostClassifier, leaves="vector").fit(X, y)
    model.save(tmp_path / "model.sb")
    assert_same_model(steadyboost.load(tmp_path / "model.sb"), model, X)


@pytest.mark.parametrize("learner", [None, GaussianNB()])
@each_leaves
def test_threads_and_blocks_change_nothing(leaves, learner, monkeypatch):
    X, y = problem(k=4)
    options = {"estimator": learner, "leaves": leaves}
    whole = make(GDMCBoostClassifier, **options).fit(X, y)
    monkeypatch.setattr(rows_module, "CHUNK_ROWS", 50)
    model, other = (make(GDMCBoostClassifier, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    assert_same_model(model, other, X)
    np.testing.assert_allclose(model._scores(X), whole._scores(X), rtol=1e-9, atol=1e-9)
