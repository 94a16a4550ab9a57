"""scikit-learn's classifiers as weak learners."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from steadyboost.learners.base import Data, Question
from steadyboost.learners.foreign import ForeignAnswer, ForeignLearner

SEED = 11


@pytest.fixture(scope="module", params=[load_iris, load_wine])
def task(request):
    X, y = request.param(return_X_y=True)
    weights = np.random.default_rng(0).exponential(size=len(y))
    return Data(X), Question(y.astype(np.int32), weights / weights.sum(), 3, np.ones(3))


def answer(estimator, task, counts=None, seed=SEED):
    return ForeignLearner(estimator).answer(*task, counts, seed, None)


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier(max_depth=2), ExtraTreeClassifier(), GaussianNB()]
)
def test_the_estimator_is_fitted_with_the_weights_and_the_seed(estimator, task):
    data, question = task
    hypothesis, votes = answer(estimator, task)
    if "random_state" in estimator.get_params():
        estimator = estimator.__class__(**{**estimator.get_params(), "random_state": SEED})
    expected = estimator.fit(data.X, question.targets, sample_weight=question.weights)
    np.testing.assert_array_equal(votes, expected.predict(data.X))
    np.testing.assert_array_equal(hypothesis.votes(data), votes)
    assert votes.dtype == np.int32


def test_the_given_estimator_stays_as_it_was(task):
    estimator = DecisionTreeClassifier(max_depth=2)
    hypothesis, _ = answer(estimator, task)
    assert not hasattr(estimator, "tree_")
    assert estimator.random_state is None
    assert hypothesis.estimator is not estimator
    assert hypothesis.estimator.max_depth == 2


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(3), LinearDiscriminantAnalysis()])
def test_estimators_without_weights_are_told_of_and_get_a_sample(estimator, task):
    data, question = task
    with pytest.warns(UserWarning, match=f"{type(estimator).__name__} does not take sample_weight"):
        learner = ForeignLearner(estimator)
    hypothesis, _ = learner.answer(data, question, None, SEED, None)
    drawn = learner._drawn(question.weights, None, SEED)
    assert len(drawn) == len(data)
    expected = estimator.fit(data.X[drawn], question.targets[drawn])
    np.testing.assert_array_equal(hypothesis.votes(data), expected.predict(data.X))


def test_estimators_with_weights_get_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ForeignLearner(GaussianNB()).takes_weights


def test_a_sample_follows_the_weights(task):
    data, question = task
    with pytest.warns(UserWarning, match="sample_weight"):
        learner = ForeignLearner(KNeighborsClassifier())
    draws = [learner._drawn(question.weights, None, seed) for seed in range(200)]
    counts = np.bincount(np.concatenate(draws), minlength=len(data)) / 200
    assert np.abs(counts - question.weights * len(data)).max() < 0.1 * len(data) ** 0.5
    nothing = question.weights * (np.arange(len(data)) % 2)
    assert (learner._drawn(nothing, None, 0) % 2 == 1).all()


def test_a_bootstrap_is_fitted_as_drawn(task):
    data, question = task
    counts = np.random.default_rng(1).multinomial(len(data), question.weights)
    hypothesis, _ = answer(GaussianNB(), task, counts)
    rows = np.arange(len(data)).repeat(counts)
    expected = GaussianNB().fit(data.X[rows], question.targets[rows])
    np.testing.assert_allclose(hypothesis.estimator.theta_, expected.theta_)


def test_every_random_state_inside_is_set():
    pipeline = make_pipeline(
        StandardScaler(), RandomForestClassifier(3), LogisticRegression()
    ).set_params(logisticregression__random_state=5)
    learner = ForeignLearner.__new__(ForeignLearner)
    learner.estimator = pipeline
    fresh, again, other = (learner._fresh(seed) for seed in (SEED, SEED, 12))
    for name in ("randomforestclassifier__random_state", "logisticregression__random_state"):
        assert isinstance(fresh.get_params()[name], int)
        assert fresh.get_params()[name] == again.get_params()[name]
        assert fresh.get_params()[name] != other.get_params()[name]


def test_the_same_seed_gives_the_same_votes(task):
    votes = [answer(ExtraTreeClassifier(max_depth=3), task, seed=s)[1] for s in (1, 1, 2, 3)]
    np.testing.assert_array_equal(votes[0], votes[1])
    assert (votes[0] != votes[2]).any() or (votes[0] != votes[3]).any()


def test_importances_are_the_estimators_own(task):
    hypothesis, _ = answer(DecisionTreeClassifier(max_depth=2), task)
    n_features = task[0].X.shape[1]
    np.testing.assert_array_equal(
        hypothesis.importances(n_features), hypothesis.estimator.feature_importances_
    )


def test_without_importances_there_is_an_attribute_error(task):
    hypothesis, _ = answer(GaussianNB(), task)
    with pytest.raises(AttributeError, match="feature_importances_"):
        hypothesis.importances(4)


def test_sets_of_labels_are_named_by_probabilities(task):
    data, question = task
    edges = np.ones((len(data), 4))
    asked = Question(question.targets, question.weights, 3, question.code, edges=edges)
    hypothesis, votes = answer(GaussianNB(), (data, asked))
    np.testing.assert_allclose(votes, hypothesis.estimator.predict_proba(data.X))
    assert votes.flags.f_contiguous


def test_labels_that_the_estimator_has_not_seen_have_no_probability(task):
    data, question = task
    known = question.targets != 1
    estimator = GaussianNB().fit(data.X[known], question.targets[known])
    votes = ForeignAnswer(estimator, 3).votes(data)
    assert (votes[:, 1] == 0).all()
    np.testing.assert_allclose(votes.sum(axis=1), 1)
