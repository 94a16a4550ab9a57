"""AdaBoost and its regularised relatives against their slow twins, and where they coincide."""

from typing import NamedTuple

import numpy as np
import pytest
from combinations import pairwise
from common import Recording, make, problem, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.adaboost import adaboost, weighted_vote
from reference.epsilon_boost import epsilon_boost
from reference.weight_decay import weight_decay
from reference.weightboost import weightboost, weightboost_scores
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    AdaBoostClassifier,
    EpsilonBoostClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
    WeightDecayClassifier,
)


class Pair(NamedTuple):
    """A booster with parameters, and its twin with the same ones."""

    booster: type
    params: dict
    twin: object
    options: dict

    def model(self, learner, **params):
        return make(self.booster, estimator=learner, **self.params, **params)

    def rounds(self, learner, X, y, n_rounds, **options):
        """What the twin does with labels of 0 and 1."""
        return self.twin(learner, X, 2 * y - 1, n_rounds, **self.options, **options)


def weightboost_pair(q="exponential", beta=0.5, p=1.0, normalize=0.1):
    params = {"beta": beta, "regularizer": q, "power": p, "normalize": normalize}
    options = {"beta": beta, "q": q, "p": p, "normalize": normalize}
    return Pair(WeightBoostClassifier, params, weightboost, options)


def circle(u):
    return np.sqrt(np.maximum(0, 1 - (u / 9) ** 2))


PAIRS = {
    "AdaBoost": Pair(AdaBoostClassifier, {}, adaboost, {}),
    "epsilon": Pair(EpsilonBoostClassifier, {"epsilon": 0.2}, epsilon_boost, {"epsilon": 0.2}),
    "decay": Pair(WeightDecayClassifier, {"C": 1e-3}, weight_decay, {"C": 1e-3}),
    "much decay": Pair(WeightDecayClassifier, {"C": 0.01}, weight_decay, {"C": 0.01}),
    "WeightBoost": weightboost_pair(),
    "plain": weightboost_pair(normalize=None),
    "strong": weightboost_pair(beta=3.0, normalize=0.4),
    "reciprocal": weightboost_pair("inverse_polynomial"),
    "polynomial": weightboost_pair("inverse_polynomial", p=2.5, normalize=None),
    "given": weightboost_pair(circle),
}
each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


def replaying(votes):
    """A learner of a twin that says what the package's learner said."""
    said = iter(votes)

    def learner(X, y, weights):
        votes = next(said)
        return lambda _: 2 * votes - 1

    return learner


def assert_rounds(model, rounds, X):
    """Errors, steps, normalizers and scores of every round."""
    assert model.n_iter_ == len(rounds)
    scores = [s[:, 0].copy() for s in model._staged_scores(X)]
    errors = [r.error for r in rounds]
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, [r.alpha for r in rounds], rtol=1e-10)
    np.testing.assert_allclose(scores, [r.H for r in rounds], rtol=1e-10, atol=1e-10)
    normalizers = [stage.extra.get("normalizer", 1.0) for stage in model.stages_]
    np.testing.assert_allclose(normalizers, [r.C for r in rounds], rtol=1e-10)


@pairwise(name=PAIRS, depth=[1, 2], weighted=[False, True], rate=[1.0, 0.3])
def test_it_equals_its_twin_round_by_round(name, depth, weighted, rate):
    pair = PAIRS[name]
    X, y = problem(k=2)
    prior = np.random.default_rng(0).uniform(1, 3, size=len(y)) if weighted else None
    learner = Recording(depth)
    options = {} if pair.twin is epsilon_boost else {"rate": rate}
    if not options and rate != 1:
        pytest.skip("its step is the parameter")
    model = pair.model(learner, n_estimators=25, learning_rate=rate).fit(X, y, prior)
    rounds = pair.rounds(replaying(learner.votes), X, y, model.n_iter_, prior=prior, **options)
    assert_rounds(model, rounds, X)
    expected = [r.weights for r in rounds]
    np.testing.assert_allclose(learner.weights[: len(rounds)], expected, rtol=1e-10, atol=1e-13)


@each_pair
@pytest.mark.parametrize("depth", [1, 2])
def test_it_equals_its_twin_with_a_learner_of_its_own(pair, depth):
    """Each trains scikit-learn trees on its own weights."""
    X, y = problem(k=2)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)

    def fresh(X, y, weights):
        return clone(tree).fit(X, y, weights).predict

    model = pair.model(tree, n_estimators=15).fit(X, y)
    assert_rounds(model, pair.rounds(fresh, X, y, model.n_iter_), X)


@each_pair
def test_new_rows_get_the_scores_of_the_twin(pair):
    X, y = problem(k=2)
    model = pair.model(DecisionTreeClassifier(max_depth=2), n_estimators=15).fit(X[:160], y[:160])
    trees = iter(model.estimators_)

    def grown(X, y, weights):
        tree = next(trees)
        return lambda rows: 2 * tree.predict(rows) - 1

    rounds = pair.rounds(grown, X[:160], y[:160], model.n_iter_)
    if pair.twin is weightboost:
        factor = {name: pair.options[name] for name in ("beta", "q", "p")}
        expected = weightboost_scores(rounds, X, **factor)
    else:
        expected = weighted_vote(rounds, X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-10)


@each_pair
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_votes_give_the_twin(pair, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=20)])
    X = rng.integers(4, size=(len(y), 3)).astype(float)
    learner = Recording(2)
    model = quiet(pair.model(learner, n_estimators=12).fit, X, y)
    if not model.stages_[0].extra.get("no_edge"):
        assert_rounds(model, pair.rounds(replaying(learner.votes), X, y, model.n_iter_), X)


