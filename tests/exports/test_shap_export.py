"""SHAP values add up to the scores."""

import numpy as np
import pytest
from common import BOOSTERS, make, problem, quiet
from mixed_rows import mixed_frame, unseen_frame

from steadyboost import (
    AdaBoostMHClassifier,
    AttributeTest,
    DecisionRule,
    MartiBoostClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
)
from steadyboost.exports import encode, shap_explainer
from steadyboost.exports.trees import FeatureBins, threshold_tree

OTHERS = (MartiBoostClassifier, SteadyBoostClassifier, WeightBoostClassifier)
SUMMED = [booster for booster in BOOSTERS if booster not in OTHERS]


def assert_adds_up(model, X, data=None, atol=1e-10):
    explanation = shap_explainer(model, data)(encode(model, X))
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=atol)
    return explanation


@pytest.mark.parametrize("booster", SUMMED, ids=lambda booster: booster.__name__)
@pytest.mark.parametrize("k", [2, 3])
def test_values_of_every_booster_add_up_to_its_scores(booster, k):
    X, y = mixed_frame(200)
    model = make(booster, categorical_features=["colour", "month"])
    quiet(model.fit, X, np.minimum(y, k - 1))
    assert_adds_up(model, unseen_frame(60))


@pytest.mark.parametrize("learner", [Stump(), AttributeTest(), DecisionRule(), Tree(None)], ids=str)
def test_values_of_every_learner_add_up(learner):
    X, y = mixed_frame(200)
    assert_adds_up(SAMMEClassifier(learner, n_estimators=4, random_state=0).fit(X, y), X)


def test_values_against_background_rows_add_up():
    X, y = mixed_frame(200)
    model = SAMMEClassifier(n_estimators=5).fit(X, y)
    explanation = assert_adds_up(model, X[:50], X[50:80], atol=1e-5)  # in single precision
    background = model.decision_function(X[50:80]).mean(axis=0)
    np.testing.assert_allclose(explanation.base_values[0], background, atol=1e-5)


def test_features_that_no_tree_asks_for_have_no_value():
    X, y = problem(200, 2)
    X = np.column_stack([X, np.zeros(len(X))])
    explanation = assert_adds_up(SAMMEClassifier(n_estimators=5).fit(X, y), X)
    assert not explanation.values[:, -1].any()
    assert explanation.feature_names == [f"x{f}" for f in range(7)]


def test_sets_of_labels_have_values_each():
    X, y = problem(100, 3)
    several = np.column_stack([y == 0, y > 0]).astype(int)
    model = AdaBoostMHClassifier(n_estimators=4).fit(X, several)
    assert assert_adds_up(model, X).values.shape == (100, 6, 2)


@pytest.mark.parametrize("booster", OTHERS)
def test_values_of_boosters_that_are_no_sums_add_up_to_probabilities(booster):
    X, y = mixed_frame(150)
    model = booster(n_estimators=2, random_state=0, categorical_features=["colour", "month"])
    quiet(model.fit, X, np.minimum(y, 1))
    data = None if booster is SteadyBoostClassifier else X[:30]
    rows = unseen_frame(4)
    explanation = shap_explainer(model, data)(encode(model, rows))
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(rows), atol=1e-10)
    vars(model).pop("background_", None)  # as after loading
    with pytest.raises(ValueError, match="pass some of them as data"):
        shap_explainer(model)


def test_cover_of_a_node_is_that_of_its_children():
    X, y = mixed_frame(300)
    model = SAMMEClassifier(Tree(max_depth=4), n_estimators=1).fit(X, y)
    tree = threshold_tree(model.estimators_[0].tree, FeatureBins.of(model).runs)
    inner = ~tree.is_leaf
    below = tree.cover[tree.left[inner]] + tree.cover[tree.right[inner]]
    np.testing.assert_allclose(tree.cover[inner], below)
    assert tree.cover[0] == pytest.approx(1)
    assert (tree.cover > 0).all()


def test_too_many_comparisons_are_refused(monkeypatch):
    monkeypatch.setattr("steadyboost.exports.trees.MOST_NODES", 10)
    X, y = mixed_frame(300)
    with pytest.raises(ValueError, match="more than 10 comparisons"):
        shap_explainer(SAMMEClassifier(n_estimators=1).fit(X, y))
