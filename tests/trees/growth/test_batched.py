"""Trees that are grown in one call are those that are grown one by one.

Those of weights bit for bit; those of Newton's steps have the same splits, and steps at leaves.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from reference.tree_cases import bins_in, pack, random_columns
from scipy.sparse import csr_array

from steadyboost.ensemble.workers import Workers
from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.growth import batched as module
from steadyboost.trees.growth.batched import grow_newton_trees, grow_weighted_trees
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums

GROWTHS = [
    TreeParams(max_depth=1),
    TreeParams("entropy", max_depth=3, min_samples_leaf=4, min_weight_leaf=0.02),
    TreeParams("error", max_leaf_nodes=6),
    TreeParams(),
]


def rows(n=300, seed=0):
    """Numbers with gaps, a category, and weights of which many are zero, except for two trees."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 4] = rng.integers(5, size=n)
    X[rng.random((n, 6)) < 0.1] = np.nan
    weights = rng.exponential(size=(17, n)) * (rng.random((17, n)) < rng.random((17, 1)))
    weights[:, 0] += 1e-3
    weights[3:5] += 1e-3
    labels = rng.integers(2, size=(17, n)).astype(np.int32)
    return Binner.learn(X, np.arange(6) == 4).bin(X), labels, weights


def assert_same_trees(trees, others):
    assert len(trees) == len(others)
    for one, other in zip(trees, others, strict=True):
        for field in fields(GrownTree):
            value, expected = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_array_equal(value, expected)
            assert np.asarray(value).dtype == np.asarray(expected).dtype


def one_by_one(binned, labels, weights, growth):
    pairs = zip(np.broadcast_to(labels, weights.shape), weights, strict=True)
    return [grow_tree(binned, FixedPointSums.of_labels(y, w, 2), growth) for y, w in pairs]


@pytest.mark.parametrize("growth", GROWTHS, ids=repr)
@pytest.mark.parametrize("n_labels", [1, 17], ids=["one for all", "one each"])
def test_they_are_those_of_one_by_one(growth, n_labels):
    binned, labels, weights = rows()
    grown, votes = grow_weighted_trees(binned, labels[:n_labels], weights, growth)
    expected = one_by_one(binned, labels[:n_labels], weights, growth)
    assert_same_trees([tree for tree, _ in grown], [tree for tree, _ in expected])
    for said, (_, label), (tree, _) in zip(votes, grown, expected, strict=True):
        np.testing.assert_array_equal(label, tree.label)
        np.testing.assert_array_equal(said, tree.label[binned.leaves(tree)])


@pytest.mark.parametrize("growth", GROWTHS, ids=repr)
def test_threads_and_stretches_do_not_matter(growth, monkeypatch):
    binned, labels, weights = rows()
    alone, votes = grow_weighted_trees(binned, labels, weights, growth)
    monkeypatch.setattr(module, "BATCH_CELLS", 1_000)
    for n_threads in (1, 3):
        with Workers(n_threads) as workers:
            grown, said = grow_weighted_trees(
                binned, labels, weights, growth, n_threads, workers.run
            )
        assert_same_trees([tree for tree, _ in grown], [tree for tree, _ in alone])
        np.testing.assert_array_equal(said, votes)


def test_trees_share_no_memory():
    binned, labels, weights = rows()
    grown, _ = grow_weighted_trees(binned, labels, weights, TreeParams(max_depth=2))
    assert all(tree.left_bitset.base is None and label.base is None for tree, label in grown)


NEWTON = [
    TreeParams("newton", max_leaf_nodes=8, min_samples_leaf=5, l2=1.0),
    TreeParams("newton", max_depth=3),
    TreeParams("newton", max_leaf_nodes=4, l2=0.1),
]
each_newton = pytest.mark.parametrize("growth", NEWTON, ids=repr)
KINDS = [{"numeric": 4, "gappy": 0}, {"numeric": 2, "gappy": 2, "categorical": 2}]


