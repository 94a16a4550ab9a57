"""Decisions by expected cost, for every booster."""

import numpy as np
import pytest
from common import each_booster, make, problem
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from steadyboost import (
    AdaBoostMHClassifier,
    MartiBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
    load,
)
from steadyboost.callbacks import Checkpoint
from steadyboost.costs import expected_costs, mean_cost, min_expected_cost

X, y = problem()
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.5, 1.0], [9.0, 3.0, 0.0]])


@each_booster
def test_predictions_have_the_least_expected_cost(booster):
    labels = np.array(["a", "b", "c"])[y]
    model = make(booster).fit(X, labels)
    proba, predicted = model.predict_proba(X), model.predict(X, cost_matrix=COSTS)
    for p, label in zip(proba, predicted, strict=True):
        expected = [sum(p[t] * COSTS[t, z] for t in range(3)) for z in range(3)]
        assert expected["abc".index(label)] == pytest.approx(min(expected))
    plain = 1 - np.eye(3)
    agree = np.mean(model.predict(X, cost_matrix=plain.tolist()) == model.predict(X))
    assert agree >= 0.99  # rounding may break ties of probabilities


@each_booster
def test_predictions_by_cost_go_through_a_pipeline(booster):
    pipeline = make_pipeline(StandardScaler(), make(booster)).fit(X, y)
    direct = pipeline[-1].predict(pipeline[0].transform(X), cost_matrix=COSTS)
    np.testing.assert_array_equal(pipeline.predict(X, cost_matrix=COSTS), direct)


def test_costs_of_predictions_are_routed():
    with config_context(enable_metadata_routing=True):
        model = make(SAMMEClassifier).set_predict_request(cost_matrix=True)
        pipeline = make_pipeline(FunctionTransformer(), model).fit(X, y)
        routed = pipeline.predict(X, cost_matrix=COSTS)
        scores = cross_validate(make(SAMMEClassifier), X, y, cv=2, error_score="raise")
    np.testing.assert_array_equal(routed, pipeline[-1].predict(X, cost_matrix=COSTS))
    assert len(scores["test_score"]) == 2


@each_booster
def test_costs_in_training_weigh_rows_by_their_stakes(booster):
    """As class weights would; probabilities are those of the classes without these weights."""
    if booster is SoftmaxBoostClassifier:
        pytest.skip("it minimises the costs themselves; see test_training_costs.py")
    if booster is MartiBoostClassifier:
        pytest.skip("its nodes balance the classes; see below")
    model = make(booster).fit(X, y, cost_matrix=COSTS)
    stakes = np.ptp(COSTS, axis=1)
    weighted = make(booster, class_weight=dict(enumerate(stakes))).fit(X, y)
    expected = weighted.predict_proba(X) / stakes
    expected /= expected.sum(axis=1, keepdims=True)
    if model._binner is None or same_cuts(model, weighted):  # of bins, which weights move too
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6, atol=1e-9)
    answers = model.classes_[min_expected_cost(model.predict_proba(X), COSTS)]
    np.testing.assert_array_equal(model.predict(X), answers)
    plain = make(booster).fit(X, y)
    assert plain.cost_matrix_ is None
    np.testing.assert_array_equal(model.fit(X, y).predict(X), plain.predict(X))


def test_martiboost_answers_by_expected_cost_only():
    plain = make(MartiBoostClassifier).fit(X, y)
    model = make(MartiBoostClassifier).fit(X, y, cost_matrix=COSTS)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X, cost_matrix=COSTS))


def same_cuts(one, other):
    pairs = zip(one._binner.cuts, other._binner.cuts, strict=True)
    return all(np.array_equal(*pair) for pair in pairs)


@each_booster
def test_costs_in_training_lower_the_cost(booster):
    """Of the rows it was trained on; noise keeps it from being right everywhere."""
    X, y = problem(n=400, noise=0.3)
    costs = np.array([[0.0, 1.0, 20.0], [1.0, 0.0, 20.0], [1.0, 1.0, 0.0]])
    plain = mean_cost(y, make(booster).fit(X, y).predict(X), costs)
    aware = mean_cost(y, make(booster).fit(X, y, cost_matrix=costs).predict(X), costs)
    assert aware <= plain


def test_costs_in_training_are_routed_and_go_through_a_file(tmp_path):
    with config_context(enable_metadata_routing=True):
        model = make(SAMMEClassifier).set_fit_request(cost_matrix=True)
        routed = make_pipeline(FunctionTransformer(), model).fit(X, y, cost_matrix=COSTS)[-1]
        params = {"cost_matrix": COSTS}
        found = cross_validate(model, X, y, params=params, cv=2, return_estimator=True)
    direct = make(SAMMEClassifier).fit(X, y, cost_matrix=COSTS)
    np.testing.assert_array_equal(routed.predict(X), direct.predict(X))
    assert all((one.cost_matrix_ == COSTS).all() for one in found["estimator"])
    direct.save(tmp_path / "model.sb")
    loaded = load(tmp_path / "model.sb")
    np.testing.assert_array_equal(loaded.predict(X), direct.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), direct.predict_proba(X))


