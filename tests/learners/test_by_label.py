"""Rows in the order of their labels give the same trees."""

import numpy as np
import pytest
from common import assert_same_model, problem

from steadyboost import AdaBoostM1Classifier, AdaBoostOCClassifier, SAMMEClassifier, Tree
from steadyboost.core.workers import Workers
from steadyboost.learners import by_label
from steadyboost.learners.base import Data
from steadyboost.learners.by_label import ByLabel
from steadyboost.learners.prepare import Binner

X, Y = problem(n=400, k=4)
LABELS = Y.astype(np.int32)


@pytest.fixture
def always(monkeypatch):
    for name in ("MANY_ROWS", "MANY_COLUMNS", "CACHE_CELLS"):
        monkeypatch.setattr(by_label, name, 0)


def fitted(booster, X=X, **params):
    return booster(estimator=Tree(max_depth=3), n_estimators=8, random_state=0, **params).fit(X, Y)


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM1Classifier, AdaBoostOCClassifier])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_are_the_same(booster, n_jobs, request):
    plain = fitted(booster)
    request.getfixturevalue("always")
    assert_same_model(plain, fitted(booster, n_jobs=n_jobs), X)


@pytest.mark.parametrize("params", [{"resample": True}, {"class_weight": {0: 3.0}}])
def test_draws_and_weights_are_as_before(params, request):
    plain = fitted(SAMMEClassifier, **params)
    request.getfixturevalue("always")
    assert_same_model(plain, fitted(SAMMEClassifier, **params), X)


@pytest.fixture
def order(always):
    binned = Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X)
    return ByLabel(Data(X, binned))


def test_rows_are_ordered_once_their_labels_stay(order):
    assert order.of(LABELS, 4) is None
    ordered = order.of(LABELS.copy(), 4)
    assert (np.diff(ordered.labels) >= 0).all()
    np.testing.assert_array_equal(ordered.labels, LABELS[ordered.places])
    np.testing.assert_array_equal(ordered.binned.packed, order.binned.packed[:, ordered.places])
    assert order.of(LABELS, 4) is ordered


def test_labels_that_change_in_place_are_noticed(order):
    labels = LABELS.copy()
    order.of(labels, 4)
    assert order.of(labels, 4) is not None
    labels[0] = (labels[0] + 1) % 4
    assert order.of(labels, 4) is None
    np.testing.assert_array_equal(order.of(labels, 4).labels, np.sort(labels))


@pytest.mark.parametrize("n_parts", [1, 3])
def test_what_is_put_back_is_where_it_was(order, n_parts):
    order.of(LABELS, 4)
    ordered, values = order.of(LABELS, 4), np.arange(len(Y), dtype=float)
    with Workers(2) as threads:
        taken = ordered.take(values, n_parts, threads)
        np.testing.assert_array_equal(taken, values[ordered.places])
        np.testing.assert_array_equal(ordered.put_back(taken, n_parts, threads), values)


def test_little_data_stay_as_they_are():
    order = ByLabel(Data(X, Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X)))
    assert all(order.of(LABELS, 4) is None for _ in range(3))
