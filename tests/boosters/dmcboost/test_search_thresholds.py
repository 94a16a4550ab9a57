"""Line searches of many rows, and of few: the same, or as good where some rows tell of all."""

import numpy as np
import pytest
from reference.tree_cases import pack, random_columns
from sklearn.datasets import load_digits

from steadyboost import DMCBoostClassifier
from steadyboost.boosters.dmcboost import curve_search, error_judge, margin_judge, step_search
from steadyboost.boosters.dmcboost import standing as standing_module
from steadyboost.boosters.dmcboost.curve_search import best_of_curve
from steadyboost.boosters.dmcboost.error_judge import ErrorJudge
from steadyboost.boosters.dmcboost.error_sums import CHUNK
from steadyboost.boosters.dmcboost.linesearch import error_curve, merging_width
from steadyboost.boosters.dmcboost.margin_judge import MarginJudge
from steadyboost.boosters.dmcboost.margin_scan import sum_shortfalls
from steadyboost.boosters.dmcboost.margin_search import margin_lines
from steadyboost.boosters.dmcboost.search_tree import search_tree
from steadyboost.boosters.dmcboost.standing import Sample, Standing, bottom_shares
from steadyboost.boosters.dmcboost.step_search import find_step
from steadyboost.boosters.dmcboost.turning import BLOCK, exponential_losses
from steadyboost.trees.histograms.row_statistics import STRETCH, one_by_one, parts


