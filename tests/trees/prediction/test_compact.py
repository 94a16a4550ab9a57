"""Deep trees in few bytes add what the trees themselves add."""

import numpy as np
import pytest
from reference.tree_cases import pack, random_columns, related_labels
from scipy.sparse import csr_array

from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.data import binned as binned_module
from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.prediction.apply import KEY_ROWS
from steadyboost.trees.prediction.compact import CompactForest, compact, is_plain
from steadyboost.trees.prediction.leaf_sizes import reachable, with_leaf_size

K = 3


def forest(binned, labels, sizes=(1, 1, 2.5, 20)):
    trees = [
        grow_random_tree(binned, labels, np.ones(len(labels)), K, RandomGrowth(1, t % 2 > 0), t)
        for t in range(len(sizes))
    ]
    sized = [with_leaf_size(tree, size) for tree, size in zip(trees, sizes, strict=True)]
    return [reachable(tree) for tree in sized]


def table(n, gaps=True):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 5)) < 0.5, rng.normal(size=(n, 5)), 0)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(K, size=n).astype(np.int32)


def by_loops(binned, trees, columns, scores):
    for tree, first in zip(trees, columns, strict=True):
        for row, leaf in enumerate(binned.leaves(tree)):
            for c, value in enumerate(tree.value[leaf]):
                scores[row, first + c] += value
    return scores


@pytest.mark.parametrize("n", [5, KEY_ROWS + 30])
def test_values_are_those_of_the_trees(n):
    X, labels = table(n)
    binned = Binner.learn(X, np.zeros(5, dtype=bool)).bin(X)
    trees, columns = forest(binned, labels), [0, 3, 0, 3]
    assert all(map(is_plain, trees))
    scores = np.asfortranarray(np.random.default_rng(1).normal(size=(n, 6)))
    expected = by_loops(binned, trees, columns, scores.copy())
    CompactForest(trees, columns).add(binned, scores)
    np.testing.assert_array_equal(scores, expected)


def test_sparse_rows_are_added_part_by_part(monkeypatch):
    X, labels = table(300, gaps=False)
    binner = Binner.learn(X, np.zeros(5, dtype=bool))
    dense, sparse = binner.bin(X), binner.bin(csr_array(X))
    trees = forest(dense, labels)
    expected = by_loops(dense, trees, [0] * 4, np.zeros((300, K)))
    monkeypatch.setattr(binned_module, "CHUNK_BINS", 800)
    scores = np.zeros((300, K), order="F")
    CompactForest(trees, [0] * 4).add(sparse, scores)
    np.testing.assert_array_equal(scores, expected)


def test_leaves_of_one_class_share_a_row():
    X, labels = table(400, gaps=False)
    binned = Binner.learn(X[:, :2], np.zeros(2, dtype=bool)).bin(X[:, :2])
    (pure,) = forest(binned, labels, (1,))
    in_few = compact(pure, K)
    is_leaf = pure.is_leaf
    single = (pure.value == 1).any(axis=1)
    assert len(in_few.values) == (is_leaf & ~single).sum()
    assert len(in_few.nodes) == len(pure.feature)
    used = {0, *pure.feature.tolist()}
    assert set(CompactForest([pure], [0]).features.tolist()) == used


def test_sets_of_categories_are_not_thresholds():
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 150, numeric=0, gappy=0, categorical=2)
    labels, weights = related_labels(rng, columns, K), np.ones(150)
    tree = grow_random_tree(pack(columns), labels, weights, K, RandomGrowth(1, False), 0)
    assert not is_plain(tree)
