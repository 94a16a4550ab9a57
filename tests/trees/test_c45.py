"""C4.5 against its slow twin, known trees, and what must always hold."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from steadyboost.trees.c45 import grow_c45, presort
from steadyboost.trees.c45_prune import extra_errors

sys.path.insert(0, str(Path(__file__).parents[1]))
from reference import c45 as twin

GOLF = """
sunny 85 85 false no
sunny 80 90 true no
overcast 83 78 false yes
rain 70 96 false yes
rain 68 80 false yes
rain 65 70 true no
overcast 64 65 true yes
sunny 72 95 false no
sunny 69 70 false yes
rain 75 80 false yes
sunny 75 70 true yes
overcast 72 90 true yes
overcast 81 75 false yes
rain 71 80 true no
"""
GOLF_FEATURES = ["outlook", "temperature", "humidity", "windy"]
GOLF_VALUES = [["sunny", "overcast", "rain"], None, None, ["true", "false"]]
GOLF_CLASSES = ["Play", "Don't Play"]

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


def golf():
    """Quinlan's fourteen days."""
    rows = [line.split() for line in GOLF.split("\n") if line]
    names = GOLF_VALUES[0], GOLF_VALUES[3]
    X = [[names[0].index(r[0]), float(r[1]), float(r[2]), names[1].index(r[3])] for r in rows]
    return np.array(X), [3, 0, 0, 2], np.array([r[4] == "no" for r in rows], int), 2


def made_up(seed, n_rows=150, n_classes=3, missing=0.1):
    """Two continuous and two discrete attributes that matter, one of each that does not."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=(n_rows, 2)),
            rng.integers(0, 3, n_rows),
            rng.integers(0, 4, n_rows),
            rng.normal(size=n_rows),
            rng.integers(0, 5, n_rows),
        ]
    )
    score = X[:, 0] + (X[:, 2] == 1) * X[:, 1] + 0.7 * X[:, 3] + 0.4 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.exponential(size=n_rows)
    return X, [0, 0, 3, 4, 0, 5], y, weights * n_rows / weights.sum(), n_classes


def real(name, n_rows):
    """Some rows of a data set in the user's folder, as coded arrays."""
    folder = os.environ.get("STEADYBOOST_DATA")
    if not folder:
        pytest.skip("STEADYBOOST_DATA does not name a folder with data sets")
    entry = json.loads((Path(folder) / "schema.json").read_text())[name]
    parts = ["" if part == "all" else f".{part}" for part in entry["splits"]]
    files = [Path(folder) / f"{name}{part}.csv.gz" for part in parts]
    frame = pd.concat([pd.read_csv(f, dtype=str, keep_default_na=False) for f in files])
    frame = frame.sample(n=min(n_rows, len(frame)), random_state=0)
    y, classes = pd.factorize(frame.pop("target"), sort=True)
    columns, n_values = [], []
    for column in frame:
        known = frame[column].where(frame[column] != "?")
        if entry["columns"].get(column, entry["columns"].get("*")) == "numeric":
            columns.append(pd.to_numeric(known).to_numpy(float))
            n_values.append(0)
        else:
            codes, values = pd.factorize(known, sort=True)
            columns.append(np.where(codes < 0, np.nan, codes))
            n_values.append(len(values))
    return np.column_stack(columns), n_values, y, len(classes)


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
    tree = grow_c45(X, n_values, y, weights, n_classes, **options)
    node = twin.c45(X, n_values, y, weights, n_classes, **options)
    same(tree, node)
    shares = [twin.distribution(node, x) for x in X]
    np.testing.assert_allclose(tree.distribution(X), shares, atol=1e-10)
    return tree


def equal(one, other):
    """Check that two trees are the same up to rounding."""
    for name in ("attribute", "first_child", "n_branches", "majority"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("threshold", "class_weights", "errors"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-8)


def unpruned_estimate(tree, confidence=0.25):
    """Errors that C4.5 charges to the leaves of an unpruned tree."""
    leaves = tree.attribute < 0
    cases, classes = tree.cases[leaves], tree.class_weights[leaves]
    errors = cases - classes.max(axis=1)
    extra = [twin.add_errs(n, e, confidence) for n, e in zip(cases, errors, strict=True)]
    return errors.sum() + sum(extra)


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
    tree = grow_c45(X, n_values, y, np.ones(14), n_classes, prune=False)
    assert tree.to_text(GOLF_FEATURES, GOLF_CLASSES, GOLF_VALUES) == GOLF_TREE
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (8, 5, 2)
    assert (tree.predict(X) == y).all()
    pruned = grow_c45(X, n_values, y, np.ones(14), n_classes)
    first = pruned.to_text(GOLF_FEATURES, GOLF_CLASSES).split("\n")[0]
    assert first == "outlook = 1: Play (4.0/1.2)"


def test_a_missing_value_goes_everywhere_in_proportion():
    X, n_values, y, n_classes = golf()
    tree = grow_c45(X, n_values, y, np.ones(14), n_classes, prune=False)
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
    tree = grow_c45(X, [0] * 4, y, np.ones(150), 3, prune=False)
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


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.2]), prune=st.booleans())
def test_leaves_share_the_whole_weight(seed, missing, prune):
    X, n_values, y, weights, k = made_up(seed, missing=missing)
    tree = grow_c45(X, n_values, y, weights, k, prune=prune)
    leaves = tree.attribute < 0
    totals = np.bincount(y, weights, k)
    np.testing.assert_allclose(tree.class_weights[leaves].sum(axis=0), totals)
    np.testing.assert_allclose(tree.distribution(X).sum(axis=1), 1.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), prune=st.booleans())
