"""Factors against their formulas, and what a stage adds by them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.boosters.weightboost.factors import LARGEST, Exponential, Given, InversePolynomial


def hyperbola(u):
    return 1 / (1 + u) ** 2


def column(values):
    return np.array(values, dtype=float)[:, None]


FORMULAS = {
    "exponential": (Exponential(0.7), lambda u: np.exp(-u)),
    "reciprocal": (InversePolynomial(0.7, 1.0), lambda u: 1 / (1 + u)),
    "polynomial": (InversePolynomial(0.7, 2.5), lambda u: (1 + u) ** -2.5),
    "given": (Given(0.7, hyperbola), hyperbola),
}
each_factor = pytest.mark.parametrize(("factor", "q"), FORMULAS.values(), ids=FORMULAS.keys())
SCORES = np.concatenate([[0.0, -0.0], np.linspace(-9, 9, 101), [300.0, -300.0]])


@each_factor
def test_values_and_logarithms_are_those_of_the_formula(factor, q):
    expected = q(0.7 * np.abs(SCORES))
    np.testing.assert_allclose(factor.values(column(SCORES)), expected, rtol=1e-13)
    np.testing.assert_allclose(factor.log(column(SCORES)), np.log(expected), rtol=1e-13)


@each_factor
def test_weights_are_exponentials_of_minus_y_times_the_score_times_the_factor(factor, q):
    y = (np.arange(len(SCORES)) % 3 == 0).astype(np.int32)
    logs = factor.log_weights(column(SCORES), y)
    expected = -np.where(y, 1, -1) * SCORES + np.log(q(0.7 * np.abs(SCORES)))
    np.testing.assert_allclose(logs, expected, rtol=1e-13)


@each_factor
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_stage_counts_by_the_factor_at_the_old_score(factor, q, dtype):
    votes = (np.arange(len(SCORES)) % 2).astype(dtype)
    scores = column(SCORES)
    factor.add(scores, votes, 0.3)
    expected = SCORES + 0.3 * q(0.7 * np.abs(SCORES)) * np.where(votes, 1, -1)
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-13, atol=1e-15)


@each_factor
def test_one_column_of_many_is_changed_and_no_other(factor, q):
    scores = np.zeros((5, 3), order="F")
    factor.add(scores[:, 1:2], np.array([0, 1, 1, 0, 1], dtype=np.int32), 0.5)
    assert scores.tolist() == [[0, half, 0] for half in (-0.5, 0.5, 0.5, -0.5, 0.5)]


@each_factor
def test_row_by_row_is_the_batch_bit_for_bit(factor, q):
    together = column(SCORES)
    votes = np.ones(len(SCORES), dtype=np.int32)
    factor.add(together, votes, 0.37)
    for i, score in enumerate(SCORES):
        alone = column([score])
        factor.add(alone, votes[:1], 0.37)
        assert alone[0, 0] == together[i, 0]


@pytest.mark.parametrize(
    "factor", [Exponential(0.0), InversePolynomial(0.0, 1.0)], ids=lambda f: type(f).__name__
)
def test_without_beta_every_factor_is_exactly_one(factor):
    assert (factor.values(column(SCORES)) == 1).all()
    assert (factor.log(column(SCORES)) == 0).all()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, LARGEST), min_size=1, max_size=40))
def test_the_exponential_is_right_to_two_units_in_the_last_place(u):
    ours, numpys = Exponential(1.0).values(column(u)), np.exp(-np.array(u))
    assert (np.abs(ours - numpys) <= 2 * np.spacing(numpys)).all()


def test_scores_of_any_size_give_finite_factors():
    huge = column([1e3, 1e6, 1e300, np.inf, -np.inf])
    values = Exponential(0.5).values(huge)
    assert ((values >= 0) & (values < 1e-200)).all()


def test_a_factor_of_zero_has_a_finite_logarithm():
    """Else rows could not be compared where all of them are at 0."""
    factor = Given(1.0, lambda u: np.maximum(0, 1 - u))
    logs = factor.log(column([0.0, 2.0]))
    assert logs[0] == 0
    assert -1000 < logs[1] < -700


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda u: 1.0, r"of the same shape; for shape \(2,\) it gave \(\)\."),
        (lambda u: u[:1], r"of the same shape; for shape \(2,\) it gave \(1,\)\."),
        (lambda u: 1 + u, r"numbers in \[0, 1\] .* from 1.0 to 3.0\."),
        (lambda u: -u, r"from -2.0 to "),
        (lambda u: u * np.nan, "from nan to nan"),
    ],
    ids=["number", "shape", "large", "negative", "missing"],
)
def test_a_function_that_is_no_factor_is_named(function, message):
    factor = Given(1.0, function)
    for use in (factor.values, factor.log):
        with pytest.raises(ValueError, match=f"regularizer=<function .*{message}"):
            use(column([0.0, 2.0]))
