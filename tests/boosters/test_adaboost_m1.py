"""AdaBoost.M1 against its slow twin, and the bound that Freund and Schapire prove."""

import numpy as np
import pytest
from common import Recording, assert_equal_to_twin, make, problem, quiet
from reference.boosting import adaboost_m1
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from steadyboost import AdaBoostM1Classifier, SAMMEClassifier, Stump, Tree


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_its_twin_round_by_round(k, depth, weighted):
    X, y = problem(k=k)
    weights = np.random.default_rng(k).exponential(size=len(y)) if weighted else None
    learner = Recording(depth)
    model = quiet(make(AdaBoostM1Classifier, estimator=learner, n_estimators=30).fit, X, y, weights)
    assert_equal_to_twin(model, learner, adaboost_m1(learner.votes, y, k, weights=weights), X)


def test_it_equals_its_twin_with_a_learner_of_its_own():
    X, y = problem(k=3)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    twin = adaboost_m1(lambda w: tree.fit(X, y, sample_weight=w).predict(X), y, 3, n_rounds=10)
    model = make(AdaBoostM1Classifier, estimator=tree, n_estimators=10).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, twin.steps, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), twin.scores[-1], rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("k", "depth"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 2), (4, 3)])
def test_the_training_error_stays_below_its_bound(k, depth, weighted):
    X, y = problem(n=150, k=k, noise=0.05)
    weights = np.random.default_rng(k).exponential(size=len(y)) if weighted else np.ones(len(y))
    model = make(AdaBoostM1Classifier, estimator=Tree(depth), n_estimators=50)
    quiet(model.fit, X, y, weights)
    errors = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    assert errors[0] < 0.5
    for predicted, bound in zip(model.staged_predict(X), bounds, strict=True):
        assert np.average(predicted != y, weights=weights) <= bound * (1 + 1e-12)


def test_after_its_update_a_hypothesis_is_a_coin():
    X, y = problem(k=3)
    learner = Recording(3)
    make(AdaBoostM1Classifier, estimator=learner, n_estimators=20).fit(X, y)
    for votes, weights in zip(learner.votes[:-1], learner.weights[1:], strict=True):
        assert weights[votes != y].sum() == pytest.approx(1 / 2)


def test_two_classes_are_samme():
    X, y = problem(k=2)
    ours = make(AdaBoostM1Classifier, n_estimators=30).fit(X, y)
    other = make(SAMMEClassifier, n_estimators=30).fit(X, y)
    np.testing.assert_array_equal(ours.decision_function(X), other.decision_function(X))


def test_stumps_fail_on_many_classes_and_the_first_is_kept():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"no edge \(weighted error 0\.\d+\).*deeper tree"):
        model = make(AdaBoostM1Classifier, estimator=Stump()).fit(X, y)
    alone = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    assert model.n_iter_ == 1
    assert model.estimator_weights_.tolist() == [1]
    assert len(set(model.predict(X))) == 2
    assert model.score(X, y) == pytest.approx(alone.score(X, y), abs=0.02)


def test_it_stops_without_warning_once_no_edge_is_left():
    X, y = problem(n=300, k=4, noise=0.3)
    learner = Recording(3)
    model = make(AdaBoostM1Classifier, estimator=learner, n_estimators=100).fit(X, y)
    assert 1 < model.n_iter_ < 100
    assert len(learner.votes) == model.n_iter_ + 1
    assert learner.weights[-1][learner.votes[-1] != y].sum() >= 0.5
    assert (model.estimator_errors_ < 0.5).all()
    assert len(model.history_) == model.n_iter_


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_a_perfect_hypothesis_is_kept_and_ends_the_rounds(load):
    X, y = load(return_X_y=True)
    model = make(AdaBoostM1Classifier, estimator=Tree(max_depth=None)).fit(X, y)
    assert model.n_iter_ == 1
    assert model.estimator_weights_[0] == pytest.approx(np.log(2 * len(y) - 1))


def test_two_thousand_rounds_stay_finite():
    X, y = problem(n=100, k=2, noise=0.3)
    learner = Recording(1)
    model = make(AdaBoostM1Classifier, estimator=learner, n_estimators=2000).fit(X, y)
    assert model.n_iter_ == 2000
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1)
