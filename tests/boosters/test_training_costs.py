"""Costs in training: soft-max boosting minimises what the user says mistakes cost."""

import numpy as np
import pytest
from common import assert_same_model, problem
from sklearn import config_context
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from steadyboost import SoftmaxBoostClassifier, Stump
from steadyboost.callbacks import Callback, Checkpoint
from steadyboost.costs import mean_cost
from steadyboost.ensemble.validation import split_off

X, y = problem(noise=0.3)
COSTS = np.array([[0.0, 1.0, 8.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.2]])
BY_ROW = COSTS[y]


def booster(**params):
    options = {"n_estimators": 8, "random_state": 0, **params}
    return SoftmaxBoostClassifier(Stump(), **options)


def test_costs_of_rows_are_those_of_the_matrix():
    by_class = booster(cost_matrix=COSTS).fit(X, y)
    assert_same_model(by_class, booster().fit(X, y, costs=BY_ROW), X)
    assert_same_model(booster().fit(X, y), booster(cost_matrix=1 - np.eye(3)).fit(X, y), X)
    np.testing.assert_array_equal(by_class.costs_, COSTS)


@pytest.mark.parametrize("n_samples", [1.0, "all"])
def test_costs_are_lowered(n_samples):
    """Of new rows, over a few draws; the label that costs much is named less often."""
    X, y = problem(n=2000, noise=0.3)
    train, test = slice(0, 1000), slice(1000, 2000)
    paid, named = [], []
    for seed in range(3):
        for costs in (None, COSTS):
            options = {"n_samples": n_samples, "n_estimators": 200, "random_state": seed}
            model = booster(cost_matrix=costs, **options).fit(X[train], y[train])
            predicted = model.predict(X[test])
            paid.append(mean_cost(y[test], predicted, COSTS))
            named.append(np.mean(predicted == 2))
    assert np.mean(paid[1::2]) < 0.93 * np.mean(paid[::2])
    assert max(named[1::2]) < min(named[::2])


def test_steps_scale_with_the_costs():
    one, ten = (booster(cost_matrix=c * COSTS, n_estimators=1).fit(X, y) for c in (1, 10))
    np.testing.assert_allclose(10 * one.estimator_weights_, ten.estimator_weights_, rtol=1e-12)


@pytest.mark.parametrize("sets", [False, True], ids=["classes", "sets"])
def test_costs_follow_their_rows(sets):
    """Rows of weight zero, and rows that are held out, take their costs with them."""
    target, costs = y, np.random.default_rng(0).random((len(y), 3))
    if sets:
        target = make_multilabel_classification(len(y), n_classes=3, random_state=0)[1]
    weights = (np.arange(len(y)) % 4 > 0).astype(float)
    kept = np.flatnonzero(weights)
    whole = booster().fit(X, target, sample_weight=weights, costs=costs)
    part = booster().fit(X[kept], target[kept], sample_weight=weights[kept], costs=costs[kept])
    assert_same_model(whole, part, X)
    train, held = split_off(target, 0.25, 0)
    stopped = booster(early_stopping=True, validation_fraction=0.25).fit(X, target, costs=costs)
    given = booster(early_stopping=True).fit(
        X[train], target[train], X_val=X[held], y_val=target[held], costs=costs[train]
    )
    assert_same_model(stopped, given, X)


def test_costs_are_routed_to_fit():
    with config_context(enable_metadata_routing=True):
        model = booster().set_fit_request(costs=True, sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        routed = pipeline.fit(X, y, costs=BY_ROW)[-1]
    assert_same_model(routed, booster().fit(X, y, costs=BY_ROW), X)


def test_costs_are_routed_through_cross_validation():
    seen = []

    class Watch(Callback):
        def on_begin(self, run):
            seen.append(run.rows.costs.sum())

        def __deepcopy__(self, memo):
            return self

    with config_context(enable_metadata_routing=True):
        model = booster(callbacks=[Watch()]).set_fit_request(costs=True)
        cross_validate(model, X, y, params={"costs": BY_ROW}, cv=2, error_score="raise")
    assert len(seen) == 2
    assert sum(seen) == pytest.approx(BY_ROW.sum())


def test_a_checkpoint_knows_the_costs(tmp_path):
    kept = [Checkpoint(tmp_path / "model.sb")]
    booster(callbacks=kept).fit(X, y, costs=BY_ROW)
    with pytest.raises(ValueError, match="was kept by another run"):
        booster(callbacks=kept).fit(X, y, costs=2 * BY_ROW)


def test_wrong_about_a_label_may_cost_more_in_some_rows():
    X, Y = make_multilabel_classification(300, n_classes=3, random_state=0)
    costs = np.where(np.column_stack([Y[:, 0], 0 * Y[:, :2]]), 10.0, 1.0)
    plain, priced = (booster().fit(X, Y, costs=c) for c in (None, costs))
    assert priced.predict(X)[:, 0].mean() > plain.predict(X)[:, 0].mean()
    np.testing.assert_array_equal(priced.predict_proba(X)[:, 1:], plain.predict_proba(X)[:, 1:])


NO_COSTS = np.zeros((len(y), 3))


@pytest.mark.parametrize(
    ("params", "costs", "message"),
    [
        ({"cost_matrix": np.ones((2, 3))}, None, r"cost_matrix has shape \(2, 3\), .* 3 classes"),
        ({"cost_matrix": -COSTS}, None, r"cost_matrix\[0, 1\] is -1.0"),
        ({"cost_matrix": np.ones((3, 3))}, None, "cost_matrix gives all answers the same cost"),
        ({"cost_matrix": "free"}, None, "'cost_matrix' parameter of"),
        ({"cost_matrix": COSTS}, BY_ROW, "cost_matrix and costs both say"),
        ({}, BY_ROW[:9], r"costs has shape \(9, 3\), but X and y ask for \(240, 3\)"),
        ({}, BY_ROW[:, :2], r"costs has shape \(240, 2\), but X and y ask for \(240, 3\)"),
        ({}, np.where(BY_ROW == 8, np.inf, BY_ROW), "costs.* is inf; costs must be finite"),
        ({}, NO_COSTS, "costs gives all answers the same cost; make the right one cheaper"),
        ({"n_samples": 0}, None, "'n_samples' parameter of .* Got 0 instead"),
        ({"n_samples": 0.0}, None, "'n_samples' parameter of .* Got 0.0 instead"),
        ({"n_samples": "some"}, None, "'n_samples' parameter of .* Got 'some' instead"),
        ({"step": "line"}, None, "'step' parameter of .* Got 'line' instead"),
        ({"step": 0}, None, "'step' parameter of .* Got 0 instead"),
        ({"max_leaf_nodes": 1}, None, "'max_leaf_nodes' parameter of .* Got 1 instead"),
    ],
)
def test_bad_costs_are_named(params, costs, message):
    with pytest.raises(ValueError, match=message):
        booster(**params).fit(X, y, costs=costs)


def test_costs_of_a_class_of_weight_zero_are_refused():
    with pytest.raises(ValueError, match=r"costs has 3 columns, but .* 2 classes; drop the rows"):
        booster().fit(X, y, sample_weight=(y != 1).astype(float), costs=BY_ROW)


def test_a_matrix_is_not_for_sets():
    Y = make_multilabel_classification(len(y), n_classes=3, random_state=0)[1]
    with pytest.raises(ValueError, match=r"cost_matrix is between classes.*costs=\(n_samples"):
        booster(cost_matrix=COSTS).fit(X, Y)
