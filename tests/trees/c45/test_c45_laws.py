"""What must hold of every C4.5 tree, and odd arguments."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.trees.c45.fit import C45Options, grow_c45, presort

sys.path.insert(0, str(Path(__file__).parents[2]))
from reference import c45 as twin
from reference.c45_data import made_up


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


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.2]), prune=st.booleans())
def test_leaves_share_the_whole_weight(seed, missing, prune):
    X, n_values, y, weights, k = made_up(seed, missing=missing)
    tree = grow_c45(X, n_values, y, weights, k, C45Options(prune=prune))
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
    weighted = grow_c45(X, n_values, y, times.astype(float), k, C45Options(prune=prune))
    doubled = grow_c45(
        X[again], n_values, y[again], np.ones(len(again)), k, C45Options(prune=prune)
    )
    equal(weighted, doubled)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), prune=st.booleans())
def test_rows_without_weight_are_not_there(seed, prune):
    X, n_values, y, weights, k = made_up(seed)
    there = np.random.default_rng(seed).random(len(y)) < 0.8
    options = {"prune": prune}
    whole = grow_c45(X, n_values, y, weights * there, k, C45Options(**options))
    part = grow_c45(X[there], n_values, y[there], weights[there], k, C45Options(**options))
    equal(whole, part)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), raising=st.booleans())
def test_pruning_does_not_raise_the_estimated_errors(seed, raising):
    X, n_values, y, weights, k = made_up(seed)
    before = grow_c45(X, n_values, y, weights, k, C45Options(prune=False))
    after = grow_c45(X, n_values, y, weights, k, C45Options(subtree_raising=raising))
    # C4.5 gives 0.1 errors away for each test that it removes.
    removed = (before.attribute >= 0).sum() - (after.attribute >= 0).sum()
    assert after.errors[0] <= unpruned_estimate(before) + 0.1 * removed + 1e-9
    assert after.n_nodes <= before.n_nodes
    leaves = after.attribute < 0
    assert after.errors[0] == pytest.approx(after.errors[leaves].sum())


def test_many_nodes_outgrow_the_first_arrays():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (1500, 4)).astype(float)
    y = rng.integers(0, 2, 1500)
    tree = grow_c45(X, [40] * 4, y, np.ones(1500), 2, C45Options(prune=False))
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
    tree = grow_c45(X, [0, 0], y, np.ones(6), 2, C45Options(mdl_correction=False, prune=False))
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


@pytest.mark.parametrize("options", [{"confidence": 0.0}, {"min_cases": 0.0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match="confidence"):
        C45Options(**options)
