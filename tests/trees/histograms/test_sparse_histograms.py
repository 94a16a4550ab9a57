"""Sparse rows of bins: their columns, histograms and leaves are those of the same rows in full."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.histograms import by_kernel
from reference.sparse_cases import compressed, sparsely
from reference.tree_cases import growth_of, pack, random_columns, sums_for, unpack

from steadyboost.trees.data import binned as module
from steadyboost.trees.data.binned import column_of
from steadyboost.trees.data.binned import unpack as unpack_kernel
from steadyboost.trees.growth.tree import grow_tree

CRITERIA = ("gini", "edge", "newton")


def both(seed, n_rows=70, **kinds):
    """Columns, and their bins in full and sparse."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, **{"numeric": 4, "gappy": 3, **kinds})
    binned = pack(columns)
    return columns, binned, sparsely(rng, binned)


def histogram(binned, sums, rows, features, counting):
    return by_kernel(binned.bins(features), sums, rows, counting)


@pytest.mark.parametrize("counting", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_histograms_are_those_of_full_rows(criterion, counting, seed):
    columns, binned, sparse = both(seed)
    rng = np.random.default_rng(seed)
    sums, _ = sums_for(rng, columns, criterion)
    features = np.arange(binned.n_features)
    for n in (0, 1, 20, 70):
        rows = np.sort(rng.choice(70, n, replace=False))
        full = histogram(binned, sums, rows, features, counting)
        np.testing.assert_array_equal(histogram(sparse, sums, rows, features, counting), full)


def test_histograms_of_some_features_are_right_for_these():
    columns, binned, sparse = both(0)
    sums, _ = sums_for(np.random.default_rng(0), columns, "gini")
    chosen, rows = np.array([1, 4]), np.arange(40)
    full = histogram(binned, sums, rows, chosen, True)
    found = histogram(sparse, sums, rows, chosen, True)
    n_cells = binned.offsets[-1]
    for f in chosen:
        own = slice(binned.offsets[f], binned.offsets[f + 1])
        for one, other in ((found, full), (found[-n_cells:], full[-n_cells:])):
            width = sums.n_channels if one is found else 1
            cells = (part[: n_cells * width].reshape(n_cells, width)[own] for part in (one, other))
            np.testing.assert_array_equal(*cells)


def test_entries_in_the_zero_bin_may_be_stored_or_not():
    columns, binned, _ = both(1)
    sums, _ = sums_for(np.random.default_rng(1), columns, "gini")
    n, n_features = binned.n_rows, binned.n_features
    nothing_left_out = compressed(binned, np.full(n_features, 255))
    stored = nothing_left_out.__class__(
        *nothing_left_out.columns[:3],
        np.zeros(n_features, dtype=np.int64),
        *(n, binned.n_bins, binned.has_missing, binned.categorical),
    )
    rows, features = np.arange(n), np.arange(n_features)
    full = histogram(binned, sums, rows, features, True)
    np.testing.assert_array_equal(histogram(stored, sums, rows, features, True), full)


@pytest.mark.parametrize("n_chosen", [1, 3, 4, 5, 7])
@pytest.mark.parametrize(("first", "n"), [(0, 70), (0, 13), (29, 41), (69, 1), (30, 0)])
def test_unpacked_features_are_those_of_full_rows(n_chosen, first, n):
    _, binned, sparse = both(2)
    chosen = np.random.default_rng(n_chosen).permutation(7)[:n_chosen]
    packed = np.full(((n_chosen + 3) // 4, n), 7, dtype=np.uint32)
    unpack_kernel(sparse.columns, chosen, first, packed)
    bins = (packed[np.arange(n_chosen) // 4] >> (8 * (np.arange(n_chosen) % 4))[:, None]) & 255
    np.testing.assert_array_equal(bins.T, unpack(binned)[first : first + n, chosen])


def test_a_column_is_found_in_rows_of_both_kinds():
    _, binned, sparse = both(3)
    for f in range(binned.n_features):
        bins = sparse.bins()
        packed, place = column_of(bins.packed, bins.sparse, f)
        np.testing.assert_array_equal(packed[0] >> (8 * place), unpack(binned)[:, f])
        packed, place = column_of(binned.packed, None, f)
        assert packed is binned.packed
        assert place == f


def test_rows_list_their_cells():
    _, binned, sparse = both(4)
    _, starts, cells = sparse.entries
    bins = unpack(binned)
    for i in range(binned.n_rows):
        expected = [
            binned.offsets[f] + b for f, b in enumerate(bins[i]) if b != sparse.zero_bins[f]
        ]
        np.testing.assert_array_equal(cells[starts[i] : starts[i + 1]], expected)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_taken=st.integers(0, 70))
def test_taken_rows_are_those_of_full_rows(seed, n_taken):
    _, binned, sparse = both(seed)
    rows = np.sort(np.random.default_rng(seed).choice(70, n_taken, replace=False))
    taken, expected = sparse.take(rows), binned.take(rows)
    assert taken.n_rows == n_taken
    bins = taken.bins()
    for f in range(binned.n_features):
        packed, _ = column_of(bins.packed, bins.sparse, f)
        np.testing.assert_array_equal(packed[0], unpack(expected)[:, f])


@pytest.mark.parametrize("chunk", [1, 40, 1 << 20])
@pytest.mark.parametrize("limits", ["stump", "depth", "none"])
def test_leaves_are_those_of_full_rows(limits, chunk, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BINS", chunk)
    columns, binned, sparse = both(5, categorical=2)
    sums, _ = sums_for(np.random.default_rng(5), columns, "gini")
    tree, _ = grow_tree(binned, sums, growth_of("gini", limits))
    np.testing.assert_array_equal(sparse.leaves(tree), tree.apply(binned.packed))
    np.testing.assert_array_equal(binned.leaves(tree), tree.apply(binned.packed))


def test_a_lone_leaf_has_all_rows():
    columns, binned, sparse = both(6)
    sums, _ = sums_for(np.random.default_rng(6), columns, "gini")
    tree, _ = grow_tree(binned, sums, growth_of("gini", "stump"), rows=np.arange(1))
    np.testing.assert_array_equal(sparse.leaves(tree), np.zeros(binned.n_rows))


def test_work_is_counted_in_entries():
    _, binned, sparse = both(7)
    assert binned.n_read(35, 4) == 35 * 4
    assert sparse.n_read(35, 4) == len(sparse.rows) // 2
