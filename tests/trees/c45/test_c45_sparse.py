"""C4.5 on sparse rows grows the trees of the same rows in full, up to rounding of weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.sparse_cases import labels, table
from scipy import sparse

from steadyboost.preprocessing.sparse import compress
from steadyboost.trees.c45.cases import SparseCases
from steadyboost.trees.c45.fit import C45Options, grow_c45

OPTIONS = {
    "default": {},
    "unpruned": {"prune": False},
    "strict": {"confidence": 0.05, "min_cases": 5.0},
    "no raising": {"subtree_raising": False},
    "gain": {"mdl_correction": False, "gain_ratio": False},
    "tiny": {"min_cases": 0.5, "prune": False, "mdl_correction": False},
}


def cases_of(X):
    compact = compress(sparse.csc_array(X))
    return SparseCases.sort(compact.starts, compact.rows, compact.values, compact.n_rows)


def check(X, y, weights, k=3, **options):
    """The same tests at the same thresholds; returns the tree of the full rows."""
    n_values = np.zeros(X.shape[1], dtype=int)
    full = grow_c45(X, n_values, y, weights, k, C45Options(**options))
    tree = grow_c45(cases_of(X), n_values, y, weights, k, C45Options(**options))
    for name in ("attribute", "threshold", "first_child", "n_branches", "majority"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(full, name))
    for name in ("class_weights", "cases", "errors"):
        np.testing.assert_allclose(getattr(tree, name), getattr(full, name), 1e-10, 1e-10)
    return full


def made_up(seed, n=150, **options):
    rng = np.random.default_rng(seed)
    X = table(rng, n, **{"density": 0.3, "decimals": 0, **options})
    weights = rng.exponential(size=n)
    return X, labels(rng, X), weights * (n / weights.sum())


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_trees_are_those_of_full_rows(options, gaps):
    sizes = [check(*made_up(seed, gaps=gaps), **options).n_nodes for seed in range(6)]
    assert max(sizes) > 5


@pytest.mark.parametrize("density", [0.1, 0.3, 1.0])
def test_trees_of_many_rows_and_few_entries(density):
    """Small nodes list their entries by sorting, large ones by looking at all."""
    options = {"prune": False, "mdl_correction": False, "gain_ratio": False}
    tree = check(*made_up(0, n=2000, density=density, decimals=1), **options)
    assert tree.n_nodes > 50


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 50),
    density=st.floats(0, 1),
    gaps=st.sampled_from([0.0, 0.2]),
    options=st.sampled_from(list(OPTIONS.values())),
)
def test_trees_of_any_rows(seed, n, density, gaps, options):
    check(*made_up(seed, n=n, density=density, gaps=gaps), **options)


def test_rows_of_weight_zero_are_not_there():
    """A threshold is the value of a row that weighs something, or zero if such a row is zero."""
    for seed in range(10):
        X, y, weights = made_up(seed, decimals=1)
        weights[np.random.default_rng(seed).random(len(y)) < 0.5] = 0.0
        check(X, y, weights, prune=False)


def test_thresholds_on_either_side_of_zero():
    y = np.array([0, 0, 0, 1, 1, 1])
    for column, expected in (
        ([-2.0, -1.0, -1.0, 0.0, 0.0, 0.0], -1.0),
        ([0.0, 0.0, 0.0, 2.0, 3.0, 3.0], 0.0),
        ([-2.0, -1.0, 0.0, 2.0, 3.0, 3.0], 0.0),
        ([1.0, 1.0, 1.0, 2.0, 3.0, 3.0], 1.0),
        ([-4.0, -4.0, -4.0, -2.0, -1.0, -1.0], -4.0),
    ):
        tree = check(np.array(column)[:, None], y, np.ones(6), 2, mdl_correction=False)
        assert tree.threshold[0] == expected


def test_constant_columns_give_a_leaf():
    for value in (0.0, 3.0, np.nan):
        X = np.full((6, 2), value)
        assert check(X, np.array([0, 1, 0, 1, 0, 0]), np.ones(6), 2).n_nodes == 1


def test_sparse_attributes_are_continuous():
    with pytest.raises(ValueError, match="n_values must be 0"):
        grow_c45(cases_of(np.eye(4)), [0, 0, 2, 0], [0, 1, 0, 1], np.ones(4), 2)


def test_a_lean_tree_has_the_attributes_it_tests():
    X, y, weights = made_up(1)
    tree = check(X, y, weights)
    lean, used = tree.lean()
    assert lean.n_features == len(used) < tree.n_features
    np.testing.assert_array_equal(used, np.unique(tree.attribute[tree.attribute >= 0]))
    np.testing.assert_array_equal(lean.distribution(X[:, used]), tree.distribution(X))
