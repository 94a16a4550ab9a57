"""Columns of numbers become bins, whose cuts are learnt from training rows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from reference.tree_cases import unpack

from steadyboost.preprocessing import binner as module
from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums

NAN = np.nan


def bin_table(X, categorical=None, **options):
    categorical = np.zeros(X.shape[1], dtype=bool) if categorical is None else categorical
    binner = Binner.learn(X, categorical, **options)
    return binner, binner.bin(X)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 8, 9])
def test_bins_count_the_cuts_below_in_every_column(n_features):
    X = np.random.default_rng(n_features).normal(size=(400, n_features)).round(1)
    binner, binned = bin_table(X)
    expected = [np.searchsorted(binner.cuts[f], X[:, f]) for f in range(n_features)]
    np.testing.assert_array_equal(unpack(binned), np.transpose(expected))
    np.testing.assert_array_equal(binned.n_bins, [len(np.unique(column)) for column in X.T])
    assert binned.packed.shape == (-(-n_features // 4), 400)


def test_gaps_have_the_bin_after_the_last():
    X = np.array([[1.0, NAN], [NAN, NAN], [3, NAN]])
    _, binned = bin_table(X)
    np.testing.assert_array_equal(unpack(binned), [[0, 1], [2, 1], [1, 1]])
    np.testing.assert_array_equal(binned.has_missing, [1, 1])
    np.testing.assert_array_equal(binned.n_bins, [2, 1])


def test_codes_of_categories_are_their_bins():
    codes = np.random.default_rng(0).permutation(np.arange(255.0).repeat(2))[:, None]
    _, binned = bin_table(codes, np.array([True]), max_bins=16)
    np.testing.assert_array_equal(unpack(binned), codes)


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_there_are_no_more_bins_than_wanted(max_bins):
    X = np.random.default_rng(1).normal(size=(1000, 2))
    assert bin_table(X, max_bins=max_bins)[1].n_bins.tolist() == [max_bins] * 2


def test_weights_move_the_cuts():
    X = np.linspace(0, 1, 1000)[:, None]
    weights = np.where(X[:, 0] < 0.5, 1.0, 9.0)
    cuts = bin_table(X, weights=weights, max_bins=10)[0].cuts[0]
    assert (cuts < 0.5).sum() == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_layout_and_type_do_not_matter(order, dtype):
    X = np.random.default_rng(2).integers(9, size=(100, 5))
    _, expected = bin_table(X.astype(float))
    _, binned = bin_table(np.asarray(X, dtype=dtype, order=order))
    np.testing.assert_array_equal(binned.packed, expected.packed)


def test_threads_do_not_change_bins():
    X = np.random.default_rng(3).normal(size=(3000, 9))
    X[::7, ::2] = NAN
    binner, binned = bin_table(X)
    with ThreadPoolExecutor(3) as pool:

        def run(function, items):
            return list(pool.map(function, items))

        threaded = Binner.learn(X, np.zeros(9, dtype=bool), run=run)
        np.testing.assert_array_equal(threaded.bin(X, run).packed, binned.packed)
    for cuts, other in zip(binner.cuts, threaded.cuts, strict=True):
        np.testing.assert_array_equal(cuts, other)


def test_large_columns_are_cut_by_a_sample(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 500)
    X = np.random.default_rng(4).normal(size=(4000, 1))
    first, second = (
        bin_table(X, max_bins=8, rng=np.random.default_rng(seed))[0].cuts[0] for seed in (0, 1)
    )
    assert (first != second).any()
    exact = np.quantile(X, np.arange(1, 8) / 8)
    np.testing.assert_allclose(first, exact, atol=0.25)


def test_the_sample_is_the_same_each_time(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 500)
    X = np.random.default_rng(5).normal(size=(2000, 2))
    for cuts, other in zip(bin_table(X)[0].cuts, bin_table(X)[0].cuts, strict=True):
        np.testing.assert_array_equal(cuts, other)


@pytest.mark.parametrize("feature", [0, 3])
def test_rows_with_new_gaps_can_be_learnt_from(feature):
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(60, 4)), rng.integers(2, size=60).astype(np.int32)
    binner = Binner.learn(X, np.zeros(4, dtype=bool))
    X[:30, feature] = NAN
    binned, weights = binner.bin(X), np.ones(60)
    tree, leaf = grow_tree(
        binned, FixedPointSums.of_labels(labels, weights, 2), TreeParams(max_depth=3)
    )
    by_leaf = np.zeros_like(tree.value)
    np.add.at(by_leaf, (leaf, labels), 1 / 60)
    np.testing.assert_allclose(tree.value[tree.is_leaf], by_leaf[tree.is_leaf], atol=1e-12)
    assert binned.has_missing[feature] == 1
