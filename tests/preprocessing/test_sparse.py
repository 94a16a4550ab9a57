"""Sparse tables on their way to the learners."""

import numpy as np
import pytest
from reference.sparse_cases import FORMS, table
from reference.tree_cases import unpack
from scipy import sparse

from steadyboost.learners.base import Data
from steadyboost.preprocessing import binner as module
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder, categorical_mask
from steadyboost.preprocessing.sparse import by_rows, compress, dense_blocks
from steadyboost.trees.data.binned import column_of

X = table(np.random.default_rng(0), gaps=0.05)
NUMERIC = np.zeros(X.shape[1], dtype=bool)
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def compressed_form(form):
    """What reaches a learner: other formats become rows first."""
    out = form(X)
    return out if out.format in ("csr", "csc") else out.tocsr()


def bins_of(binned):
    """The bins of each row and feature, column by column."""
    bins = binned.bins()
    columns = [column_of(bins.packed, bins.sparse, f)[0][0] for f in range(binned.n_features)]
    return np.array(columns).T


@each_form
def test_columns_come_in_order_without_zeros_and_duplicates(form):
    given = compressed_form(form)
    before = given.copy()
    compact = compress(given)
    full = given.toarray()
    for f in range(X.shape[1]):
        rows, values = compact.column(f)
        np.testing.assert_array_equal(rows, np.flatnonzero(full[:, f] != 0))
        np.testing.assert_array_equal(values, full[rows, f])
    assert rows.dtype == np.int32
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(given, name), getattr(before, name))


@each_form
def test_bins_are_those_of_the_full_table(form):
    given = compressed_form(form)
    full = given.toarray()
    binner, expected = Binner.learn(given, NUMERIC), Binner.learn(full, NUMERIC)
    for own, other in zip(binner.cuts, expected.cuts, strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(binner.has_missing, expected.has_missing)
    binned, packed = binner.bin(given), expected.bin(full)
    np.testing.assert_array_equal(bins_of(binned), unpack(packed))
    np.testing.assert_array_equal(binned.offsets, packed.offsets)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float32, bool])
def test_numbers_of_any_type_are_binned_alike(kind):
    full = np.nan_to_num(X).astype(kind)
    given = sparse.csr_array(full)
    binner = Binner.learn(given, NUMERIC)
    expected = Binner.learn(full, NUMERIC)
    np.testing.assert_array_equal(bins_of(binner.bin(given)), unpack(expected.bin(full)))


def test_large_tables_sample_the_same_rows(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 60)
    full = table(np.random.default_rng(1), decimals=12, density=0.7)
    for weights in (None, np.random.default_rng(2).exponential(size=len(full))):
        options = {"weights": weights, "max_bins": 9}
        given = Binner.learn(sparse.csc_array(full), NUMERIC, **options)
        expected = Binner.learn(full, NUMERIC, **options)
        for own, other in zip(given.cuts, expected.cuts, strict=True):
            np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_some_features_are_binned_alone(kind):
    binner, chosen = Binner.learn(X, NUMERIC), np.array([0, 3, 7])
    binned = binner.bin(kind(X), features=chosen)
    full = binner.bin(X)
    np.testing.assert_array_equal(bins_of(binned)[:, chosen], unpack(full)[:, chosen])
    assert len(binned.rows) == (np.nan_to_num(X[:, chosen], nan=1.0) != 0).sum()


def test_gaps_that_training_had_not_are_binned():
    full = np.nan_to_num(X)
    binner = Binner.learn(sparse.csr_array(full), NUMERIC)
    assert not binner.has_missing.any()
    fresh, expected = binner.bin(sparse.csr_array(X)), binner.bin(X)
    np.testing.assert_array_equal(bins_of(fresh), unpack(expected))
    np.testing.assert_array_equal(fresh.has_missing, expected.has_missing)


def test_categories_are_refused():
    encoder = Encoder.learn(X, categorical_mask(X, [1, 4]))
    for call in (
        lambda: Encoder.learn(sparse.csr_array(X), categorical_mask(X, [1, 4])),
        lambda: encoder.encode(sparse.csr_array(X)),
    ):
        with pytest.raises(ValueError, match=r"Columns \[1, 4\] are categorical .* X is sparse"):
            call()


def test_numbers_pass_as_they_are():
    given = sparse.csc_array(X)
    encoder = Encoder.learn(given, categorical_mask(given, "from_dtype"))
    assert encoder.encode(given) is given


def test_rows_are_taken_with_their_bins():
    given = sparse.csr_array(X)
    binner = Binner.learn(given, NUMERIC)
    data = Data(given, binner.bin(given))
    assert len(data) == len(X)
    rows = np.arange(0, len(X), 3)
    taken = data.take(rows)
    np.testing.assert_array_equal(taken.X.toarray(), X[rows])
    np.testing.assert_array_equal(bins_of(taken.binned), bins_of(data.binned)[rows])


def test_what_a_learner_sees_can_be_told_apart():
    given = sparse.csr_array(X)
    binner = Binner.learn(given, NUMERIC)
    assert len(Data(given).arrays) == 3
    assert Data(X).arrays[0] is X
    assert Data(X, binner.bin(X)).arrays[0].dtype == np.uint32
    assert len(Data(given, binner.bin(given)).arrays) == 5


@pytest.mark.parametrize("n_numbers", [1, 50, 10**6])
def test_blocks_have_all_rows_of_the_columns(n_numbers, monkeypatch):
    monkeypatch.setattr("steadyboost.preprocessing.sparse.BLOCK_NUMBERS", n_numbers)
    chosen = np.array([2, 5])
    blocks = list(dense_blocks(sparse.csc_array(X), chosen))
    assert len(blocks) == {1: 200, 50: 8, 10**6: 1}[n_numbers]
    np.testing.assert_array_equal(np.concatenate(blocks), X[:, chosen])


def test_slices_are_taken_of_rows():
    assert by_rows(X) is X
    assert by_rows(sparse.csc_matrix(X)).format == "csr"
