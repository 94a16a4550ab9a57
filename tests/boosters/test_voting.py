"""Bagging and Arc-x4 against counting votes one by one."""

import numpy as np
import pytest
from common import Recording, assert_same_model, make, problem
from reference.output_codes import real_data
from reference.voting import arc_x4, out_of_bag, votes_of
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from steadyboost import ArcX4Classifier, BaggingClassifier, Stump, Tree

BOTH = (BaggingClassifier, ArcX4Classifier)
each_vote = pytest.mark.parametrize("booster", BOTH, ids=lambda booster: booster.__name__)


@pytest.fixture(params=["iris", "wine", "glass", "vehicle"])
def data(request):
    folder = request.param in ("glass", "vehicle") and request.getfixturevalue("from_folder")
    return real_data(request.param, folder)


class Bags(Recording):
    """Notes how often each row was drawn, too."""

    def __init__(self, max_depth=3):
        super().__init__(max_depth)
        self.bags = []

    def answer(self, data, question, counts, seed, threads):
        self.bags.append(None if counts is None else counts.copy())
        return super().answer(data, question, counts, seed, threads)


@each_vote
@pytest.mark.parametrize("depth", [1, 3])
def test_every_hypothesis_has_one_vote(data, booster, depth):
    X, y = data
    learner = Recording(depth)
    model = make(booster, estimator=learner, n_estimators=15).fit(X, y)
    k = model.n_classes_
    assert model.estimator_weights_.tolist() == [1.0] * 15
    tallies = votes_of(learner.votes, k)
    for scores, tally in zip(model._staged_scores(X), tallies, strict=True):
        np.testing.assert_array_equal(scores, tally)
    np.testing.assert_allclose(model.predict_proba(X), tallies[-1] / 15, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), tallies[-1].argmax(axis=1))


# Bagging


def test_out_of_bag_votes_by_counting(data):
    X, y = data
    learner = Bags(None)
    model = make(BaggingClassifier, estimator=learner, n_estimators=12, oob_score=True).fit(X, y)
    shares, score = out_of_bag(learner.votes, learner.bags, y, model.n_classes_)
    np.testing.assert_allclose(model.oob_decision_function_, shares, rtol=1e-12)
    assert model.oob_score_ == pytest.approx(score)


def test_rows_in_every_bag_are_left_out_of_the_score():
    X, y = problem(n=60)
    learner = Bags(2)
    model = make(BaggingClassifier, estimator=learner, n_estimators=2, oob_score=True).fit(X, y)
    always = (np.array(learner.bags) > 0).all(axis=0)
    assert always.any()
    np.testing.assert_array_equal(np.isnan(model.oob_decision_function_).all(axis=1), always)
    right = model.oob_decision_function_[~always].argmax(axis=1) == y[~always]
    assert model.oob_score_ == pytest.approx(right.mean())


def test_bags_are_bootstraps():
    X, y = problem()
    learner = Bags()
    weights = np.where(y == 0, 3.0, 1.0)
    make(BaggingClassifier, estimator=learner, n_estimators=200).fit(X, y, weights)
    bags = np.array(learner.bags)
    assert (bags.sum(axis=1) == len(y)).all()
    assert len(np.unique(bags, axis=0)) == 200
    np.testing.assert_allclose(learner.weights, [weights / weights.sum()] * 200, rtol=1e-12)
    assert bags[:, y == 0].mean() / bags[:, y > 0].mean() == pytest.approx(3, rel=0.05)


def test_without_bootstraps_all_rounds_are_one():
    X, y = problem()
    learner = Bags()
    model = make(BaggingClassifier, estimator=learner, resample=False).fit(X, y)
    assert learner.bags == [None] * 5
    assert all((votes == learner.votes[0]).all() for votes in learner.votes)
    assert (model.predict(X) == learner.votes[0]).all()


def test_out_of_bag_needs_bags():
    with pytest.raises(ValueError, match="set resample=True"):
        make(BaggingClassifier, oob_score=True, resample=False).fit(*problem())
    model = make(BaggingClassifier).fit(*problem())
    assert not hasattr(model, "oob_score_")


def test_out_of_bag_with_a_scikit_learn_learner():
    X, y = problem()
    model = make(
        BaggingClassifier,
        estimator=DecisionTreeClassifier(max_depth=4),
        n_estimators=30,
        oob_score=True,
    ).fit(X, y)
    assert 0.5 < model.oob_score_ < model.score(X, y)


# Arc-x4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
def test_rows_weigh_one_plus_the_fourth_power_of_their_errors(data, depth, weighted):
    X, y = data
    prior = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    learner = Recording(depth)
    model = make(ArcX4Classifier, estimator=learner, n_estimators=25).fit(X, y, prior)
    weights, errors = arc_x4(learner.votes, y, prior)
    np.testing.assert_allclose(learner.weights, weights, atol=1e-10)
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-10)


def test_arcing_equals_its_twin_with_a_learner_of_its_own():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    twin = arc_x4(lambda w: tree.fit(X[:, :1], y, sample_weight=w).predict(X[:, :1]), y)
    model = make(ArcX4Classifier, estimator=tree, n_estimators=10).fit(X[:, :1], y)
    np.testing.assert_allclose(model.estimator_errors_, twin[1], rtol=1e-9)


def test_arcing_needs_no_edge():
    X, y = np.ones((30, 1)), np.arange(30) % 3
    model = make(ArcX4Classifier, n_estimators=6).fit(X, y)
    assert model.n_iter_ == 6
    assert sorted(set(model.predict(X))) == [0]


def test_perfect_trees_keep_voting():
    X, y = load_iris(return_X_y=True)
    model = make(ArcX4Classifier, estimator=Tree(None), n_estimators=5).fit(X, y)
    assert model.n_iter_ == 5
    np.testing.assert_array_equal(model.predict_proba(X), np.eye(3)[y])


def test_three_thousand_rounds_stay_finite():
    X, y = load_iris(return_X_y=True)
    learner = Recording(1)
    model = make(ArcX4Classifier, estimator=learner, n_estimators=3000).fit(X, y)
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1)
    assert np.isfinite(model.predict_proba(X)).all()


@each_vote
def test_threads_do_not_matter(booster):
    X, y = problem(k=4)
    one = make(booster, estimator=Stump(), n_jobs=1).fit(X, y)
    assert_same_model(one, make(booster, estimator=Stump(), n_jobs=2).fit(X, y), X)
