"""Row-wise arithmetic on scores against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from steadyboost.ensemble.scores import add_votes, log_odds, own_score, softmax, weighted_error

each_order = pytest.mark.parametrize("order", ["C", "F"])
each_width = pytest.mark.parametrize("dtype", [np.int32, np.int64])


def random_scores(n=50, k=4, order="F", seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, k)), order=order), rng.integers(k, size=n)


@each_order
@each_width
def test_the_own_score_is_that_of_the_label(order, dtype):
    scores, y = random_scores(order=order)
    np.testing.assert_array_equal(own_score(scores, y.astype(dtype)), scores[np.arange(50), y])


@each_order
@each_width
@pytest.mark.parametrize("n_answers", [1, 2, 3, 5])
@pytest.mark.parametrize("step", [0.7, -1.3, 0.0])
def test_votes_add_a_row_of_the_code(order, dtype, n_answers, step):
    scores, _ = random_scores(order=order)
    rng = np.random.default_rng(1)
    votes, code = rng.integers(n_answers, size=50), rng.normal(size=(n_answers, 4))
    expected = scores + step * code[votes]
    add_votes(scores, votes.astype(dtype), code, step)
    np.testing.assert_allclose(scores, expected, rtol=1e-15)


@each_order
@each_width
def test_votes_for_classes_add_to_their_class_alone(order, dtype):
    scores, votes = random_scores(order=order)
    code = np.array([1.0, 2.0, 0.5, 1.0])
    expected = scores + 0.7 * np.diag(code)[votes]
    add_votes(scores, votes.astype(dtype), code, 0.7)
    np.testing.assert_allclose(scores, expected, rtol=1e-15)


@each_width
def test_the_weighted_error_is_the_weight_of_wrong_votes(dtype):
    rng = np.random.default_rng(0)
    weights, votes, targets = (
        rng.random(1500),
        rng.integers(3, size=1500),
        rng.integers(3, size=1500),
    )
    votes, targets = votes.astype(dtype), targets.astype(dtype)
    wrong = np.where(votes != targets, weights, 0)
    for at in (slice(0, 0), slice(0, 7), slice(7, 300), slice(300, 1500), slice(0, 1024)):
        error = weighted_error(weights[at], votes[at], targets[at])
        assert error == pytest.approx(wrong[at].sum(), rel=1e-13)
        assert weighted_error(weights[at], targets[at], targets[at]) == 0


@pytest.mark.parametrize(
    ("p", "expected"), [(0.5, 0), (0.75, np.log(3)), (1e-300, np.log(1e-300)), (1e-9, -20.7232658)]
)
def test_log_odds(p, expected):
    assert log_odds(p) == pytest.approx(expected, rel=1e-8)


@given(st.floats(1e-12, 0.5))
def test_log_odds_are_odd(p):
    assert log_odds(1 - p) == pytest.approx(-log_odds(p), abs=1e-3)


@settings(max_examples=50, deadline=None)
@given(
    arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(-1e5, 1e5))
)
def test_softmax_gives_probabilities_of_which_the_best_score_has_the_highest(scores):
    proba = softmax(scores)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba[np.arange(len(scores)), scores.argmax(axis=1)] == proba.max(axis=1)).all()


def test_softmax_does_not_change_the_scores_and_survives_any_size():
    scores = np.array([[1e300, -1e300, 1e300], [0.0, -800.0, 800.0]])
    before = scores.copy()
    np.testing.assert_allclose(softmax(scores), [[0.5, 0, 0.5], [0, 0, 1]], atol=1e-300)
    np.testing.assert_array_equal(scores, before)


def test_softmax_does_not_see_a_shift():
    scores, _ = random_scores()
    np.testing.assert_allclose(softmax(scores), softmax(scores + 1234.5), rtol=1e-11)
