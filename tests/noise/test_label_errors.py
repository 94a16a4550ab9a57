"""The model of wrong labels, against its slow twin and known truths."""

import numpy as np
import pytest
from reference import label_errors as twin
from scipy.special import softmax

from steadyboost.noise.label_errors import (
    BINS,
    BLUR,
    CURVE_ROWS,
    FEW,
    RANKS,
    UNKNOWN,
    Labels,
    Rate,
    Z,
    curves_of,
    is_flagged,
    judge_labels,
    margins_of,
    ranks_among,
    suspicion_of,
    view_of,
)
from steadyboost.noise.noise_model import Reading, fit_noise_models


def judged(proba, y, weights=None, **options):
    """By what a noise model reads from the probabilities of one classifier."""
    mass = np.ones(len(y)) if weights is None else weights
    readings = [model.reading(proba[None]) for model in fit_noise_models(proba[None], y, mass)]
    return judge_labels(readings, y, weights, **options)


# Against the twin


@pytest.mark.parametrize("k", [2, 4])
def test_a_view_is_that_of_the_twin(k):
    rng = np.random.default_rng(k)
    n = 60
    proba, y = rng.dirichlet(np.ones(k), n), rng.integers(k, size=n)
    transition, weights = rng.dirichlet(np.ones(k), k), rng.uniform(0.5, 2, n)
    weights /= weights.mean()
    view = view_of(Reading(proba, transition), Labels.of(y, weights))
    rows, curves = view.rows, view.curves
    by_twin = [twin.replaced(proba[i], transition, y[i]) for i in range(n)]
    np.testing.assert_allclose(rows.replaced, by_twin)
    counted = [
        (min(int(BINS * rank), BINS - 1), disagrees, weight * (1 - part))
        for rank, disagrees, weight, part in zip(
            rows.rank, rows.disagrees, weights, by_twin, strict=True
        )
    ]
    logs = np.array(
        [
            twin.log_posterior(np.exp(prior), b, h, counted, CURVE_ROWS)
            for prior, b, h in zip(curves.log_prior, curves.errors, curves.mix_ups, strict=True)
        ]
    )
    np.testing.assert_allclose(view.chances, softmax(logs), atol=1e-9)
    means = {
        disagrees: [
            sum(
                chance * twin.wrong(b[place], h[place], disagrees)
                for chance, b, h in zip(view.chances, curves.errors, curves.mix_ups, strict=True)
            )
            for place in range(BINS)
        ]
        for disagrees in (False, True)
    }
    for i in range(n):
        mixed_up = np.interp(rows.rank[i], RANKS, means[bool(rows.disagrees[i])])
        assert view.wrong[i] == pytest.approx(by_twin[i] + (1 - by_twin[i]) * mixed_up)
    np.testing.assert_allclose(view.sources.sum(axis=1), view.wrong)
    assert (view.sources[np.arange(n), y] == 0).all()


@pytest.mark.parametrize("k", [2, 10])
def test_curves_are_probabilities_and_fall(k):
    curves = curves_of(k, 0.2)
    assert np.exp(curves.log_prior).sum() == pytest.approx(1)
    for part in (curves.errors, curves.mix_ups):
        assert part.min() > 0
        assert part.max() <= 1 - 1 / k
        assert (np.diff(part, axis=1) <= 1e-12).all()
    level, rise = FEW[0][0], FEW[1][0]
    expected = [twin.log_odds_of(level, rise, rank, 1 - 1 / k) for rank in RANKS]
    np.testing.assert_allclose(curves.mix_ups[0], expected)


def test_replaced_labels_make_errors_fall_more_slowly():
    clean, noisy = curves_of(4, 0.0), curves_of(4, 0.3)
    determined = clean.determined & (clean.errors[:, 0] > 1e-3)
    assert (noisy.errors[determined, 8] >= clean.errors[determined, 8]).all()
    np.testing.assert_array_equal(noisy.errors[~clean.determined], clean.errors[~clean.determined])


def test_the_order_of_suspicion_is_that_of_the_odds_and_of_replaced_labels():
    proba, y = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])
    labels, wrong = Labels.of(y, np.ones(2)), np.array([0.2, 0.6])
    odds = np.log([1 / 9, 6 / 4])
    none = suspicion_of(proba, labels, wrong, np.zeros(2))
    np.testing.assert_allclose(none, odds)
    half = suspicion_of(proba, labels, wrong, wrong / 2)
    np.testing.assert_allclose(half, odds + np.log([1 / 4, 6 / 4]) / 4)


def test_an_interval_is_of_all_curves_and_of_the_error_of_a_share():
    rates, chances = np.linspace(0, 1, 101), np.full(101, 1 / 101)
    found = Rate.of(0.2, np.ones(400), rates, chances)
    error = Z * np.sqrt(0.2 * 0.8 / 400)
    assert found.low == pytest.approx(max(0.05 - error - BLUR, 0))
    assert found.high == pytest.approx(0.95 + error)
    sure = Rate.of(0.2, np.ones(40_000), np.full(3, 0.2), np.array([0.0, 1.0, 0.0]))
    assert sure.high - sure.low < 0.02