def test_weight_two_is_a_doubled_row(seed, prune):
    X, n_values, y, _, k = made_up(seed)
    times = np.random.default_rng(seed).integers(1, 3, len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted = grow_c45(X, n_values, y, times.astype(float), k, prune=prune)
    doubled = grow_c45(X[again], n_values, y[again], np.ones(len(again)), k, prune=prune)
    equal(weighted, doubled)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), prune=st.booleans())
def test_rows_without_weight_are_not_there(seed, prune):
    X, n_values, y, weights, k = made_up(seed)
    there = np.random.default_rng(seed).random(len(y)) < 0.8
    options = {"prune": prune}
    whole = grow_c45(X, n_values, y, weights * there, k, **options)
    part = grow_c45(X[there], n_values, y[there], weights[there], k, **options)
    equal(whole, part)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), raising=st.booleans())
def test_pruning_does_not_raise_the_estimated_errors(seed, raising):
    X, n_values, y, weights, k = made_up(seed)
    before = grow_c45(X, n_values, y, weights, k, prune=False)
    after = grow_c45(X, n_values, y, weights, k, subtree_raising=raising)
    # C4.5 gives 0.1 errors away for each test that it removes.
    removed = (before.attribute >= 0).sum() - (after.attribute >= 0).sum()
    assert after.errors[0] <= unpruned_estimate(before) + 0.1 * removed + 1e-9
    assert after.n_nodes <= before.n_nodes
    leaves = after.attribute < 0
    assert after.errors[0] == pytest.approx(after.errors[leaves].sum())


def test_many_missing_values_outgrow_the_first_lists():
    X, n_values, y, weights, k = made_up(5, n_rows=400, missing=0.6)
    compare(X, n_values, y, weights, k, min_cases=1.0, confidence=0.9)


def test_many_nodes_outgrow_the_first_arrays():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (1500, 4)).astype(float)
    y = rng.integers(0, 2, 1500)
    tree = grow_c45(X, [40] * 4, y, np.ones(1500), 2, prune=False)
    assert tree.n_nodes > 256
    np.testing.assert_allclose(tree.class_weights[tree.attribute < 0].sum(axis=0), np.bincount(y))


@pytest.mark.parametrize(
    ("X", "n_values", "y"),
    [
        ([[1.0], [2.0], [3.0], [4.0]], [0], [1, 1, 1, 1]),
        ([[1.0]], [0], [1]),
        ([[5.0, 1.0]] * 6, [0, 3], [0, 0, 1, 1, 1, 1]),
        ([[np.nan, np.nan]] * 6, [0, 3], [0, 0, 1, 1, 1, 1]),
        (np.empty((6, 0)), [], [0, 0, 1, 1, 1, 1]),
    ],
)
def test_nothing_to_split_on_gives_a_leaf(X, n_values, y):
    tree = grow_c45(X, n_values, y, np.ones(len(y)), 2)
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (1, 1, 0)
    assert (tree.predict(X) == 1).all()
    assert tree.to_text(["a", "b"], ["no", "yes"]).startswith("yes (")


def test_no_weight_at_all_gives_an_empty_leaf():
    tree = grow_c45([[1.0], [2.0]], [0], [1, 1], np.zeros(2), 2)
    np.testing.assert_array_equal(tree.distribution([[1.0]]), [[1.0, 0.0]])


def test_ties_go_to_the_lowest_attribute_and_threshold():
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2], [2, 2]], float)
    y = np.array([0, 0, 1, 1, 0, 0])
    tree = grow_c45(X, [0, 0], y, np.ones(6), 2, mdl_correction=False, prune=False)
    assert tree.attribute[0] == 0
    assert tree.threshold[0] == 0.0


def test_presorted_rows_give_the_same_tree():
    X, n_values, y, weights, k = made_up(7)
    order = presort(X, n_values)
    before = order.copy()
    equal(
        grow_c45(np.asfortranarray(X), n_values, y, weights, k, order=order),
        grow_c45(X, n_values, y, weights, k),
    )
    np.testing.assert_array_equal(order, before)


def test_neighbouring_and_infinite_values_are_cut_apart():
    near = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, near), (-np.inf, np.inf), (1e308, 1.5e308), (3.0, np.inf)):
        X = np.array([[low]] * 5 + [[high]] * 5)
        tree = grow_c45(X, [0], [0] * 5 + [1] * 5, np.ones(10), 2)
        assert tree.threshold[0] == low
        assert (tree.predict(X) == [0] * 5 + [1] * 5).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 2]}, "n_classes"),
        ({"weights": [1.0, -1.0]}, "negative"),
        ({"weights": [1.0]}, "each row"),
        ({"n_values": [0, 0]}, "n_values"),
        ({"confidence": 0.0}, "confidence"),
        ({"order": np.zeros((1, 3), np.int32)}, "presort"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {
        "X": [[1.0], [2.0]],
        "n_values": [0],
        "y": [0, 1],
        "weights": [1.0, 1.0],
        "n_classes": 2,
    }
    with pytest.raises(ValueError, match=message):
        grow_c45(**(arguments | change))
    with pytest.raises(ValueError, match="columns"):
        grow_c45(**arguments).predict([[1.0, 2.0]])
