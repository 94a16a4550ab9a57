"""Class codes: vectors and bit strings that stand for the k classes.

Real codes turn answers into class scores; binary codes (ECOC) give each class a row of bits.
Rows far apart let wrong bits be corrected, columns far apart keep them from erring together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import helmert

from steadyboost.ensemble.codes.colorings import as_binary, balanced_coloring

Code = NDArray[np.int8]

_N_TRIES = 100  # draws of a code, the first of which whose rows all differ is taken
# Primitive polynomials of degree 2 to 10; bit i is the coefficient of x^i.
_PRIMITIVE = (0o7, 0o13, 0o23, 0o45, 0o103, 0o211, 0o435, 0o1021, 0o2011)


def simplex_code(k: int) -> NDArray[np.float64]:
    """Give the points that answer a (row) adds to each class: 1 for a, -1/(k-1) for the others.

    Examples
    --------
    >>> simplex_code(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    _check_least("k", k, 1)
    code = np.full((k, k), -1.0 / max(k - 1, 1))
    np.fill_diagonal(code, 1.0)
    return code


def identity_code(k: int) -> NDArray[np.float64]:
    """Give one point to the class that is the answer and none to the others."""
    _check_least("k", k, 1)
    return np.eye(k)


def simplex_vertices(k: int) -> NDArray[np.float64]:
    """Place k unit vectors in k - 1 dimensions with all inner products -1/(k-1).

    These codewords of GD-MCBoost have the Gram matrix ``simplex_code(k)`` (empty for k = 1).

    Examples
    --------
    >>> simplex_vertices(2)
    array([[ 1.],
           [-1.]])
    """
    _check_least("k", k, 1)
    return helmert(k).T * np.sqrt(k / max(k - 1, 1))


def balanced_code(k: int, n_bits: int, rng: np.random.Generator) -> Code:
    """Draw columns that each split the classes evenly, with ``k // 2`` zeros.

    No column repeats or complements another until all different splits have been used.

    Examples
    --------
    >>> balanced_code(4, 3, np.random.default_rng(0)).sum(axis=0)
    array([2, 2, 2])
    """
    _check_size(k, n_bits)
    for _ in range(_N_TRIES):
        code = _distinct_splits(k, n_bits, rng)
        if _rows_differ(code):
            return code
    raise ValueError(f"n_bits={n_bits} even splits did not separate k={k} classes; raise n_bits")


def _distinct_splits(k: int, n_bits: int, rng: np.random.Generator) -> Code:
    n_splits = comb(k, k // 2) // (1 if k % 2 else 2)
    columns: list[Code] = []
    seen: set[bytes] = set()
    while len(columns) < n_bits:
        column = balanced_coloring(k, rng)
        key = (column ^ column[0]).tobytes()
        if key not in seen:
            columns.append(column)
            seen.add(key)
        if len(seen) == n_splits:
            seen.clear()
    return np.stack(columns, axis=1)


def dense_random_code(k: int, n_bits: int, rng: np.random.Generator, n_draws: int = 1000) -> Code:
    """Draw fair random bits many times and keep the code with the best distances.

    Codes are compared by minimum row distance, then by minimum column distance, as Allwein,
    Schapire and Singer (2000) do, who drew 10,000 codes of ``10 log2(k)`` bits.
    """
    _check_size(k, n_bits)
    _check_least("n_draws", n_draws, 1)
    best = max((_random_bits(k, n_bits, rng) for _ in range(n_draws)), key=code_distance)
    if not _rows_differ(best):
        raise ValueError(f"n_bits={n_bits} random bits left two of k={k} rows equal; raise n_bits")
    return best


def _random_bits(k: int, n_bits: int, rng: np.random.Generator) -> Code:
    code = rng.integers(0, 2, (k, n_bits), dtype=np.int8)
    while (constant := _constant_columns(code)).any():
        code[:, constant] = rng.integers(0, 2, (k, constant.sum()), dtype=np.int8)
    return code


def exhaustive_code(k: int) -> Code:
    """List all 2^(k-1) - 1 different splits (Dietterich and Bakiri 1995).

    Any two rows differ in 2^(k-2) bits; k is at most 11.

    Examples
    --------
    >>> exhaustive_code(3)
    array([[1, 1, 1],
           [0, 0, 1],
           [0, 1, 0]], dtype=int8)
    """
    _check_least("k", k, 2)
    if k > 11:
        raise ValueError(f"k={k} needs {2 ** (k - 1) - 1} columns; use dense_random_code above 11")
    columns = np.arange(2 ** (k - 1) - 1)
    lower = (columns >> np.arange(k - 2, -1, -1)[:, None]) & 1
    return np.vstack([np.ones_like(columns), lower]).astype(np.int8)


def bch_like_code(k: int, n_bits: int, rng: np.random.Generator) -> Code:
    """Draw k words of a binary BCH code, shortened and punctured to ``n_bits``.

    Each punctured column costs one of the designed distance. Codes are tried from the largest
    guaranteed row distance down until k words are found without constant, equal or complementary
    columns; a ValueError tells of failure.

    Examples
    --------
    >>> code_distance(bch_like_code(26, 15, np.random.default_rng(0))).row_min
    7
    """
    _check_size(k, n_bits)
    if n_bits > (most := min(2 ** (k - 1) - 1, 1023)):
        raise ValueError(f"n_bits={n_bits}; with k={k}, BCH codes have at most {most}; lower it")
    for generator in _bch_generators(k, n_bits):
        for _ in range(_N_TRIES):
            code = _draw_words(generator, k, n_bits, rng)
            # Relative to the first class, complementary columns become equal.
            if not _constant_columns(code).any() and _rows_differ((code ^ code[0]).T):
                return code
    raise ValueError(f"n_bits={n_bits}: found no BCH code for k={k}; try 2^m - 1 or another code")


def _bch_generators(k: int, n_bits: int) -> Iterator[Code]:
    """Generator matrices that fit, by falling distance after shortening and puncturing."""
    m = max(int(n_bits).bit_length(), 2)
    n_spare = 2**m - 1 - n_bits
    # 2^n_message words must hold k classes, and as many columns must be able to differ.
    n_message = max(int(k - 1).bit_length(), m)
    fitting = [
        (distance - n_punctured, distance, dimension - n_spare + n_punctured)
        for dimension, distance in bch_parameters(m)
        for n_punctured in range(min(distance, n_spare + 1))
        if n_message <= dimension - n_spare + n_punctured <= 30
    ]
    # Further and larger codes lose distance and repeat columns just as often.
    for _, distance, dimension in sorted(fitting, reverse=True)[:8]:
        yield bch_generator(m, distance)[:dimension]


def _draw_words(generator: Code, k: int, n_bits: int, rng: np.random.Generator) -> Code:
    """Encode k random messages and keep random columns; trailing zero columns are shortened."""
    numbers = rng.choice(2 ** len(generator), k, replace=False)
    messages = (numbers[:, None] >> np.arange(len(generator))) & 1
    kept = rng.choice(np.flatnonzero(generator.any(axis=0)), n_bits, replace=False)
    return (messages @ generator[:, kept] % 2).astype(np.int8)


def bch_parameters(m: int) -> list[tuple[int, int]]:
    """List (dimension, designed distance) of the narrow-sense BCH codes of length 2^m - 1.

    Examples
    --------
    >>> bch_parameters(4)
    [(11, 3), (7, 5), (5, 7), (1, 15)]
    """
    n = 2**m - 1
    roots: set[int] = set()
    found = []
    for distance in range(1, n + 1):
        if distance % n not in roots:
            found.append((n - len(roots), distance))
            roots |= _conjugates(distance, m)
    return found[1:]


def bch_generator(m: int, distance: int) -> Code:
    """Build the generator matrix: shifts of the polynomial with roots a, ..., a^(distance-1).

    The polynomial is multiplied out in the field of 2^m elements, where a is primitive; its
    coefficients end up in {0, 1} because each root comes with its conjugates.
    """
    n = 2**m - 1
    power, log = np.ones(n, dtype=int), np.zeros(n + 1, dtype=int)
    for i in range(1, n):
        power[i] = power[i - 1] << 1 ^ (_PRIMITIVE[m - 2] if power[i - 1] >> (m - 1) else 0)
    log[power] = np.arange(n)
    polynomial = np.array([1])
    for root in set().union(*(_conjugates(i, m) for i in range(1, distance))):
        scaled = np.where(polynomial, power[(log[polynomial] + root) % n], 0)
        polynomial = np.append(0, polynomial) ^ np.append(scaled, 0)
    rows = np.arange(n + 1 - len(polynomial))[:, None]
    generator = np.zeros((len(rows), n), dtype=np.int8)
    generator[rows, rows + np.arange(len(polynomial))] = polynomial
    return generator


def _conjugates(exponent: int, m: int) -> set[int]:
    """Exponents of the roots that share a minimal polynomial over {0, 1}."""
    return {exponent * 2**j % (2**m - 1) for j in range(m)}


@dataclass(frozen=True, order=True)
class CodeDistance:
    """Hamming distances of a binary code; better codes compare greater.

    ``column_min`` also counts distances to complements and is ``k // 2`` for a single column;
    ``n_correctable`` is the number of wrong bits that nearest-row decoding always survives.
    """

    row_min: int
    column_min: int
    row_mean: float
    n_correctable: int


def code_distance(code: ArrayLike) -> CodeDistance:
    """Measure how far the rows, and the columns, of a 0/1 matrix lie apart.

    Examples
    --------
    >>> code_distance(exhaustive_code(4))
    CodeDistance(row_min=4, column_min=1, row_mean=4.0, n_correctable=1)
    """
    signs = np.asarray(code, dtype=np.float32) * 2.0 - 1.0
    k, n_bits = signs.shape
    _check_least("number of rows", k, 2)
    rows = (n_bits - (signs @ signs.T)[np.triu_indices(k, 1)]) / 2.0
    columns = (k - np.abs(signs.T @ signs)[np.triu_indices(n_bits, 1)]) / 2.0
    row_min, column_min = int(rows.min()), int(columns.min(initial=k // 2))
    return CodeDistance(row_min, column_min, float(rows.mean()), max(row_min - 1, 0) // 2)


def check_code(code: ArrayLike, k: int) -> Code:
    """Check a user's code matrix and return it with entries 0 and 1.

    Examples
    --------
    >>> check_code([[-1, 1], [1, -1], [1, 1]], k=3).tolist()
    [[0, 1], [1, 0], [1, 1]]
    """
    matrix = as_binary(code, "code")
    if matrix.ndim != 2 or len(matrix) != k or matrix.size == 0:
        raise ValueError(f"code has shape {matrix.shape}; pass ({k}, n_bits), a row per class")
    if (constant := _constant_columns(matrix)).any():
        raise ValueError(f"code column {constant.argmax()} is constant, separates nothing; drop it")
    first = np.unique(matrix, axis=0, return_index=True)[1]
    if len(first) < k:
        repeated = np.setdiff1d(np.arange(k), first)[0]
        raise ValueError(f"code row {repeated} repeats an earlier row; add a column that differs")
    return matrix


def _constant_columns(code: Code) -> NDArray[np.bool_]:
    return (code == code[0]).all(axis=0)


def _rows_differ(code: Code) -> bool:
    return len(np.unique(code, axis=0)) == len(code)


def _check_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name}={value}; pass at least {least}")


def _check_size(k: int, n_bits: int) -> None:
    _check_least("k", k, 2)
    _check_least("n_bits", n_bits, int(k - 1).bit_length())
