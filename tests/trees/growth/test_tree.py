"""Grown trees, and the call that chooses how to grow one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from reference.tree_cases import assert_identical, growth_of, made_up, pack, random_columns

from steadyboost.trees.growth import tree as module
from steadyboost.trees.growth.grower import TreeArrays
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, grow_tree, list_rows
from steadyboost.trees.histograms.row_statistics import SUM_ROWS, FixedPointSums
from steadyboost.trees.parallel import Parallelism, ScratchArrays, serial_map


@pytest.mark.parametrize("n_nodes", [9, 5])
def test_sums_and_gains_become_shares(n_nodes):
    rng = np.random.default_rng(0)
    tree = TreeArrays.allocate(9, 4)
    tree.totals[:], tree.depth[:] = rng.integers(2**60, size=(9, 4)), rng.integers(5, size=9)
    tree.gain[:] = rng.normal(size=9)
    tree.gain[:2] = 0.0, -np.inf
    gain = tree.gain.copy()
    grown = GrownTree.from_growth(tree, n_nodes, 3.5)
    assert grown.depth == tree.depth[:n_nodes].max()
    np.testing.assert_array_equal(grown.value, tree.totals[:n_nodes] / 3.5)
    np.testing.assert_array_equal(grown.gain, np.maximum(gain[:n_nodes], 0.0) / 3.5)


def test_a_part_of_the_nodes_is_in_arrays_of_its_own():
    tree = TreeArrays.allocate(9, 4)
    assert tree.first(9) is tree
    assert not any(map(np.may_share_memory, tree.first(5), tree))


def test_an_empty_tree_is_one_leaf():
    tree = TreeArrays.allocate(5, 2)
    tree.totals[0] = 6, 2
    grown = GrownTree.from_growth(tree, 1, 8.0)
    assert grown.is_leaf.tolist() == [True]
    assert grown.value.tolist() == [[0.75, 0.25]]
    assert (grown.depth, grown.label.tolist()) == (0, [0])


class Counted:
    """Maps one by one, and keeps the numbers of items."""

    def __init__(self):
        self.seen = []

    def run(self, function, items):
        self.seen.append(len(items))
        return serial_map(function, items)


@pytest.mark.parametrize(
    ("name", "value", "shards"),
    [
        ("SHARDING_PAYS", 300 * 4, True),
        ("SHARDING_PAYS", 300 * 4 + 1, False),
        ("MAX_SHARDED_NODES", 15, False),
        ("MAX_SHARDED_CELLS", 1000, False),
    ],
)
def test_shards_are_for_much_data_and_trees_whose_histograms_fit(name, value, shards, monkeypatch):
    monkeypatch.setattr(module, "SHARDING_PAYS", 0)
    monkeypatch.setattr(module, name, value)
    (binned, sums), counted = made_up("gini"), Counted()
    grow_tree(binned, sums, TreeParams(max_depth=3), parallel=Parallelism(2, counted.run))
    assert (2 in counted.seen) == shards


def test_little_data_are_not_sharded():
    (binned, sums), counted = made_up("gini"), Counted()
    grow_tree(binned, sums, TreeParams(), parallel=Parallelism(4, counted.run))
    assert set(counted.seen) <= {1}


def test_trees_side_by_side_are_those_grown_one_by_one():
    """Each thread has scratch arrays of its own, though the object is one."""
    rng, scratch = np.random.default_rng(0), ScratchArrays()
    binned, params = pack(random_columns(rng, 300)), TreeParams(max_leaf_nodes=12)
    many = [
        FixedPointSums.of_labels(rng.integers(0, 2, 300), rng.random(300), 2) for _ in range(16)
    ]

    def grown(sums):
        tree, leaves = grow_tree(binned, sums, params, scratch=scratch)
        return tree, leaves.copy()

    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(grown, many))
    for (tree, leaves), sums in zip(together, many, strict=True):
        alone, alone_leaves = grow_tree(binned, sums, params)
        assert_identical(tree, alone)
        np.testing.assert_array_equal(leaves, alone_leaves)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("limits", ["depth", "leaves", "samples", "none"])
def test_scratch_arrays_serve_tree_after_tree(limits, n_threads, monkeypatch):
    monkeypatch.setattr(module, "SHARDING_PAYS", 0)
    scratch, parallel = ScratchArrays(), Parallelism(n_threads)
    binned, _ = made_up("gini", gappy=2, categorical=1)
    for seed in range(4):
        labels = np.random.default_rng(seed).integers(4, size=300).astype(np.int32)
        sums = FixedPointSums.of_labels(labels, np.ones(300), 4)
        params = growth_of("gini", limits)
        again, leaf = grow_tree(binned, sums, params, parallel=parallel, scratch=scratch)
        anew, other = grow_tree(binned, sums, params)
        assert_identical(again, anew)
        np.testing.assert_array_equal(leaf, other)


def test_scratch_arrays_serve_trees_of_any_kind_in_turn():
    """Of other rows, limits, criteria and channels, with and without drawn rows and features."""
    scratch, tables = ScratchArrays(), [made_up("gini", n_rows=n) for n in (300, 120)]
    edges = made_up("edge")[1]
    for _ in range(2):
        for binned, sums in (*tables, (tables[0][0], edges)):
            criterion = "edge" if sums is edges else "gini"
            for limits in ("stump", "leaves", "samples", "none"):
                for part in ({}, {"rows": np.arange(0, 100, 3)}, {"features": np.array([0, 2])}):
                    params = growth_of(criterion, limits)
                    again, leaf = grow_tree(binned, sums, params, scratch=scratch, **part)
                    anew, other = grow_tree(binned, sums, params, **part)
                    assert_identical(again, anew)
                    np.testing.assert_array_equal(leaf, other)


@pytest.mark.parametrize("at", [slice(0, 10), slice(5, SUM_ROWS + 7), slice(9, 2 * SUM_ROWS + 9)])
def test_rows_are_listed_at_their_places(at):
    out = np.full(at.stop + 3, -1, dtype=np.int32)
    list_rows(None, at, out)
    np.testing.assert_array_equal(out[at], np.arange(at.start, at.stop))
    assert (out[: at.start] == -1).all()
    assert (out[at.stop :] == -1).all()
    list_rows(np.arange(len(out), dtype=np.int32)[::-1], at, out)
    np.testing.assert_array_equal(out[at], np.arange(len(out))[::-1][at])