def case(n, k=3, seed=0, digits=12):
    """Rows with scores, of which most are right; ties are frequent with few digits."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n, numeric=3, gappy=1)
    y = rng.integers(k, size=n).astype(np.int32)
    weights = rng.integers(1, 4, n)
    sample = Sample(pack(columns), y, k, weights.astype(float), weights)
    scores = rng.normal(size=(n, k)) + np.eye(k)[y]
    return sample, Standing(sample, np.round(scores, digits))


def votes_for(sample, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(sample.y)) < 0.6, sample.y, rng.integers(3, size=len(sample.y)))


# Where the bottom ends, and the best step


@pytest.mark.parametrize("digits", [1, 12])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.98])
def test_the_bottom_of_many_rows_is_that_of_all(share, digits, monkeypatch):
    for seed in range(5):
        sample, standing = case(400, seed=seed, digits=digits)
        mass = share * sample.weights.sum()
        right, edge, total = standing.bottom(mass)
        monkeypatch.setattr(standing_module, "SOME", 40)
        found = standing.bottom(mass)
        monkeypatch.undo()
        assert found[0] == right
        assert found[1] == pytest.approx(edge, rel=1e-9)
        assert found[2] == pytest.approx(total, rel=1e-12)


def test_a_bottom_that_some_rows_misplace_is_found_all_the_same(monkeypatch):
    """Every tenth row is far above the others, and these are the rows that are looked at."""
    standing = case(400)[1]
    standing.gaps[::10] += 100
    expected = standing.bottom(100.0)
    monkeypatch.setattr(standing_module, "SOME", 40)
    found = standing.bottom(100.0)
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1])


@pytest.mark.parametrize("guess", [0.0, 0.02, 0.3, 2.5])
@pytest.mark.parametrize("digits", [1, 12])
def test_the_best_step_of_many_rows_is_that_of_all(digits, guess, monkeypatch):
    for seed in range(4):
        sample, standing = case(600, seed=seed, digits=digits)
        lines, votes = tuple(np.empty(600) for _ in range(3)), votes_for(sample, seed)
        margin_lines(standing.scores, sample.y, standing.arrays, votes, 1.0, *lines)
        problem = 0.3 * sample.weights.sum(), 3.0, 3.0, 1e-7
        sought = lambda at, own=lines: tuple(line[at] for line in own), sample.weights, problem
        begin, end, margin, threshold = find_step(*sought, guess)
        monkeypatch.setattr(step_search, "STRETCH", 64)
        monkeypatch.setattr(step_search, "SOME", 50)
        found = find_step(*sought, guess)
        monkeypatch.undo()
        assert found[2] == pytest.approx(margin, abs=1e-9)
        assert found[:2] == pytest.approx((begin, end), abs=1e-6)
        assert found[3] == pytest.approx(threshold, abs=1e-6)


@pytest.mark.parametrize("some", [1, 2, 30, 10**6])
def test_drawers_may_be_placed_by_any_number_of_breakpoints(some, monkeypatch):
    monkeypatch.setattr(curve_search, "MANY", 0)
    monkeypatch.setattr(curve_search, "SOME", some)
    sample, standing = case(500)
    votes, whole = votes_for(sample), sample.whole
    expected = error_curve(standing.scores, sample.y, standing.arrays, votes, whole, 1.0)[2]
    rows = standing.scores, sample.y, *standing.arrays, votes, whole
    found = best_of_curve(rows, merging_width(1.0), one_by_one, parts(500, 1))[2]
    assert (found.max(), found[0], found[-1]) == (expected.max(), expected[0], expected[-1])


@pytest.mark.parametrize("n", [10, STRETCH + 1])
def test_shares_of_the_bottom_are_those_below_its_edge(n):
    rng = np.random.default_rng(n)
    gaps, weights = np.round(rng.normal(size=n), 2), rng.random(n)
    expected = np.select([gaps < 0.5, gaps == 0.5], [weights, 0.25 * weights], 0.0)
    np.testing.assert_array_equal(bottom_shares(gaps, weights, (0.5, 0.25)), expected)


# Sums by bin: those of all rows are those of their parts


@pytest.fixture(scope="module")
def long():
    """More rows than any loop takes at a time."""
    return case(max(CHUNK, BLOCK) + 700)


def pieces_of(n):
    return np.array_split(np.arange(n, dtype=np.int32), -(-n // 300))


def test_sums_of_the_error_are_those_of_parts(long, monkeypatch):
    monkeypatch.setattr(error_judge, "EXACT_WORK", 0)
    sample, standing = long
    judge = ErrorJudge(sample, standing, 1.0)
    rows, features = np.arange(len(sample.y), dtype=np.int32), judge.groups[0]
    whole = judge._sum_group(rows, features)
    found = [judge._sum_group(some, features) for some in pieces_of(len(rows))]
    for all_rows, some in zip(whole, zip(*found, strict=True), strict=True):
        np.testing.assert_allclose(np.sum(some, axis=0), all_rows, rtol=1e-9)


def test_sums_of_shortfalls_are_those_of_parts(long):
    sample, standing = long
    of = (standing.scores, sample.y, standing.arrays), sample.weights, sample.whole
    read, rows = sample.columns(np.arange(4)), np.arange(len(sample.y), dtype=np.int32)
    whole = sum_shortfalls(read, *of, rows, (0.3, 0.8))
    found = [sum_shortfalls(read, *of, some, (0.3, 0.8)) for some in pieces_of(len(rows))]
    assert whole.any()
    np.testing.assert_allclose(np.sum(found, axis=0), whole, rtol=1e-9, atol=1e-9)


def test_losses_of_many_rows_are_the_exponentials(long):
    sample, standing = long
    other, total = exponential_losses(sample, standing)
    own, y = standing.arrays[0], sample.y
    expected = sample.weights[:, None] * np.exp(standing.scores - own[:, None])
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
    sample = Sample(binned, y.astype(np.int32), 4, np.ones(n), np.ones(n, dtype=np.int64))
    scores = model.decision_function(X)
    return sample, Standing(sample, scores), float(np.abs(model.estimator_weights_).sum())


def tree_of(judge, sample, depth=3):
    tree, labels, votes = search_tree(sample, judge, depth, None)
    return tree.feature.tolist(), tree.left_bitset.tolist(), labels.tolist(), votes.tolist()


def test_sums_of_nodes_may_be_kept_or_made_anew(digits, monkeypatch):
    sample, standing, scale = digits
    found = []
    for cells in (error_judge.KEPT_CELLS, 0):
        monkeypatch.setattr(error_judge, "KEPT_CELLS", cells)
        judge = ErrorJudge(sample, standing, scale)
        assert judge._fits() == (cells > 0)
        found.append(tree_of(judge, sample))
    assert found[0] == found[1]


def right_after(sample, standing, scale, votes):
    """Rows that are right after the best step."""
    own = standing.scores, sample.y, standing.arrays, np.array(votes), sample.whole, scale
    return error_curve(*own)[2].max()


@pytest.mark.parametrize("points", [200, 2000])
def test_breakpoints_of_some_rows_choose_nearly_as_well_as_all(points, digits, monkeypatch):
    sample, standing, scale = digits
    exact = tree_of(ErrorJudge(sample, standing, scale), sample)
    monkeypatch.setattr(error_judge, "EXACT_POINTS", points)
    judge = ErrorJudge(sample, standing, scale)
    assert judge.n_intervals <= 258
    some = tree_of(judge, sample)
    found = [right_after(sample, standing, scale, votes) for *_, votes in (exact, some)]
    assert found[1] > found[0] - 0.01 * len(sample.y)


def margin_after(sample, standing, scale, votes):
    """The mean bottom margin after the best step."""
    lines = tuple(np.empty(len(votes)) for _ in range(3))
    margin_lines(standing.scores, sample.y, standing.arrays, np.array(votes), 1.0, *lines)
    problem = BOTTOM * len(votes), scale, scale, 1e-7
    return find_step(lambda at: tuple(line[at] for line in lines), sample.weights, problem)[2]


def margin_judge_of(digits):
    sample, standing, scale = digits
    return MarginJudge(sample, standing, scale, BOTTOM * len(sample.y), 1e-6, 0.1)


@pytest.mark.parametrize(
    "limits", [{"MANY": 1000, "SOME": 400}, {"LISTED": 400}, {"EXACT_WORK": 0}], ids=str
)
def test_margins_of_some_rows_choose_nearly_as_well_as_all(limits, digits, monkeypatch):
    sample, standing, scale = digits
    before = margin_after(sample, standing, scale, np.zeros(len(sample.y), dtype=int) - 1)
    exact = margin_after(*digits, tree_of(margin_judge_of(digits), sample, 2)[-1])
    for name, value in limits.items():
        monkeypatch.setattr(margin_judge, name, value)
    judge = margin_judge_of(digits)
    assert (judge.stride_bits > 0) == ("MANY" in limits)
    some = margin_after(*digits, tree_of(judge, sample, 2)[-1])
    assert some - before > 0.8 * (exact - before)


def test_a_few_cuts_are_compared_on_stretches_of_any_length(digits, monkeypatch):
    monkeypatch.setattr(margin_judge, "MANY", 1000)
    monkeypatch.setattr(margin_judge, "SOME", 400)
    whole = tree_of(margin_judge_of(digits), digits[0], 2)
    monkeypatch.setattr(margin_judge, "STRETCH", 50)
    assert tree_of(margin_judge_of(digits), digits[0], 2) == whole
