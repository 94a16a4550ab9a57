"""Pools of members and models of label noise, against finite differences and known truths."""

import numpy as np
import pytest
from common import redraw_rate
from scipy.optimize import approx_fprime

from steadyboost.noise.noise_model import (
    BELIEFS,
    USUAL_WEIGHT,
    NoiseModel,
    concentration,
    cost,
    cost_of_matrix,
    fit_noise_models,
    fit_weights,
    logs,
    mixed,
    pool,
    sure_matrix,
    symmetric,
    unmixed,
)


def members(n=1500, k=4, sharpness=3.0, seed=0):
    """True labels, and two members that are right to guess as they do: (2, n, k)."""
    rng = np.random.default_rng(seed)
    scores = sharpness * rng.normal(size=(n, k))
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    return np.stack([proba, proba]), y


def noisy(y, transition, seed=0):
    """Labels given by a matrix from true to given ones."""
    draws = np.random.default_rng(seed).random((len(y), 1))
    return (transition[y].cumsum(axis=1) < draws).sum(axis=1).clip(max=len(transition) - 1)


def pair_matrix(k, rate):
    return (1 - rate) * np.eye(k) + rate * np.roll(np.eye(k), 1, axis=1)


@pytest.mark.parametrize("fixed_rate", [None, 0.0, 0.3])
@pytest.mark.parametrize("k", [2, 4])
def test_the_slope_of_the_cost_is_that_of_finite_differences(fixed_rate, k):
    rng = np.random.default_rng(k)
    log_proba = logs(rng.dirichlet(np.ones(k), size=(3, 60)))
    y, share = rng.integers(k, size=60), rng.dirichlet(np.ones(60))
    for point in np.abs(rng.normal(size=(3, 4))) + 0.1:
        known = log_proba, y, share, fixed_rate
        slope = approx_fprime(point, lambda at: cost(at, *known)[0], 1e-7)  # noqa: B023
        np.testing.assert_allclose(cost(point, *known)[1], slope, atol=1e-5)


@pytest.mark.parametrize("k", [2, 4])
def test_the_slope_with_a_matrix_is_that_of_finite_differences(k):
    rng = np.random.default_rng(k)
    log_proba = logs(rng.dirichlet(np.ones(k), size=(3, 60)))
    seen, share = rng.dirichlet(np.ones(k), size=60).T, rng.dirichlet(np.ones(60))
    for point in np.abs(rng.normal(size=(3, 3))) + 0.1:
        slope = approx_fprime(point, lambda at: cost_of_matrix(at, log_proba, seen, share)[0], 1e-7)
        np.testing.assert_allclose(
            cost_of_matrix(point, log_proba, seen, share)[1], slope, atol=1e-5
        )


def test_with_a_matrix_of_labels_drawn_anew_both_costs_agree():
    rng = np.random.default_rng(0)
    log_proba = logs(rng.dirichlet(np.ones(3), size=(2, 50)))
    y, share, weights = rng.integers(3, size=50), rng.dirichlet(np.ones(50)), np.array([0.4, 1.1])
    plain, slope = cost(np.append(weights, 0.0), log_proba, y, share, 0.3)
    by_matrix, own = cost_of_matrix(weights, log_proba, symmetric(0.3, 3)[:, y], share)
    np.testing.assert_allclose(by_matrix, plain)
    np.testing.assert_allclose(own, slope[:-1], atol=1e-12)


def test_a_matrix_is_not_taken_out_of_classes_that_overlap():
    """Freed members would be too sure, and the given labels less likely."""
    proba, y = members(3000, sharpness=0.8)
    given = noisy(y, symmetric(0.1, 4))
    assert not fit_noise_models(proba, given, np.ones(len(y)))[0].mixes


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("k", [2, 4])
def test_the_rate_of_labels_drawn_anew_is_found(rate, k):
    proba, y = members(4000, k)
    given = noisy(y, symmetric(rate, k))
    weights, found = fit_weights(logs(proba), given, np.ones(len(y)), None)
    assert abs(found - rate) < 0.06
    assert abs(weights.sum() - 1) < 0.25  # each member alone is the truth


