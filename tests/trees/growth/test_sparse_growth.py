"""Trees, tests and rules grown on sparse rows are those of the same rows in full, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.sparse_cases import sparsely
from reference.tree_cases import (
    LIMITS,
    assert_identical,
    growth_of,
    pack,
    random_columns,
    sums_for,
)

from steadyboost.ensemble.workers import Workers
from steadyboost.trees.growth import tree as module
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism
from steadyboost.trees.rules import attribute_test
from steadyboost.trees.rules.attribute_test import grow_test
from steadyboost.trees.rules.decision_rule import RuleStatistics, grow_rule

CRITERIA = ("gini", "entropy", "error", "edge", "newton")


def made_up(criterion, seed=0, n_rows=160):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, numeric=4, gappy=2, categorical=2, n_bins=10)
    binned = pack(columns)
    return binned, sparsely(rng, binned), sums_for(rng, columns, criterion, n_labels=3)[0]


def check(full, sparse, sums, growth, **options):
    tree, leaves = grow_tree(full, sums, growth, **options)
    grown, leaves_of_grown = grow_tree(sparse, sums, growth, **options)
    assert_identical(grown, tree)
    np.testing.assert_array_equal(leaves_of_grown, leaves)


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_all_rows_grow_the_same_tree(criterion, limits):
    check(*made_up(criterion), growth_of(criterion, limits))


@pytest.mark.parametrize("limits", ["depth", "leaves", "samples"])
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_some_rows_and_features_grow_the_same_tree(criterion, limits):
    rows, features = np.arange(0, 160, 3), np.array([1, 3, 4, 7])
    check(*made_up(criterion), growth_of(criterion, limits), rows=rows)
    check(*made_up(criterion), growth_of(criterion, limits), features=features)
    check(*made_up(criterion), growth_of(criterion, limits), rows=rows, features=features)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 60),
    criterion=st.sampled_from(CRITERIA),
    limits=st.sampled_from(list(LIMITS)),
)
def test_any_rows_grow_the_same_tree(seed, n_rows, criterion, limits):
    check(*made_up(criterion, seed, n_rows), growth_of(criterion, limits))


@pytest.mark.parametrize("n_shards", [2, 3])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_shards_grow_the_same_tree(criterion, limits, n_shards, monkeypatch):
    monkeypatch.setattr(module, "SHARDING_PAYS", 0)
    with Workers(n_shards) as workers:
        parallel = Parallelism(n_shards, workers.run)
        check(*made_up(criterion), growth_of(criterion, limits), parallel=parallel)


@pytest.mark.parametrize("n_shards", [1, 2])
@pytest.mark.parametrize("criterion", ["error", "edge"])
def test_the_best_test_is_the_same(criterion, n_shards, monkeypatch):
    monkeypatch.setattr(attribute_test, "SHARDING_PAYS", 0)
    for seed in range(5):
        full, sparse, sums = made_up(criterion, seed)
        assert_identical(grow_test(sparse, sums, n_shards), grow_test(full, sums, n_shards))


@pytest.mark.parametrize("n_shards", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_rules_are_the_same(criterion, n_shards, monkeypatch):
    monkeypatch.setattr(attribute_test, "SHARDING_PAYS", 0)
    for seed in range(5):
        full, sparse, sums = made_up(criterion, seed)
        drawn = np.random.default_rng(seed).permutation(160).astype(np.int32)
        parts = np.sort(drawn[:100]), np.sort(drawn[100:])
        rules = [grow_rule(RuleStatistics(b, sums, n_shards), *parts) for b in (sparse, full)]
        assert_identical(*rules)


def test_weights_of_zero_count_for_nothing():
    full, sparse, sums = made_up("gini")
    weights = np.random.default_rng(0).exponential(size=160)
    weights[::4] = 0
    sums = FixedPointSums.of_labels(sums.labels, weights, 3)
    check(full, sparse, sums, TreeParams(max_depth=4, min_samples_leaf=5))