def test_ranks_are_shares_of_smaller_margins():
    np.testing.assert_allclose(ranks_among(np.array([2.0, 1, 2, 5])), [1 / 2, 1 / 8, 1 / 2, 7 / 8])


# Known truths: rows whose classifier is right to be as sure as it is, and labels made wrong


def classified(n, k, seed=0, sharpness=10.0):
    rng = np.random.default_rng(seed)
    proba = softmax(sharpness * rng.normal(size=(n, k)), axis=1)
    true = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    return proba, true


def given_by(true, matrix, seed=1):
    draws = np.random.default_rng(seed).random((len(true), 1))
    return (matrix[true].cumsum(axis=1) < draws).sum(axis=1).clip(max=len(matrix) - 1)


def matrices(k):
    asymmetric = np.eye(k)
    asymmetric[0] = [0.6, 0.4, *np.zeros(k - 2)]  # one class is often taken for one other
    return {
        "drawn anew 10 %": 0.9 * np.eye(k) + 0.1 * (1 - np.eye(k)) / (k - 1),
        "drawn anew 30 %": 0.7 * np.eye(k) + 0.3 * (1 - np.eye(k)) / (k - 1),
        "pairs 20 %": 0.8 * np.eye(k) + 0.2 * np.roll(np.eye(k), 1, axis=1),
        "one class": asymmetric,
    }


@pytest.mark.parametrize("kind", matrices(4))
def test_the_rate_and_the_matrix_are_recovered(kind):
    matrix = matrices(4)[kind]
    proba, true = classified(2000, 4)
    given = given_by(true, matrix)
    found, wrong = judge_labels([Reading(proba, matrix)], given), given != true
    assert found.rate.rate == pytest.approx(wrong.mean(), abs=0.04)
    assert found.rate.low <= wrong.mean() <= found.rate.high
    np.testing.assert_allclose(found.transition, matrix, atol=0.09)
    np.testing.assert_allclose(found.transition.sum(axis=1), 1)
    listed = is_flagged(found.wrong)
    assert wrong[listed].mean() > 0.8
    assert wrong[listed].sum() > 0.7 * wrong.sum()
    assert (found.other[listed & wrong] == true[listed & wrong]).mean() > 0.9


def test_of_two_readings_the_likelier_one_counts():
    matrix = matrices(4)["pairs 20 %"]
    proba, true = classified(1000, 4)
    given = given_by(true, matrix)
    useful = Reading(proba, matrix)
    useless = Reading(np.random.default_rng(3).dirichlet(np.ones(4), 1000), np.eye(4))
    alone = judge_labels([useful], given)
    for readings in ([useful, useless], [useless, useful]):
        both = judge_labels(readings, given, order_by=proba)
        np.testing.assert_allclose(both.wrong, alone.wrong, atol=1e-6)
        np.testing.assert_allclose(both.transition, alone.transition, atol=1e-6)


def test_mixed_up_labels_are_told_from_errors_by_how_disagreement_falls():
    """One of three alike: errors that are soon gone, mix-ups that are not, errors throughout."""
    rng, n = np.random.default_rng(0), 2000
    rank = (np.arange(n) + 0.5) / n
    top = 0.5 + 0.49 * rank
    proba = np.column_stack([top, 1 - top])
    counts = {}
    for kind, chance in {
        "errors": 0.4 * np.exp(-8 * rank),
        "hard rows": 0.02 + 0.35 * np.exp(-3 * rank),
        "undetermined": 0.45 * np.exp(-rank),
    }.items():
        flips = rng.random(n) < chance
        swap = rng.random(n) < 0.5  # so that both classes are as frequent
        shown = np.where(swap[:, None], proba[:, ::-1], proba)
        found = judge_labels([Reading(shown, np.eye(2))], (flips ^ swap).astype(int))
        counts[kind] = found.rate.rate / flips.mean(), found.determined
        assert found.learnt
    assert counts["hard rows"][0] > 0.5
    assert max(counts["errors"][0], counts["undetermined"][0]) < 0.4
    assert counts["undetermined"][1] < 0.5 < min(counts["errors"][1], counts["hard rows"][1])


def test_a_classifier_that_has_learnt_nothing_doubts_no_label():
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.2).astype(int)
    proba = 0.8 + 0.05 * rng.uniform(-1, 1, 500)
    found = judged(np.column_stack([proba, 1 - proba]), y)
    assert not found.learnt
    assert not is_flagged(found.wrong).any()
    assert (found.rate.low, found.rate.high) == (0, 1)
    assert y[np.argsort(-found.wrong)[:50]].all()  # in the order of its doubts all the same