def test_rows_weigh_as_if_they_were_repeated():
    proba, y = members(300)
    y = noisy(y, symmetric(0.3, 4))
    times = np.random.default_rng(0).integers(1, 4, size=300)
    known = logs(proba)
    point = np.array([*[USUAL_WEIGHT / 2] * 2, -1.0])  # where odd weights cost nothing
    weighed = cost(point, known, y, times / times.sum(), None)[0]
    again = np.repeat(known, times, axis=2), np.repeat(y, times)
    repeated = cost(point, *again, np.full(times.sum(), 1 / times.sum()), None)[0]
    np.testing.assert_allclose(weighed, repeated, rtol=1e-12)


def test_the_useful_member_counts_most():
    proba, y = members()
    proba[1] = np.random.default_rng(1).dirichlet(np.ones(4), size=len(y))
    weights, _ = fit_weights(logs(proba), noisy(y, symmetric(0.2, 4)), np.ones(len(y)), None)
    assert weights[0] > 3 * weights[1]


def test_a_pool_is_the_normalised_product_of_powers():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))
    weights = np.array([0.3, 1.2])
    product = proba[0] ** 0.3 * proba[1] ** 1.2
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        pool(np.log(proba).transpose(0, 2, 1), weights).T, expected, rtol=1e-12
    )


def test_unmixing_undoes_a_mixture():
    rng = np.random.default_rng(0)
    for transition in (symmetric(0.2, 4), pair_matrix(4, 0.2)):
        q = rng.dirichlet(np.full(4, 5.0), size=50)
        given = mixed(q, transition)
        found = unmixed(given, transition)
        # A few steps come near; more would take what is left of a class for certain.
        np.testing.assert_allclose(mixed(found, transition), given, atol=1e-2)
        np.testing.assert_allclose(found, q, atol=2e-2)
        np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(unmixed(q, np.eye(4)), q, rtol=1e-12)


def test_unmixing_never_makes_the_given_distribution_less_likely():
    """Expectation-maximisation, also where no distribution fits."""
    rng, transition = np.random.default_rng(0), pair_matrix(3, 0.45)
    given = rng.dirichlet(np.full(3, 0.3), size=50)

    def likelihood(q):
        return (given * np.log(np.maximum(mixed(q, transition), 1e-12))).sum(axis=1)

    found = unmixed(given, transition)
    assert (likelihood(found) >= likelihood(given) - 1e-9).all()
    assert (found >= 0).all()


def test_sure_rows_show_that_classes_are_taken_for_others():
    proba, y = members(3000, sharpness=6.0)
    truth = pair_matrix(4, 0.4)
    given = noisy(y, truth)
    found, belief = sure_matrix(mixed(proba[0], truth), given, np.ones(len(y)))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found, truth, atol=0.1)
    assert belief <= 10


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_sure_rows_of_labels_drawn_anew_have_the_symmetric_matrix(rate):
    """With few rows of each class, the counts are held towards that form."""
    proba, y = members(400, sharpness=8.0)
    form = symmetric(rate, 4)
    found, belief = sure_matrix(mixed(proba[0], form), noisy(y, form), np.ones(len(y)))
    assert belief >= 100
    off = found[~np.eye(4, dtype=bool)]
    assert off.std() < 0.2 * off.mean()
    np.testing.assert_allclose(np.trace(found) / 4, np.trace(form) / 4, atol=0.08)


def test_models_are_the_likelier_first_and_say_nearly_the_same_of_given_labels():
    proba, y = members(2000, sharpness=6.0)
    given = noisy(y, pair_matrix(4, 0.1))
    learnt = mixed(proba[0], pair_matrix(4, 0.1)) + 0.03
    learnt *= np.exp(0.4 * np.random.default_rng(2).normal(size=learnt.shape))
    learnt = (learnt / learnt.sum(axis=1, keepdims=True))[None]
    models = fit_noise_models(learnt, given, np.ones(len(y)))
    assert [model.mixes for model in models] == [True, False]
    at = np.arange(len(y))
    likely = [
        np.log((model.true_proba(learnt) @ model.transition)[at, given]).sum() for model in models
    ]
    assert likely[0] > likely[1]
    readings = [model.reading(learnt) for model in models]
    assert [own.mixes for own in readings] == [True, False]
    np.testing.assert_allclose(
        readings[1].transition, symmetric(redraw_rate(models[1]), 4), atol=1e-12
    )


