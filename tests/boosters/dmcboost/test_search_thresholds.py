"""Line searches of many rows, and of few: the same, or as good where some rows tell of all."""

import numpy as np
import pytest
from reference.tree_cases import pack, random_columns
from sklearn.datasets import load_digits

from steadyboost import DMCBoostClassifier
from steadyboost.boosters.dmcboost import (
    error_line_search,
    error_splits,
    margin_line_search,
    margin_splits,
)
from steadyboost.boosters.dmcboost import margin_state as margin_state_module
from steadyboost.boosters.dmcboost.error_line_search import (
    LOSS_ROWS,
    best_of_curve,
    error_curve,
    exponential_losses,
    merging_width,
)
from steadyboost.boosters.dmcboost.error_splits import BREAKPOINT_ROWS, ErrorSplitScorer
from steadyboost.boosters.dmcboost.margin_line_search import MarginProblem, find_step, lines_along
from steadyboost.boosters.dmcboost.margin_splits import MarginSplitScorer, sum_shortfalls
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample, bottom_shares
from steadyboost.boosters.dmcboost.search_tree import search_tree
from steadyboost.trees.histograms.row_statistics import SUM_ROWS
from steadyboost.trees.parallel import serial_map, split_evenly


def case(n, k=3, seed=0, digits=12):
    """Rows with scores, of which most are right; ties are frequent with few digits."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n, numeric=3, gappy=1)
    y = rng.integers(k, size=n).astype(np.int32)
    weights = rng.integers(1, 4, n)
    sample = SearchSample(pack(columns), y, k, weights.astype(float), weights)
    scores = rng.normal(size=(n, k)) + np.eye(k)[y]
    return sample, MarginState(sample, np.round(scores, digits))


def votes_for(sample, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(sample.y)) < 0.6, sample.y, rng.integers(3, size=len(sample.y)))


# Where the bottom ends, and the best step


@pytest.mark.parametrize("digits", [1, 12])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.98])
def test_the_bottom_of_many_rows_is_that_of_all(share, digits, monkeypatch):
    for seed in range(5):
        sample, margin_state = case(400, seed=seed, digits=digits)
        mass = share * sample.weights.sum()
        right, edge, total = margin_state.bottom(mass)
        monkeypatch.setattr(margin_state_module, "BRACKET_ROWS", 40)
        found = margin_state.bottom(mass)
        monkeypatch.undo()
        assert found[0] == right
        assert found[1] == pytest.approx(edge, rel=1e-9)
        assert found[2] == pytest.approx(total, rel=1e-12)


def test_a_bottom_that_some_rows_misplace_is_found_all_the_same(monkeypatch):
    """Every tenth row is far above the others, and these are the rows that are looked at."""
    margin_state = case(400)[1]
    margin_state.margins[::10] += 100
    expected = margin_state.bottom(100.0)
    monkeypatch.setattr(margin_state_module, "BRACKET_ROWS", 40)
    found = margin_state.bottom(100.0)
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1])


@pytest.mark.parametrize("guess", [0.0, 0.02, 0.3, 2.5])
@pytest.mark.parametrize("digits", [1, 12])
def test_the_best_step_of_many_rows_is_that_of_all(digits, guess, monkeypatch):
    for seed in range(4):
        sample, margin_state = case(600, seed=seed, digits=digits)
        lines = lines_along(margin_state.rows, votes_for(sample, seed), 1.0)
        problem = MarginProblem(0.3 * sample.weights.sum(), 3.0, 3.0, 1e-7)
        sought = lines.at, sample.weights, problem
        begin, end, margin, threshold = find_step(*sought, guess)
        monkeypatch.setattr(margin_line_search, "THREAD_ROWS", 64)
        monkeypatch.setattr(margin_line_search, "SAMPLE_ROWS", 50)
        found = find_step(*sought, guess)
        monkeypatch.undo()
        assert found[2] == pytest.approx(margin, abs=1e-9)
        assert found[:2] == pytest.approx((begin, end), abs=1e-6)
        assert found[3] == pytest.approx(threshold, abs=1e-6)


@pytest.mark.parametrize("some", [1, 2, 30, 10**6])
def test_buckets_may_be_placed_by_any_number_of_breakpoints(some, monkeypatch):
    monkeypatch.setattr(error_line_search, "BUCKETING_PAYS", 0)
    monkeypatch.setattr(error_line_search, "BUCKET_SAMPLE", some)
    sample, margin_state = case(500)
    votes, whole = votes_for(sample), sample.integer_weights
    named = margin_state.rows, votes, whole
    expected = error_curve(*named, 1.0).right
    found = best_of_curve(*named, merging_width(1.0), serial_map, split_evenly(500, 1)).right
    assert (found.max(), found[0], found[-1]) == (expected.max(), expected[0], expected[-1])


@pytest.mark.parametrize("n", [10, SUM_ROWS + 1])
def test_shares_of_the_bottom_are_those_below_its_edge(n):
    rng = np.random.default_rng(n)
    margins, weights = np.round(rng.normal(size=n), 2), rng.random(n)
    expected = np.select([margins < 0.5, margins == 0.5], [weights, 0.25 * weights], 0.0)
    np.testing.assert_array_equal(bottom_shares(margins, weights, (0.5, 0.25)), expected)


# Sums by bin: those of all rows are those of their parts


@pytest.fixture(scope="module")
def long():
    """More rows than any loop takes at a time."""
    return case(max(BREAKPOINT_ROWS, LOSS_ROWS) + 700)


def pieces_of(n):
    return np.array_split(np.arange(n, dtype=np.int32), -(-n // 300))


def test_sums_of_the_error_are_those_of_parts(long, monkeypatch):
    monkeypatch.setattr(error_splits, "EXACT_WORK", 0)
    sample, margin_state = long
    scorer = ErrorSplitScorer(sample, margin_state, 1.0)
    rows, features = np.arange(len(sample.y), dtype=np.int32), scorer.groups[0]
    whole = scorer._sum_group(rows, features)
    found = [scorer._sum_group(some, features) for some in pieces_of(len(rows))]
    for all_rows, some in zip(whole, zip(*found, strict=True), strict=True):
        np.testing.assert_allclose(np.sum(some, axis=0), all_rows, rtol=1e-9)


def test_sums_of_shortfalls_are_those_of_parts(long):
    sample, margin_state = long
    of = margin_state.rows, sample.weights, sample.integer_weights
    read, rows = sample.columns(np.arange(4)), np.arange(len(sample.y), dtype=np.int32)
    whole = sum_shortfalls(read, *of, rows, (0.3, 0.8))
    found = [sum_shortfalls(read, *of, some, (0.3, 0.8)) for some in pieces_of(len(rows))]
    assert whole.any()
    np.testing.assert_allclose(np.sum(found, axis=0), whole, rtol=1e-9, atol=1e-9)


def test_losses_of_many_rows_are_the_exponentials(long):
    sample, margin_state = long
    other, total = exponential_losses(sample, margin_state)
    own, y = margin_state.rivals.own, sample.y
    expected = sample.weights[:, None] * np.exp(margin_state.scores - own[:, None])
    expected[np.arange(len(y)), y] = 0
    factor = total[0] / expected[0].sum()  # that keeps losses in range
    np.testing.assert_allclose(other, factor * expected, rtol=1e-9)
    np.testing.assert_allclose(total, other.sum(axis=1), rtol=1e-12)


# Trees

BOTTOM = 0.7  # share of the rows: margins are positive


@pytest.fixture(scope="module")
def digits():
    """Some pixels of handwritten digits, and how they stand after a few rounds."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:, [10, 21, 27, 33, 36, 42, 60]], y % 4
    model = DMCBoostClassifier(n_estimators=10, max_depth=4, bottom=BOTTOM).fit(X, y)
    n = len(y)
    binned = model._binner.bin(X)
    sample = SearchSample(binned, y.astype(np.int32), 4, np.ones(n), np.ones(n, dtype=np.int64))
    scores = model.decision_function(X)
    return sample, MarginState(sample, scores), float(np.abs(model.estimator_weights_).sum())


