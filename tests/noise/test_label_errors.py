"""The model of wrong labels, against its slow twin, finite differences and known truths."""

import numpy as np
import pytest
from reference import label_errors as twin
from scipy.optimize import approx_fprime
from scipy.special import softmax

from steadyboost.noise.label_errors import (
    BLUR,
    LARGEST_OFFSET,
    MARGIN,
    MEANS,
    MOST_OTHERS,
    PRIOR_WEIGHT,
    PRIORS,
    RATE_ROWS,
    LabelErrorModel,
    Rate,
    Z,
    _update_classes,
    fit_label_errors,
    is_flagged,
    judge_labels,
    margins_of,
    objective,
    observe,
    prior_means,
    ranks_among,
    suspicion,
)


def made_up(n=40, k=3, seed=0):
    """Probabilities, labels, and a model of them with parameters drawn at random."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(k), n)
    matrix = rng.random((k, k)) * (1 - np.eye(k))
    matrix /= matrix.sum(axis=1, keepdims=True)
    parameters = MEANS + rng.normal(size=len(MEANS)) * 0.5
    reference = np.sort(margins_of(proba))
    model = LabelErrorModel(parameters, rng.normal(size=k), matrix, reference)
    return proba, rng.integers(k, size=n), rng.uniform(0.5, 2, n), model


def twin_rows(proba, y):
    margins = [twin.margin(own) for own in proba]
    ranks = [twin.rank_of(margin, margins) for margin in margins]
    return list(zip(proba.tolist(), y.tolist(), ranks, strict=True))


# Against the twin


@pytest.mark.parametrize("k", [2, 4])
def test_densities_are_those_of_the_twin(k):
    proba, y, weights, model = made_up(k=k)
    rows = observe(proba, y, weights, model.reference)
    kept, replaced, confused = model.joint(rows)
    known = model.parameters, model.offsets, model.matrix
    for i, row in enumerate(twin_rows(proba, y)):
        expected = twin.joint(*row, *known)
        np.testing.assert_allclose(kept[i], expected[0], rtol=1e-9)
        np.testing.assert_allclose(replaced[i], expected[1], rtol=1e-9)
        np.testing.assert_allclose(confused[i], expected[2], rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_given_classes_of_a_row_are_a_distribution(k):
    """Of two classes exactly; of more, a class can be taken for no class in particular."""
    proba, _, _, model = made_up(k=k)
    for own in proba.tolist():
        known = own, 0.3, model.parameters, model.offsets, model.matrix
        for j in range(k):
            kept, by_matrix, by_looks = twin.given_classes(j, *known)
            assert kept + sum(by_matrix) + sum(by_looks) == pytest.approx(1)


@pytest.mark.parametrize("k", [2, 4])
def test_the_objective_is_that_of_the_twin(k):
    proba, y, weights, model = made_up(k=k)
    rows = observe(proba, y, weights, model.reference)
    loss, _ = objective(model.parameters, rows, model.offsets, model.matrix[:, y].T)
    expected = twin.objective(
        twin_rows(proba, y),
        weights,
        model.parameters,
        model.offsets,
        model.matrix,
        PRIORS,
        PRIOR_WEIGHT,
    )
    assert loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(k, seed):
    proba, y, weights, model = made_up(60, k, seed)
    rows = observe(proba, y, weights, model.reference)
    known = rows, model.offsets, model.matrix[:, y].T
    slope = approx_fprime(model.parameters, lambda at: objective(at, *known)[0], 1e-7)
    np.testing.assert_allclose(objective(model.parameters, *known)[1], slope, rtol=1e-4, atol=1e-3)


def test_a_posterior_is_the_joint_density_normalised():
    proba, y, weights, model = made_up()
    posterior = model.posterior(observe(proba, y, weights, model.reference))
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    for row, own in zip(twin_rows(proba, y), posterior, strict=True):
        kept, replaced, mixed = twin.joint(*row, model.parameters, model.offsets, model.matrix)
        density = np.add(replaced, mixed)
        density[row[1]] += kept
        np.testing.assert_allclose(own, density / density.sum(), rtol=1e-9)


def test_offsets_of_classes_are_those_of_expected_counts():
    """How many labels of each true class were replaced, against how many the rates expect."""
    proba, y, weights, model = made_up(200)
    rows, before = observe(proba, y, weights, model.reference), model.offsets.copy()
    kept, replaced, confused = model.joint(rows)
    density = kept + replaced.sum(axis=1) + confused.sum(axis=1)
    n_replaced = (weights / density) @ replaced
    of_class = model.posterior(rows) * weights[:, None]
    expected = (of_class * model.flat_rates(rows.rank)).sum(axis=0)
    offsets = before + np.log((n_replaced + RATE_ROWS) / (expected + RATE_ROWS))
    offsets -= np.average(offsets, weights=of_class.sum(axis=0))
    _update_classes(model, rows, (1 - np.eye(3)) / 2)
    np.testing.assert_allclose(
        model.offsets, np.clip(offsets, -LARGEST_OFFSET, LARGEST_OFFSET), rtol=1e-9
    )
    assert np.ptp(model.offsets) > 0.1


def test_of_two_classes_the_order_of_suspicion_is_that_of_the_odds():
    proba, y, _, _ = made_up(k=2)
    own = proba[np.arange(len(y)), y]
    even = np.full(len(y), 0.5)
    expected = np.log((1 - own) / own)
    np.testing.assert_allclose(suspicion(proba, y, np.zeros((2, 2)), even), expected, atol=1e-9)


def test_ranks_are_shares_of_smaller_margins():
    reference = np.array([1.0, 2.0, 2.0, 5.0])
    ranks = ranks_among(np.array([0.0, 1.0, 2.0, 9.0]), reference)
    np.testing.assert_allclose(ranks, [0, 1 / 8, 1 / 2, 1])
    for value, rank in zip([1.0, 2.0], ranks[1:3], strict=True):
        assert rank == twin.rank_of(value, reference)


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
    proba, true = classified(3000, 4)
    given = given_by(true, matrix)
    found, wrong = judge_labels(proba, given), given != true
    assert found.rate.rate == pytest.approx(wrong.mean(), abs=0.04)
    assert found.rate.low <= wrong.mean() <= found.rate.high
    np.testing.assert_allclose(found.transition, matrix, atol=0.09)
    np.testing.assert_allclose(found.transition.sum(axis=1), 1)
    listed = is_flagged(found.wrong)
    assert wrong[listed].mean() > 0.8
    assert wrong[listed].sum() > 0.7 * wrong.sum()
    assert (found.other[listed & wrong] == true[listed & wrong]).mean() > 0.9


def test_labels_of_hard_rows_are_found():
    """Rows of small margins are taken for the class that they resemble, by people."""
    proba, true = classified(6000, 4)
    rng, at = np.random.default_rng(1), np.arange(6000)
    margins = margins_of(proba)
    unsure = 1 - ranks_among(margins, np.sort(margins))
    others = proba * (np.arange(4) != true[:, None])
    resembles = others.argmax(axis=1)
    mixed = rng.random(6000) < 0.3 * unsure
    given = np.where(mixed, resembles, true)
    found = judge_labels(proba, given)
    assert 0.5 * mixed.mean() < found.rate.rate < 1.5 * mixed.mean()
    assert found.rate.low <= mixed.mean() <= found.rate.high
    worst = np.argsort(-found.wrong)[: mixed.sum()]
    assert (
        mixed[worst].mean() > np.mean(mixed[at[proba[at, given].argsort()[: mixed.sum()]]]) - 0.02
    )


@pytest.mark.parametrize("k", [2, 5])
def test_right_labels_are_left_alone(k):
    proba, true = classified(3000, k)
    found = judge_labels(proba, true)
    assert found.rate.rate < 0.04
    assert is_flagged(found.wrong).mean() < 0.02


def test_probabilities_of_being_wrong_are_calibrated():
    proba, true = classified(6000, 4)
    given = given_by(true, matrices(4)["drawn anew 30 %"])
    found, wrong = judge_labels(proba, given), given != true
    bins = np.minimum((10 * found.wrong).astype(int), 9)
    off = [abs(found.wrong[bins == b].sum() - wrong[bins == b].sum()) for b in range(10)]
    assert sum(off) / len(wrong) < 0.05


def test_a_classifier_that_is_too_unsure_tells_the_same():
    """Only the order of margins counts for the rate, as training on wrong labels lowers them."""
    proba, true = classified(3000, 4)
    given = given_by(true, matrices(4)["drawn anew 30 %"])
    flat = np.sqrt(proba) / np.sqrt(proba).sum(axis=1, keepdims=True)
    plain, unsure = judge_labels(proba, given), judge_labels(flat, given)
    assert unsure.rate.rate == pytest.approx(plain.rate.rate, abs=0.03)


def test_rows_weigh_as_if_they_were_repeated():
    proba, true = classified(400, 3)
    given = given_by(true, matrices(3)["drawn anew 30 %"])
    times = np.random.default_rng(0).integers(1, 4, 400)
    again = np.repeat(np.arange(400), times)
    weighed = judge_labels(proba, given, times.astype(float))
    repeated = judge_labels(proba[again], given[again])
    assert weighed.rate.rate == pytest.approx(repeated.rate.rate, abs=0.05)


@pytest.mark.parametrize("k", [2, 3])
def test_extreme_probabilities_do_no_harm(k):
    """A classifier that is always sure, and one that never is."""
    y = np.arange(120) % k
    for proba in (np.eye(k)[y], np.full((120, k), 1 / k)):
        found = judge_labels(proba, y)
        assert np.isfinite(found.wrong).all()
        assert (found.wrong >= 0).all()
        assert (found.wrong <= 1).all()
        assert 0 <= found.rate.low <= found.rate.rate <= found.rate.high <= 1
    assert judge_labels(np.eye(k)[y], y).rate.rate < 0.1


def test_a_class_that_no_row_is_given_as_is_unknown():
    proba, true = classified(200, 3)
    found = judge_labels(proba, np.minimum(true, 1))
    assert found.class_rates[2] == Rate(0.0, 0.0, 1.0)


def test_one_class_has_no_wrong_labels():
    found = judge_labels(np.ones((5, 1)), np.zeros(5, dtype=int))
    assert found.rate.rate == 0
    assert not is_flagged(found.wrong).any()


def test_the_fit_is_at_a_stationary_point():
    proba, true = classified(1000, 3)
    y = given_by(true, matrices(3)["drawn anew 30 %"])
    model = fit_label_errors(proba, y)
    rows = observe(proba, y, np.ones(1000), model.reference)
    means = prior_means(proba, rows.rank, 0.0)
    known = rows, model.offsets, model.matrix[:, y].T, means
    here = objective(model.parameters, *known)[0]
    for step in 0.05 * np.vstack([np.eye(6), -np.eye(6)]):
        assert objective(model.parameters + step, *known)[0] > here - 0.1


def test_of_two_distributions_the_likelier_one_counts():
    """A classifier that knows the class, and one that has learnt pairs with the labels."""
    matrix = matrices(4)["pairs 20 %"]
    proba, true = classified(2000, 4)
    given = given_by(true, matrix)
    rng = np.random.default_rng(3)
    useless = rng.dirichlet(np.ones(4), 2000)
    alone = judge_labels(proba, given)
    for first, second in ((proba, useless), (useless, proba)):
        both = judge_labels(first, given, pooled=second)
        np.testing.assert_allclose(both.wrong, alone.wrong, atol=1e-6)
        np.testing.assert_allclose(both.transition, alone.transition, atol=1e-6)
    same = judge_labels(proba, given, pooled=proba)
    np.testing.assert_array_equal(same.wrong, alone.wrong)


# Intervals


def test_an_interval_narrows_with_rows_and_holds_the_rate():
    rng = np.random.default_rng(0)
    few, many = (
        Rate.of(wrong, wrong > 0.5, np.ones(len(wrong)))
        for wrong in (rng.random(50) ** 4, rng.random(5000) ** 4)
    )
    for rate in (few, many):
        assert rate.low <= rate.rate <= rate.high
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize(("disagreement", "others"), [(0.5, 0.3), (0.1, 0.0)])
def test_an_interval_is_the_error_of_a_share_and_what_else_may_be_wrong(disagreement, others):
    n, rate = 400, 0.2
    disagrees = np.arange(n) < disagreement * n
    found = Rate.of(np.full(n, rate), disagrees, np.ones(n), 0.75)
    error = Z * np.sqrt(rate * (1 - rate) / n)
    assert found.low == pytest.approx(0.75 * rate - error - BLUR)
    assert found.high == pytest.approx((1 + MARGIN) * rate + MOST_OTHERS * others + error)


def test_what_is_sure_raises_the_lower_end():
    wrong = np.random.default_rng(0).random(2000) ** 4
    plain = Rate.of(wrong, wrong > 0.5, np.ones(2000))
    sure = Rate.of(wrong, wrong > 0.5, np.ones(2000), 0.75)
    assert plain.low < sure.low < sure.rate
    assert (plain.rate, plain.high) == (sure.rate, sure.high)
    proba, true = classified(3000, 4)
    given = given_by(true, matrices(4)["drawn anew 30 %"])
    found = judge_labels(proba, given, drawn_anew=0.4)
    assert 0.15 < found.rate.low < (given != true).mean()


def test_no_probability_is_known_better_than_the_rows_can_tell():
    y = np.arange(300) % 3
    given = np.where(np.arange(300) < 20, (y + 1) % 3, y)
    found = judge_labels(np.eye(3)[y] * 0.997 + 0.001, given)
    assert found.wrong.min() > 1 / 700
    assert found.wrong.max() < 1 - 1 / 700
    assert is_flagged(found.wrong).nonzero()[0].tolist() == list(range(20))


def test_nothing_is_known_of_no_rows():
    assert Rate.of(np.empty(0), np.empty(0), np.empty(0)) == Rate(0.0, 0.0, 1.0)


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