def test_pair_noise_is_taken_out_of_the_pool():
    """Members that have learnt the mixture, each with errors of its own, are freed from it."""
    proba, y = members(3000, sharpness=6.0)
    truth = pair_matrix(4, 0.4)
    learnt = np.stack([mixed(own, truth) for own in proba]) + 0.02
    learnt *= np.exp(0.5 * np.random.default_rng(1).normal(size=learnt.shape))
    learnt /= learnt.sum(axis=2, keepdims=True)
    model, other = fit_noise_models(learnt, noisy(y, truth), np.ones(len(y)))
    assert model.mixes
    assert not other.mixes
    np.testing.assert_allclose(model.transition, truth, atol=0.12)
    right = (model.true_proba(learnt).argmax(axis=1) == y).mean()
    assert right > (learnt[0].argmax(axis=1) == y).mean() - 0.01


def test_a_share_of_wrong_labels_can_be_fixed():
    proba, y = members(500)
    (model,) = fit_noise_models(proba, y, np.ones(len(y)), 0.3)
    np.testing.assert_allclose(redraw_rate(model), 0.4)  # of which a quarter is right by chance
    assert not model.mixes


@pytest.mark.parametrize("mixes", [False, True])
def test_rows_are_judged_one_by_one(mixes):
    """A row's answers do not depend on the rows beside it, bit for bit."""
    proba, y = members(40)
    model = NoiseModel(np.array([0.4, 0.7]), pair_matrix(4, 0.3), mixes)
    q = model.true_proba(proba)
    np.testing.assert_allclose(q.sum(axis=1), 1)
    for i in range(len(y)):
        alone = model.true_proba(np.ascontiguousarray(proba[:, i : i + 1]))
        np.testing.assert_array_equal(alone[0], q[i])


def test_evidence_decides_how_much_a_form_is_believed():
    """Counts that follow it, counts of pairs, and counts that are too few to tell."""
    k, form = 4, symmetric(0.2, 4)
    rng = np.random.default_rng(0)
    likely = np.array([rng.multinomial(500, row) for row in form])
    pairs = np.array([rng.multinomial(500, row) for row in pair_matrix(k, 0.15)])
    assert concentration(likely, form) >= 300
    assert concentration(pairs, form) <= 30
    assert concentration(np.zeros((k, k)), form) in BELIEFS


def test_the_evidence_is_that_of_counts_drawn_one_by_one():
    """Polya's urn: each label is as likely as belief and the labels before it say."""
    form = symmetric(0.3, 3)
    counts = np.array([[3, 1, 0], [0, 4, 2], [1, 0, 2]])

    def likelihood(belief):
        total = 0.0
        for row, shares in zip(counts, form, strict=True):
            seen = belief * shares
            for label in np.repeat(np.arange(3), row):
                total += np.log(seen[label] / seen.sum())
                seen[label] += 1
        return total

    best = max(BELIEFS, key=likelihood)
    assert concentration(counts, form) == best


@pytest.mark.parametrize("k", [2, 4])
def test_the_matrix_has_rows_that_sum_to_one(k):
    proba, y = members(300, k)
    for model in fit_noise_models(proba, noisy(y, symmetric(0.2, k)), np.ones(len(y))):
        np.testing.assert_allclose(model.transition.sum(axis=1), 1)
        assert (model.transition >= 0).all()


def test_perfect_members_do_not_overflow():
    y = np.arange(60) % 3
    proba = np.stack([np.eye(3)[y]] * 2)
    for wrong in (None, 0.0):
        model = fit_noise_models(proba, y, np.ones(60), wrong)[0]
        assert np.isfinite(model.weights).all()
        np.testing.assert_array_equal(model.true_proba(proba).argmax(axis=1), y)
