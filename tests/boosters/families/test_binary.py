"""Boosters for two classes on many: each problem is the booster on its own two classes."""

import numpy as np
import pytest
from combinations import pairwise
from common import assert_prefix, assert_same_model, make, problem, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    AdaBoostClassifier,
    EpsilonBoostClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
    WeightDecayClassifier,
)
from steadyboost.boosters.families.binary import against
from steadyboost.ensemble import training_state as rows_module
from steadyboost.ensemble.callbacks import Callback
from steadyboost.ensemble.checkpoint import Checkpoint
from steadyboost.ensemble.rounds import Seeds

BOOSTERS = {
    "AdaBoost": (AdaBoostClassifier, {}),
    "epsilon": (EpsilonBoostClassifier, {}),
    "decay": (WeightDecayClassifier, {"C": 1e-3}),
    "WeightBoost": (WeightBoostClassifier, {}),
    "polynomial": (WeightBoostClassifier, {"regularizer": "inverse_polynomial", "power": 2.0}),
}
each_booster = pytest.mark.parametrize("kind", BOOSTERS.values(), ids=BOOSTERS.keys())
CODE = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]])
CODE5 = np.vstack([CODE, [1, 1, 0, 0]])
each_strategy = pytest.mark.parametrize("strategy", ["ovr", CODE], ids=["ovr", "code"])


def booster(kind, **params):
    cls, own = kind
    return make(cls, **own, **{"n_estimators": 15, **params})


def alone(kind, p, monkeypatch, **params):
    """A booster of two classes, with the chance of the p-th problem."""
    one = Seeds.round
    with monkeypatch.context() as patch:
        patch.setattr(Seeds, "round", lambda seeds, t: one(seeds, t).of(p))
        X, y = params.pop("data")
        return quiet(booster(kind, **params).fit, X, y)


@pairwise(
    kind=BOOSTERS.values(),
    strategy=["ovr", CODE],
    resample=[False, True],
    learner=[Tree(2), DecisionTreeClassifier(max_depth=2)],
)
def test_each_problem_is_a_fit_of_its_own(kind, strategy, resample, learner, monkeypatch):
    X, y = problem(k=4)
    params = {"estimator": learner, "resample": resample}
    together = booster(kind, strategy=strategy, **params).fit(X, y)
    stages = [scores.copy() for scores in together._staged_scores(X)]
    for p, bits in enumerate(together.bits_.T):
        single = alone(kind, p, monkeypatch, data=(X, bits[y]), **params)
        steps = single.estimator_weights_
        np.testing.assert_array_equal(together.estimator_weights_[: len(steps), p], steps)
        for ours, own in zip(stages, single._staged_scores(X), strict=False):
            np.testing.assert_array_equal(ours[:, p], own[:, 0])
        np.testing.assert_array_equal(stages[-1][:, p], single.decision_function(X))


def unequal():
    """Three classes: the first is found by one split, the others are hard to tell."""
    X, y = problem(k=2, n=200)
    easy = np.arange(len(y)) % 4 == 0
    X[easy, 0] += 100
    return X, np.where(easy, 2, y)


@each_booster
def test_a_problem_that_is_perfect_ends_alone(kind):
    X, y = unequal()
    model = booster(kind, estimator=Stump()).fit(X, y)
    assert model.n_iter_ == 15
    ended = [[part is None for part in stage.parts] for stage in model.stages_]
    goes_on = not model.stops_when_perfect
    assert ended == [[False] * 3] + [[False, False, not goes_on]] * 14
    if not goes_on:
        assert model.estimators_[1][2] is None
        assert (model.estimator_weights_[1:, 2] == 0).all()


@each_booster
@pytest.mark.parametrize("resample", [False, True])
def test_a_warm_start_after_problems_have_ended_is_one_long_fit(kind, resample, monkeypatch):
    monkeypatch.setattr(rows_module, "CHUNK_ROWS", 50)
    X, y = unequal()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    options = {"estimator": Stump(), "resample": resample}
    whole = booster(kind, **options).fit(X, y, weights)
    parts = booster(kind, warm_start=True, **{**options, "n_estimators": 4}).fit(X, y, weights)
    for n_estimators in (5, 11, 15):
        parts.set_params(n_estimators=n_estimators).fit(X, y, weights)
    assert_same_model(parts, whole, X)
    assert parts.history_ == whole.history_