def tree_of(scorer, sample, depth=3):
    tree, labels, votes = search_tree(sample, scorer, depth, None)
    return tree.feature.tolist(), tree.left_bitset.tolist(), labels.tolist(), votes.tolist()


def test_sums_of_nodes_may_be_kept_or_made_anew(digits, monkeypatch):
    sample, margin_state, scale = digits
    found = []
    for cells in (error_splits.CACHED_CELLS, 0):
        monkeypatch.setattr(error_splits, "CACHED_CELLS", cells)
        scorer = ErrorSplitScorer(sample, margin_state, scale)
        assert scorer._fits() == (cells > 0)
        found.append(tree_of(scorer, sample))
    assert found[0] == found[1]


def right_after(sample, margin_state, scale, votes):
    """Rows that are right after the best step."""
    right = error_curve(margin_state.rows, np.array(votes), sample.integer_weights, scale).right
    return right.max()


@pytest.mark.parametrize("points", [200, 2000])
def test_breakpoints_of_some_rows_choose_nearly_as_well_as_all(points, digits, monkeypatch):
    sample, margin_state, scale = digits
    exact = tree_of(ErrorSplitScorer(sample, margin_state, scale), sample)
    monkeypatch.setattr(error_splits, "EXACT_POINTS", points)
    scorer = ErrorSplitScorer(sample, margin_state, scale)
    assert scorer.n_intervals <= 258
    some = tree_of(scorer, sample)
    found = [right_after(sample, margin_state, scale, votes) for *_, votes in (exact, some)]
    assert found[1] > found[0] - 0.01 * len(sample.y)


