from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyboost.ensemble.codes import codes as module
from steadyboost.ensemble.codes.codes import (
    balanced_code,
    bch_generator,
    bch_like_code,
    bch_parameters,
    check_code,
    code_distance,
    dense_random_code,
    exhaustive_code,
    identity_code,
    simplex_code,
    simplex_vertices,
)

# (length exponent m, [(dimension, minimum distance)]) as tabled by Lin and Costello.
BCH_TABLE = {
    3: [(4, 3), (1, 7)],
    4: [(11, 3), (7, 5), (5, 7), (1, 15)],
    5: [(26, 3), (21, 5), (16, 7), (11, 11), (6, 15), (1, 31)],
    6: [
        (57, 3),
        (51, 5),
        (45, 7),
        (39, 9),
        (36, 11),
        (30, 13),
        (24, 15),
        (18, 21),
        (16, 23),
        (10, 27),
        (7, 31),
        (1, 63),
    ],
}


def rng_of(seed=0):
    return np.random.default_rng(seed)


def column_keys(code):
    """Columns up to complement."""
    return [(column ^ column[0]).tobytes() for column in code.T]


def all_words(generator):
    numbers = np.arange(2 ** len(generator))[:, None]
    return ((numbers >> np.arange(len(generator))) & 1) @ generator % 2


@pytest.mark.parametrize("k", [2, 3, 5, 26, 300])
def test_simplex_gram_matrix(k):
    vertices = simplex_vertices(k)
    assert vertices.shape == (k, k - 1)
    np.testing.assert_allclose(vertices @ vertices.T, simplex_code(k), atol=1e-13)
    np.testing.assert_allclose(vertices.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(simplex_code(k).sum(axis=1), 0.0, atol=1e-13)


def test_codes_of_a_single_class():
    assert simplex_code(1).tolist() == [[1.0]]
    assert identity_code(1).tolist() == [[1.0]]
    assert simplex_vertices(1).shape == (1, 0)


@pytest.mark.parametrize("make", [simplex_code, identity_code, simplex_vertices])
def test_no_class_at_all_is_refused(make):
    with pytest.raises(ValueError, match="k=0; pass at least 1"):
        make(0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 9), n_bits=st.integers(6, 20))
