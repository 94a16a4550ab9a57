"""Learners give the same answers where rows are many: one test on each side of a threshold."""

import numpy as np
import pytest
from common import problem
from reference.tree_cases import unpack

from steadyboost import SAMMEClassifier, Tree
from steadyboost.ensemble.workers import Workers
from steadyboost.learners import tree as tree_module
from steadyboost.learners.base import Data, Question
from steadyboost.learners.tree import positive_weight_rows
from steadyboost.preprocessing import binner as prepare
from steadyboost.preprocessing.binner import Binner


@pytest.mark.parametrize("size", [1, 7, 299, 300, 301])
def test_rows_may_be_binned_some_at_a_time(size, monkeypatch):
    X = np.random.default_rng(5).normal(size=(300, 6))
    X[250:, 2] = np.nan
    binner = Binner.learn(X, np.zeros(6, dtype=bool))
    expected = unpack(binner.bin(X))
    monkeypatch.setattr(prepare, "BIN_ROWS", size)
    X[0, 4] = np.nan  # a gap that only one part has
    found = binner.bin(X)
    np.testing.assert_array_equal(unpack(found)[1:], expected[1:])
    assert found.has_missing.tolist() == [0, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("n", [500, 512, 513, 5000])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_rows_that_weigh_are_listed_where_they_are_few(n, share):
    weights = (np.random.default_rng(n).random(n) < share).astype(float)
    listed = positive_weight_rows(weights)
    if share > 0.5:
        assert listed is None
    else:
        np.testing.assert_array_equal(listed, np.flatnonzero(weights))


@pytest.mark.parametrize("few", [0.0, 2.0], ids=["all rows", "those that weigh"])
def test_rows_without_weight_may_be_left_out_or_not(few, monkeypatch):
    X, y = problem(n=300)
    weights = np.where(np.arange(300) % 3 == 0, 1.0, 0.0)
    data = Data(X, Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X))
    question = Question(y.astype(np.int32), weights / weights.sum(), 3, np.ones(3))
    expected = Tree(max_depth=4).answer(data, question, None, 0, Workers(1))
    monkeypatch.setattr(tree_module, "MAX_POSITIVE_SHARE", few)
    assert (positive_weight_rows(weights) is None) == (few == 0)
    found = Tree(max_depth=4).answer(data, question, None, 0, Workers(1))
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[0].tree.left_bitset, expected[0].tree.left_bitset)


@pytest.mark.parametrize("n", [400, 3000, 10_000, 40_000])
def test_models_of_any_number_of_rows_are_those_of_each_row_twice(n):
    """Twice the rows, of half the weight, are on the other side of thresholds in between."""
    X, y = problem(n=n)
    X = X.round(1)  # no more values than bins
    params = {"n_estimators": 4, "estimator": Tree(max_depth=4), "random_state": 0}
    once = SAMMEClassifier(**params).fit(X, y)
    twice = SAMMEClassifier(**params).fit(
        np.repeat(X, 2, axis=0), np.repeat(y, 2), sample_weight=np.full(2 * n, 0.5)
    )
    expected = once.decision_function(X)
    np.testing.assert_allclose(twice.decision_function(X), expected, rtol=1e-9, atol=1e-9)