def newton_case(kinds, n=200, n_trees=3, seed=0):
    """Binned rows with gradients and curvatures that depend on them, as (trees, n) arrays."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n, **kinds)
    signal = np.sin(columns[0].bins) + np.cos(columns[1].bins)
    gradients = rng.normal(size=(n_trees, n)) + signal
    return pack(columns), gradients, rng.uniform(0.1, 1, (n_trees, n))


def all_rows(binned):
    return np.arange(binned.n_rows, dtype=np.int32)


def steps_of_rows(leaves, gradients, curvatures, rows, l2, n_nodes):
    """-G / (H + l2) of each leaf, row by row."""
    g, h = np.zeros(n_nodes), np.zeros(n_nodes)
    for i in rows:
        g[leaves[i]] += gradients[i]
        h[leaves[i]] += curvatures[i]
    return np.divide(-g, h + l2, out=np.zeros(n_nodes), where=h > 0)


def assert_same_splits(tree, other):
    np.testing.assert_array_equal(tree.feature, other.feature)
    np.testing.assert_array_equal(tree.children, other.children)
    assert [bins_in(s) for s in tree.left_bitset] == [bins_in(s) for s in other.left_bitset]
    assert tree.depth == other.depth


@each_newton
@pytest.mark.parametrize("kinds", KINDS, ids=["numbers", "all"])
def test_newton_trees_are_those_of_the_general_growth(growth, kinds):
    binned, gradients, curvatures = newton_case(kinds)
    trees = grow_newton_trees(binned, gradients, curvatures, all_rows(binned), None, growth)
    for tree, g, h in zip(trees, gradients, curvatures, strict=True):
        other, leaves = grow_tree(
            binned, FixedPointSums.of_channels(np.column_stack([g, h])), growth
        )
        assert len(tree.feature) > 1
        assert_same_splits(tree, other)
        np.testing.assert_allclose(tree.gain, other.gain, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(binned.leaves(tree), leaves)
        steps = steps_of_rows(leaves, g, h, all_rows(binned), growth.l2, len(tree.feature))
        leaf = tree.is_leaf
        np.testing.assert_allclose(tree.value[leaf, 0], steps[leaf], rtol=0, atol=1e-10)


def test_what_categories_gain_by_chance_follows_from_the_gradients():
    """It is their variance, whatever the size of the gradients is."""
    binned, gradients, curvatures = newton_case({**KINDS[1], "n_bins": 25})
    growth = TreeParams("newton", max_depth=3, category_noise=1.0)
    for size in (1.0, 1e-3):
        own_gradients = size * gradients
        trees = grow_newton_trees(binned, own_gradients, curvatures, all_rows(binned), None, growth)
        for tree, g, h in zip(trees, own_gradients, curvatures, strict=True):
            noise = float(g @ g / h.sum())
            sums = FixedPointSums.of_channels(np.column_stack([g, h]))
            other, _ = grow_tree(binned, sums, replace(growth, category_noise=noise))
            assert len(tree.feature) > 1
            assert_same_splits(tree, other)


@each_newton
def test_newton_trees_are_of_listed_rows_and_features(growth):
    binned, gradients, curvatures = newton_case(KINDS[1])
    rows, features = all_rows(binned)[::3], np.array([0, 2, 5])
    own = gradients[:, rows], curvatures[:, rows]
    trees = grow_newton_trees(binned, *own, rows, features, growth)
    for j, tree in enumerate(trees):
        assert set(tree.feature[~tree.is_leaf].tolist()) <= {0, 2, 5}
        leaves = binned.leaves(tree)
        steps = steps_of_rows(
            leaves, gradients[j], curvatures[j], rows, growth.l2, len(tree.feature)
        )
        own = np.unique(leaves[rows])
        np.testing.assert_allclose(tree.value[own, 0], steps[own], rtol=0, atol=1e-10)
        assert np.bincount(leaves[rows])[own].min() >= growth.min_samples_leaf


def test_a_newton_tree_does_not_depend_on_those_beside_it():
    binned, gradients, curvatures = newton_case(KINDS[0])
    together = grow_newton_trees(binned, gradients, curvatures, all_rows(binned), None, NEWTON[0])
    for j, tree in enumerate(together):
        own = gradients[[j]], curvatures[[j]]
        (alone,) = grow_newton_trees(binned, *own, all_rows(binned), None, NEWTON[0])
        assert_same_splits(tree, alone)
        np.testing.assert_array_equal(tree.value, alone.value)


def test_sparse_and_dense_tables_give_the_same_newton_trees():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (150, 7)).astype(float)
    gradients = rng.normal(size=(2, 75)) + X[::2, 0] - X[::2, 1]
    curvatures = rng.uniform(0.1, 1, (2, 75))
    rows, grown = np.arange(0, 150, 2, dtype=np.int32), []
    for table in (X, csr_array(X)):
        binned = Binner.learn(table, np.zeros(7, dtype=bool)).bin(table)
        grown.append(
            grow_newton_trees(binned, gradients, curvatures, rows, np.arange(6), NEWTON[0])
        )
    for tree, other in zip(*grown, strict=True):
        assert_same_splits(tree, other)
        np.testing.assert_array_equal(tree.value, other.value)


def test_gradients_of_nothing_make_a_leaf_without_a_step():
    binned, gradients, _ = newton_case(KINDS[0])
    nothing = np.zeros_like(gradients)
    for tree in grow_newton_trees(binned, nothing, nothing, all_rows(binned), None, NEWTON[0]):
        assert tree.is_leaf.all()
        np.testing.assert_array_equal(tree.value, 0)
