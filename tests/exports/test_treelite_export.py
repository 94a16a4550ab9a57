"""Treelite models say what the boosters say."""

import numpy as np
import pytest
import treelite
from common import BOOSTERS, make, problem, quiet
from mixed_rows import mixed_frame, on_the_edges, unseen_frame

from steadyboost import (
    AdaBoostClassifier,
    BaggingClassifier,
    MartiBoostClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    WeightBoostClassifier,
)
from steadyboost.exports import encode, to_treelite

OTHERS = (MartiBoostClassifier, SteadyBoostClassifier, WeightBoostClassifier)
SUMMED = [booster for booster in BOOSTERS if booster not in OTHERS]


@pytest.mark.parametrize("booster", SUMMED, ids=lambda booster: booster.__name__)
@pytest.mark.parametrize("k", [2, 3])
def test_scores_of_every_booster(booster, k):
    X, y = mixed_frame(200)
    model = make(booster, categorical_features=["colour", "month"])
    quiet(model.fit, X, np.minimum(y, k - 1))
    X = unseen_frame(500)
    found = treelite.gtil.predict(to_treelite(model), encode(model, X))
    decision = model.decision_function(X)
    np.testing.assert_allclose(found.reshape(decision.shape), decision, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostClassifier])
def test_probabilities(booster, k):
    X, y = problem(200, k)
    options = {"strategy": "exhaustive"} if booster is AdaBoostClassifier else {}
    model = booster(n_estimators=5, **options).fit(X, y)
    found = treelite.gtil.predict(to_treelite(model, "probabilities"), X)[:, 0]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)  # in single precision


def test_values_on_the_thresholds_fall_on_the_same_side():
    X, y = problem(300, 3)
    model = SAMMEClassifier(n_estimators=20).fit(X, y)
    X = on_the_edges(model, X)
    found = treelite.gtil.predict(to_treelite(model), X)[:, 0]
    np.testing.assert_allclose(found, model.decision_function(X), atol=1e-12)


def test_what_does_not_fit_says_so():
    X, y = problem(100, 3)
    with pytest.raises(ValueError, match="BaggingClassifier are not a softmax"):
        to_treelite(BaggingClassifier(n_estimators=2).fit(X, y), "probabilities")
    with pytest.raises(ValueError, match="output='label' is not known"):
        to_treelite(BaggingClassifier(n_estimators=2).fit(X, y), "label")
    with pytest.raises(ValueError, match="to_onnx can"):
        to_treelite(WeightBoostClassifier(n_estimators=2).fit(X, y))


def test_probabilities_without_the_stakes_do_not_fit():
    X, y = problem(200)
    costs = np.array([[0, 1, 5], [1, 0, 1], [1, 1, 0]])
    model = SAMMEClassifier(n_estimators=3).fit(X, y, cost_matrix=costs)
    with pytest.raises(ValueError, match="was fitted with a cost_matrix, and its probabilities"):
        to_treelite(model, output="probabilities")
    found = treelite.gtil.predict(to_treelite(model), X)
    np.testing.assert_allclose(found.reshape(-1, 3), model.decision_function(X), atol=1e-12)
