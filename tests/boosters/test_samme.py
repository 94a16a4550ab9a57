"""SAMME against its slow twin, scikit-learn, and what the paper proves."""

import numpy as np
import pytest
from common import Recording, assert_equal_to_twin, make, problem, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.boosting import adaboost, samme
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from steadyboost import SAMMEClassifier, Stump, Tree


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_its_twin_round_by_round(k, depth, weighted):
    X, y = problem(k=k)
    weights = np.random.default_rng(k).exponential(size=len(y)) if weighted else None
    learner = Recording(depth)
    model = quiet(make(SAMMEClassifier, estimator=learner, n_estimators=30).fit, X, y, weights)
    assert_equal_to_twin(model, learner, samme(learner.votes, y, k, weights=weights), X)


def test_it_equals_its_twin_with_a_learner_of_its_own():
    X, y = problem(k=3)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    twin = samme(lambda w: tree.fit(X, y, sample_weight=w).predict(X), y, 3, n_rounds=20)
    model = make(SAMMEClassifier, estimator=tree, n_estimators=20).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, twin.steps, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), twin.scores[-1], rtol=1e-10)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, load_breast_cancer])
def test_with_a_scikit_learn_tree_it_is_scikit_learns_adaboost(load, depth):
    """The trees are shallow, as deeper ones break ties between splits by the last bit."""
    X, y = load(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=depth)
    theirs = AdaBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, y)
    ours = SAMMEClassifier(tree, n_estimators=10, random_state=0).fit(X, y)
    n = len(theirs.estimators_)
    imperfect = theirs.estimator_errors_[:n] > 0  # where they count a perfect tree for 1
    assert ours.n_iter_ == n
    for name in ("estimator_weights_", "estimator_errors_"):
        expected = getattr(theirs, name)[:n]
        np.testing.assert_allclose(getattr(ours, name)[imperfect], expected[imperfect], rtol=1e-12)
    if imperfect.all():
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        for mine, his in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
            np.testing.assert_array_equal(mine, his)


@pytest.mark.parametrize("learning_rate", [0.3, 1.5])
def test_the_learning_rate_is_scikit_learns(learning_rate):
    X, y = problem()
    options = {"n_estimators": 10, "random_state": 0, "learning_rate": learning_rate}
    tree = DecisionTreeClassifier(max_depth=2)
    ours = SAMMEClassifier(tree, **options).fit(X, y)
    theirs = AdaBoostClassifier(tree, **options).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_sample_weights_are_scikit_learns():
    X, y = problem()
    weights = np.random.default_rng(0).exponential(size=len(y))
    tree = DecisionTreeClassifier(max_depth=2)
    ours = make(SAMMEClassifier, estimator=tree).fit(X, y, weights)
    theirs = AdaBoostClassifier(tree, n_estimators=5, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_two_classes_are_adaboost():
    X, y = problem(k=2)
    learner = Recording(2)
    model = make(SAMMEClassifier, estimator=learner, n_estimators=30).fit(X, y)
    twin = adaboost([2 * votes - 1 for votes in learner.votes], 2 * y - 1)
    np.testing.assert_allclose(learner.weights, twin.weights, rtol=1e-10)
    for scores, H in zip(model._staged_scores(X), twin.scores, strict=True):
        np.testing.assert_allclose((scores[:, 1] - scores[:, 0]) / 2, H, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X) / 2, twin.scores[-1], atol=1e-12)


def test_after_its_update_a_hypothesis_is_a_guess_among_all_classes():
    X, y = problem(k=4)
    learner = Recording(2)
    make(SAMMEClassifier, estimator=learner, n_estimators=20).fit(X, y)
    for votes, weights in zip(learner.votes[:-1], learner.weights[1:], strict=True):
        assert weights[votes != y].sum() == pytest.approx(3 / 4)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_any_votes_give_the_twin(k, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=20)])
    X = rng.integers(4, size=(len(y), 3)).astype(float)
    learner = Recording(2)
    model = quiet(make(SAMMEClassifier, estimator=learner).fit, X, y)
    if model.estimator_errors_.min() > 0:
        assert_equal_to_twin(model, learner, samme(learner.votes, y, k), X)


def test_stumps_go_on_where_most_rows_are_wrong():
    X, y = load_digits(return_X_y=True)
    model = make(SAMMEClassifier, estimator=Stump(), n_estimators=20).fit(X, y)
    assert model.n_iter_ == 20
    assert model.estimator_errors_.min() > 0.5
    assert (model.estimator_weights_ > 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_without_an_edge_the_first_hypothesis_is_kept(k):
    X, y = np.ones((10 * k, 1)), np.repeat(np.arange(k), 10)
    with pytest.warns(ConvergenceWarning, match="no edge .*deeper tree"):
        model = make(SAMMEClassifier).fit(X, y)
    assert model.n_iter_ == 1
    assert model.predict(X).tolist() == [0] * len(X)


def test_a_perfect_hypothesis_is_kept_and_ends_the_rounds():
    X, y = load_iris(return_X_y=True)
    model = make(SAMMEClassifier, estimator=Tree(max_depth=None)).fit(X, y)
    assert model.n_iter_ == 1
    assert model.estimator_errors_.tolist() == [0]
    error = 1 / (2 * len(y))
    assert model.estimator_weights_[0] == pytest.approx(np.log((1 - error) / error) + np.log(2))


@pytest.mark.parametrize("k", [2, 3])
def test_two_thousand_rounds_stay_finite(k):
    X, y = problem(n=100, k=k, noise=0.3)
    learner = Recording(1)
    model = make(SAMMEClassifier, estimator=learner, n_estimators=2000).fit(X, y)
    assert model.n_iter_ == 2000
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.estimator_weights_).all()
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1)
