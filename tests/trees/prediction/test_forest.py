"""Sums of leaves against loops over rows and trees."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.data import binned as sparse_module
from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.apply import KEY_ROWS
from steadyboost.trees.prediction.forest import LeafSums

K = 3


def binned_rows(n, sparse=False, seed=0):
    X = np.random.default_rng(seed).poisson(0.7, (n, 6)).astype(float)
    table = csr_array(X) if sparse else X
    return Binner.learn(table, np.zeros(6, dtype=bool)).bin(table)


def scalar(tree: GrownTree) -> GrownTree:
    """The same tree with one number at each node."""
    values = np.random.default_rng(len(tree.feature)).normal(size=(len(tree.feature), 1))
    parts = tree.feature, tree.children, tree.left_bitset, values, tree.gain, tree.depth
    return GrownTree(*parts)


def trees_of(binned):
    """A leaf alone, and trees with one or several numbers to a leaf."""
    rng = np.random.default_rng(1)
    labels = rng.integers(K, size=binned.n_rows).astype(np.int32)
    grow = [
        grow_random_tree(binned, labels, weights, K, RandomGrowth(size), size)
        for size, weights in [(3, np.ones(binned.n_rows)), (20, np.ones(binned.n_rows))]
    ]
    alone = grow_random_tree(binned, labels, np.ones(binned.n_rows), K, RandomGrowth(10**6), 0)
    return [grow[0], scalar(grow[1]), scalar(alone), grow[1], scalar(grow[0])]


def by_loops(binned, trees, first_columns, scores):
    """Each row's leaf in each tree, one after the other."""
    for tree, first in zip(trees, first_columns, strict=True):
        for row, leaf in enumerate(binned.leaves(tree)):
            for c, value in enumerate(tree.value[leaf]):
                scores[row, first + c] += value
    return scores


def start(n, n_columns=8):
    return np.asfortranarray(np.random.default_rng(2).normal(size=(n, n_columns)))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [1, 100, KEY_ROWS, KEY_ROWS + 150])
def test_the_values_of_leaves_are_added_row_by_row(n, order):
    binned = binned_rows(n)
    trees, columns, scores = trees_of(binned), [0, 3, 4, 5, 3], start(n).copy(order=order)
    expected = by_loops(binned, trees, columns, scores.copy())
    LeafSums(trees, columns).add(binned, scores)
    np.testing.assert_array_equal(scores, expected)


def test_sparse_rows_are_added_part_by_part(monkeypatch):
    dense, sparse = binned_rows(300), binned_rows(300, sparse=True)
    trees, columns = trees_of(dense), [0, 3, 4, 5, 3]
    expected = by_loops(dense, trees, columns, start(300))
    monkeypatch.setattr(sparse_module, "CHUNK_BINS", 800)  # a hundred rows
    scores = start(300)
    LeafSums(trees, columns).add(sparse, scores)
    np.testing.assert_array_equal(scores, expected)


def test_features_are_those_that_trees_look_at():
    trees = trees_of(binned_rows(200))
    used = {int(f) for tree in trees for f in tree.feature}
    assert set(LeafSums(trees, [0] * 5).features.tolist()) == used | {0}
