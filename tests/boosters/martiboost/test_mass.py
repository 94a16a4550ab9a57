"""Mass on its way through the layers of a branching program."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.boosters.martiboost.mass import ABSENT, push, routes_of

BOTH = np.array([[0.3, 0.2]])
MISTAKES = st.floats(0, 0.5)
NEAR = [0.0, 1e-300, 1e-17, 1e-13, 1e-9, 0.25, 0.5 - 1e-16, 0.5]


def routes(too_many, too_few):
    """Of a node with r = 1/2 + too_many - too_few."""
    return routes_of(BOTH, np.array([[too_many, too_few]]))[0]


@pytest.mark.parametrize("too_many", NEAR, ids=str)
@pytest.mark.parametrize("too_few", NEAR, ids=str)
def test_half_of_the_weight_goes_right(too_many, too_few):
    zero, one = routes(too_many, too_few)
    ones = 0.5 + too_many - too_few
    assert 0 <= zero <= 1
    assert 0 <= one <= 1
    assert (1 - ones) * zero + ones * one == pytest.approx(0.5, abs=1e-12)


@given(MISTAKES, MISTAKES)
def test_the_shares_are_those_of_the_paper(too_many, too_few):
    zero, one = routes(too_many, too_few)
    r = 0.5 + (too_many - too_few)
    if r > 0.5:
        assert (zero, one) == (0, pytest.approx(1 / (2 * r), rel=1e-11))
    else:
        assert (1 - zero, one) == (pytest.approx(1 / (2 * (1 - r)), rel=1e-11), 1)


@pytest.mark.parametrize("both", [0.0, 1e-20, 0.1])
@pytest.mark.parametrize("rounding", [-1e-13, 0, 1e-16, 1e-13])
def test_an_even_vote_leaves_no_traces(both, rounding):
    np.testing.assert_array_equal(routes(both, both + rounding), [0, 1])


def test_few_mistakes_are_told_apart_exactly():
    few = 1e-11
    assert routes(few, 3 * few)[0] == pytest.approx(4 * few / (1 + 4 * few), rel=1e-14)
    assert routes(3 * few, few)[1] == pytest.approx(1 - 4 * few, rel=1e-14)


def test_a_pure_node_sends_all_to_the_side_of_its_class():
    shares = np.array([[0.4, 0], [0, 0.4], [0.4, ABSENT / 2], [0, 0]])
    expected = [[0, 0], [1, 1], [0, 0], [0, 0]]
    np.testing.assert_array_equal(routes_of(shares, np.zeros((4, 2))), expected)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_mass_is_conserved_and_moves_one_step(n_layers, seed):
    rng = np.random.default_rng(seed)
    n = 7
    mass, score = np.zeros((n, n_layers + 1), order="F"), np.empty(n)
    expected = np.zeros((n, n_layers + 1))
    expected[:, 0] = 1
    for layer in range(n_layers):
        chances = rng.choice([0.0, 1.0, 0.5, rng.random()], size=(layer + 1, 2))
        votes = np.asfortranarray(rng.integers(2, size=(n, layer + 1)).astype(np.int32))
        push(mass, chances, votes, score)
        right = expected[:, : layer + 1] * np.where(votes, chances[:, 1], chances[:, 0])
        expected[:, : layer + 1] -= right
        expected[:, 1 : layer + 2] += right
        np.testing.assert_allclose(mass, expected, atol=1e-14)
    np.testing.assert_allclose(mass.sum(axis=1), 1, atol=1e-12)
    ends = mass[:, np.arange(n_layers + 1) >= n_layers / 2].sum(axis=1)
    np.testing.assert_allclose(1 / (1 + np.exp(-2 * score)), ends, atol=1e-11)
    assert ((score > 0) == (ends >= 0.5 - 1e-12)).all()


def test_thousands_of_layers_conserve_mass():
    rng = np.random.default_rng(0)
    n_layers = 2_000
    mass, score = np.zeros((3, n_layers + 1), order="F"), np.empty(3)
    for layer in range(n_layers):
        votes = np.asfortranarray(rng.integers(2, size=(3, layer + 1)).astype(np.int32))
        push(mass, rng.random((layer + 1, 2)), votes, score)
    np.testing.assert_allclose(mass.sum(axis=1), 1, atol=1e-12)
    assert np.isfinite(score).all()
