"""Bundles of features give the histograms and the trees of single ones, bit for bit."""

import numpy as np
import pytest
from reference.histograms import by_kernel
from reference.tree import Column
from reference.tree_cases import pack

from steadyboost.trees.data.bundling import MAX_CELLS, MAX_WIDTH, plan
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums


def cards(n=3000, n_labels=3, seed=0):
    """Columns of few bins, one with gaps and one of categories, and a wide one."""
    rng = np.random.default_rng(seed)
    widths = [4, 13, 4, 13, 2, 1, 7, 200]
    columns = [Column(rng.integers(0, w, n), w, categorical=f == 6) for f, w in enumerate(widths)]
    columns[2] = Column(rng.integers(0, 5, n), 4)
    labels = (columns[0].bins + columns[1].bins // 5 + (columns[6].bins == 3)) % n_labels
    return pack(columns), FixedPointSums.of_labels(labels, rng.exponential(size=n), n_labels)


@pytest.mark.parametrize("counting", [False, True])
@pytest.mark.parametrize("n_rows", [3000, 1500, 20])
def test_marginals_are_the_histograms_of_single_columns(n_rows, counting):
    binned, sums = cards()
    rows = np.sort(np.random.default_rng(1).choice(3000, n_rows, replace=False)).astype(np.int32)
    bundled = binned.bins(None, sums.n_channels)
    assert len(bundled.bundles.members) == 8
    np.testing.assert_array_equal(
        by_kernel(bundled, sums, rows, counting),
        by_kernel(binned.bins(), sums, rows, counting),
    )


@pytest.mark.parametrize("n_channels", [2, 3, 11])
@pytest.mark.parametrize("n_rows", [3000, 1500])
def test_marginals_of_vectors_are_those_of_single_columns(n_rows, n_channels):
    binned, _ = cards()
    rng = np.random.default_rng(2)
    sums = FixedPointSums.of_channels(rng.normal(size=(3000, n_channels)))
    rows = np.sort(rng.choice(3000, n_rows, replace=False)).astype(np.int32)
    bundled = binned.bins(None, n_channels)
    assert len(bundled.bundles.members) == 8
    np.testing.assert_array_equal(
        by_kernel(bundled, sums, rows, False),
        by_kernel(binned.bins(), sums, rows, False),
    )


@pytest.mark.parametrize("least", [1, 20])
def test_trees_are_the_same(least):
    binned, sums = cards()
    growth = TreeParams(max_depth=5, min_samples_leaf=least)
    bundled, leaf = grow_tree(binned, sums, growth)
    single, other = grow_tree(binned, sums, growth, features=np.arange(8))
    np.testing.assert_array_equal(bundled.children, single.children)
    np.testing.assert_array_equal(bundled.left_bitset, single.left_bitset)
    np.testing.assert_array_equal(bundled.value, single.value)
    np.testing.assert_array_equal(leaf, other)


@pytest.mark.parametrize("n_channels", [1, 2, 10, 300])
def test_a_plan_has_every_feature_once_within_the_limits(n_channels):
    widths = np.array([4, 13, 4, 13, 4, 13, 4, 13, 4, 13, 256, 1])
    members, bundled = plan(widths, n_channels)
    assert sorted(members[:, 1].tolist()) == list(range(len(widths)))
    single = widths.max()
    assert max(bundled) <= max(single, min(MAX_WIDTH, MAX_CELLS // n_channels))
    for bundle, feature, stride in members:
        assert bundled[bundle] % (stride * widths[feature]) == 0


def test_poker_hands_take_four_bundles_instead_of_ten_columns():
    assert len(plan(np.array([4, 13] * 5), 10)[1]) == 4


def test_wide_columns_and_few_rows_are_left_alone():
    rng = np.random.default_rng(0)
    wide = pack([Column(rng.integers(0, 200, 5000), 200) for _ in range(3)])
    few = pack([Column(rng.integers(0, 4, 20), 4) for _ in range(3)])
    assert wide.bins(None, 2).bundles is None
    assert few.bins(None, 2).bundles is None
