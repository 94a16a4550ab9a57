"""Columns of linear models, from bins."""

import numpy as np
import pytest
from reference.smooth_members import design_row, standardised
from scipy.sparse import csr_array

from steadyboost.boosters.steadyboost import design as module
from steadyboost.boosters.steadyboost.design import Design, bins_of, middles
from steadyboost.preprocessing.binner import Binner


def mixed(n=80, gaps=True):
    """Two numbers, a category and a constant."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(3, size=n), rng.poisson(1.0, n), np.ones(n)]
    ).astype(float)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 3] = 1
    return X, np.array([False, True, False, False])


@pytest.mark.parametrize("gaps", [True, False])
def test_columns_are_those_of_the_twin(gaps):
    X, categorical = mixed(gaps=gaps)
    binner = Binner.learn(X, categorical, max_bins=6)
    binned = binner.bin(X)
    design = Design.learn(binner.cuts, binned, np.ones(len(X)))
    bins = np.column_stack([bins_of(binned, f) for f in range(4)])
    values = [
        standardised(middles(cuts), own) for cuts, own in zip(binner.cuts, bins.T, strict=True)
    ]
    missing = np.isnan(X).any(axis=0)
    rows = [design_row(row, missing, values, categorical, binned.n_bins) for row in bins]
    np.testing.assert_allclose(design.matrix(binned), rows, atol=1e-12)
    assert design.n_columns == len(rows[0])


def test_weights_count_as_rows():
    X, categorical = mixed(40)
    binner, twice = Binner.learn(X, categorical), np.arange(40) % 2 + 1
    every = np.repeat(np.arange(40), twice)
    one = Design.learn(binner.cuts, binner.bin(X), twice.astype(float))
    other = Design.learn(binner.cuts, binner.bin(X[every]), np.ones(len(every)))
    np.testing.assert_allclose(one.values, other.values)


def test_unknown_and_missing_categories_belong_to_none():
    X, categorical = mixed(gaps=False)
    binner = Binner.learn(X, categorical)
    design = Design.learn(binner.cuts, binner.bin(X), np.ones(len(X)))
    strange = np.full((1, 4), np.nan)
    np.testing.assert_array_equal(design.matrix(binner.bin(strange)), 0)


def test_evenly_spaced_values_are_their_own_middles():
    np.testing.assert_allclose(middles(np.array([0.5, 1.5, 2.5])), [0, 1, 2, 3])
    np.testing.assert_array_equal(middles(np.array([7.0])), [0, 1])
    np.testing.assert_array_equal(middles(np.array([])), [0])


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_values_of_any_size_are_standardised(scale):
    X = np.random.default_rng(0).normal(size=(50, 1)) * scale
    binner = Binner.learn(X, np.zeros(1, dtype=bool))
    matrix = Design.learn(binner.cuts, binner.bin(X), np.ones(50)).matrix(binner.bin(X))
    np.testing.assert_allclose([matrix.mean(), matrix.std()], [0, 1], atol=1e-6)


@pytest.fixture
def wide(monkeypatch):
    """All sparse tables count as wide."""
    monkeypatch.setattr(module, "MOST_DENSE", 0)


def sparse_table():
    X = np.random.default_rng(0).poisson(0.3, (60, 5)).astype(float)
    X[3, 1] = np.nan
    X[:, 4] = 0
    binner = Binner.learn(csr_array(X), np.zeros(5, dtype=bool))
    return X, binner, binner.bin(csr_array(X))


def test_wide_sparse_tables_stay_sparse(wide):
    X, binner, binned = sparse_table()
    design = Design.learn(binner.cuts, binned, np.ones(len(X)))
    assert design.is_sparse(binned)
    rows = design.sparse_matrix(binned)
    np.testing.assert_allclose(rows.toarray(), design.matrix(binned))
    assert rows.nnz <= np.count_nonzero(X) + 1
    stored = rows.toarray()[:, 0][X[:, 0] != 0]
    np.testing.assert_allclose((stored**2).mean(), 1)


def test_narrow_sparse_tables_have_the_columns_of_dense_ones():
    X, binner, binned = sparse_table()
    dense = binner.bin(X)
    one, other = (Design.learn(binner.cuts, rows, np.ones(len(X))) for rows in (binned, dense))
    np.testing.assert_array_equal(one.matrix(binned), other.matrix(dense))
