"""Growth over shards is growth on all rows at once, bit for bit."""

from functools import partial

import numpy as np
import pytest
from combinations import pairwise
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tree_cases
from reference.sparse_cases import sparsely
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

from steadyboost.ensemble.workers import Workers
from steadyboost.trees.growth import tree as module
from steadyboost.trees.growth.grower import TreeArrays
from steadyboost.trees.growth.params import CRITERIA, TreeParams
from steadyboost.trees.growth.sharded import Shard, ShardedGrower
from steadyboost.trees.growth.tree import GrownTree, GrowthPlan, grow_tree
from steadyboost.trees.histograms.root_cache import RootHistogramCache
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism, ScratchArrays, serial_map


@pytest.fixture(autouse=True)
def always_shard(monkeypatch):
    monkeypatch.setattr(module, "SHARDING_PAYS", 0)


@pytest.fixture(scope="module")
def workers():
    with Workers(3) as threads:
        yield threads


made_up = partial(tree_cases.made_up, gappy=2, categorical=2, n_bins=12)
NUMBERS = [1, 2, 3, 7]
each_number = pytest.mark.parametrize("n_shards", NUMBERS)
KINDS = {
    "numbers": {"numeric": 6, "gappy": 0, "n_bins": 20},
    "gaps": {"numeric": 2, "gappy": 4, "n_bins": 20},
    "categories": {"numeric": 2, "gappy": 0, "categorical": 4, "n_bins": 20},
    "bundles": {"numeric": 12, "gappy": 0, "n_bins": 3},
}


def in_shards(binned, sums, params, n_shards, run=serial_map):
    """The tree of the sharded grower, also of one shard, and the leaves of its rows."""
    parallel = Parallelism(n_shards, run)
    plan = GrowthPlan(binned, sums, params, None, None, parallel, ScratchArrays())
    assert plan.n_shards == n_shards
    tree = GrownTree.from_growth(plan.tree, plan.grow_in_shards(), sums.scale)
    return tree, plan.node_of_row


def check(binned, sums, params, n_shards, run=serial_map):
    """The compiled grower's tree, on one thread, is that of so many shards."""
    tree, leaf = grow_tree(binned, sums, params)
    sharded, sharded_leaf = in_shards(binned, sums, params, n_shards, run)
    assert_identical(sharded, tree)
    np.testing.assert_array_equal(sharded_leaf, leaf)
    return tree


@pairwise(criterion=CRITERIA, limits=LIMITS, n_shards=NUMBERS)
def test_shards_grow_the_tree_of_all_rows(criterion, limits, n_shards, workers):
    binned, sums = made_up(criterion)
    check(binned, sums, growth_of(criterion, limits), n_shards, workers.run)


@pairwise(
    stored=["dense", "sparse"],
    kind=KINDS,
    criterion=["gini", "edge", "newton"],
    limits=["depth", "leaves", "samples", "none"],
    n_shards=NUMBERS,
)
def test_tables_of_any_kind_grow_the_same_tree(stored, kind, criterion, limits, n_shards, workers):
    binned, sums = tree_cases.made_up(criterion, n_rows=2000, **KINDS[kind])
    if stored == "sparse":
        binned = sparsely(np.random.default_rng(0), binned)
    else:
        assert (binned.bins(None, sums.n_channels).bundles is not None) == (kind == "bundles")
    params = growth_of(criterion, limits)
    if limits == "none":
        params = TreeParams(criterion, max_depth=8)
    tree = check(binned, sums, params, n_shards, workers.run)
    assert tree.depth > 1


@pairwise(kind=KINDS, limits=LIMITS, n_shards=NUMBERS)
def test_a_root_whose_histogram_is_known_grows_the_same_tree(kind, limits, n_shards, workers):
    binned, sums = tree_cases.made_up("gini", n_rows=600, **KINDS[kind])
    labels = sums.labels
    weights, params = np.random.default_rng(1).dirichlet(np.ones(600)), growth_of("gini", limits)
    known = {"total": 1.0, "fixed_point_scale": 2.0, "scratch": ScratchArrays()}
    kept = RootHistogramCache(binned).set(labels, weights, 4, **known)
    assert kept.hist is not None
    before = kept.hist.copy()
    expected, leaf = grow_tree(
        binned, FixedPointSums.of_labels(labels, weights, 4, **known), params
    )
    for tree, own_leaf in (
        grow_tree(binned, kept, params),
        in_shards(binned, kept, params, n_shards, workers.run),
    ):
        assert_identical(tree, expected)
        np.testing.assert_array_equal(own_leaf, leaf)
        np.testing.assert_array_equal(kept.hist, before)