def test_balanced_code_splits_evenly_and_repeats_late(seed, k, n_bits):
    code = balanced_code(k, n_bits, rng_of(seed))
    assert code.shape == (k, n_bits)
    assert code.dtype == np.int8
    assert ((code == 0).sum(axis=0) == k // 2).all()
    n_splits = comb(k, k // 2) // (1 if k % 2 else 2)
    keys = column_keys(code)
    assert len(set(keys)) == min(n_bits, n_splits)
    counts = [keys.count(key) for key in set(keys)]
    assert max(counts) - min(counts) <= 1
    check_code(code, k)


def test_balanced_code_that_cannot_separate_says_so():
    with pytest.raises(ValueError, match="n_bits=9 even splits did not separate k=300"):
        balanced_code(300, 9, rng_of())


@pytest.mark.parametrize(("k", "n_bits"), [(2, 3), (3, 16), (6, 26), (26, 48)])
def test_dense_random_code_is_usable_and_picks_the_best(k, n_bits):
    code = dense_random_code(k, n_bits, rng_of(), n_draws=100)
    check_code(code, k)
    single = dense_random_code(k, n_bits, rng_of(), n_draws=1)
    assert code_distance(code) >= code_distance(single)


def test_dense_random_code_reaches_the_distances_of_its_draws():
    best = max(code_distance(module._random_bits(10, 34, rng)) for rng in [rng_of(3)] * 200)
    assert code_distance(dense_random_code(10, 34, rng_of(3), n_draws=200)) == best
    assert best.row_min >= 11


def test_dense_random_code_that_cannot_separate_says_so():
    with pytest.raises(ValueError, match="n_bits=9 random bits left two of k=300"):
        dense_random_code(300, 9, rng_of(), n_draws=3)
    with pytest.raises(ValueError, match="n_draws=0"):
        dense_random_code(3, 9, rng_of(), n_draws=0)


@pytest.mark.parametrize("make", [balanced_code, dense_random_code, bch_like_code])
def test_too_few_bits_or_classes_are_refused(make):
    with pytest.raises(ValueError, match="n_bits=2; pass at least 3"):
        make(5, 2, rng_of())
    with pytest.raises(ValueError, match="k=1; pass at least 2"):
        make(1, 2, rng_of())


@pytest.mark.parametrize("k", range(2, 12))
def test_exhaustive_code_against_theory(k):
    code = exhaustive_code(k)
    assert code.shape == (k, 2 ** (k - 1) - 1)
    assert len(set(column_keys(code))) == code.shape[1]
    distance = code_distance(code)
    assert distance.row_min == distance.row_mean == max(2 ** (k - 2), 1)
    assert distance.n_correctable == (distance.row_min - 1) // 2
    assert distance.column_min == 1
    check_code(code, k)


def test_exhaustive_code_matches_the_published_example():
    rows = ["1" * 15, "0" * 8 + "1" * 7, "000011110000111", "001100110011001", "010101010101010"]
    assert ["".join(map(str, row)) for row in exhaustive_code(5).tolist()] == rows


def test_exhaustive_code_has_limits():
    with pytest.raises(ValueError, match="k=12 needs 2047 columns; use dense_random_code"):
        exhaustive_code(12)
    with pytest.raises(ValueError, match="k=1; pass at least 2"):
        exhaustive_code(1)


@pytest.mark.parametrize("m", range(2, 11))
def test_polynomials_are_primitive(m):
    power, order = 2, 1
    while power != 1:
        power <<= 1
        if power >> m:
            power ^= module._PRIMITIVE[m - 2]
        order += 1
    assert order == 2**m - 1


@pytest.mark.parametrize("m", BCH_TABLE)
def test_bch_parameters_against_the_tables(m):
    assert bch_parameters(m) == BCH_TABLE[m]


@pytest.mark.parametrize(
    ("m", "dimension", "distance"),
    [(m, d, t) for m, rows in BCH_TABLE.items() for d, t in rows if d <= 16],
)
def test_bch_minimum_distance_by_enumeration(m, dimension, distance):
    generator = bch_generator(m, distance)
    assert generator.shape == (dimension, 2**m - 1)
    words = all_words(generator)
    assert words.sum(axis=1)[1:].min() == distance
    assert len(np.unique(np.packbits(words, axis=1), axis=0)) == 2**dimension


def test_bch_code_is_cyclic():
    words = {tuple(word) for word in all_words(bch_generator(4, 5)).tolist()}
    assert {word[1:] + word[:1] for word in words} == words


@pytest.mark.parametrize(
    ("k", "n_bits", "guaranteed"),
    [
        (4, 7, 3),
        (5, 15, 7),
        (10, 12, 5),
        (26, 15, 7),
        (26, 17, 5),
        (26, 31, 15),
        (26, 50, 18),
        (26, 63, 31),
        (32, 15, 7),
        (100, 15, 5),
        (300, 63, 27),
        (26, 1023, 511),
    ],
)
def test_bch_like_code_keeps_its_distance(k, n_bits, guaranteed):
    for seed in range(3):
        code = bch_like_code(k, n_bits, rng_of(seed))
        assert code.shape == (k, n_bits)
        assert len(set(column_keys(code))) == n_bits
        assert code_distance(code).column_min >= 1
        assert code_distance(code).row_min >= guaranteed
        check_code(code, k)


@pytest.mark.parametrize(
    ("k", "n_bits", "message"),
    [
        (4, 8, "n_bits=8; with k=4, BCH codes have at most 7"),
        (50, 1024, "n_bits=1024; with k=50, BCH codes have at most 1023"),
        (300, 10, "n_bits=10: found no BCH code for k=300"),
        (3, 3, "n_bits=3: found no BCH code for k=3"),
    ],
)
def test_bch_like_code_refuses_instead_of_falling_back(k, n_bits, message):
    with pytest.raises(ValueError, match=message):
        bch_like_code(k, n_bits, rng_of())


@pytest.mark.parametrize(
    "make", [balanced_code, lambda k, n, rng: dense_random_code(k, n, rng, 20), bch_like_code]
)
def test_codes_repeat_with_the_seed(make):
    assert np.array_equal(make(12, 31, rng_of(5)), make(12, 31, rng_of(5)))
    assert not np.array_equal(make(12, 31, rng_of(5)), make(12, 31, rng_of(6)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 8), n_bits=st.integers(2, 8))
def test_code_distance_by_definition(seed, k, n_bits):
    code = rng_of(seed).integers(0, 2, (k, n_bits))
    rows = [int((a != b).sum()) for a, b in combinations(code, 2)]
    columns = [min((a != b).sum(), (a == b).sum()) for a, b in combinations(code.T, 2)]
    distance = code_distance(code)
    assert distance.row_min == min(rows)
    assert distance.row_mean == pytest.approx(np.mean(rows))
    assert distance.column_min == min(columns)
    assert distance.n_correctable == max((min(rows) - 1) // 2, 0)


def test_n_correctable_wrong_bits_are_always_decoded():
    code = exhaustive_code(5)
    n_wrong = code_distance(code).n_correctable
    assert n_wrong == 3
    for label, row in enumerate(code):
        for wrong in combinations(range(15), n_wrong):
            received = row.copy()
            received[list(wrong)] ^= 1
            assert (code != received).sum(axis=1).argmin() == label


def test_distance_of_small_codes():
    assert code_distance([[0], [1]]).column_min == 1
    with pytest.raises(ValueError, match="number of rows=1"):
        code_distance([[0, 1]])


def test_check_code_maps_signs_and_booleans():
    assert check_code([[-1, 1], [1, 1], [1, -1]], 3).tolist() == [[0, 1], [1, 1], [1, 0]]
    assert check_code(np.array([[True], [False]]), 2).tolist() == [[1], [0]]
    assert check_code([[0.0], [1.0]], 2).dtype == np.int8


@pytest.mark.parametrize(
    ("code", "k", "message"),
    [
        ([0, 1], 2, r"shape \(2,\); pass \(2, n_bits\)"),
        ([[0], [1]], 3, r"shape \(2, 1\); pass \(3, n_bits\)"),
        (np.zeros((2, 0)), 2, r"shape \(2, 0\)"),
        ([[0, 2], [1, 0]], 2, "only 0 and 1, or only -1 and"),
        ([[0, -1], [1, 1]], 2, "only 0 and 1, or only -1 and"),
        ([[0, np.nan], [1, 0]], 2, "only 0 and 1, or only -1 and"),
        ([["a"], ["b"]], 2, "only 0 and 1, or only -1 and"),
        ([[0, 1, 1], [1, 0, 1]], 2, "code column 2 is constant"),
        ([[0, 1], [1, 0], [0, 1]], 3, "code row 2 repeats an earlier row"),
    ],
)
def test_check_code_refuses_unusable_codes(code, k, message):
    with pytest.raises(ValueError, match=message):
        check_code(code, k)
