"""One split at a time: against every possible split, and case by case."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import tree as twin
from reference.histograms import by_kernel
from reference.tree_cases import bins_in, pack, random_columns, sums_for

from steadyboost.trees.growth.params import CRITERIA
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.splits.bitset import BITSET_WORDS
from steadyboost.trees.splits.criteria import SplitParams, gain_of
from steadyboost.trees.splits.search import SplitScratch, find_split

WHOLE = 2.0**60
CLASS = ("gini", "entropy", "error")


class Found:
    """The split that the kernel finds for all rows, in shares."""

    def __init__(self, columns, sums, criterion, *, min_mass=1, min_count=0, features=None):
        binned, rows = pack(columns), np.arange(len(columns[0].bins), dtype=np.int32)
        features = np.arange(len(columns)) if features is None else np.array(features)
        hist = by_kernel(binned.bins(features), sums, rows, counting=min_count > 0)
        total = sums.total(rows)
        split = SplitParams(CRITERIA[criterion], min_mass, min_count, 0.0, 0.0, 0)
        left_bitset, left_sums = np.zeros(BITSET_WORDS, dtype=np.uint32), np.zeros_like(total)
        scratch, layout = SplitScratch.allocate(len(total)), binned.growth_layout
        score, self.feature = find_split(
            hist, features, layout, total, split, scratch, left_bitset, left_sums
        )
        self.gain = gain_of(score, total, split) / WHOLE
        self.score, self.left_sums = score / WHOLE, left_sums / WHOLE
        self.bins = bins_in(left_bitset)


def by_labels(columns, labels, criterion="gini", weights=None, n_labels=2, **limits):
    labels = np.array(labels, dtype=np.int32)
    weights = np.ones(len(labels)) if weights is None else np.array(weights, dtype=float)
    return Found(columns, FixedPointSums.of_labels(labels, weights, n_labels), criterion, **limits)


def column(bins, n_bins=None, categorical=False):
    return twin.Column(np.array(bins), max(bins) + 1 if n_bins is None else n_bins, categorical)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("criterion", [*CLASS, "edge", "newton", "max_edge", "norm"])
def test_the_split_is_the_twins(criterion, seed):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, 60, numeric=3, gappy=3)
    sums, shares = sums_for(rng, columns, criterion)
    rows = np.arange(60)
    split = twin.find_split(columns, rows, shares, twin.Rules(criterion), range(6))
    found = Found(columns, sums, criterion)
    assert found.feature == split.feature
    assert found.score == pytest.approx(split.score, abs=1e-12)
    left = np.isin(columns[split.feature].bins, split.left_bins)
    np.testing.assert_allclose(found.left_sums, shares[left].sum(axis=0), atol=1e-12)
    assert found.bins >= set(split.left_bins)


@pytest.mark.parametrize("criterion", [*CLASS, "newton"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_bins=st.integers(2, 7))
def test_no_subset_of_categories_beats_the_best_prefix(criterion, seed, n_bins):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, 40, numeric=0, gappy=0, categorical=1, n_bins=n_bins)
    sums, shares = sums_for(rng, columns, criterion, n_labels=2)
    best = twin.best_subset_score(columns[0], np.arange(40), shares, twin.Rules(criterion))
    assert Found(columns, sums, criterion).score == pytest.approx(best, abs=1e-10)


def categories_along_an_axis(rng, n_labels, n_bins=7):
    """One row per category and label, whose class shares lie close to one line."""
    along = np.outer(rng.uniform(-1, 1, n_bins), rng.dirichlet(np.ones(n_labels)) - 1 / n_labels)
    shares = 1 / n_labels + along + rng.uniform(0, 0.02, along.shape)
    weights = (shares * rng.uniform(0.5, 2, (n_bins, 1))).clip(min=0.001).ravel()
    bins, labels = np.divmod(np.arange(n_bins * n_labels), n_labels)
    return column(bins.tolist(), n_bins, True), labels.astype(np.int32), weights


def second_axis(col, shares):
    """How large the second principal component of the categories is against the first."""
    sums = np.array([shares[col.bins == b].sum(axis=0) for b in np.unique(col.bins)])
    mass = sums.sum(axis=1, keepdims=True)
    deviations = sums / mass - shares.sum(axis=0)
    values = np.linalg.eigvalsh((deviations * mass).T @ deviations)
    return values[-2] / values[-1]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_labels=st.integers(3, 6))
def test_categories_of_many_classes_are_ordered_along_the_main_axis(seed, n_labels):
    col, labels, weights = categories_along_an_axis(np.random.default_rng(seed), n_labels)
    shares = twin.label_channels(labels, weights, n_labels)
    assume(second_axis(col, shares) < 0.2)
    split = twin.find_split([col], np.arange(len(labels)), shares, twin.Rules(), [0])
    found = by_labels([col], labels, weights=weights, n_labels=n_labels)
    assert found.score == pytest.approx(split.score, abs=1e-12)
    assert found.bins - {col.n_bins} == set(split.left_bins)


def test_the_order_of_many_classes_loses_little():
    ratios = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns = random_columns(rng, 150, numeric=0, gappy=0, categorical=1, n_bins=7)
        sums, shares = sums_for(rng, columns, "gini", n_labels=4)
        rules, rows = twin.Rules(), np.arange(150)
        best = twin.best_subset_score(columns[0], rows, shares, rules)
        own = twin.score_of(shares.sum(axis=0), rules)
        ratios.append(Found(columns, sums, "gini").gain / (best - own))
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) > 0.95


def test_scattered_categories_are_split_at_once():
    col = column([0, 1, 2, 3, 4, 5], categorical=True)
    found = by_labels([col], [0, 1, 0, 1, 0, 1])
    assert found.bins in ({0, 2, 4}, {1, 3, 5})
    assert found.gain == pytest.approx(0.5)


def test_ties_go_to_the_lowest_feature():
    bins = [0, 0, 1, 1]
    noise = column([0, 1, 0, 1])
    assert by_labels([noise, column(bins), column(bins)], [0, 0, 1, 1]).feature == 1


def test_ties_go_to_the_shortest_prefix():
    found = by_labels([column([0, 1, 2, 3])], [0, 1, 1, 0])
    assert found.bins == {0}


@pytest.mark.parametrize("criterion", ["error", "edge"])
def test_equal_sums_of_uneven_weights_tie(criterion):
    for seed in range(20):
        weights = np.random.default_rng(seed).random(12)
        if criterion == "error":
            found = by_labels([column(range(12))], [0] * 12, "error", weights)
        else:
            channels = np.column_stack([weights, -weights, weights])
            found = Found([column(range(12))], FixedPointSums.of_channels(channels), "edge")
        assert found.bins == {0}


def test_a_cut_after_an_empty_bin_is_the_cut_before_it():
    found = by_labels([column([0, 1, 5, 6])], [0, 0, 1, 1])
    assert found.bins == {0, 1}


@pytest.mark.parametrize(
    ("labels", "goes_left"),
    [
        ([0, 0, 1, 1, 0, 0], {0, 1, 4}),
        ([0, 0, 1, 1, 1, 1], {0, 1}),
        ([0] * 4 + [1, 1], {*range(4)}),
    ],
    ids=["left", "right", "alone"],
)
def test_gaps_go_where_they_belong(labels, goes_left):
    found = by_labels([column([0, 1, 2, 3, 4, 4], n_bins=4)], labels)
    assert found.bins == goes_left


def test_gaps_are_one_more_category():
    found = by_labels([column([0, 1, 2, 3, 3], n_bins=3, categorical=True)], [0, 1, 0, 1, 1])
    assert found.bins in ({0, 2}, {1, 3})


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("heavy_left", [False, True])
def test_bins_that_the_node_has_not_seen_follow_the_heavier_side(categorical, heavy_left):
    bins, labels = [0, 0, 0, 2], [0, 0, 0, 1]
    weights = [1, 1, 1, 1] if heavy_left else [1, 1, 1, 9]
    found = by_labels([column(bins, 4, categorical)], labels, weights=weights)
    assert (0 in found.bins) != (2 in found.bins)
    assert (4 in found.bins) == ((0 if heavy_left else 2) in found.bins)
    if categorical:
        assert (1 in found.bins) == (3 in found.bins) == (4 in found.bins)


def test_a_tie_of_masses_sends_the_unseen_right():
    found = by_labels([column([0, 1], 2)], [0, 1])
    assert found.bins == {0}


@pytest.mark.parametrize("categorical", [False, True])
def test_one_bin_cannot_be_split(categorical):
    found = by_labels([column([0, 0, 0], 3, categorical)], [0, 1, 0])
    assert (found.feature, found.score) == (-1, -np.inf)


@pytest.mark.parametrize(("min_count", "goes_left"), [(0, {0}), (2, {0, 1}), (3, {0, 1, 2})])
def test_both_sides_have_the_least_count(min_count, goes_left):
    found = by_labels([column(range(6))], [0, 1, 1, 1, 1, 1], min_count=min_count)
    assert found.bins == goes_left


@pytest.mark.parametrize(("share", "goes_left"), [(0.1, {0}), (0.3, {0, 1}), (0.45, {0, 1, 2})])
def test_both_sides_have_the_least_mass(share, goes_left):
    found = by_labels([column(range(6))], [0, 1, 1, 1, 1, 1], min_mass=int(share * WHOLE))
    assert found.bins == goes_left


def test_no_split_is_better_than_one_that_is_too_small():
    assert by_labels([column(range(5))], [0, 0, 1, 1, 1], min_count=3).feature == -1


def test_other_features_are_left_alone():
    columns = [column([0, 0, 1, 1]), column([0, 1, 0, 1])]
    assert by_labels(columns, [0, 0, 1, 1], features=[1]).feature == 1


@pytest.mark.parametrize("criterion", CLASS)
def test_an_impure_node_may_split_without_gain(criterion):
    found = by_labels([column([0, 1, 0, 1])], [0, 0, 1, 1], criterion)
    assert found.gain == 0


@pytest.mark.parametrize("criterion", ["edge", "newton"])
def test_sums_that_do_not_gain_do_not_split(criterion):
    channels = np.column_stack([np.full(6, 0.25), np.ones(6)])
    assert (
        Found([column(range(6))], FixedPointSums.of_channels(channels), criterion).gain == -np.inf
    )


def test_gains_are_the_decrease_of_impurity():
    labels = [0, 0, 0, 1, 1, 1, 1, 1]
    col = column([0, 0, 0, 0, 1, 1, 1, 1])
    assert by_labels([col], labels).gain == pytest.approx(2 * 3 / 8 * 5 / 8 - 0.5 * 2 * 3 / 16)
    assert by_labels([col], labels, "error").gain == pytest.approx(3 / 8 - 1 / 8)
    entropy = [-sum(p * np.log(p) for p in (q, 1 - q)) for q in (3 / 8, 1 / 4)]
    assert by_labels([col], labels, "entropy").gain == pytest.approx(entropy[0] - 0.5 * entropy[1])


def test_the_gain_of_edges_is_that_of_their_absolute_sums():
    channels = np.array([[1.0, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, 1]])
    found = Found([column([0, 0, 1, 1])], FixedPointSums.of_channels(channels), "edge")
    assert found.gain * np.abs(channels).sum() == pytest.approx(2 + 2 - 0)


def test_the_gain_of_newton_sums_is_that_of_squares_over_hessians():
    channels = np.array([[1.0, 1], [2, 1], [-3, 2], [-1, 1]])
    found = Found([column([0, 0, 1, 1])], FixedPointSums.of_channels(channels), "newton")
    assert found.gain * np.abs(channels).sum() == pytest.approx(9 / 2 + 16 / 3 - 1 / 5)