class Crash(Callback):
    def on_round(self, run):
        if len(run.stages) == 9:
            raise ZeroDivisionError


@each_booster
@each_strategy
def test_resumed_is_uninterrupted(kind, strategy, tmp_path):
    X, y = problem(k=4)
    whole = booster(kind, strategy=strategy).fit(X, y)
    checkpoint = Checkpoint(tmp_path / "run.sb", every=4)
    with pytest.raises(ZeroDivisionError):
        booster(kind, strategy=strategy, callbacks=[Crash(), checkpoint]).fit(X, y)
    resumed = booster(kind, strategy=strategy, callbacks=[checkpoint]).fit(X, y)
    assert_same_model(resumed, whole, X)


@pairwise(kind=BOOSTERS.values(), strategy=["ovr", CODE], resample=[False, True])
def test_threads_do_not_change_the_model(kind, strategy, resample, monkeypatch):
    monkeypatch.setattr(rows_module, "CHUNK_ROWS", 50)
    X, y = problem(k=4)
    params = {"strategy": strategy, "resample": resample, "early_stopping": True}
    one, two, three = (booster(kind, n_jobs=n, **params).fit(X, y) for n in (1, 2, 3))
    assert_same_model(one, two, X)
    assert_same_model(one, three, X)
    assert one.history_ == two.history_ == three.history_


@each_booster
@each_strategy
def test_early_stopping_keeps_the_first_rounds(kind, strategy):
    X, y = problem(k=4, noise=0.4)
    params = {"strategy": strategy, "n_estimators": 30}
    stopped = booster(kind, callbacks=None, early_stopping=True, n_iter_no_change=3, **params)
    stopped.fit(X[:160], y[:160], X_val=X[160:], y_val=y[160:])
    assert stopped.n_iter_ == np.argmin(stopped.history_["val_error"]) + 1
    assert_prefix(stopped, booster(kind, **params).fit(X[:160], y[:160]), X)


@each_booster
def test_a_row_twice_is_a_row_of_weight_two(kind):
    X, y = problem(k=3)
    weights = 1.0 + (np.arange(len(y)) % 3 == 0)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    params = {"estimator": Stump(), "n_estimators": 8}
    weighted = booster(kind, **params).fit(X, y, sample_weight=weights)
    repeated = booster(kind, **params).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted._scores(X), repeated._scores(X), rtol=1e-8, atol=1e-10)


# Strategies


@pytest.mark.parametrize(
    ("strategy", "n_bits"),
    [("ovr", 5), ("exhaustive", 15), ("balanced", 10), ("dense", None), ("bch", 15), (CODE5, 4)],
)
def test_strategies_have_a_problem_per_bit(strategy, n_bits):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 5], y[y < 5]
    model = make(AdaBoostClassifier, estimator=Stump(), strategy=strategy).fit(X, y)
    assert model.bits_.shape == (5, n_bits or model.bits_.shape[1])
    assert model._scores(X).shape == (len(y), model.bits_.shape[1])
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (len(y), 5)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("strategy", ["balanced", "dense", "bch"])
@pytest.mark.parametrize("k", [3, 4, 6, 9, 40])
def test_random_codes_tell_all_classes_apart_and_ask_nothing_twice(strategy, k):
    X, y = np.arange(2.0 * k)[:, None], np.arange(2 * k) % k
    model = make(AdaBoostClassifier, strategy=strategy, n_estimators=1).fit(X, y)
    bits = model.bits_
    assert len(np.unique(bits, axis=0)) == k
    assert len(np.unique(bits ^ bits[0], axis=1).T) == bits.shape[1]
    assert bits.shape[1] <= 10 * np.log2(k) + 1
    assert (bits.min(axis=0) < bits.max(axis=0)).all()


