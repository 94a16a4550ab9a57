"""Trees grown by line searches, against a twin that tries every split and label by itself."""

import numpy as np
import pytest
from combinations import pairwise
from reference import dmcboost as twin
from reference import linesearch as searches
from reference import tree as trees
from reference.tree_cases import pack

from steadyboost.boosters.dmcboost import error_splits
from steadyboost.boosters.dmcboost import margin_state as margin_state_module
from steadyboost.boosters.dmcboost.error_splits import ErrorSplitScorer
from steadyboost.boosters.dmcboost.margin_splits import MarginSplitScorer
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample, as_integer_weights
from steadyboost.boosters.dmcboost.search_tree import search_tree

LIMITS = [(2, None), (3, 4), (1, None)]  # depth first, best first, a stump


def case(seed, weighted=False):
    """A few rows with gaps and, where there are two classes, a categorical column."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    widths = [int(rng.integers(2, 7)) for _ in range(3)]
    bins = [rng.integers(0, width + (f == 2), n) for f, width in enumerate(widths)]
    columns = [
        trees.Column(own, width, f == 1 and k == 2)
        for f, (own, width) in enumerate(zip(bins, widths, strict=True))
    ]
    y = ((bins[0] + bins[1] + rng.integers(0, 2, n)) % k).astype(np.int32)
    weights = rng.choice([1.0, 2.0, 3.0], n) if weighted else np.ones(n)
    state = twin.State(columns, y.tolist(), weights.tolist(), k, [[0.0] * k for _ in y])
    whole = as_integer_weights(weights if weighted else None, n)
    return state, SearchSample(pack(columns), y, k, weights, whole)


def margin_state(state, sample):
    return MarginState(sample, np.array(state.scores)), state.scale


def boost_once(state, limits):
    """A round of phase I by the twin."""
    _, votes, _ = twin.grow(state, twin.by_error(state), *limits)
    state.add(votes, searches.minimize_error(*state.problem(votes), state.scale)[0])
    return votes


def nodes_of(tree, labels):
    """(feature, bins that go left) or the label, node by node."""
    bits = np.unpackbits(tree.left_bitset.view(np.uint8), axis=1, bitorder="little")
    return [
        int(labels[at]) if leaf else (int(tree.feature[at]), frozenset(np.flatnonzero(bits[at])))
        for at, leaf in enumerate(tree.is_leaf)
    ]


def nodes_of_twin(nodes):
    return [node.split if node.children else node.label for node in nodes]


@pairwise(seed=range(8), few=[0, 2, np.inf], limits=LIMITS)
def test_trees_of_the_error_are_the_twins(seed, few, limits, monkeypatch):
    monkeypatch.setattr(error_splits, "HISTOGRAM_ROWS_PER_BIN", few)
    state, sample = case(seed, weighted=seed % 3 == 0)
    for _ in range(3):
        tree, labels, votes = search_tree(
            sample, ErrorSplitScorer(sample, *margin_state(state, sample)), *limits
        )
        _, expected, nodes = twin.grow(state, twin.by_error(state), *limits)
        assert votes.tolist() == expected
        assert nodes_of(tree, labels) == nodes_of_twin(nodes)
        np.testing.assert_array_equal(labels[tree.apply(sample.binned.packed)], votes)
        boost_once(state, limits)


@pytest.mark.parametrize(("seed", "limits"), list(enumerate(2 * LIMITS)))
def test_trees_of_the_margin_are_the_twins(seed, limits):
    state, sample = case(seed, weighted=seed % 3 == 0)
    bottom = max(1.0, round(0.3 * sample.weights.sum()))
    for _ in range(2):
        boost_once(state, limits)
        scorer = MarginSplitScorer(sample, *margin_state(state, sample), bottom, 1e-5)
        _, _, votes = search_tree(sample, scorer, *limits)
        _, expected, _ = twin.grow(state, twin.by_margin(state, bottom, 1e-5), *limits)
        assert votes.tolist() == expected


def test_rows_of_one_class_or_one_value_make_a_leaf():
    column = trees.Column(np.zeros(4, dtype=int), 1)
    y = np.array([1, 0, 1, 1], dtype=np.int32)
    sample = SearchSample(pack([column]), y, 2, np.ones(4), np.ones(4, dtype=np.int64))
    tree, labels, votes = search_tree(
        sample, ErrorSplitScorer(sample, MarginState(sample, np.zeros((4, 2))), 0.0), 3, None
    )
    assert tree.is_leaf.tolist() == [True]
    assert labels.tolist() == [1]
    assert votes.tolist() == [1] * 4


@pytest.mark.parametrize("seed", range(4))
def test_intervals_that_stand_for_many_lose_little(seed, monkeypatch):
    """Breakpoints that are too many are thinned out: what is left has errors of the whole."""
    state, sample = case(seed)
    for _ in range(3):
        boost_once(state, (2, None))
    exact = ErrorSplitScorer(sample, *margin_state(state, sample))
    monkeypatch.setattr(error_splits, "EXACT_WORK", 0)
    monkeypatch.setattr(error_splits, "MERGED_INTERVALS", 6)
    thin = ErrorSplitScorer(sample, *margin_state(state, sample))
    assert len(thin.ends[0]) <= 8
    assert 0.0 in np.concatenate(thin.ends)
    rows = np.arange(len(sample.y), dtype=np.int32)
    found = [
        j._cells(j.groups[0], j.groups[0][:1], j._sum_group(rows, j.groups[0]))
        for j in (exact, thin)
    ]
    for all_curves, some_curves in zip(*(own[0].sum(axis=0) for own in found), strict=True):
        assert set(some_curves) <= set(all_curves)


def test_groups_of_features_and_threads_change_nothing(monkeypatch):
    state, sample = case(3)
    boost_once(state, (2, None))
    whole = nodes_of(
        *search_tree(sample, ErrorSplitScorer(sample, *margin_state(state, sample)), 2, None)[:2]
    )
    monkeypatch.setattr(margin_state_module, "GROUP_CELLS", 1)
    one = ErrorSplitScorer(sample, *margin_state(state, sample))
    assert len(one.groups) == 3
    assert nodes_of(*search_tree(sample, one, 2, None)[:2]) == whole
