"""Trees that are grown in one call are those that are grown one by one, bit for bit."""

from dataclasses import fields

import numpy as np
import pytest

from steadyboost.core.workers import Workers
from steadyboost.learners.prepare import Binner
from steadyboost.trees import many as module
from steadyboost.trees.many import grow_many
from steadyboost.trees.tree import GrownTree, Growth, Sums, grow_tree

GROWTHS = [
    Growth(max_depth=1),
    Growth("entropy", max_depth=3, min_samples_leaf=4, min_weight_leaf=0.02),
    Growth("error", max_leaf_nodes=6),
    Growth(),
]


def rows(n=300, k=3, seed=0):
    """Numbers with gaps, a category, and weights of which many are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 4] = rng.integers(5, size=n)
    X[rng.random((n, 6)) < 0.1] = np.nan
    weights = rng.exponential(size=(n, 17)) * (rng.random((n, 17)) < rng.random(17))
    weights[0] += 1e-3
    categorical = np.arange(6) == 4
    return Binner.learn(X, categorical).bin(X), rng.integers(k, size=n), np.asfortranarray(weights)


def assert_same_trees(trees, others):
    assert len(trees) == len(others)
    for one, other in zip(trees, others, strict=True):
        for field in fields(GrownTree):
            value, expected = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_array_equal(value, expected)
            assert np.asarray(value).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("growth", GROWTHS, ids=repr)
@pytest.mark.parametrize("k", [2, 3])
def test_they_are_those_of_one_by_one(growth, k):
    binned, y, weights = rows(k=k)
    one_by_one = [grow_tree(binned, Sums.of_labels(y, w, k), growth)[0] for w in weights.T]
    assert_same_trees(grow_many(binned, y, weights, k, growth), one_by_one)


@pytest.mark.parametrize("growth", GROWTHS, ids=repr)
def test_threads_and_stretches_do_not_matter(growth, monkeypatch):
    binned, y, weights = rows()
    alone = grow_many(binned, y, weights, 3, growth)
    monkeypatch.setattr(module, "MANY_CELLS", 1_000)
    for n_threads in (1, 3):
        with Workers(n_threads) as workers:
            trees = grow_many(binned, y, weights, 3, growth, n_threads, workers.run)
        assert_same_trees(trees, alone)


def test_trees_share_no_memory():
    binned, y, weights = rows()
    trees = grow_many(binned, y, weights, 3, Growth(max_depth=2))
    assert all(tree.left_set.base is None for tree in trees)