def test_labels_of_hard_rows_are_found():
    """Rows of small margins are taken for the class that they resemble, by people."""
    proba, true = classified(6000, 4)
    rng, at = np.random.default_rng(1), np.arange(6000)
    margins = margins_of(proba)
    unsure = 1 - ranks_among(margins)
    others = proba * (np.arange(4) != true[:, None])
    resembles = others.argmax(axis=1)
    mixed = rng.random(6000) < 0.3 * unsure
    given = np.where(mixed, resembles, true)
    found = judged(proba, given)
    assert 0.5 * mixed.mean() < found.rate.rate < 1.5 * mixed.mean()
    assert found.rate.low <= mixed.mean() <= found.rate.high
    worst = np.argsort(-found.wrong)[: mixed.sum()]
    assert (
        mixed[worst].mean() > np.mean(mixed[at[proba[at, given].argsort()[: mixed.sum()]]]) - 0.02
    )


@pytest.mark.parametrize("k", [2, 5])
def test_right_labels_are_left_alone(k):
    proba, true = classified(3000, k)
    found = judged(proba, true)
    assert found.rate.rate < 0.04
    assert is_flagged(found.wrong).mean() < 0.02


def test_probabilities_of_being_wrong_are_calibrated():
    proba, true = classified(6000, 4)
    given = given_by(true, matrices(4)["drawn anew 30 %"])
    found, wrong = judged(proba, given), given != true
    bins = np.minimum((10 * found.wrong).astype(int), 9)
    off = [abs(found.wrong[bins == b].sum() - wrong[bins == b].sum()) for b in range(10)]
    assert sum(off) / len(wrong) < 0.05


def test_a_classifier_that_is_too_unsure_tells_the_same():
    """Only the order of margins counts for the rate, as training on wrong labels lowers them."""
    proba, true = classified(3000, 4)
    given = given_by(true, matrices(4)["drawn anew 30 %"])
    flat = np.sqrt(proba) / np.sqrt(proba).sum(axis=1, keepdims=True)
    plain, unsure = judged(proba, given), judged(flat, given)
    assert unsure.rate.rate == pytest.approx(plain.rate.rate, abs=0.03)


def test_rows_weigh_as_if_they_were_repeated():
    proba, true = classified(400, 3)
    given = given_by(true, matrices(3)["drawn anew 30 %"])
    times = np.random.default_rng(0).integers(1, 4, 400)
    again = np.repeat(np.arange(400), times)
    weighed = judged(proba, given, times.astype(float))
    repeated = judged(proba[again], given[again])
    assert weighed.rate.rate == pytest.approx(repeated.rate.rate, abs=0.05)


@pytest.mark.parametrize("k", [2, 3])
def test_extreme_probabilities_do_no_harm(k):
    """A classifier that is always sure, and one that never is."""
    y = np.arange(120) % k
    for proba in (np.eye(k)[y], np.full((120, k), 1 / k)):
        found = judged(proba, y)
        assert np.isfinite(found.wrong).all()
        assert (found.wrong >= 0).all()
        assert (found.wrong <= 1).all()
        assert 0 <= found.rate.low <= found.rate.rate <= found.rate.high <= 1
    assert judged(np.eye(k)[y], y).rate.rate < 0.1


def test_a_class_that_no_row_is_given_as_is_unknown():
    proba, true = classified(200, 3)
    found = judged(proba, np.minimum(true, 1))
    assert found.class_rates[2] == UNKNOWN


def test_one_class_has_no_wrong_labels():
    certain = [Reading(np.ones((5, 1)), np.ones((1, 1)))]
    found = judge_labels(certain, np.zeros(5, dtype=int))
    assert found.rate.rate == 0
    assert not is_flagged(found.wrong).any()


# Intervals


def test_no_probability_is_known_better_than_the_rows_can_tell():
    y = np.arange(300) % 3
    given = np.where(np.arange(300) < 20, (y + 1) % 3, y)
    found = judged(np.eye(3)[y] * 0.997 + 0.001, given)
    assert found.wrong.min() > 1 / 700
    assert found.wrong.max() < 1 - 1 / 700
    assert is_flagged(found.wrong).nonzero()[0].tolist() == list(range(20))


# Flags

WRONG = np.array([0.1, 0.9, 0.6, 0.5, 0.99, 0.2])


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        ({}, [1, 2, 4]),
        ({"flag": 2}, [1, 4]),
        ({"flag": 0}, []),
        ({"flag": 100}, [0, 1, 2, 3, 4, 5]),
        ({"flag": 0.5}, [1, 2, 4]),
        ({"precision": 0.9}, [1, 4]),
        ({"precision": 0.74}, [1, 2, 3, 4]),
        ({"precision": 1.0}, []),
    ],
)
def test_rows_are_listed_as_told(options, listed):
    assert np.flatnonzero(is_flagged(WRONG, **options)).tolist() == listed
