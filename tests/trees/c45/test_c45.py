"""C4.5 against its slow twin and against trees that Quinlan's program prints."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from steadyboost.trees.c45.fit import C45Options, grow_c45
from steadyboost.trees.c45.prune import extra_errors

sys.path.insert(0, str(Path(__file__).parents[2]))
from reference import c45 as twin
from reference.c45_data import GOLF_CLASSES, GOLF_FEATURES, GOLF_VALUES, golf, made_up, real

GOLF_TREE = """\
outlook = overcast: Play (4.0)
outlook = sunny:
|   humidity <= 75 : Play (2.0)
|   humidity > 75 : Don't Play (3.0)
outlook = rain:
|   windy = true: Don't Play (2.0)
|   windy = false: Play (3.0)"""

IRIS_TREE = """\
petal width <= 0.6 : setosa (50.0)
petal width > 0.6 :
|   petal width > 1.7 : virginica (46.0/1.0)
|   petal width <= 1.7 :
|   |   petal length <= 4.9 : versicolor (48.0/1.0)
|   |   petal length > 4.9 :
|   |   |   petal width <= 1.5 : virginica (3.0)
|   |   |   petal width > 1.5 : versicolor (3.0/1.0)"""


def same(tree, node, index=0):
    """Check that a tree is the twin's, node by node."""
    np.testing.assert_allclose(tree.class_weights[index], node.classes, atol=1e-10)
    np.testing.assert_allclose(tree.errors[index], node.errors, atol=1e-8)
    assert tree.majority[index] == node.majority
    assert tree.attribute[index] == (-1 if node.attribute is None else node.attribute)
    assert tree.n_branches[index] == len(node.branches)
    if node.threshold is not None:
        assert tree.threshold[index] == node.threshold
    for b, branch in enumerate(node.branches):
        same(tree, branch, tree.first_child[index] + b)


def compare(X, n_values, y, weights, n_classes, **options):
    """Grow both trees and compare them and what they say of the training cases."""
    tree = grow_c45(X, n_values, y, weights, n_classes, C45Options(**options))
    node = twin.c45(X, n_values, y, weights, n_classes, **options)
    same(tree, node)
    shares = [twin.distribution(node, x) for x in X]
    np.testing.assert_allclose(tree.distribution(X), shares, atol=1e-10)
    return tree


OPTIONS = [
    {},
    {"prune": False},
    {"subtree_raising": False},
    {"mdl_correction": False, "confidence": 0.4},
    {"gain_ratio": False, "min_cases": 5.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_the_twin_on_mixed_data_with_missing_values(options):
    for seed in range(4):
        compare(*made_up(seed, missing=0.1 * seed), **options)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_twin_on_continuous_data(load, weighted):
    X, y = load(return_X_y=True)
    weights = np.random.default_rng(0).exponential(size=len(y)) if weighted else np.ones(len(y))
    for options in ({}, {"prune": False}):
        compare(X, [0] * X.shape[1], y, weights * len(y) / weights.sum(), 3, **options)


@pytest.mark.parametrize(
    ("name", "n_rows"),
    [("soybean_large", 683), ("audiology", 226), ("german", 700), ("vehicle", 400)],
)
def test_equals_the_twin_on_real_data(name, n_rows):
    X, n_values, y, n_classes = real(name, n_rows)
    compare(X, n_values, y, np.ones(len(y)), n_classes)
    weights = np.random.default_rng(1).exponential(size=len(y))
    compare(X, n_values, y, weights * len(y) / weights.sum(), n_classes)


def test_golf_is_the_tree_of_the_book():
    X, n_values, y, n_classes = golf()
    tree = grow_c45(X, n_values, y, np.ones(14), n_classes, C45Options(prune=False))
    assert tree.to_text(GOLF_FEATURES, GOLF_CLASSES, GOLF_VALUES) == GOLF_TREE
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (8, 5, 2)
    assert (tree.predict(X) == y).all()
    pruned = grow_c45(X, n_values, y, np.ones(14), n_classes)
    first = pruned.to_text(GOLF_FEATURES, GOLF_CLASSES).split("\n")[0]
    assert first == "outlook = 1: Play (4.0/1.2)"


def test_a_missing_value_goes_everywhere_in_proportion():
    X, n_values, y, n_classes = golf()
    tree = grow_c45(X, n_values, y, np.ones(14), n_classes, C45Options(prune=False))
    # Sunny, humidity missing: 2 of 5 training cases went to Play (Quinlan 1993, section 3.3).
    shares = tree.distribution([[0, 70, np.nan, 1], [7, 70, 60, 0]])
    np.testing.assert_allclose(shares[0], [2 / 5, 3 / 5])
    # An outlook never heard of is as good as missing.
    np.testing.assert_allclose(shares[1], [9 / 14, 5 / 14])


def test_book_example_with_a_missing_outlook_in_training():
    X, n_values, y, n_classes = golf()
    X[11, 0] = np.nan
    tree = compare(X, n_values, y, np.ones(14), n_classes, prune=False)
    text = tree.to_text(GOLF_FEATURES, GOLF_CLASSES, GOLF_VALUES)
    assert "outlook = overcast: Play (3.2)" in text
    assert "humidity > 75 : Don't Play (3.4/0.4)" in text


def test_iris_is_the_tree_that_c45_prints():
    X, y = load_iris(return_X_y=True)
    tree = grow_c45(X, [0] * 4, y, np.ones(150), 3, C45Options(prune=False))
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    assert tree.to_text(names, ["setosa", "versicolor", "virginica"]) == IRIS_TREE


def test_limit_of_errors_is_that_of_the_book():
    # Quinlan (1993, section 4.2): U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750.
    level = 0.25, float(np.interp(0.25, [0.2, 0.4], [0.84, 0.25])) ** 2
    for n, limit in ((6.0, 0.206), (9.0, 0.143), (1.0, 0.750)):
        assert extra_errors(n, 0.0, *level) / n == pytest.approx(limit, abs=5e-4)
    assert (1 + extra_errors(16.0, 1.0, *level)) / 16 == pytest.approx(0.157, abs=3e-3)
    for n, e in ((8.0, 0.4), (8.0, 3.2), (3.0, 2.7), (0.0, 0.0), (100.0, 20.0)):
        assert extra_errors(n, e, *level) == pytest.approx(twin.add_errs(n, e, 0.25))


def test_many_missing_values_outgrow_the_first_lists():
    X, n_values, y, weights, k = made_up(5, n_rows=400, missing=0.6)
    compare(X, n_values, y, weights, k, min_cases=1.0, confidence=0.9)
