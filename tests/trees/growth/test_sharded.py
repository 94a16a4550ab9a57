"""Growth over shards is growth on all rows at once, bit for bit."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tree_cases
from reference.tree_cases import (
    LIMITS,
    REAL,
    assert_identical,
    assert_threads_do_not_matter,
    growth_of,
    pack,
    random_columns,
    real,
)

from steadyboost.trees import tree as module
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.sharded import Shard, ShardedGrowth
from steadyboost.trees.growth.tree import CRITERIA, GrownTree, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums, one_by_one


@pytest.fixture(autouse=True)
def always_shard(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)


made_up = partial(tree_cases.made_up, gappy=2, categorical=2, n_bins=12)
THREE = {"n_shards": 3}


@pytest.mark.parametrize("n_shards", [1, 2, 3, 7])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_shards_grow_the_tree_of_all_rows(criterion, limits, n_shards):
    binned, sums = made_up(criterion)
    assert_threads_do_not_matter(binned, sums, growth_of(criterion, limits), {"n_shards": n_shards})


@pytest.mark.parametrize("n_shards", [2, 3, 7])
@pytest.mark.parametrize("limits", ["depth", "leaves", "everything"])
@pytest.mark.parametrize("name", REAL)
def test_shards_grow_the_tree_of_all_rows_on_real_data(name, limits, n_shards):
    _, binned, labels, n_labels = real(name)
    weights = np.random.default_rng(1).exponential(size=len(labels))
    sums, shards = FixedPointSums.of_labels(labels, weights, n_labels), {"n_shards": n_shards}
    assert_threads_do_not_matter(binned, sums, growth_of("gini", limits), shards)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_shards_of_some_rows_and_features_grow_the_same_tree(criterion):
    binned, sums = made_up(criterion)
    rows, features = np.arange(0, 300, 2), np.array([0, 1, 4, 6])
    assert_threads_do_not_matter(
        binned, sums, growth_of(criterion, "samples"), THREE, rows=rows, features=features
    )


def test_more_shards_than_rows_and_features_grow_the_same_tree():
    binned, sums = made_up("gini", n_rows=5)
    assert_threads_do_not_matter(binned, sums, TreeParams(), {"n_shards": 12})


@pytest.mark.parametrize("limits", ["depth", "leaves", "none"])
@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_do_not_change_the_tree(limits, n_threads):
    binned, sums = made_up("gini", n_rows=2000)
    with ThreadPoolExecutor(n_threads) as pool:
        shards = {"n_shards": n_threads, "run": lambda f, x: list(pool.map(f, x))}
        assert_threads_do_not_matter(binned, sums, growth_of("gini", limits), shards)


def test_a_level_takes_two_calls_per_shard():
    calls = []

    def count(function, items):
        calls.append(len(items))
        return one_by_one(function, items)

    binned, sums = made_up("gini")
    tree, _ = grow_tree(binned, sums, TreeParams(max_depth=4), n_shards=3, run=count)
    assert tree.depth == 4
    assert len(calls) == 2 * 4 + 1
    assert set(calls) == {3}


def test_little_data_are_not_sharded(monkeypatch):
    monkeypatch.undo()

    def refuse(function, items):
        assert len(items) == 1, "sharded"
        return one_by_one(function, items)

    binned, sums = made_up("gini")
    grow_tree(binned, sums, TreeParams(), n_shards=4, run=refuse)


def grow_dealt(binned, sums, growth, deals):
    """Grow over shards that hold any rows, each in ascending order."""
    n_rows, counting = binned.n_rows, growth.min_samples_leaf > 1
    bins = binned.bins()
    total = sums.total(np.arange(n_rows, dtype=np.int32))
    tree = empty_tree(growth.capacity(n_rows), sums.n_channels)
    tree[3][0] = total
    arrays = sums.arrays(counting)
    shards = [Shard(bins, arrays, rows, rows.copy(), sums.n_channels) for rows in deals]
    leaf = np.empty(n_rows, dtype=np.int32)
    rule = growth.rule(np.zeros(1), sums.whole)
    n_nodes = ShardedGrowth(shards, rule, growth.limits(n_rows), one_by_one).grow(tree, leaf)
    return GrownTree.from_growth(tree, n_nodes), leaf


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_shards=st.integers(1, 6),
    criterion=st.sampled_from(sorted(CRITERIA)),
    limits=st.sampled_from(["depth", "leaves", "both", "samples", "none"]),
)
def test_it_does_not_matter_how_rows_are_dealt(seed, n_shards, criterion, limits):
    binned, sums = made_up(criterion, seed, n_rows=80)
    growth = growth_of(criterion, limits)
    shard_of = np.random.default_rng(seed).integers(n_shards, size=80)
    deals = [np.flatnonzero(shard_of == k).astype(np.int32) for k in range(n_shards)]
    tree, leaf = grow_tree(binned, sums, growth)
    dealt, dealt_leaf = grow_dealt(binned, sums, growth, deals)
    assert_identical(dealt, tree)
    np.testing.assert_array_equal(dealt_leaf, leaf)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 0, 1]], ids=["pure", "constant"])
def test_shards_that_cannot_split_stay_one_leaf(labels):
    rng = np.random.default_rng(2)
    column = random_columns(rng, 4, numeric=1, gappy=0, n_bins=1)
    sums = FixedPointSums.of_labels(np.array(labels, dtype=np.int32), np.ones(4), 2)
    assert_threads_do_not_matter(pack(column), sums, TreeParams(), {"n_shards": 2})
