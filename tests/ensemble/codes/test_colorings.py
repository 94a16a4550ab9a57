import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.ensemble.codes import colorings as module
from steadyboost.ensemble.codes.colorings import (
    balanced_coloring,
    coloring_rule,
    cut_value,
    greedy_coloring,
    maxcut_coloring,
    random_coloring,
)

sys.path.insert(0, str(Path(__file__).parents[2]))
from reference.maxcut import (
    affinity_by_definition,
    cut_by_definition,
    even_splits,
    max_cut,
    u_by_definition,
)

SEEDS = st.integers(0, 2**32 - 1)


def make_affinity(k, rng, density=1.0, skew=2):
    weights = rng.exponential(size=(k, k)) ** skew * (rng.random((k, k)) < density)
    weights[0, 1] += 0.01
    np.fill_diagonal(weights, 0.0)
    return weights / weights.sum()


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, k=st.integers(2, 7), n=st.integers(1, 12))
def test_u_as_a_cut_equals_its_definition(seed, k, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    weights = rng.random((n, k))
    weights[np.arange(n), y] = 0.0
    affinity = affinity_by_definition(weights, y, k)
    coloring = random_coloring(k, rng)
    expected = u_by_definition(weights, y, coloring)
    assert cut_value(affinity, coloring) == pytest.approx(expected, abs=1e-12)
    assert cut_value(affinity, 1 - coloring) == pytest.approx(expected, abs=1e-12)
    assert cut_by_definition(affinity, coloring) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, k=st.integers(2, 9), density=st.floats(0.05, 1.0))
def test_greedy_cuts_half_and_at_most_the_maximum(seed, k, density):
    rng = np.random.default_rng(seed)
    affinity = make_affinity(k, rng, density)
    best = max_cut(affinity)
    greedy = cut_value(affinity, greedy_coloring(affinity, rng))
    assert 0.5 - 1e-12 <= greedy <= best + 1e-12
    assert cut_value(affinity, maxcut_coloring(affinity, rng)) == pytest.approx(best, abs=1e-12)


def test_greedy_is_a_local_optimum():
    rng = np.random.default_rng(0)
    affinity = make_affinity(20, rng)
    coloring = greedy_coloring(affinity, rng)
    value = cut_value(affinity, coloring)
    flipped = [cut_value(affinity, coloring ^ row) for row in np.eye(20, dtype=np.int8)]
    assert max(flipped) <= value + 1e-12


def test_one_pass_start_already_cuts_half():
    rng = np.random.default_rng(0)
    for k in range(2, 30):
        affinity = make_affinity(k, rng, density=0.5)
        start = module._one_pass(affinity + affinity.T, rng) > 0
        assert cut_value(affinity, start) >= 0.5 - 1e-12


def test_exact_enumeration_at_its_limit_against_brute_force():
    rng = np.random.default_rng(1)
    affinity = make_affinity(13, rng, density=0.6)
    found = cut_value(affinity, maxcut_coloring(affinity, rng))
    assert found == pytest.approx(max_cut(affinity), abs=1e-12)


def test_goemans_williamson_against_the_exact_maximum():
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(150):
        affinity = make_affinity(
            int(rng.integers(2, 15)), rng, density=rng.uniform(0.1, 1), skew=rng.choice([1, 2, 4])
        )
        rounded = module._goemans_williamson(affinity + affinity.T, rng) > 0
        best = cut_value(affinity, maxcut_coloring(affinity, rng))
        ratios.append(cut_value(affinity, rounded) / best)
    assert min(ratios) >= 0.95
    assert np.mean(np.array(ratios) > 1 - 1e-9) >= 0.95


def test_relaxation_bounds_the_cut_from_above():
    rng = np.random.default_rng(3)
    affinity = make_affinity(30, rng)
    weights = affinity + affinity.T
    vectors = module._relaxed_vectors(weights, rng)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0)
    relaxed = 0.25 * (weights * (1.0 - vectors @ vectors.T)).sum()
    cut = cut_value(affinity, maxcut_coloring(affinity, rng))
    # The sweeps stop a little short of the optimum of the relaxation.
    assert 0.878 * relaxed <= cut <= relaxed * 1.001


def test_planted_bipartite_cut_is_found():
    rng = np.random.default_rng(4)
    side = balanced_coloring(120, rng)
    affinity = (side[:, None] != side) * rng.random((120, 120))
    found = maxcut_coloring(affinity, rng)
    assert np.array_equal(found ^ found[0], side ^ side[0])


def test_maxcut_beats_greedy_for_many_labels():
    rng = np.random.default_rng(5)
    affinity = make_affinity(300, rng)
    coloring = maxcut_coloring(affinity, rng)
    greedy = max(cut_value(affinity, greedy_coloring(affinity, rng)) for _ in range(5))
    assert cut_value(affinity, coloring) > greedy


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9])
def test_probability_that_an_even_split_separates_two_labels(k):
    splits = even_splits(k)
    share = sum(split[0] != split[1] for split in splits) / len(splits)
    assert share == pytest.approx(0.5 * (1 + 1 / (k if k % 2 else k - 1)))


