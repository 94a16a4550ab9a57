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
    assert_same_model(by_class, booster().fit(X, y, cost_matrix=COSTS), X)
    np.testing.assert_array_equal(by_class.cost_matrix_, COSTS)


@pytest.mark.parametrize("learner", [Stump(), None], ids=["stump", "default"])
@pytest.mark.parametrize(
    "options", [{"n_samples": 2.0, "learning_rate": 0.5}, {"n_samples": "all"}]
)
def test_costs_are_lowered(options, learner):
    """Of new rows, over a few draws; the label that costs much is named less often."""
    X, y = problem(n=1600, noise=0.3)
    train, test = slice(0, 800), slice(800, 1600)
    paid, named = [], []
    for seed in range(3):
        for costs in (None, COSTS):
            params = {"n_estimators": 60, "random_state": seed, **options}
            model = SoftmaxBoostClassifier(learner, cost_matrix=costs, **params)
            predicted = model.fit(X[train], y[train]).predict(X[test])
            paid.append(mean_cost(y[test], predicted, COSTS))
            named.append(np.mean(predicted == 2))
    assert np.mean(paid[1::2]) < 0.93 * np.mean(paid[::2])
    assert max(named[1::2]) < min(named[::2])


def test_the_scale_of_costs_is_irrelevant_where_rows_are_drawn_by_stake():
    one, ten = (booster(cost_matrix=c * COSTS).fit(X, y) for c in (1, 16))
    assert_same_model(one, ten, X)
    shifted = COSTS + np.array([[0.5], [2.0], [0.25]])
    assert_same_model(one, booster(cost_matrix=shifted).fit(X, y), X)


def test_printed_steps_scale_with_the_costs():
    scaled = ({"cost_matrix": c * COSTS / 8, "row_sampling": "uniform"} for c in (0.1, 1))
    one, ten = (booster(**params, n_estimators=1).fit(X, y) for params in scaled)
    np.testing.assert_allclose(10 * one.estimator_weights_, ten.estimator_weights_, rtol=1e-12)


def test_equal_stakes_are_algorithm_2_as_printed():
    costs = np.array([[0.0, 1.0, 0.2], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]])
    for known in (None, costs):
        drawn = (booster(cost_matrix=known, row_sampling=how) for how in ("stake", "uniform"))
        assert_same_model(*(model.fit(X, y) for model in drawn), X)


def test_the_gradient_by_stakes_is_that_of_the_costs():
    """At all pairs: the same hypothesis, and its step over the mean stake."""
    options = {"n_samples": "all", "n_estimators": 1}
    by_stake = booster(cost_matrix=COSTS / 8, **options).fit(X, y)
    printed = booster(cost_matrix=COSTS / 8, row_sampling="uniform", **options).fit(X, y)
    mean_stake = np.ptp(COSTS / 8, axis=1)[y].mean()
    np.testing.assert_allclose(
        by_stake.estimator_weights_ * mean_stake, printed.estimator_weights_, rtol=1e-9
    )
    np.testing.assert_array_equal(by_stake.predict(X), printed.predict(X))


def test_stakes_of_20_to_1_do_not_make_the_rule_sure_at_once():
    costs = np.array([[0.0, 20.0], [1.0, 0.0]])
    rows = y < 2
    model = booster(cost_matrix=costs, n_estimators=1).fit(X[rows], y[rows])
    assert abs(model.estimator_weights_[0]) <= 0.5
    assert model.predict_proba(X[rows]).max() < 0.9


def test_rows_without_a_stake_are_never_drawn():
    """They change nothing, whatever their features and labels are."""
    free = np.arange(len(y)) % 3 == 0
    costs = np.where(free[:, None], 1.0, BY_ROW)
    moved = np.where(free[:, None], 0.0, X)
    bins = np.concatenate([X, X[:0]])
    one = booster().fit(bins, y, costs=costs)
    other = booster().fit(bins, np.where(free, 0, y), costs=costs)
    np.testing.assert_array_equal(one.predict_proba(moved), other.predict_proba(moved))


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
    for n_samples in (1.0, "all"):
        model = booster(n_samples=n_samples, n_estimators=20)
        plain = model.fit(X, Y).predict_proba(X)
        priced = model.fit(X, Y, costs=costs).predict_proba(X)
        assert (priced[:, 0] > 0.5).mean() > (plain[:, 0] > 0.5).mean()
    # Labels are problems of their own: the costs of one do not move the others.
    np.testing.assert_allclose(priced[:, 1:], plain[:, 1:], rtol=1e-12)


def test_a_label_of_which_nothing_is_at_stake_is_left_alone():
    X, Y = make_multilabel_classification(300, n_classes=3, random_state=0)
    costs = np.array([0.0, 1.0, 1.0]) * np.ones(Y.shape)
    for n_samples in (1.0, "all"):
        proba = booster(n_samples=n_samples).fit(X, Y, costs=costs).predict_proba(X)
        assert (proba[:, 0] == 0.5).all()
        assert np.ptp(proba[:, 1]) > 0.1


NO_COSTS = np.zeros((len(y), 3))


@pytest.mark.parametrize(
    ("params", "costs", "message"),
    [
        ({"cost_matrix": np.ones((2, 3))}, None, r"cost_matrix has shape \(2, 3\), .* 3 classes"),
        ({"cost_matrix": -COSTS}, None, r"cost_matrix\[0, 1\] is -1.0"),
        ({"cost_matrix": np.ones((3, 3))}, None, "cost_matrix gives all answers the same cost"),
        ({"cost_matrix": "free"}, None, "'cost_matrix' parameter of"),
        ({"cost_matrix": COSTS}, BY_ROW, "cost_matrix .* and costs all say what answers cost"),
        (
            {"cost_matrix": COSTS, "row_sampling": "uniform"},
            None,
            'cost_matrix has answers that cost 8 more than others, but row_sampling="uniform"',
        ),
        ({"row_sampling": "uniform"}, BY_ROW, 'costs has answers .* use row_sampling="stake"'),
        ({"row_sampling": "rows"}, None, "'row_sampling' parameter of .* Got 'rows' instead"),
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


def test_a_matrix_in_fit_and_as_a_parameter_are_one_too_many():
    with pytest.raises(ValueError, match=r"cost_matrix .the parameter, or in fit. and costs all"):
        booster(cost_matrix=COSTS).fit(X, y, cost_matrix=COSTS)


def test_a_matrix_is_not_for_sets():
    Y = make_multilabel_classification(len(y), n_classes=3, random_state=0)[1]
    with pytest.raises(ValueError, match=r"cost_matrix is between classes.*costs=\(n_samples"):
        booster(cost_matrix=COSTS).fit(X, Y)
