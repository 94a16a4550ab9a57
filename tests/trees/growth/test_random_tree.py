"""Random trees obey their laws, on rows with gaps, categories and weights."""

from dataclasses import replace

import numpy as np
import pytest
from reference.random_tree import (
    best_of_categories,
    best_of_numbers,
    class_sums,
    purity,
    rows_of_nodes,
    score_of_cut,
)
from reference.tree import Column
from reference.tree_cases import (
    assert_identical,
    bins_in,
    pack,
    random_columns,
    related_labels,
    unpack,
)
from scipy.sparse import csr_array

from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.growth import random_tree as module
from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.splits.criteria import FEW_CATEGORIES

GROWTHS = [RandomGrowth(), RandomGrowth(5), RandomGrowth(3, random_cuts=True)]
K = 3

each_growth = pytest.mark.parametrize("growth", GROWTHS, ids=repr)
each_seed = pytest.mark.parametrize("seed", range(3))


def case(seed=0, n=150, **kinds):
    """Binned rows with labels and bootstrap-like weights, a third of them zero."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n, **{"numeric": 3, "gappy": 2, "categorical": 2, **kinds})
    labels = related_labels(rng, columns, K)
    weights = rng.poisson(1.0, n) * rng.uniform(0.5, 2, n)
    return pack(columns), labels, weights


def grown(growth, seed=0, **kinds):
    binned, labels, weights = case(seed, **kinds)
    tree = grow_random_tree(binned, labels, weights, K, growth, seed)
    inside = rows_of_nodes(tree, unpack(binned), np.flatnonzero(weights))
    return binned, labels, weights, tree, inside


@each_growth
@each_seed
def test_leaves_part_the_rows_and_hold_their_class_weights(growth, seed):
    binned, labels, weights, tree, inside = grown(growth, seed)
    leaves, applied = np.flatnonzero(tree.is_leaf), binned.leaves(tree)
    together = np.concatenate([inside[leaf] for leaf in leaves])
    np.testing.assert_array_equal(np.sort(together), np.flatnonzero(weights))
    for leaf in leaves:
        own = np.flatnonzero((applied == leaf) & (weights > 0))
        np.testing.assert_array_equal(np.sort(inside[leaf]), own)
        assert len(own) >= growth.min_samples_leaf
    for node, rows in inside.items():
        sums = class_sums(labels, weights, rows, K)
        np.testing.assert_allclose(tree.value[node], sums, rtol=1e-12, atol=0)


@each_growth
@each_seed
def test_gains_are_those_of_the_splits(growth, seed):
    _, labels, weights, tree, inside = grown(growth, seed)
    assert (tree.gain[tree.is_leaf] == 0).all()
    for node in np.flatnonzero(~tree.is_leaf):
        score = [purity(labels, weights, inside[n], K) for n in (node, *tree.children[node])]
        expected = (score[1] + score[2] - score[0]) / weights.sum()
        np.testing.assert_allclose(tree.gain[node], expected, rtol=0, atol=1e-12)
        assert tree.gain[node] > 0


@pytest.mark.parametrize("growth", GROWTHS[:2], ids=repr)
@each_seed
def test_each_split_is_the_best_of_its_feature(growth, seed):
    binned, labels, weights, tree, inside = grown(growth, seed)
    bins, least = unpack(binned), growth.min_samples_leaf
    for node in np.flatnonzero(~tree.is_leaf):
        f, rows, goes_left = tree.feature[node], inside[node], bins_in(tree.left_bitset[node])
        own = bins[rows, f]
        left = np.isin(own, sorted(goes_left))
        score = score_of_cut(left, rows, labels, weights, K, least)
        if binned.categorical[f]:  # by the share of the class that was drawn
            best = best_of_categories(own, rows, labels, weights, K, least)
            assert np.isclose(score, best, rtol=1e-12, atol=0).any()
        else:
            n_bins = binned.n_bins[f]
            gaps_left = n_bins in goes_left
            best = best_of_numbers(own, n_bins, rows, labels, weights, K, least, gaps_left)
            np.testing.assert_allclose(score, best, rtol=1e-12)


@pytest.mark.parametrize("random_cuts", [False, True])
def test_categories_that_say_nothing_are_left_alone(random_cuts):
    """Of two hundred categories, each with a few rows, the best order looks good by chance."""
    rng, n = np.random.default_rng(0), 1000
    number = Column(rng.integers(8, size=n), 8)
    many = Column(rng.integers(200, size=n), 200, categorical=True)
    labels = (number.bins + rng.normal(0, 4, n) > 4).astype(np.int32)
    used = {}
    for weighs in (False, True):
        growth = RandomGrowth(20, random_cuts, weighs_categories=weighs)
        trees = [
            grow_random_tree(pack([number, many]), labels, np.ones(n), 2, growth, seed)
            for seed in range(20)
        ]
        used[weighs] = sum((tree.feature[~tree.is_leaf] == 1).sum() for tree in trees)
    assert used[True] < 0.5 * used[False]


def test_gains_of_categories_are_shrunk_by_their_signal():
    growth = RandomGrowth(5, weighs_categories=True)
    binned, labels, weights, tree, inside = grown(growth, n=600, n_bins=25)
    bins, n_shrunk = unpack(binned), 0
    for node in np.flatnonzero(~tree.is_leaf):
        score = [purity(labels, weights, inside[n], K) for n in (node, *tree.children[node])]
        whole = (score[1] + score[2] - score[0]) / weights.sum()
        f = tree.feature[node]
        if binned.categorical[f] and len(np.unique(bins[inside[node], f])) > FEW_CATEGORIES:
            assert 0 < tree.gain[node] < whole
            n_shrunk += 1
        else:
            np.testing.assert_allclose(tree.gain[node], whole, rtol=0, atol=1e-12)
    assert n_shrunk > 0


@each_seed
def test_a_tree_that_may_see_all_features_leaves_nothing_to_gain(seed, monkeypatch):
    """Where all features are drawn, a leaf is pure, small, or has no cut that gains."""
    monkeypatch.setattr(RandomGrowth, "n_drawn", staticmethod(lambda n: n))
    binned, labels, weights, tree, inside = grown(RandomGrowth(4), seed, gappy=0, categorical=0)
    bins = unpack(binned)
    for leaf in np.flatnonzero(tree.is_leaf):
        rows = inside[leaf]
        best = max(
            best_of_numbers(bins[rows, f], n_bins, rows, labels, weights, K, 4, False)
            for f, n_bins in enumerate(binned.n_bins)
        )
        assert best <= purity(labels, weights, rows, K) * (1 + 1e-9)


@pytest.mark.parametrize("random_cuts", [False, True])
def test_without_a_limit_leaves_are_pure_where_rows_can_be_told_apart(random_cuts):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(80, 4)), rng.integers(K, size=80).astype(np.int32)
    binned = Binner.learn(X, np.zeros(4, dtype=bool)).bin(X)
    tree = grow_random_tree(binned, labels, np.ones(80), K, RandomGrowth(1, random_cuts), 0)
    np.testing.assert_array_equal(tree.label[binned.leaves(tree)], labels)
    np.testing.assert_array_equal((tree.value[tree.is_leaf] > 0).sum(axis=1), 1)


@each_growth
def test_the_seed_says_all(growth):
    binned, labels, weights = case()
    one, same, other = (
        grow_random_tree(binned, labels, weights, K, growth, seed) for seed in (1, 1, 2)
    )
    assert_identical(one, same)
    assert len(one.feature) != len(other.feature) or (one.left_bitset != other.left_bitset).any()


@each_growth
def test_rows_without_weight_have_no_influence(growth):
    binned, labels, weights = case()
    tree = grow_random_tree(binned, labels, weights, K, growth, 0)
    others = np.where(weights > 0, labels, (labels + 1) % K)
    assert_identical(grow_random_tree(binned, others, weights, K, growth, 0), tree)
    kept = np.flatnonzero(weights)
    taken = grow_random_tree(binned.take(kept), labels[kept], weights[kept], K, growth, 0)
    assert_identical(taken, tree)


@each_growth
def test_only_listed_features_are_split_on(growth):
    binned, labels, weights = case()
    tree = grow_random_tree(binned, labels, weights, K, growth, 0, np.array([1, 4, 6]))
    assert set(tree.feature[~tree.is_leaf].tolist()) == {1, 4, 6}


@each_growth
def test_bins_that_a_node_has_not_seen_go_somewhere(growth):
    """Gaps and categories that training lacked end in a leaf, the same one every time."""
    binned, labels, weights = case(gappy=0)
    tree = grow_random_tree(binned, labels, weights, K, growth, 0)
    gaps = np.zeros((len(binned.packed), 5), dtype=np.uint32)
    for f, n_bins in enumerate(binned.n_bins):
        gaps[f // 4] |= np.uint32(n_bins) << np.uint32(8 * (f % 4))
    leaves = replace(binned, packed=gaps).leaves(tree)
    assert tree.is_leaf[leaves].all()
    assert len(set(leaves.tolist())) == 1


def test_gaps_go_to_either_side():
    sides = set()
    binned, labels, weights = case(numeric=0, gappy=3, categorical=0)
    for seed in range(8):
        tree = grow_random_tree(binned, labels, weights, K, RandomGrowth(5), seed)
        sides |= {9 in bins_in(tree.left_bitset[n]) for n in np.flatnonzero(~tree.is_leaf)}
    assert sides == {False, True}


@each_growth
def test_sparse_and_dense_tables_give_the_same_trees(growth):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (120, 9)).astype(float)
    labels = (X[:, 0] + X[:, 1] > X[:, 2]).astype(np.int32)
    categorical, weights = np.zeros(9, dtype=bool), rng.poisson(1.0, 120).astype(float)
    trees = []
    for table in (X, csr_array(X)):
        binned = Binner.learn(table, categorical).bin(table)
        trees.append(grow_random_tree(binned, labels, weights, 2, growth, 3, np.arange(1, 9)))
    assert_identical(*trees)


def test_of_many_features_some_are_chosen_from(monkeypatch):
    monkeypatch.setattr(module, "MOST_FEATURES", 3)
    binned, labels, weights = case()
    trees = [grow_random_tree(binned, labels, weights, K, GROWTHS[1], seed) for seed in range(4)]
    used = [set(tree.feature[~tree.is_leaf].tolist()) for tree in trees]
    assert max(map(len, used)) <= 3
    assert len(set.union(*used)) > 3


@each_growth
def test_one_class_or_one_row_is_a_leaf(growth):
    binned, labels, weights = case()
    for own_labels, own in [(np.zeros_like(labels), weights), (labels, np.eye(len(labels))[7])]:
        tree = grow_random_tree(binned, own_labels, own, K, growth, 0)
        assert tree.is_leaf.all()
        assert tree.depth == 0
        np.testing.assert_allclose(tree.value.sum(), own.sum())


@each_growth
def test_weights_of_unlike_size_do_no_harm(growth):
    """Rows that weigh next to nothing are never a side of their own: its score is rounding."""
    binned, labels, weights = case()
    weights = np.where(np.arange(len(weights)) % 2, weights * 1e-30, weights)
    tree = grow_random_tree(binned, labels, weights, K, growth, 0)
    assert np.isfinite(tree.gain).all()
    assert np.isfinite(tree.value).all()
    assert (tree.gain <= 1).all()
