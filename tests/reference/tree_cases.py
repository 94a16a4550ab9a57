"""Binned data sets for tree tests, and what it means for two trees to be the same."""

from dataclasses import fields
from functools import cache

import numpy as np
from reference import tree as twin
from sklearn import datasets

from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.data.binned import Binned
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism, serial_map

REAL = ("iris", "wine", "digits", "breast_cancer")
LIMITS = {
    "stump": {"max_depth": 1},
    "depth": {"max_depth": 4},
    "leaves": {"max_leaf_nodes": 7},
    "both": {"max_depth": 3, "max_leaf_nodes": 6},
    "samples": {"max_depth": 5, "min_samples_leaf": 6},
    "weight": {"max_depth": 5, "min_weight_leaf": 0.06},
    "everything": {"max_leaf_nodes": 9, "min_samples_leaf": 4, "min_weight_leaf": 0.03},
    "none": {},
}


def pack(columns):
    """Four columns to a word, the first in the lowest byte."""
    n_rows = len(columns[0].bins)
    packed = np.zeros((-(-len(columns) // 4), n_rows), dtype=np.uint32)
    for f, column in enumerate(columns):
        packed[f // 4] += column.bins.astype(np.uint32) * np.uint32(256 ** (f % 4))
    n_bins = np.array([column.n_bins for column in columns], dtype=np.int64)
    missing = np.array([int((c.bins == c.n_bins).any()) for c in columns], dtype=np.int64)
    return Binned(packed, n_bins, missing, np.array([c.categorical for c in columns]))


def unpack(binned):
    """The bins of each row and feature, (rows, features)."""
    features = np.arange(binned.n_features)
    return ((binned.packed[features // 4] >> (8 * (features % 4))[:, None]) & 255).T


def columns_of(binned):
    kinds = zip(unpack(binned).T, binned.n_bins, binned.categorical, strict=True)
    return [twin.Column(bins.astype(int), int(n), bool(kind)) for bins, n, kind in kinds]


def random_columns(rng, n_rows, *, numeric=3, gappy=1, categorical=0, n_bins=9):
    """Columns without gaps, with gaps, and of categories with gaps."""
    kinds = ["numeric"] * numeric + ["gappy"] * gappy + ["categorical"] * categorical
    columns = []
    for kind in kinds:
        bins = rng.integers(n_bins, size=n_rows)
        if kind != "numeric":
            bins[rng.random(n_rows) < 0.2] = n_bins
        columns.append(twin.Column(bins, n_bins, kind == "categorical"))
    return columns


def related_labels(rng, columns, n_labels):
    """Labels that depend on the bins, with some noise."""
    signal = sum(np.sin(column.bins * (f + 1)) for f, column in enumerate(columns))
    signal = signal + 0.5 * rng.normal(size=len(signal))
    cuts = np.quantile(signal, np.arange(1, n_labels) / n_labels)
    return np.searchsorted(cuts, signal).astype(np.int32)


def random_channels(rng, columns, criterion, n_edges=3):
    """Signed edges and a mass, or gradients and Hessians."""
    n_rows = len(columns[0].bins)
    mass = rng.uniform(0.1, 1, n_rows)
    if criterion == "newton":
        return np.column_stack([rng.normal(size=n_rows) + np.sin(columns[0].bins), mass])
    signs = np.sign(rng.normal(size=(n_rows, n_edges)) + np.sin(columns[0].bins)[:, None])
    return np.column_stack([signs * mass[:, None], mass])


def sums_for(rng, columns, criterion, n_labels=3):
    """What a tree adds up, as the kernels want it and as the twin does."""
    if criterion in twin.CLASS_CRITERIA:
        labels = related_labels(rng, columns, n_labels)
        weights = rng.uniform(0.1, 1, len(labels))
        shares = twin.label_channels(labels, weights, n_labels)
        return FixedPointSums.of_labels(labels, weights, n_labels), shares
    channels = random_channels(rng, columns, criterion)
    return FixedPointSums.of_channels(channels), channels / np.abs(channels).sum()


def rules_for(growth, *, scale=1.0, tolerance=1e-12):
    """The twin's rules; ``scale`` is what the channels were divided by."""
    return twin.Rules(
        growth.criterion,
        np.inf if growth.max_depth is None else growth.max_depth,
        np.inf if growth.max_leaf_nodes is None else growth.max_leaf_nodes,
        growth.min_samples_leaf,
        growth.min_weight_leaf,
        growth.l2 / scale,
        tolerance,
        growth.category_noise / scale,
    )


def bins_in(left_bitset):
    """Members of a 256-bit mask."""
    return frozenset(b for b in range(256) if int(left_bitset[b // 32]) >> (b % 32) & 1)


def assert_same_as_twin(tree, node, at=0):
    """Same splits, node by node; sums and gains equal but for rounding."""
    np.testing.assert_allclose(tree.value[at], node.value, rtol=0, atol=1e-10)
    assert tree.is_leaf[at] == node.is_leaf
    if node.is_leaf:
        assert tree.gain[at] == 0
        return
    assert tree.feature[at] == node.split.feature
    assert bins_in(tree.left_bitset[at]) == node.goes_left
    np.testing.assert_allclose(tree.gain[at], node.gain, rtol=0, atol=1e-10)
    for child, twin_child in zip(tree.children[at], (node.left, node.right), strict=True):
        assert_same_as_twin(tree, twin_child, child)


def made_up(criterion, seed=0, n_rows=300, *, n_labels=4, **kinds):
    """Binned rows, and sums for a criterion."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, **kinds)
    return pack(columns), sums_for(rng, columns, criterion, n_labels=n_labels)[0]


def assert_identical(tree, other):
    """Bit for bit."""
    for field in fields(GrownTree):
        np.testing.assert_array_equal(getattr(tree, field.name), getattr(other, field.name))


def assert_threads_do_not_matter(binned, sums, params, n_threads, run=serial_map, **restrict):
    """The tree of so many shards, and the leaves of its rows, are those of the compiled grower."""
    tree, leaf = grow_tree(binned, sums, params, **restrict)
    parallel = Parallelism(n_threads, run)
    other, other_leaf = grow_tree(binned, sums, params, parallel=parallel, **restrict)
    assert_identical(other, tree)
    np.testing.assert_array_equal(other_leaf, leaf)


def assert_leaves_hold_the_sums(tree, leaf_of_row, shares):
    """Each leaf has the sums of its rows, and all leaves together those of the root."""
    by_leaf = np.zeros_like(tree.value)
    np.add.at(by_leaf, leaf_of_row, shares)
    np.testing.assert_allclose(tree.value[tree.is_leaf], by_leaf[tree.is_leaf], atol=1e-10)
    np.testing.assert_allclose(by_leaf[~tree.is_leaf], 0)
    np.testing.assert_allclose(tree.value[tree.is_leaf].sum(axis=0), tree.value[0], atol=1e-15)
    np.testing.assert_allclose(tree.value[0], shares.sum(axis=0), atol=1e-10)


def check_growth(columns, sums, shares, growth, *, scale=1.0, tolerance=1e-12, **restrict):
    """Grow by the kernels and by the twin, and compare all there is to compare."""
    binned = pack(columns)
    tree, leaf_of_row = grow_tree(binned, sums, growth, **restrict)
    rules = rules_for(growth, scale=scale, tolerance=tolerance)
    assert_same_as_twin(tree, twin.grow(columns, shares, rules, **restrict))
    np.testing.assert_array_equal(leaf_of_row, tree.apply(binned.packed))
    return tree, leaf_of_row


@cache
def real(name):
    """A data set of scikit-learn, binned: (columns, Binned, labels, number of classes)."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    binned = Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X)
    return columns_of(binned), binned, y.astype(np.int32), int(y.max()) + 1


def up_to_power_of_two(weights):
    """Integer weights whose first is raised so that they add up to a power of two.

    Shares of such a total are exact in binary, so kernels and twin must agree on every tie.
    """
    weights = np.array(weights, dtype=float)
    weights[0] += 2.0 ** np.ceil(np.log2(max(weights.sum(), 1))) - weights.sum()
    return weights


def growth_of(criterion, limits, **more):
    return TreeParams(criterion, **LIMITS[limits], **more)
