"""Decisions by expected cost, for every booster."""

import numpy as np
import pytest
from common import each_booster, make, problem
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from steadyboost import SAMMEClassifier
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
