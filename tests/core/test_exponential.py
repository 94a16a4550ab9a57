"""The vector exponential against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from steadyboost.core.exponential import exp


@njit
def exp_all(x, out):
    for i in range(len(x)):
        out[i] = exp(x[i])


def raised(x):
    x = np.asarray(x, dtype=float)
    out = np.empty_like(x)
    exp_all(x, out)
    return out


@pytest.mark.parametrize(("low", "high"), [(-708, 709), (-1, 1), (-1e-8, 1e-8), (300, 709)])
def test_it_is_right_to_the_last_bits(low, high):
    x = np.linspace(low, high, 20_001)
    exact = np.exp(x.astype(np.longdouble))
    error = np.abs(raised(x) / exact - 1).astype(float)
    assert error.max() < 3e-16
    assert error.mean() < 1e-16


def test_halves_of_ln_2_are_where_the_polynomial_is_worst():
    x = (np.arange(-1000, 1000) + 0.5) * np.log(2)
    x = np.concatenate([np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf)])
    np.testing.assert_allclose(raised(x), np.exp(x), rtol=4e-16)


def test_zero_is_one():
    assert raised([0.0, -0.0]).tolist() == [1, 1]


def test_below_its_range_it_stays_where_it_is():
    floor = raised([-708.0])[0]
    assert raised([-708.5, -1e4, -1e300, -np.inf]).tolist() == [floor] * 4
    assert 0 < floor < 4e-308


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-700, 700), min_size=1, max_size=40))
def test_any_numbers(x):
    np.testing.assert_allclose(raised(x), np.exp(x), rtol=4e-16)


@settings(max_examples=100, deadline=None)
@given(st.floats(-350, 350), st.floats(-350, 350))
def test_sums_become_products(a, b):
    assert raised([a + b])[0] == pytest.approx(raised([a])[0] * raised([b])[0], rel=1e-13)