def test_random_codes_follow_the_seed():
    X, y = problem(k=4)
    bits = [
        make(AdaBoostClassifier, strategy="dense", random_state=s, n_estimators=1).fit(X, y).bits_
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(bits[0], bits[1])
    assert bits[0].shape != bits[2].shape or (bits[0] != bits[2]).any()


@pytest.mark.parametrize("strategy", ["ovr", "exhaustive", "balanced", "dense", "bch", CODE])
def test_two_classes_are_one_problem_whatever_the_strategy(strategy):
    X, y = problem(k=2)
    model = make(AdaBoostClassifier, strategy=strategy).fit(X, y)
    assert model.bits_.tolist() == [[0], [1]]
    assert_same_model(model, make(AdaBoostClassifier).fit(X, y), X)


def test_one_class_has_nothing_to_tell():
    X, y = problem()
    for kind in BOOSTERS.values():
        model = booster(kind).fit(X, np.full(len(y), "only"))
        assert model.n_iter_ == 1
        assert (model.predict_proba(X) == 1).all()


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ([[0, 1], [1, 0]], r"pass \(3, n_bits\)"),
        ([[0, 1], [1, 1], [1, 1]], "column 1 is constant"),
        ([[0, 1], [1, 0], [1, 0]], "row 2 repeats"),
        ([[0, 2], [1, 0], [1, 1]], "use only 0 and 1"),
        ("ovo", "'strategy' parameter of AdaBoostClassifier"),
    ],
)
def test_what_cannot_be_a_strategy_is_refused(strategy, message):
    X, y = problem(k=3)
    with pytest.raises(ValueError, match=message):
        make(AdaBoostClassifier, strategy=strategy).fit(X, y)


def test_no_edge_in_any_problem_is_told_and_kept():
    X, y = np.ones((40, 1)), np.repeat([0, 1, 2, 3], 10)
    halves = [[0, 0], [0, 1], [1, 0], [1, 1]]
    with pytest.warns(ConvergenceWarning, match="no edge"):
        model = make(AdaBoostClassifier, strategy=halves).fit(X, y)
    assert model.n_iter_ == 1
    model.set_params(warm_start=True, estimator=Tree(), n_estimators=3)
    assert quiet(model.fit, X, y).n_iter_ == 1


# Scores and probabilities


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 8), st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1.0, 30.0, 1e5]))
def test_one_against_all_predicts_the_best_score(k, seed, scale):
    """Where rounding makes probabilities equal, too."""
    model = make(AdaBoostClassifier)
    model.n_classes_, model.bits_ = k, np.eye(k, dtype=np.int8)
    scores = scale * np.random.default_rng(seed).normal(size=(20, k))
    proba = model.probabilities(scores)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_array_equal(model.decision(scores), scores)


def test_probabilities_are_normalised_ones_of_each_problem():
    X, y = load_iris(return_X_y=True)
    model = make(WeightBoostClassifier, estimator=Stump()).fit(X, y)
    own = 1 / (1 + np.exp(-2 * model._scores(X)))
    expected = own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)


def test_probabilities_of_a_code_are_products_over_its_bits():
    X, y = problem(k=4)
    model = make(AdaBoostClassifier, strategy=CODE).fit(X, y)
    one = 1 / (1 + np.exp(-2 * model._scores(X)))
    likely = [np.prod(np.where(word, one, 1 - one), axis=1) for word in CODE]
    expected = np.transpose(likely) / np.sum(likely, axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_two_classes_have_the_logistic_of_twice_the_score():
    X, y = problem(k=2)
    model = make(AdaBoostClassifier).fit(X, y)
    H = model.decision_function(X)
    assert H.shape == (len(y),)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * H)))


def test_against_is_minus_y_times_the_score():
    scores, y = np.array([[2.0], [-3.0], [0.5]]), np.array([1, 1, 0], dtype=np.int32)
    assert against(scores, y).tolist() == [-2, 3, 0.5]
