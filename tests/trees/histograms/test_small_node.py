"""Histograms of the bins that few rows have, against full ones: same sums, same splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.histograms import by_numpy
from reference.sparse_cases import sparsely
from reference.tree_cases import pack, random_columns, sums_for, unpack

from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.histograms.small_node import (
    build_small_histogram,
    few_rows,
    restore_bins,
    small_node_scratch,
)
from steadyboost.trees.splits.bitset import BITSET_WORDS
from steadyboost.trees.splits.search import SplitScratch, find_split

N_ROWS = 200
CRITERIA = ("gini", "entropy", "error", "edge", "max_edge", "newton", "norm")


class Case:
    """A few rows of a table, and their sums; ``least`` is what a side must have, if more than 1."""

    def __init__(self, seed, criterion, n_chosen, least=1, features=None):
        rng = np.random.default_rng(seed)
        columns = random_columns(rng, N_ROWS, numeric=3, gappy=2, categorical=2, n_bins=60)
        self.binned, self.counting = pack(columns), least > 1
        self.features = np.arange(7) if features is None else features
        self.bins = self.binned.bins(self.features)
        self.sums, _ = sums_for(rng, columns, criterion)
        self.stats = self.sums.statistics(self.counting)
        self.rows = np.sort(rng.choice(N_ROWS, n_chosen, replace=False)).astype(np.int32)
        self.total = self.sums.total(self.rows)
        self.split = TreeParams(criterion, min_samples_leaf=least).split(self.total, 1.0)
        self.scratch = small_node_scratch(self.bins, self.sums.n_channels, few_rows(self.bins))

    def small_histogram(self):
        size = build_small_histogram(self.bins, self.stats, self.rows, self.scratch)
        return self.scratch.hist[:size]

    def full_histogram(self):
        return by_numpy(self.binned, self.sums, self.rows, self.features, self.counting)

    def found(self, hist, layout):
        """(Score, feature, bins that go left, sums on the left)."""
        bitset, left_sums = np.zeros(BITSET_WORDS, np.uint32), np.zeros_like(self.total)
        search = SplitScratch.allocate(len(self.total))
        score, feature = find_split(
            hist, self.features, layout, self.total, self.split, search, bitset, left_sums
        )
        return score, feature, bitset, left_sums


@pytest.mark.parametrize("n_chosen", [1, 7, 50])
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("criterion", ["gini", "edge", "newton"])
def test_cells_are_those_of_bins_that_rows_have(criterion, least, n_chosen):
    case = Case(0, criterion, n_chosen, least, features=np.array([0, 1, 3, 4, 6]))
    hist, k = case.small_histogram(), case.sums.n_channels
    bins, offsets = unpack(case.binned)[case.rows], case.binned.offsets
    used = [(f, b) for f in case.features for b in np.unique(bins[:, f])]
    cells = np.array([offsets[f] + b for f, b in used])
    full = case.full_histogram()
    expected = full[: offsets[-1] * k].reshape(-1, k)[cells].ravel()
    np.testing.assert_array_equal(hist[: len(expected)], expected)
    np.testing.assert_array_equal(case.scratch.bins[: len(used)], [b for _, b in used])
    if case.counting:
        np.testing.assert_array_equal(hist[len(expected) :], full[offsets[-1] * k :][cells])
    else:
        assert len(hist) == len(expected)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    criterion=st.sampled_from(CRITERIA),
    n_chosen=st.integers(1, 60),
    least=st.sampled_from([1, 3]),
)
def test_splits_are_those_of_full_histograms(seed, criterion, n_chosen, least):
    case = Case(seed, criterion, n_chosen, least)
    score, feature, bitset, left_sums = case.found(case.full_histogram(), case.bins.layout)
    small = case.found(case.small_histogram(), case.scratch.layout)
    assert small[:2] == (score, feature)
    if feature >= 0:
        np.testing.assert_array_equal(small[3], left_sums)
        criterion = case.split.criterion
        restore_bins(
            case.bins.layout, feature, left_sums, case.total, criterion, case.scratch, small[2]
        )
        np.testing.assert_array_equal(small[2], bitset)


def test_few_are_as_many_as_the_bins_of_a_feature():
    rng = np.random.default_rng(0)
    binned = pack(random_columns(rng, 50, numeric=3, gappy=0, n_bins=40))
    assert few_rows(binned.bins()) == 40
    assert few_rows(sparsely(rng, binned).bins()) == 0
