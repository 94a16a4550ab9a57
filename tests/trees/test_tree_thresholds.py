"""Kernels give the same sums and places for any number of rows."""

import numpy as np
import pytest
from reference.tree_cases import pack, random_columns, sums_for
from scipy.sparse import csr_array

from steadyboost import DMCBoostClassifier, SteadyBoostClassifier
from steadyboost.trees.data import binned as sparse_module
from steadyboost.trees.data import binning as sparse_binning
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.sharded import SAMPLE_ROWS
from steadyboost.trees.growth.tree import grow_tree, list_rows
from steadyboost.trees.histograms.row_statistics import (
    FIXED_ROWS,
    LANES,
    SUM_ROWS,
    FixedPointSums,
    fix_weights,
)
from steadyboost.trees.histograms.small_node import few_rows


@pytest.mark.parametrize("n", [3, SUM_ROWS, SUM_ROWS + 1])
def test_all_rows_are_listed(n):
    out = np.empty(n, dtype=np.int32)
    list_rows(None, slice(0, n), out)
    np.testing.assert_array_equal(out, np.arange(n))


@pytest.mark.parametrize("n", [LANES - 1, FIXED_ROWS, FIXED_ROWS + 1, 2 * FIXED_ROWS + LANES + 3])
def test_weights_of_labels_are_added_up_in_lanes(n):
    rng = np.random.default_rng(n)
    weights, labels = rng.random(n), rng.integers(3, size=n).astype(np.int32)
    fixed, lanes = np.empty(n, dtype=np.int64), np.zeros((LANES, 3), dtype=np.int64)
    fix_weights(weights, labels, float(weights.sum()), fixed, lanes)
    np.testing.assert_allclose(fixed / 2.0**60, weights / weights.sum(), atol=1e-18)
    expected = [fixed[labels == label].sum() for label in range(3)]
    np.testing.assert_array_equal(lanes.sum(axis=0), expected)


@pytest.mark.parametrize("n", [200, SUM_ROWS + 9])
def test_sums_of_labels_are_those_of_all_stretches(n):
    rng = np.random.default_rng(n)
    weights, labels = rng.random(n), rng.integers(3, size=n).astype(np.int32)
    sums = FixedPointSums.of_labels(labels, weights, 3)
    expected = [sums.weights[labels == label].sum() for label in range(3)]
    np.testing.assert_array_equal(sums.known_total, expected)
    shares = np.bincount(labels, weights) / weights.sum()
    np.testing.assert_allclose(sums.known_total / sums.known_total.sum(), shares, rtol=1e-9)


@pytest.mark.parametrize("n", [40, SAMPLE_ROWS - 1, SAMPLE_ROWS + 1, 1500])
def test_leaves_hold_the_rows_that_end_in_them(n):
    """Nodes with fewer rows than bins, and nodes with more."""
    rng = np.random.default_rng(n)
    columns = random_columns(rng, n, numeric=4, gappy=1, n_bins=100)
    binned = pack(columns)
    few = few_rows(binned.bins(np.arange(binned.n_features)))
    assert 40 < few < SAMPLE_ROWS - 1
    sums, _ = sums_for(rng, columns, "gini")
    tree, leaf = grow_tree(binned, sums, TreeParams(max_depth=6))
    np.testing.assert_array_equal(leaf, tree.apply(binned.packed))
    weights = np.zeros_like(tree.value)
    np.add.at(weights, (leaf, sums.labels), sums.weights / sums.weights.sum())
    found = tree.value / tree.value[tree.is_leaf].sum()
    np.testing.assert_allclose(found[tree.is_leaf], weights[tree.is_leaf], atol=1e-12)


def counts(n=200, n_features=20):
    """A sparse table of small numbers."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (n, n_features)).astype(float)
    return csr_array(X), (X[:, 0] + X[:, 1] > X[:, 2] + rng.random(n)).astype(int)


@pytest.mark.parametrize("selection", ["line_search", "gradient"])
def test_features_of_sparse_tables_may_come_in_groups(selection, monkeypatch):
    X, y = counts()
    options = {"n_estimators": 6, "bottom": 0.5, "selection": selection, "random_state": 0}
    whole = DMCBoostClassifier(**options).fit(X, y)
    monkeypatch.setattr(sparse_module, "GROUP_BINS", 3 * 200)  # three features
    assert whole._binner.bin(X).n_groups == 7
    groups = DMCBoostClassifier(**options).fit(X, y)
    np.testing.assert_array_equal(groups.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("n_stretches", [1, 3, 20, 100])
def test_columns_of_sparse_tables_may_be_shared_out_in_any_way(n_stretches, monkeypatch):
    X, y = counts()
    options = {"n_estimators": 3, "n_folds": 2, "random_state": 0}
    whole = SteadyBoostClassifier(**options).fit(X, y)
    monkeypatch.setattr(sparse_binning, "COLUMN_BLOCKS", n_stretches)
    parts = SteadyBoostClassifier(**options).fit(X, y)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