def test_early_stopping_minds_the_costs():
    """The validation error is the share of the stakes that answers cost."""
    options = {"early_stopping": True, "n_iter_no_change": 30, "n_estimators": 30}
    model = make(SAMMEClassifier, **options)
    model.fit(X[:160], y[:160], X_val=X[160:], y_val=y[160:], cost_matrix=COSTS)
    shares = (COSTS - COSTS.min(axis=1, keepdims=True)) / np.ptp(COSTS, axis=1)[:, None]
    stakes = np.ptp(COSTS, axis=1)[y[160:]]
    expected = [
        np.average(shares[y[160:], predicted], weights=stakes)
        for predicted in model.staged_predict(X[160:])
    ]
    errors = model.history_["val_error"]
    np.testing.assert_allclose(errors[: len(expected)], expected, rtol=1e-12)
    assert len(expected) == np.argmin(errors) + 1


def test_a_checkpoint_knows_the_matrix(tmp_path):
    kept = [Checkpoint(tmp_path / "model.sb")]
    make(SAMMEClassifier, callbacks=kept).fit(X, y, cost_matrix=COSTS)
    with pytest.raises(ValueError, match=r"was kept by another run.*cost_matrix"):
        make(SAMMEClassifier, callbacks=kept).fit(X, y, cost_matrix=COSTS[::-1])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones((2, 2)), r"cost_matrix has shape \(2, 2\), but there are 3 classes"),
        (-COSTS, r"cost_matrix\[0, 1\] is -1.0; costs must be finite and not negative"),
        (
            np.where(np.arange(3)[:, None] == 1, 1.0, COSTS),
            r"gives all answers the same cost where the truth is one of \[1\]",
        ),
    ],
)
def test_bad_costs_in_training_are_named(costs, message):
    with pytest.raises(ValueError, match=message):
        make(SAMMEClassifier).fit(X, y, cost_matrix=costs)


def test_a_matrix_in_fit_is_not_for_sets():
    Y = np.eye(3, dtype=int)[y]
    with pytest.raises(ValueError, match="cost_matrix is between classes, but y has several"):
        make(AdaBoostMHClassifier).fit(X, Y, cost_matrix=COSTS)


def test_labels_that_are_drawn_cannot_be_the_cheapest():
    with pytest.raises(ValueError, match="randomized=True draws labels by their probabilities"):
        make(MartiBoostClassifier, randomized=True).fit(X, y, cost_matrix=COSTS)


def test_the_audit_does_not_mind_the_costs():
    """Label scores are about the labels as they are given, not about what mistakes cost."""
    X, y = problem(n=300, noise=0.1)
    plain = make(SteadyBoostClassifier).fit(X, y)
    costly = make(SteadyBoostClassifier).fit(X, y, cost_matrix=COSTS)
    assert np.corrcoef(plain.label_scores_, costly.label_scores_)[0, 1] > 0.8
    share = costly.out_of_sample_proba_.mean(axis=0)
    np.testing.assert_allclose(share, np.bincount(y) / len(y), atol=0.08)


def test_ties_go_to_the_first():
    assert min_expected_cost([[0.5, 0.5]], 1 - np.eye(2)).tolist() == [0]
    assert min_expected_cost([[0.2, 0.8]], np.ones((2, 2))).tolist() == [0]


def test_a_shift_of_a_row_changes_no_decision():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=200)
    shifted = COSTS + np.array([[1.0], [5.0], [0.5]])
    np.testing.assert_array_equal(
        min_expected_cost(proba, COSTS), min_expected_cost(proba, shifted)
    )
    assert expected_costs(proba, COSTS).shape == (200, 3)


def test_the_mean_cost_is_that_of_the_pairs():
    true, predicted = [0, 1, 2, 2], [2, 1, 0, 2]
    assert mean_cost(true, predicted, COSTS) == (4 + 0.5 + 9 + 0) / 4
    assert mean_cost([0], [1], COSTS, labels=[0, 1, 2]) == 1
    with pytest.raises(ValueError, match=r"labels \[7\], which are not in labels"):
        mean_cost([0], [7], COSTS, labels=[0, 1, 2])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            np.ones((2, 2)),
            r"cost_matrix has shape \(2, 2\), but there are 3 classes; pass a \(3, 3",
        ),
        (np.ones(3), r"cost_matrix has shape \(3,\)"),
        (-COSTS, r"cost_matrix\[0, 1\] is -1.0; costs must be finite and not negative"),
        (np.where(COSTS == 9, np.nan, COSTS), r"cost_matrix\[2, 0\] is nan"),
        (np.where(COSTS == 9, np.inf, COSTS), r"cost_matrix\[2, 0\] is inf"),
        ("cheap", "cost_matrix must be an array of numbers; got 'cheap'"),
    ],
)
def test_bad_costs_are_named(costs, message):
    model = make(SAMMEClassifier).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(X, cost_matrix=costs)
    with pytest.raises(ValueError, match=message):
        min_expected_cost(model.predict_proba(X), costs)


def test_probabilities_are_a_table():
    with pytest.raises(ValueError, match=r"proba has shape \(3,\); pass a row per sample"):
        min_expected_cost([0.2, 0.3, 0.5], COSTS)