# Where they coincide


def scores_of(model, X):
    return np.array([scores[:, 0].copy() for scores in model._staged_scores(X)])


def both(one, other, depth):
    """Scores of two boosters after each round."""
    X, y = problem(k=2)
    options = {"estimator": Tree(depth), "n_estimators": 40}
    models = [make(b, **options, **own).fit(X, y) for b, own in (one, other)]
    return [scores_of(model, X) for model in models]


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("regularizer", ["exponential", "inverse_polynomial", np.ones_like])
def test_weightboost_without_beta_is_adaboost_bit_for_bit(depth, regularizer):
    plain = {"beta": 0, "normalize": None, "regularizer": regularizer}
    ours, theirs = both((WeightBoostClassifier, plain), (AdaBoostClassifier, {}), depth)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("depth", [1, 3])
def test_weightboost_that_only_normalises_is_adaboost_with_shrinkage(depth):
    normalised = {"beta": 0, "normalize": 0.1}
    shrunk = {"learning_rate": 0.1}
    ours, theirs = both((WeightBoostClassifier, normalised), (AdaBoostClassifier, shrunk), depth)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("depth", [1, 3])
def test_weight_decay_without_decay_is_adaboost(depth):
    ours, theirs = both((WeightDecayClassifier, {"C": 0}), (AdaBoostClassifier, {}), depth)
    np.testing.assert_array_equal(ours, theirs)
    limit, _ = both((WeightDecayClassifier, {"C": 1e-13}), (AdaBoostClassifier, {}), depth)
    np.testing.assert_allclose(limit[:10], theirs[:10], atol=1e-8)


@pytest.mark.parametrize("depth", [1, 3])
def test_samme_of_two_classes_is_adaboost(depth):
    X, y = problem(k=2)
    options = {"estimator": Tree(depth), "n_estimators": 40}
    samme = make(SAMMEClassifier, **options).fit(X, y)
    ours = make(AdaBoostClassifier, **options).fit(X, y)
    halves = [np.diff(scores)[:, 0] / 2 for scores in samme._staged_scores(X)]
    np.testing.assert_allclose(halves, scores_of(ours, X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(samme.predict_proba(X), ours.predict_proba(X), atol=1e-12)


def test_after_its_update_a_hypothesis_of_adaboost_is_a_guess():
    X, y = problem(k=2)
    learner = Recording(2)
    make(AdaBoostClassifier, estimator=learner, n_estimators=20).fit(X, y)
    for votes, weights in zip(learner.votes[:-1], learner.weights[1:], strict=True):
        assert weights[votes != y].sum() == pytest.approx(1 / 2)


# Special cases


def shifted_steps(X):
    """Labels that one split explains."""
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


@pytest.mark.parametrize("booster", [AdaBoostClassifier, WeightDecayClassifier])
def test_a_perfect_round_is_kept_and_the_last(booster):
    X, _ = problem()
    y = shifted_steps(X)
    model = make(booster, estimator=Stump()).fit(X, y)
    assert model.estimator_errors_.tolist() == [0]
    half_a_row = 1 / (2 * len(y))
    assert model.estimator_weights_[0] == pytest.approx(np.log(1 / half_a_row - 1) / 2)


@pytest.mark.parametrize("booster", [WeightBoostClassifier, EpsilonBoostClassifier])
def test_a_perfect_round_is_not_the_last(booster):
    X, _ = problem()
    y = shifted_steps(X)
    model = make(booster, estimator=Stump(), n_estimators=12).fit(X, y)
    assert model.n_iter_ == 12
    assert model.estimator_errors_.max() == 0
    scores = np.abs([s[:, 0].copy() for s in model._staged_scores(X)])
    assert (np.diff(scores, axis=0) > 0).all()  # ever more confident


@each_pair
def test_without_an_edge_the_first_hypothesis_is_kept(pair):
    X, y = np.ones((20, 1)), np.repeat([0, 1], 10)
    with pytest.warns(ConvergenceWarning, match="no edge .*deeper tree"):
        model = pair.model(Stump()).fit(X, y)
    assert model.n_iter_ == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_the_step_of_weight_decay_stops_where_the_cost_stops_falling():
    """On both sides of it the cost is larger, unless it is the largest step there is."""
    X, y = load_breast_cancer(return_X_y=True)
    learner, C = Recording(1), 1e-3
    model = make(WeightDecayClassifier, estimator=learner, C=C, n_estimators=30).fit(X, y)
    signs, n = 2 * y - 1, len(y)
    H, s = np.zeros(n), np.zeros(n)
    for stage, votes, weights in zip(model.stages_, learner.votes, learner.weights, strict=True):
        h, v = 2 * votes - 1, n * weights

        def cost(step, H=H, s=s, h=h, v=v):
            return np.exp(-signs * (H + step * h) - C * (s + step * v) ** 2).mean()

        here = cost(stage.step)
        assert cost(stage.step - 1e-3) > here
        assert cost(stage.step + 1e-3) > here or stage.step == 5
        H, s = H + stage.step * h, s + stage.step * v


@each_pair
def test_two_thousand_rounds_stay_finite(pair):
    X, y = problem(n=100, k=2, noise=0.3)
    learner = Recording(1)
    model = pair.model(learner, n_estimators=2000).fit(X, y)
    assert model.n_iter_ == 2000 or pair.booster is WeightDecayClassifier
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.estimator_weights_).all()
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1)
