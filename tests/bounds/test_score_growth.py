"""The scores of WeightBoost stay within their bounds, in every round and for any row."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.weightboost import weightboost, weightboost_scores
from sklearn.tree import DecisionTreeClassifier

from steadyboost.bounds import weightboost_bound

REGULARIZERS = ("exponential", "inverse_polynomial")
each_regularizer = pytest.mark.parametrize("regularizer", REGULARIZERS)
betas = st.one_of(st.just(0.0), st.floats(1e-6, 20))
powers = st.floats(0.1, 6)


def below(lower, upper):
    """No larger in any round, but for rounding."""
    return bool((np.asarray(lower) <= np.asarray(upper) * (1 + 1e-9)).all())


def stump(X, y, weights):
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    return tree.fit(X, y, sample_weight=weights).predict


def mostly_right(seed, share):
    """A learner that guesses, but has an edge: it errs on less than half of the weight."""
    rng = np.random.default_rng(seed)

    def learner(X, y, weights):
        votes = np.where(rng.random(len(y)) < share, y, -y)
        sign = 1 if weights[votes == y].sum() >= 0.5 else -1
        return lambda _: sign * votes

    return learner


def walk(steps, normalizers, beta, regularizer, power, signs):
    """H of rows whose votes are given, after each round, by eq. (4)."""
    H, after = np.zeros(signs.shape[1]), []
    for step, C, votes in zip(steps, normalizers, signs, strict=True):
        u = beta * np.abs(H)
        q = np.exp(-u) if regularizer == "exponential" else (1 + u) ** -power
        H = H + step * q / C * votes
        after.append(np.abs(H).max())
    return after


@each_regularizer
@pytest.mark.parametrize("normalize", [None, 0.1])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), beta=betas, power=powers, share=st.floats(0.5, 1))
def test_twins_stay_within_the_bounds(regularizer, normalize, seed, beta, power, share):
    rng = np.random.default_rng(seed)
    X, y = np.zeros((25, 1)), rng.choice([-1, 1], size=25)
    options = {"beta": beta, "q": regularizer, "p": power, "normalize": normalize}
    rounds = weightboost(mostly_right(seed, share), X, y, 30, **options)
    steps, C = [r.alpha for r in rounds], [r.C for r in rounds]
    bound = weightboost_bound(steps, beta, regularizer, power=power, normalizers=C)
    assert below([np.abs(r.H).max() for r in rounds], bound.worst_case)
    assert below(bound.worst_case, bound.closed_form)


@each_regularizer
@settings(max_examples=100, deadline=None)
@given(data=st.data(), beta=betas, power=powers, seed=st.integers(0, 10**6))
def test_any_steps_stay_within_the_bounds(regularizer, data, beta, power, seed):
    n = data.draw(st.integers(1, 40))
    steps = data.draw(st.lists(st.floats(-14, 14), min_size=n, max_size=n))
    C = data.draw(st.lists(st.floats(0.5, 10), min_size=n, max_size=n))
    signs = np.random.default_rng(seed).choice([-1, 1], size=(n, 50))
    signs[:, 0], signs[:, 1] = np.sign(steps), 1
    bound = weightboost_bound(steps, beta, regularizer, power=power, normalizers=C)
    assert below(walk(steps, C, beta, regularizer, power, signs), bound.worst_case)
    assert below(bound.worst_case, bound.closed_form)
    assert np.isfinite(bound).all()


@each_regularizer
@pytest.mark.parametrize("normalize", [None, 0.1])
def test_rows_that_training_did_not_see_stay_within_the_bounds(regularizer, normalize):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(80, 3)), 3 * rng.normal(size=(500, 3))
    y = np.where(X.sum(axis=1) + rng.normal(size=80) > 0, 1, -1)
    options = {"beta": 0.5, "q": regularizer, "p": 2.0}
    rounds = weightboost(stump, X, y, 100, normalize=normalize, **options)
    steps, C = [r.alpha for r in rounds], [r.C for r in rounds]
    bound = weightboost_bound(steps, 0.5, regularizer, power=2.0, normalizers=C)
    for t in range(0, 100, 9):
        largest = np.abs(weightboost_scores(rounds[: t + 1], new, **options)).max()
        assert largest <= bound[0][t] * (1 + 1e-12)


@each_regularizer
def test_a_row_that_all_agree_on_reaches_the_worst_case(regularizer):
    steps, C = np.linspace(0.9, 0.1, 50), np.linspace(8, 0.5, 50)
    found = walk(steps, C, 0.5, regularizer, 2.0, np.ones((50, 1)))
    bound = weightboost_bound(steps, 0.5, regularizer, power=2.0, normalizers=C)
    np.testing.assert_allclose(found, bound.worst_case, rtol=1e-12)


@each_regularizer
def test_without_its_normalizers_the_bound_fails(regularizer):
    steps, C = np.full(200, 0.1), np.full(200, 0.5)
    found = walk(steps, C, 1.0, regularizer, 1.0, np.ones((200, 1)))
    assert not below(found, weightboost_bound(steps, 1.0, regularizer).closed_form)
    assert below(found, weightboost_bound(steps, 1.0, regularizer, normalizers=C).closed_form)


@pytest.mark.parametrize("beta", [0.01, 0.5, 3.0])
def test_closed_forms_are_those_of_the_appendix(beta):
    steps = [0.4, 0.9, 0.2, 1.3, 0.1]
    logarithmic = weightboost_bound(steps, beta).closed_form
    root = weightboost_bound(steps, beta, "inverse_polynomial", power=2).closed_form
    for T in range(1, 6):
        b, later = beta * max(steps[:T]), T - 1
        printed = math.log(math.exp(beta * 0.4) + b * math.exp(b) * later) / beta
        assert logarithmic[T - 1] == pytest.approx(printed, rel=1e-12)
        v = ((1 + beta * 0.4) ** 3 + 3 * b * (1 + b) ** 2 * later) ** (1 / 3)
        assert root[T - 1] == pytest.approx((v - 1) / beta, rel=1e-12)


@each_regularizer
def test_without_regularizer_the_bound_is_a_sum(regularizer):
    steps = np.array([0.5, 0.2, 0.4])
    for beta in (0.0, 1e-13):
        worst, closed = weightboost_bound(steps, beta, regularizer)
        np.testing.assert_allclose(worst, steps.cumsum(), rtol=1e-9)
        np.testing.assert_allclose(closed, [0.5, 1.0, 1.5], rtol=1e-9)


def test_huge_steps_do_not_overflow():
    for regularizer in REGULARIZERS:
        bound = weightboost_bound(np.full(5000, 28.0), 1e4, regularizer, power=50)
        assert np.isfinite(bound).all()
        assert below(bound.worst_case, bound.closed_form)


def test_no_rounds_have_no_bounds():
    assert [len(part) for part in weightboost_bound([], 0.5)] == [0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beta": -1}, "beta=-1 must be"),
        ({"beta": math.nan}, "beta=nan must be"),
        ({"regularizer": "linear"}, "regularizer='linear' has no known bound; choose 'exp"),
        ({"power": 0}, "power=0 must be"),
        ({"steps": [[1.0]]}, r"steps of shape \(1, 1\)"),
        ({"steps": [math.inf, 1.0]}, r"steps of shape \(2,\)"),
        ({"normalizers": [1.0]}, r"normalizers of shape \(1,\) .* each of the 2 steps"),
        ({"normalizers": [1.0, 0.0]}, "one number above 0"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        weightboost_bound(**{"steps": [1.0, 0.5], "beta": 0.5, **change})
