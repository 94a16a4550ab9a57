"""AdaBoost.MH: its twin, AdaBoost as its case of two classes, and shared trees."""

import numpy as np
import pytest
from common import Recording, assert_same_model, make, problem, quiet
from reference.adaboost_mh import adaboost_mh
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import steadyboost
from steadyboost import AdaBoostClassifier, AdaBoostMHClassifier, Stump, Tree
from steadyboost.ensemble.workers import Workers

X, y = problem(k=4)
WEIGHTS = np.random.default_rng(0).integers(1, 5, size=len(y)).astype(float)


def answers(model, X):
    """What each round says of rows and labels, -1 and 1."""
    data = model._data(model._encoded(X), Workers(1))
    said = []
    for stage in model.stages_:
        votes = stage.answer.votes(data)
        said.append(2.0 * votes - 1 if votes.ndim == 2 else stage.code[votes])
    return said


@pytest.mark.parametrize("tree", ["separate", "shared"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("sets", [False, True], ids=["classes", "sets"])
def test_it_agrees_with_its_twin(tree, weights, sets):
    target, has = y, y[:, None] == np.arange(4)
    if sets:
        has = target = np.random.default_rng(0).random((len(y), 4)) < 0.4
    learner = Recording(max_depth=2)
    model = make(AdaBoostMHClassifier, estimator=learner, tree=tree)
    model.fit(X, target, sample_weight=weights)
    trace = adaboost_mh(answers(model, X), has, weights)
    scores = [s.copy() for s in model._staged_scores(X)]
    np.testing.assert_allclose(model.estimator_weights_, trace.steps, rtol=1e-10)
    np.testing.assert_allclose(1 - 2 * model.estimator_errors_, trace.edges, rtol=1e-10)
    np.testing.assert_allclose(scores, trace.scores, rtol=1e-10, atol=1e-13)
    if tree == "separate":
        by_label = [w[:, l] / w[:, l].sum() for w in trace.weights for l in range(4)]
        np.testing.assert_allclose(learner.weights, by_label, rtol=1e-10)
    else:
        np.testing.assert_allclose(learner.weights, [w.sum(axis=1) for w in trace.weights])


@pytest.mark.parametrize("tree", ["separate", "shared"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("learner", [Tree(2, criterion="error"), Stump(criterion="error")], ids=str)
def test_with_two_classes_it_is_adaboost(tree, weights, learner):
    X, y = problem(n=240, k=2)
    binary = make(AdaBoostClassifier, estimator=learner, n_estimators=20)
    model = make(AdaBoostMHClassifier, estimator=learner, n_estimators=20, tree=tree)
    H = [s[:, 0].copy() for s in binary.fit(X, y, sample_weight=weights)._staged_scores(X)]
    psi = [s.copy() for s in model.fit(X, y, sample_weight=weights)._staged_scores(X)]
    assert len(psi) == len(H) == 20
    for scores, h in zip(psi, H, strict=True):
        np.testing.assert_allclose(scores[:, 1], h, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(scores[:, 0], -h, rtol=1e-12, atol=1e-13)


def test_the_hamming_loss_is_below_the_product_of_its_bounds():
    """Schapire & Singer, Theorem 1: the loss is at most the product of sqrt(1 - edge^2)."""
    model = make(AdaBoostMHClassifier, n_estimators=30, estimator=Stump()).fit(X, y)
    has, bound = y[:, None] == np.arange(4), 1.0
    for scores, error in zip(model._staged_scores(X), model.estimator_errors_, strict=True):
        bound *= np.sqrt(1 - (1 - 2 * error) ** 2)
        assert np.mean((scores > 0) != has) <= bound + 1e-12


def test_a_perfect_round_is_the_last():
    model = make(AdaBoostMHClassifier, estimator=Tree(max_depth=None)).fit(X, y)
    assert model.n_iter_ == 1
    assert model.estimator_weights_[0] == pytest.approx(np.log(2 * len(y) - 1) / 2)


def test_a_round_without_an_edge_is_dropped():
    X, y = np.ones((60, 1)), np.repeat(np.arange(3), 20)
    model = make(AdaBoostMHClassifier).fit(X, y)
    assert model.n_iter_ == 1  # saying no to every label has an edge, once
    with pytest.warns(UserWarning, match="no edge"):
        model = make(AdaBoostMHClassifier).fit(X[:40], y[:40])
    assert model.n_iter_ == 1


def test_the_best_score_wins_not_its_sign():
    model = make(AdaBoostMHClassifier, estimator=Stump()).fit(X, y)
    scores = model.decision_function(X)
    assert (scores > 0).sum(axis=1).min() == 0  # the printed rule would have nothing to say
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_a_shared_tree_learns_more_from_fewer_trees():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = make(AdaBoostMHClassifier, tree="shared", n_estimators=60).fit(X, y)
    assert model.score(X_test, y_test) > 0.95
    assert not isinstance(model.estimators_[0], list)
    assert set(np.unique(model.stages_[0].code)) == {-1.0, 1.0}


def test_a_shared_tree_needs_our_trees():
    model = make(AdaBoostMHClassifier, tree="shared", estimator=DecisionTreeClassifier())
    with pytest.raises(ValueError, match=r"tree='shared' .*DecisionTreeClassifier\(\).*'separate'"):
        model.fit(X, y)


@pytest.mark.parametrize("tree", ["separate", "shared"])
@pytest.mark.parametrize("sets", [False, True], ids=["classes", "sets"])
def test_a_model_file_keeps_it(tree, sets, tmp_path):
    target = make_multilabel_classification(len(y), n_classes=3, random_state=0)[1] if sets else y
    model = quiet(make(AdaBoostMHClassifier, tree=tree).fit, X, target)
    model.save(tmp_path / "model.sb")
    read = steadyboost.load(tmp_path / "model.sb")
    assert_same_model(model, read, X)
    np.testing.assert_array_equal(model.predict(X), read.predict(X))