@pairwise(name=REAL, limits=["depth", "leaves", "everything"], n_shards=[2, 3, 7])
def test_shards_grow_the_tree_of_all_rows_on_real_data(name, limits, n_shards):
    _, binned, labels, n_labels = real(name)
    weights = np.random.default_rng(1).exponential(size=len(labels))
    sums = FixedPointSums.of_labels(labels, weights, n_labels)
    assert_threads_do_not_matter(binned, sums, growth_of("gini", limits), n_shards)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_shards_of_some_rows_and_features_grow_the_same_tree(criterion, workers):
    binned, sums = made_up(criterion)
    some = {"rows": np.arange(0, 300, 2), "features": np.array([0, 1, 4, 6])}
    params = growth_of(criterion, "samples")
    assert_threads_do_not_matter(binned, sums, params, 3, workers.run, **some)


def test_more_shards_than_rows_and_features_grow_the_same_tree(workers):
    binned, sums = made_up("gini", n_rows=5)
    check(binned, sums, TreeParams(), 12, workers.run)


@pytest.mark.parametrize("limits", ["depth", "leaves", "none"])
@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_do_not_change_the_tree(limits, n_threads):
    binned, sums = made_up("gini", n_rows=2000)
    with Workers(n_threads) as threads:
        params = growth_of("gini", limits)
        assert_threads_do_not_matter(binned, sums, params, n_threads, threads.run)


def test_a_level_takes_two_calls_per_shard():
    calls = []

    def count(function, items):
        calls.append(len(items))
        return serial_map(function, items)

    binned, sums = made_up("gini")
    tree, _ = grow_tree(binned, sums, TreeParams(max_depth=4), parallel=Parallelism(3, count))
    assert tree.depth == 4
    assert len(calls) == 2 * 4 + 1
    assert set(calls) == {3}


@each_number
def test_equal_splits_go_to_the_first_feature(n_shards, workers):
    """Whichever share of the features a thread looks over."""
    rng = np.random.default_rng(3)
    column = random_columns(rng, 200, numeric=1, gappy=0, n_bins=200)
    binned = pack(column * 12)
    sums = FixedPointSums.of_labels((column[0].bins > 90).astype(np.int32), np.ones(200), 2)
    tree, _ = in_shards(binned, sums, TreeParams(), n_shards, workers.run)
    assert tree.feature[0] == 0


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "edge", "newton"])
def test_a_machine_that_is_alone_grows_the_same_tree(criterion, limits):
    binned, sums = made_up(criterion)
    params = growth_of(criterion, limits)
    alone = Parallelism(2, serial_map, lambda values, reduce: reduce(list(values)))
    tree, leaf = grow_tree(binned, sums, params)
    other, other_leaf = grow_tree(binned, sums, params, parallel=alone)
    assert_identical(other, tree)
    np.testing.assert_array_equal(other_leaf, leaf)


def grow_dealt(binned, sums, params, deals):
    """Grow over shards that hold any rows, each in ascending order."""
    n_rows, bins = binned.n_rows, binned.bins()
    total = sums.total(np.arange(n_rows, dtype=np.int32))
    tree = TreeArrays.allocate(params.capacity(n_rows), sums.n_channels)
    tree.totals[0] = total
    stats = sums.statistics(params.counts_rows)
    shards = [Shard(bins, stats, rows, rows.copy()) for rows in deals]
    leaf, limits = np.empty(n_rows, dtype=np.int32), params.limits(n_rows)
    split = params.split(total, sums.fixed_point_scale)
    n_nodes = ShardedGrower(shards, split, limits, serial_map).grow(tree, leaf)
    return GrownTree.from_growth(tree, n_nodes), leaf


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_shards=st.integers(1, 6),
    criterion=st.sampled_from(sorted(CRITERIA)),
    limits=st.sampled_from(list(LIMITS)),
)
def test_it_does_not_matter_how_rows_are_dealt(seed, n_shards, criterion, limits):
    binned, sums = made_up(criterion, seed, n_rows=80)
    params = growth_of(criterion, limits)
    shard_of = np.random.default_rng(seed).integers(n_shards, size=80)
    deals = [np.flatnonzero(shard_of == k).astype(np.int32) for k in range(n_shards)]
    tree, leaf = grow_tree(binned, sums, params)
    dealt, dealt_leaf = grow_dealt(binned, sums, params, deals)
    assert_identical(dealt, tree)
    np.testing.assert_array_equal(dealt_leaf, leaf)


@each_number
@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 0, 1]], ids=["pure", "constant"])
def test_shards_that_cannot_split_stay_one_leaf(labels, n_shards):
    rng = np.random.default_rng(2)
    column = random_columns(rng, 4, numeric=1, gappy=0, n_bins=1)
    sums = FixedPointSums.of_labels(np.array(labels, dtype=np.int32), np.ones(4), 2)
    tree = check(pack(column), sums, TreeParams(), n_shards)
    assert len(tree.feature) == 1
