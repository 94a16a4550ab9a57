"""Pending updates: weights are updated in place, scores only when they are read."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from steadyboost import AdaBoostM1Classifier, SAMMEClassifier, Tree
from steadyboost.callbacks import Callback
from steadyboost.ensemble import weighting as module
from steadyboost.ensemble.scores import add_votes, multiply_weights, own_score
from steadyboost.ensemble.weighting import MultiplicativeWeighting, Weighting

X, Y = load_wine(return_X_y=True)
X = X + np.random.default_rng(0).normal(0, X.std(axis=0), X.shape)  # so that rounds go on


class Look(Callback):
    """Looks at the scores of training rows in some of the rounds."""

    def __init__(self, every):
        self.every, self.seen = every, []

    def on_round(self, run):
        if len(run.stages) % self.every == 0:
            self.seen.append((len(run.stages), run.rows.scores.copy()))
        return False


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM1Classifier])
@pytest.mark.parametrize("every", [1, 3, 5])
def test_scores_are_up_to_date_whenever_they_are_looked_at(booster, every):
    look = Look(every)
    model = booster(
        estimator=Tree(max_depth=2), n_estimators=12, random_state=0, callbacks=[look]
    ).fit(X, Y)
    stages = list(model.staged_decision_function(X))
    assert len(look.seen) == len(stages) // every > 0
    for n_rounds, scores in look.seen:
        np.testing.assert_allclose(scores, stages[n_rounds - 1], atol=1e-12)


def test_whether_they_are_looked_at_changes_nothing():
    plain = SAMMEClassifier(estimator=Tree(max_depth=2), n_estimators=12, random_state=0).fit(X, Y)
    looked = SAMMEClassifier(
        estimator=Tree(max_depth=2), n_estimators=12, random_state=0, callbacks=[Look(1)]
    ).fit(X, Y)
    np.testing.assert_array_equal(plain.estimator_weights_, looked.estimator_weights_)
    np.testing.assert_array_equal(plain.decision_function(X), looked.decision_function(X))


def test_going_on_is_as_if_uninterrupted():
    whole = SAMMEClassifier(estimator=Tree(max_depth=2), n_estimators=12, random_state=0).fit(X, Y)
    model = SAMMEClassifier(
        estimator=Tree(max_depth=2), n_estimators=5, random_state=0, warm_start=True
    )
    model.fit(X, Y)
    model.set_params(n_estimators=12).fit(X, Y)
    np.testing.assert_array_equal(whole.estimator_weights_, model.estimator_weights_)


class Margins(SAMMEClassifier):
    """Weights that depend on all scores, and so not the weighting of its parent."""

    weighting = Weighting

    def log_weights(self, scores, y):
        assert scores.shape[1] == 3
        return scores.sum(axis=1) / 2 - own_score(scores, y)


def test_a_subclass_with_other_weights_sees_all_scores():
    assert SAMMEClassifier.weighting is MultiplicativeWeighting
    Margins(estimator=Tree(max_depth=2), n_estimators=5, random_state=0).fit(X, Y)


@pytest.mark.parametrize("hook", MultiplicativeWeighting.assumes)
def test_a_subclass_that_changes_what_a_weighting_assumes_must_name_its_own(hook):
    with pytest.raises(TypeError, match=f"Other overrides {hook}.*set its class attribute"):
        type("Other", (SAMMEClassifier,), {hook: getattr(SAMMEClassifier, hook)})


def test_weights_are_multiplied_by_one_of_two_factors():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=1000).astype(np.int32)
    scores, weights = np.zeros((1000, 4), order="F"), np.ones(1000)
    for _ in range(20):
        votes, step = rng.integers(4, size=1000).astype(np.int32), rng.normal()
        add_votes(scores, votes, np.ones(4), step)
        multiply_weights(np.exp(-step), 1.0, votes, y, weights)
    np.testing.assert_allclose(weights, np.exp(-own_score(scores, y)), rtol=1e-13)


@pytest.mark.parametrize("learning_rate", [0.1, 1])
@pytest.mark.parametrize("lowest", [-600.0, -12.0, 0.0])
def test_weights_that_are_multiplied_are_those_of_the_scores(learning_rate, lowest, monkeypatch):
    """Also where some become too small on the way, and all are raised anew."""
    monkeypatch.setattr(module, "MIN_LOG_WEIGHT", lowest)
    seen = []

    class Weights(Callback):
        def on_round(self, run):
            seen.append(run.weights.copy())
            return False

    model = SAMMEClassifier(
        estimator=Tree(max_depth=2),
        n_estimators=40,
        learning_rate=learning_rate,
        random_state=0,
        callbacks=[Weights()],
    ).fit(X, Y)
    for scores, weights in zip(model.staged_decision_function(X), seen[1:], strict=False):
        logs = -scores[np.arange(len(Y)), Y]
        expected = np.exp(logs - logs.max())
        np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-10)
    assert len(seen) == 40


class Wholes(Callback):
    """What 2**60 stands for in each round."""

    def __init__(self):
        self.seen = []

    def on_round(self, run):
        self.seen.append(run.rows.weighting.fixed_point_scale)
        return False


@pytest.mark.parametrize("depth", [1, 2])
def test_units_of_weights_stay_in_range(depth):
    wholes = Wholes()
    SAMMEClassifier(
        estimator=Tree(max_depth=depth), n_estimators=1500, random_state=0, callbacks=[wholes]
    ).fit(X, Y)
    assert len(wholes.seen) == 1500
    assert 1 <= min(wholes.seen) <= max(wholes.seen) <= 256
    assert len(set(wholes.seen)) > 1000


def test_boosters_that_weigh_anew_have_no_units_to_follow():
    wholes = Wholes()
    Margins(estimator=Tree(max_depth=2), n_estimators=5, callbacks=[wholes]).fit(X, Y)
    assert set(wholes.seen) == {None}
