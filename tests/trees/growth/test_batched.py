"""Trees that are grown in one call are those that are grown one by one, bit for bit."""

from dataclasses import fields

import numpy as np
import pytest

from steadyboost.ensemble.workers import Workers
from steadyboost.preprocessing.binner import Binner
from steadyboost.trees import many as module
from steadyboost.trees.growth.batched import grow_weighted_trees
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
    monkeypatch.setattr(module, "MANY_CELLS", 1_000)
    for n_threads in (1, 3):
        with Workers(n_threads) as workers:
            grown, said = grow_weighted_trees(binned, labels, weights, growth, n_threads, workers.run)
        assert_same_trees([tree for tree, _ in grown], [tree for tree, _ in alone])
        np.testing.assert_array_equal(said, votes)


def test_trees_share_no_memory():
    binned, labels, weights = rows()
    grown, _ = grow_weighted_trees(binned, labels, weights, TreeParams(max_depth=2))
    assert all(tree.left_bitset.base is None and label.base is None for tree, label in grown)