def margin_after(sample, margin_state, scale, votes):
    """The mean bottom margin after the best step."""
    lines = lines_along(margin_state.rows, np.array(votes), 1.0)
    problem = MarginProblem(BOTTOM * len(votes), scale, scale, 1e-7)
    return find_step(lines.at, sample.weights, problem).margin


def margin_judge_of(digits):
    sample, margin_state, scale = digits
    return MarginSplitScorer(sample, margin_state, scale, BOTTOM * len(sample.y), 1e-6, 0.1)


@pytest.mark.parametrize(
    "limits",
    [
        {"SAMPLING_PAYS": 1000, "MIN_SAMPLE_ROWS": 400},
        {"MIN_ORDERING_ROWS": 400},
        {"EXACT_WORK": 0},
    ],
    ids=str,
)
def test_margins_of_some_rows_choose_nearly_as_well_as_all(limits, digits, monkeypatch):
    sample, margin_state, scale = digits
    before = margin_after(sample, margin_state, scale, np.zeros(len(sample.y), dtype=int) - 1)
    exact = margin_after(*digits, tree_of(margin_judge_of(digits), sample, 2)[-1])
    for name, value in limits.items():
        monkeypatch.setattr(margin_splits, name, value)
    scorer = margin_judge_of(digits)
    assert (scorer.stride_bits > 0) == ("SAMPLING_PAYS" in limits)
    some = margin_after(*digits, tree_of(scorer, sample, 2)[-1])
    assert some - before > 0.8 * (exact - before)


def test_a_few_cuts_are_compared_on_stretches_of_any_length(digits, monkeypatch):
    monkeypatch.setattr(margin_splits, "SAMPLING_PAYS", 1000)
    monkeypatch.setattr(margin_splits, "MIN_SAMPLE_ROWS", 400)
    whole = tree_of(margin_judge_of(digits), digits[0], 2)
    monkeypatch.setattr(margin_splits, "THREAD_ROWS", 50)
    assert tree_of(margin_judge_of(digits), digits[0], 2) == whole
