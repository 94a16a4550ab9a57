"""Nodes of a tree that is growing."""

import numpy as np

from steadyboost.trees.growth.grower import close
from steadyboost.trees.growth.tree import GrownTree


def test_sums_and_gains_become_shares():
    rng = np.random.default_rng(0)
    totals, gain = rng.integers(2**60, size=(9, 4)), rng.normal(size=9)
    gain[:2] = 0.0, -np.inf
    depth, value, before = rng.integers(5, size=9), np.empty((9, 4)), gain.copy()
    assert close(totals, gain, depth, 3.5, value) == depth.max()
    np.testing.assert_array_equal(value, totals / 3.5)
    np.testing.assert_array_equal(gain, np.maximum(before, 0.0) / 3.5)


def test_an_empty_tree_is_one_leaf():
    tree = empty_tree(5, 2)
    tree[3][0] = 6, 2
    grown = GrownTree.from_growth(tree, 1, 8.0)
    assert grown.is_leaf.tolist() == [True]
    assert grown.value.tolist() == [[0.75, 0.25]]
    assert (grown.depth, grown.label.tolist()) == (0, [0])
