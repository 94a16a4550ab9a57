"""Prediction in one call is stage by stage addition, bit for bit."""

import gc
from weakref import ref

import numpy as np
import pytest
from common import problem
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    BaggingClassifier,
    ECOCClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
)
from steadyboost.ensemble.packed_forest import PackedVotes, StageByStage, pack_stages
from steadyboost.ensemble.weighting import Weighting

X, y = problem()
GAPPY = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
BOOSTERS = [
    SAMMEClassifier,
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    BaggingClassifier,
    ECOCClassifier,
]


class Doubled(SAMMEClassifier):
    """Adds in a way of its own."""

    weighting = Weighting
    adds_votes = False

    def add(self, scores, stage, votes):
        super().add(scores, stage, votes)
        super().add(scores, stage, votes)


def staged(model, X):
    *_, last = model._staged_scores(X)
    return last


@pytest.mark.parametrize("tree", [Stump(), Tree(), Tree(max_depth=6), Tree(max_leaf_nodes=8)])
@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda b: b.__name__)
def test_all_stages_at_once_are_the_stages_one_by_one(booster, tree):
    model = booster(tree, n_estimators=12, random_state=0).fit(GAPPY, y)
    rows = np.concatenate([GAPPY] * (1 + 4500 // len(X)))  # several chunks, and part of one
    assert isinstance(pack_stages(model, model.stages_), PackedVotes)
    np.testing.assert_array_equal(model._scores(rows), staged(model, rows))


def test_categories_and_trees_of_unlike_size_stack_too():
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.integers(0, 40, 400), rng.normal(size=400)])
    labels = (table[:, 0] % 3 + (table[:, 1] > 0)).astype(int)
    model = SAMMEClassifier(Tree(5), n_estimators=3, categorical_features=[0], random_state=0)
    model.fit(table, labels).set_params(warm_start=True, n_estimators=6, estimator=Stump())
    model.fit(table, labels)
    np.testing.assert_array_equal(model._scores(table), staged(model, table))


@pytest.mark.parametrize(
    "model", [SAMMEClassifier(DecisionTreeClassifier(max_depth=2)), Doubled()], ids=["tree", "add"]
)
def test_other_stages_are_added_one_by_one(model):
    model.set_params(n_estimators=5, random_state=0).fit(X, y)
    assert isinstance(pack_stages(model, model.stages_), StageByStage)
    np.testing.assert_array_equal(model._scores(X), staged(model, X))


def test_features_are_those_that_trees_look_at():
    model = SAMMEClassifier(Stump(), n_estimators=2, random_state=0).fit(X, y)
    used = {int(f) for stage in model.stages_ for f in stage.answer.tree.feature}
    assert set(pack_stages(model, model.stages_).features.tolist()) == used | {0}


def test_trees_are_stacked_once_as_long_as_they_are_the_same():
    model = SAMMEClassifier(Tree(), n_estimators=6, random_state=0).fit(X, y)
    packed = pack_stages(model, model.stages_)
    assert pack_stages(model, list(model.stages_)) is packed
    del model.stages_[3:]
    assert pack_stages(model, model.stages_) is not packed
    np.testing.assert_array_equal(model._scores(X), staged(model, X))
    model.fit(X, 1 - y)
    np.testing.assert_array_equal(model._scores(X), staged(model, X))


def test_a_model_that_is_gone_leaves_nothing():
    model = SAMMEClassifier(Tree(), n_estimators=2, random_state=0).fit(X, y)
    gone = ref(pack_stages(model, model.stages_))
    del model
    gc.collect()
    assert gone() is None
