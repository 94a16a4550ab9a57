"""The model of annotators: against textbooks, and on crowds whose truth is known."""

import numpy as np
import pytest
from made_crowds import listed, made_crowd, made_proba
from reference import crowd

from steadyboost.noise.annotations import Annotations
from steadyboost.noise.crowd_model import (
    NEAR,
    PRIORS,
    CrowdPriors,
    Expectation,
    Voice,
    annotator_matrices,
    fit_crowd,
    group_matrix,
)

PLAIN = CrowdPriors(group=0, accuracy=0, matrix=0, classes=0, guesses=0)


def test_without_priors_it_is_the_model_of_dawid_and_skene():
    answers, _, _ = made_crowd(n=40, n_annotators=4)
    em = Expectation(answers, None, None, PLAIN)
    for _ in range(6):
        em.maximise()
        em.expect()
    twin = crowd.dawid_skene(listed(answers), 40, 3, 6)
    np.testing.assert_allclose(em.posterior, twin, atol=5e-3)  # NEAR keeps matrices from zeros


def test_matrices_agree_with_their_twins():
    answers, _, _ = made_crowd(n=60)
    em = Expectation(answers, None, None, PRIORS)
    em.maximise()
    group = group_matrix(em.counts.sum(axis=0), PRIORS)
    np.testing.assert_allclose(
        group, crowd.group_matrix(em.counts.sum(axis=0).tolist(), PRIORS.group + NEAR)
    )
    twins = [
        crowd.annotator_matrix(
            counts.tolist(), group.tolist(), PRIORS.accuracy, PRIORS.matrix + NEAR
        )
        for counts in em.counts
    ]
    np.testing.assert_allclose(annotator_matrices(em.counts, group, PRIORS), twins)


def test_an_expectation_agrees_with_its_twin():
    answers, y, _ = made_crowd(n=30)
    em = Expectation(answers, made_proba(y, 3, 0.7), None, PRIORS)
    em.maximise()
    em.expect()
    prior = np.exp(em.voice.log_prior())
    twin, hard = crowd.posteriors(
        listed(answers), em.confusion.tolist(), prior.tolist(), em.hard_share, PRIORS.guesses
    )
    np.testing.assert_allclose(em.posterior, twin)
    np.testing.assert_allclose(em.hard, hard)


def test_the_log_likelihood_rises_without_priors():
    answers, y, _ = made_crowd(n=200)
    em = Expectation(answers, made_proba(y, 3, 0.7), None, PLAIN._replace(voice=0))
    found = []
    for _ in range(20):
        em.maximise()
        found.append(em.expect())
    assert (np.diff(found) > -1e-3).all()  # NEAR is a little prior


def test_the_step_of_the_voice_finds_the_likeliest_weight():
    """Fractions of a known tempering are found again."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 5000)
    wanted = proba**1.7 * [1.0, 2.0, 0.5]
    wanted /= wanted.sum(axis=1, keepdims=True)
    voice = Voice.of(proba)
    for _ in range(30):
        voice.update(wanted, 1e-9)
    assert voice.weight == pytest.approx(1.7, abs=0.02)
    np.testing.assert_allclose(np.exp(voice.log_prior()), wanted, atol=0.02)


def test_it_beats_the_majority_and_knows_who_is_good():
    answers, y, _ = made_crowd(n=1500, n_annotators=12, low=0.4)
    found = fit_crowd(answers)
    majority = answers.votes().argmax(axis=1)
    wrong = np.mean(found.posterior.argmax(axis=1) != y)
    assert wrong < 0.85 * np.mean(majority != y)
    estimated, low, high = found.accuracy(answers).T
    right = answers.label == y[answers.item]
    actual = np.bincount(answers.annotator, weights=right) / np.bincount(answers.annotator)
    assert np.abs(estimated - actual).max() < 0.12
    assert np.mean((low <= actual) & (actual <= high)) > 0.7
    assert found.posterior.max(axis=1).mean() == pytest.approx(1 - wrong, abs=0.03)  # calibrated


def test_annotators_with_few_answers_shrink_towards_the_group():
    answers, y, _ = made_crowd(n=400)
    new = np.full(2, answers.n_annotators)  # who answered two items, both wrong
    more = answers._replace(
        item=np.append(answers.item, [0, 1]),
        annotator=np.append(answers.annotator, new),
        label=np.append(answers.label, (y[:2] + 1) % 3),
        annotators=np.arange(answers.n_annotators + 1),
    )
    estimated, low, high = fit_crowd(more).accuracy(more).T
    assert 0.3 < estimated[-1] < estimated[:-1].mean()
    assert high[-1] - low[-1] > 2 * (high - low)[:-1].max()


def test_a_good_classifier_is_heard_and_a_useless_one_is_not():
    answers, y, _ = made_crowd(n=1500, per_item=2, low=0.5, high=0.8)
    alone = np.mean(fit_crowd(answers).posterior.argmax(axis=1) != y)
    good = fit_crowd(answers, made_proba(y, 3, 0.9))
    useless = fit_crowd(answers, made_proba(np.roll(y, 1), 3, 0.0))
    assert np.mean(good.posterior.argmax(axis=1) != y) < 0.6 * alone
    assert useless.weight < 0.3 < good.weight
    assert np.mean(useless.posterior.argmax(axis=1) != y) < alone + 0.01


def test_answers_to_hard_rows_are_not_believed():
    answers, y, _ = made_crowd(n=1200, per_item=5, low=0.9, high=0.95)
    hard = answers.item < 240
    label = answers.label.copy()
    label[hard] = np.random.default_rng(1).integers(3, size=hard.sum())
    model = fit_crowd(answers._replace(label=label))
    assert model.hard[:240].mean() > 0.6 > 0.2 > model.hard[240:].mean()
    sure = fit_crowd(answers._replace(label=label), priors=PRIORS._replace(guesses=0))
    wrong = model.posterior.argmax(axis=1) != y
    doubt, without = ((1 - found.posterior.max(axis=1)).sum() for found in (model, sure))
    assert abs(wrong.sum() - doubt) < abs(wrong.sum() - without)


def test_known_classes_stay_and_judge_annotators():
    """Two of three annotators always mix up two classes: only known classes can tell."""
    y = np.tile([0, 1], 200)
    item = np.repeat(np.arange(400), 3)
    by = np.tile([0, 1, 2], 400)
    label = np.where(by == 2, y[item], 1 - y[item])
    answers = Annotations(item, by, label, np.arange(400), np.arange(3), np.arange(2))
    known = np.full(400, -1)
    known[:40] = y[:40]
    model = fit_crowd(answers, known=known)
    assert (fit_crowd(answers).posterior.argmax(axis=1) != y).all()
    assert (model.posterior.argmax(axis=1) == y).all()
    np.testing.assert_array_equal(model.posterior[:40], np.eye(2)[y[:40]])
    assert (model.accuracy(answers)[:2, 0] < 0.2).all()
