"""Flat trees against a walk from the root."""

import numpy as np
import pytest
from reference.tree import Column, Rules, find_leaf, grow, label_channels
from reference.tree_cases import (
    bins_in,
    columns_of,
    growth_of,
    pack,
    random_columns,
    real,
    sums_for,
    unpack,
)

from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.prediction.apply import take


def walk(tree, row_bins, node=0):
    """One row, one step at a time."""
    while not tree.is_leaf[node]:
        goes_left = row_bins[tree.feature[node]] in bins_in(tree.left_bitset[node])
        node = tree.children[node][0 if goes_left else 1]
    return node


def grown(criterion="gini", limits="none", seed=0, **columns):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, 300, **columns)
    sums, _ = sums_for(rng, columns, criterion)
    return grow_tree(pack(columns), sums, growth_of(criterion, limits))[0], columns


@pytest.mark.parametrize("limits", ["stump", "depth", "leaves", "none"])
@pytest.mark.parametrize("criterion", ["gini", "error", "edge", "newton"])
def test_apply_finds_the_leaf_at_the_end_of_the_walk(criterion, limits):
    tree, _ = grown(criterion, limits, numeric=5, gappy=3, categorical=2)
    fresh = pack(random_columns(np.random.default_rng(1), 200, numeric=5, gappy=3, categorical=2))
    expected = [walk(tree, row) for row in unpack(fresh)]
    np.testing.assert_array_equal(tree.apply(fresh.packed), expected)


@pytest.mark.parametrize("n_leaves", [2, 7, 8, 9, 12, 31, 32, 33, 40])
def test_apply_finds_the_leaf_in_trees_of_any_number_of_leaves(n_leaves):
    rng = np.random.default_rng(n_leaves)
    kinds = {"numeric": 5, "gappy": 2, "categorical": 2}
    sums = FixedPointSums.of_labels(
        rng.integers(2, size=3000).astype(np.int32), rng.random(3000), 2
    )
    binned, growth = pack(random_columns(rng, 3000, **kinds)), TreeParams(max_leaf_nodes=n_leaves)
    tree, leaf = grow_tree(binned, sums, growth)
    assert tree.is_leaf.sum() == n_leaves
    np.testing.assert_array_equal(tree.apply(binned.packed), leaf)
    fresh = pack(random_columns(rng, 2500, **kinds))
    expected = [walk(tree, row) for row in unpack(fresh)]
    np.testing.assert_array_equal(tree.apply(fresh.packed), expected)


@pytest.mark.parametrize("name", ["iris", "digits"])
def test_new_rows_go_where_the_twin_sends_them(name):
    _, binned, labels, n_labels = real(name)
    train, test = np.arange(0, len(labels), 5), np.arange(1, len(labels), 5)
    weights = np.random.default_rng(2).uniform(0.5, 1, len(labels))
    sums = FixedPointSums.of_labels(labels, weights, n_labels, train)
    tree, leaf = grow_tree(binned, sums, TreeParams(max_depth=3), rows=train)
    shares = label_channels(labels, weights, n_labels)
    root = grow(columns_of(binned), shares, Rules(max_depth=3), rows=train)
    expected = [find_leaf(root, bins).value for bins in unpack(binned)[test]]
    actual = tree.value[leaf[test]] * weights[train].sum() / weights.sum()
    np.testing.assert_allclose(actual, expected, atol=1e-10)


def test_a_lone_root_takes_every_row():
    lone = GrownTree(
        np.zeros(1, np.int32),
        np.zeros((1, 2), np.int32),
        np.zeros((1, 8), np.uint32),
        np.ones((1, 2)),
        np.zeros(1),
        0,
    )
    np.testing.assert_array_equal(lone.apply(np.ones((1, 5), dtype=np.uint32)), np.zeros(5))


@pytest.mark.parametrize("feature", range(8))
@pytest.mark.parametrize("bin_", [0, 31, 32, 128, 255])
def test_each_byte_and_each_bit_of_the_mask_counts(feature, bin_):
    left_bitset = np.zeros((3, 8), dtype=np.uint32)
    left_bitset[0, bin_ // 32] = np.uint32(1) << np.uint32(bin_ % 32)
    tree = GrownTree(
        np.array([feature, 0, 0], dtype=np.int32),
        np.array([[1, 2], [1, 1], [2, 2]], dtype=np.int32),
        left_bitset,
        np.ones((3, 2)),
        np.zeros(3),
        1,
    )
    columns = [Column(np.arange(256) if f == feature else np.full(256, 9), 255) for f in range(8)]
    expected = np.where(np.arange(256) == bin_, 1, 2)
    np.testing.assert_array_equal(tree.apply(pack(columns).packed), expected)


@pytest.mark.parametrize(("heavy", "leaf_label"), [(0, 0), (1, 1)])
@pytest.mark.parametrize("categorical", [False, True])
def test_a_gap_that_training_had_not_follows_the_heavier_side(heavy, leaf_label, categorical):
    labels = np.array([0, 1], dtype=np.int32)
    weights = np.where(labels == heavy, 3.0, 1.0)
    column = Column(np.array([0, 1]), 2, categorical)
    tree, _ = grow_tree(pack([column]), FixedPointSums.of_labels(labels, weights, 2), TreeParams())
    gap = tree.apply(pack([Column(np.array([2]), 2)]).packed)
    assert tree.label[gap] == [leaf_label]


def test_a_category_that_a_node_had_not_follows_the_heavier_side():
    columns = [Column(np.array([0, 0, 0, 1, 1]), 2), Column(np.array([0, 1, 1, 2, 2]), 3, True)]
    labels = np.array([0, 1, 1, 2, 2], dtype=np.int32)
    tree, _ = grow_tree(
        pack(columns), FixedPointSums.of_labels(labels, np.ones(5), 3), TreeParams("error")
    )
    inner = tree.children[0][0] if tree.feature[0] == 0 else None
    assert inner is not None
    assert tree.feature[inner] == 1
    absent = tree.apply(pack([Column(np.zeros(2, int), 2), Column(np.array([2, 3]), 3)]).packed)
    assert tree.label[absent].tolist() == [1, 1]


def test_labels_are_the_heaviest_and_the_first_of_equals():
    tree, _ = grown()
    value = np.array([[0.2, 0.2, 0.1], [0.1, 0.3, 0.3], [0.0, 0.0, 0.1]])
    fields = (tree.feature[:3], tree.children[:3], tree.left_bitset[:3], value, tree.gain[:3], 1)
    assert GrownTree(*fields).label.tolist() == [0, 1, 2]


def test_take_gathers():
    values, places = np.array([5, 7, 9], dtype=np.int32), np.array([2, 0, 0, 1], dtype=np.int32)
    out = np.empty(4, dtype=np.int32)
    take(values, places, out)
    assert out.tolist() == [9, 5, 5, 7]