@pytest.mark.parametrize("k", [2, 4, 5])
def test_balanced_draws_are_uniform_over_even_splits(k):
    rng = np.random.default_rng(6)
    splits = even_splits(k)
    n = 400 * len(splits)
    draws = [tuple(balanced_coloring(k, rng).tolist()) for _ in range(n)]
    counts = np.array([draws.count(split) for split in splits])
    assert counts.sum() == n
    # Seven standard deviations of a count around its mean of 400.
    assert np.abs(counts - 400).max() < 140


def test_random_draws_have_independent_fair_colours():
    rng = np.random.default_rng(7)
    draws = np.array([random_coloring(8, rng) for _ in range(4000)])
    assert np.abs(draws.mean(axis=0) - 0.5).max() < 0.04
    assert np.abs((draws[:, 0] != draws[:, 1]).mean() - 0.5) < 0.04


@pytest.mark.parametrize("name", ["random", "balanced", "greedy", "maxcut"])
@pytest.mark.parametrize("k", [2, 3, 7, 20])
def test_named_rules_never_draw_a_constant(name, k):
    rng = np.random.default_rng(8)
    rule = coloring_rule(name, k)
    assert rule.needs_affinity == (name in ("greedy", "maxcut"))
    affinities = [make_affinity(k, rng, density=0.1), np.zeros((k, k))]
    for t, affinity in enumerate(affinities * 10):
        coloring = rule.draw(t, k, affinity if rule.needs_affinity else None, rng)
        assert coloring.dtype == np.int8
        assert coloring.shape == (k,)
        assert set(coloring.tolist()) == {0, 1}


@pytest.mark.parametrize("name", ["random", "balanced", "greedy", "maxcut"])
def test_rules_repeat_with_the_seed_and_survive_pickling(name):
    affinity = make_affinity(20, np.random.default_rng(0))
    rule = coloring_rule(name, 20)
    copy = pickle.loads(pickle.dumps(rule))
    first, second = (r.draw(0, 20, affinity, np.random.default_rng(9)) for r in (rule, copy))
    assert np.array_equal(first, second)


def test_a_single_label_is_allowed():
    rng = np.random.default_rng(0)
    for name in ("random", "balanced", "greedy", "maxcut"):
        assert coloring_rule(name, 1).draw(0, 1, np.zeros((1, 1)), rng).shape == (1,)


def test_ties_do_not_favour_the_order_of_labels():
    rng = np.random.default_rng(10)
    uniform = (1 - np.eye(4)) / 12
    seen = {tuple((c ^ c[0]).tolist()) for c in (maxcut_coloring(uniform, rng) for _ in range(60))}
    assert len(seen) == 3


def test_callable_rule_gets_the_affinity_and_is_checked():
    rng = np.random.default_rng(0)
    rule = coloring_rule(lambda affinity, rng: affinity[0] > 0, k=3)
    assert rule.needs_affinity
    affinity = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0.0]])
    assert rule.draw(0, 3, affinity, rng).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"round 4 .*one colour, so U = 0"):
        rule.draw(4, 3, np.zeros((3, 3)), rng)
    with pytest.raises(ValueError, match=r"round 0 .*shape \(3,\); pass 4"):
        rule.draw(0, 4, affinity, rng)


def test_given_colourings_are_used_in_turn_and_end():
    rule = coloring_rule([[-1, 1, 1], [1, -1, -1]], k=3)
    rng = np.random.default_rng(0)
    assert not rule.needs_affinity
    assert [rule.draw(t, 3, None, rng).tolist() for t in (0, 1)] == [[0, 1, 1], [1, 0, 0]]
    with pytest.raises(ValueError, match="has 2 rows, none for round 2"):
        rule.draw(2, 3, None, rng)


@pytest.mark.parametrize(
    ("coloring", "message"),
    [
        ("best", "coloring='best'; pass 'random', 'balanced', 'greedy', 'maxcut'"),
        (None, "coloring=None"),
        (3, "coloring=3"),
        ([0, 1, 1], r"round 0 .*shape \(\)"),
        ([[0, 1, 1], [0, 1]], r"round 1 .*shape \(2,\); pass 3"),
        ([[0, 1, 1], [1, 1, 1]], "round 1 .*U = 0"),
        ([[0, 1, 2]], "round 0 .*only 0 and 1"),
        ([[0, 1, -1]], "round 0 .*only 0 and 1"),
        ([[0, 1, np.nan]], "round 0 .*only 0 and 1"),
    ],
)
def test_unusable_parameters_are_refused(coloring, message):
    with pytest.raises(ValueError, match=message):
        coloring_rule(coloring, 3)


@pytest.mark.parametrize("solve", [greedy_coloring, maxcut_coloring])
@pytest.mark.parametrize(
    ("affinity", "message"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros((0, 0)), "square"),
        (np.zeros(3), "square"),
        (np.array([[0, np.nan], [1, 0]]), "NaN"),
        (np.array([[0, np.inf], [1, 0]]), "infinite"),
        (np.array([[0, -1], [1, 0]]), "negative"),
    ],
)
def test_unusable_affinities_are_refused(solve, affinity, message):
    with pytest.raises(ValueError, match=message):
        solve(affinity, np.random.default_rng(0))
