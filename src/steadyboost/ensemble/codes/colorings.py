"""Colourings: splits of the k labels into two groups, one per round of boosting.

AdaBoost.OC and MSmoothBoost learn a binary problem in each round; the colouring says which one.
Its value U is the share of the weight that the split can act upon, and U is a cut in the graph of
the labels whose edges weigh w(l, l') = sum_i D(i, l) [l' = y_i] (Schapire 1997, section 2.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steadyboost.trees.histograms.row_statistics import round_to_40_bits

Coloring = NDArray[np.int8]
Affinity = NDArray[np.floating[Any]]

_EXACT_LABELS = 14  # enumeration is both exact and quicker than the relaxation up to here
_GAIN_TOLERANCE = 1e-12  # share of the total weight; smaller gains are rounding and could cycle
_MAX_SWEEPS, _SWEEP_TOLERANCE = 60, 1e-5  # of the relaxation; only its signs are used
_N_PLANES, _N_STARTS = 100, 10  # random cuts by it, and the best of them, which are improved


def random_coloring(k: int, rng: np.random.Generator) -> Coloring:
    """Colour each label independently by a fair coin; constant draws are redrawn."""
    coloring = rng.integers(0, 2, k, dtype=np.int8)
    while k > 1 and _is_constant(coloring):
        coloring = rng.integers(0, 2, k, dtype=np.int8)
    return coloring


def balanced_coloring(k: int, rng: np.random.Generator) -> Coloring:
    """Draw uniformly among the colourings that give 0 to exactly ``k // 2`` labels.

    Two given labels are separated with probability ``(1 + 1/(k-1)) / 2`` for even k and
    ``(1 + 1/k) / 2`` for odd k.

    Examples
    --------
    >>> int(balanced_coloring(7, np.random.default_rng(0)).sum())
    4
    """
    return (rng.permutation(k) >= k // 2).view(np.int8)


def cut_value(affinity: ArrayLike, coloring: ArrayLike) -> float:
    """Sum the (k, k) affinities of all pairs of labels with different colours: the paper's U.

    Examples
    --------
    >>> cut_value([[0.0, 0.5, 0.1], [0.2, 0.0, 0.0], [0.2, 0.0, 0.0]], [0, 1, 0])
    0.7
    """
    weights = np.asarray(affinity, dtype=np.float64)
    one = np.asarray(coloring, dtype=np.float64)
    zero = 1.0 - one
    return float(one @ weights @ zero + zero @ weights @ one)


def greedy_coloring(affinity: ArrayLike, rng: np.random.Generator) -> Coloring:
    """Place the labels one by one in random order, then climb by single flips.

    Each step cuts at least half of the weight that it decides, so the value is at least half of
    the total affinity.

    Examples
    --------
    >>> path = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> cut_value(path, greedy_coloring(path, np.random.default_rng(0)))
    2.0
    """
    weights = _symmetric(affinity)
    sides = _climb(weights, _one_pass(weights, rng))
    return _to_coloring(sides, rng)


def maxcut_coloring(affinity: ArrayLike, rng: np.random.Generator) -> Coloring:
    """Maximise the cut: by enumeration for few labels, by Goemans and Williamson above that.

    Above 14 labels, the semidefinite relaxation is solved in low rank by coordinate ascent
    (Burer and Monteiro 2003), rounded by random hyperplanes, and the best cuts are improved by
    flips and swaps until none of these helps.

    Examples
    --------
    >>> square = [[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    >>> cut_value(square, maxcut_coloring(square, np.random.default_rng(0)))
    4.0
    """
    weights = _symmetric(affinity)
    solve = _enumerate if len(weights) <= _EXACT_LABELS else _goemans_williamson
    return _to_coloring(solve(weights, rng), rng)


def _is_constant(coloring: Coloring) -> bool:
    return bool((coloring == coloring[0]).all())


def _symmetric(affinity: ArrayLike) -> Affinity:
    """Check the affinity and fold w(l, l') and w(l', l) into one edge weight."""
    weights = np.asarray(affinity, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.size == 0:
        raise ValueError(f"affinity has shape {weights.shape}; pass a square (k, k) matrix")
    # One comparison that NaN fails too.
    if not (weights.min() >= 0.0 and weights.max() < np.inf):
        raise ValueError("affinity holds negative, infinite or NaN values; pass weights >= 0")
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights


def _to_coloring(sides: Affinity, rng: np.random.Generator) -> Coloring:
    """Turn sides -1/+1 into colours; only an affinity of zeros leaves them constant."""
    coloring = (sides > 0).view(np.int8)
    return random_coloring(len(sides), rng) if _is_constant(coloring) else coloring


def _one_pass(weights: Affinity, rng: np.random.Generator) -> Affinity:
    """Put each label opposite the heavier group of its predecessors, by a coin if they tie."""
    sides = rng.integers(0, 2, len(weights)) * 2.0 - 1.0
    pull = np.zeros(len(weights))
    for label in rng.permutation(len(weights)):
        if pull[label] != 0.0:
            sides[label] = -1.0 if pull[label] > 0.0 else 1.0
        pull += sides[label] * weights[label]
    return sides


def _climb(weights: Affinity, sides: Affinity) -> Affinity:
    """Flip the label of largest gain, in place, until no flip helps."""
    tolerance = _GAIN_TOLERANCE * weights.sum()
    gains = sides * (weights @ sides)
    best = gains.argmax()
    while gains[best] > tolerance:
        gains -= (2.0 * sides[best]) * (weights[best] * sides)
        gains[best] *= -1.0
        sides[best] *= -1.0
        best = gains.argmax()
    return sides


def _climb_with_swaps(weights: Affinity, sides: Affinity) -> Affinity:
    """Alternate flips with the best flip of two labels at once until neither helps."""
    tolerance = _GAIN_TOLERANCE * weights.sum()
    while True:
        sides = _climb(weights, sides)
        gains = sides * (weights @ sides)
        pair_gains = gains[:, None] + gains - 2.0 * weights * np.outer(sides, sides)
        # A label paired with itself would be flipped twice.
        np.fill_diagonal(pair_gains, -np.inf)
        pair = np.unravel_index(pair_gains.argmax(), pair_gains.shape)
        if pair_gains[pair] <= tolerance:
            return sides
        sides[list(pair)] *= -1.0


def _cuts(weights: Affinity, sides: Affinity) -> Affinity:
    """Cut values of many -1/+1 rows, by sum_{l<l'} w (1 - s s') / 2."""
    agreement = np.einsum("ij,ij->i", sides @ weights, sides)
    return 0.25 * (weights.sum() - agreement)


def _best(weights: Affinity, sides: Affinity) -> Affinity:
    """The first row with the largest cut: at the start halves tie, however weights are added up."""
    return sides[round_to_40_bits(_cuts(weights, sides)).argmax()]


@lru_cache(maxsize=2)
def _all_sides(k: int) -> Affinity:
    """List all splits of k labels, one of each complementary pair, as read-only -1/+1 rows."""
    splits = np.arange(2 ** (k - 1))[:, None] >> np.arange(k)
    sides = (splits & 1) * 2.0 - 1.0
    sides.flags.writeable = False
    return sides


def _enumerate(weights: Affinity, rng: np.random.Generator) -> Affinity:
    """Find the best split among all; shuffled labels keep ties from favouring label order."""
    order = rng.permutation(len(weights))
    candidates = _all_sides(len(weights))
    sides = np.empty(len(weights))
    sides[order] = _best(weights[np.ix_(order, order)], candidates)
    return sides


def _relaxed_vectors(weights: Affinity, rng: np.random.Generator) -> Affinity:
    """Nearly minimise sum w <v_l, v_l'> over unit vectors, label by label."""
    k = len(weights)
    # Above rank sqrt(2k), the factorised problem has generically no spurious local optima.
    vectors = rng.standard_normal((k, ceil(sqrt(2.0 * k)) + 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for _ in range(_MAX_SWEEPS):
        decrease = 0.0
        for label in range(k):
            pull = weights[label] @ vectors
            length = sqrt(pull @ pull)
            if length > 0.0:
                decrease += length + pull @ vectors[label]
                vectors[label] = pull / -length
        if decrease <= _SWEEP_TOLERANCE * weights.sum():
            break
    return vectors


def _goemans_williamson(weights: Affinity, rng: np.random.Generator) -> Affinity:
    """Round the relaxation by random hyperplanes and polish the best few cuts."""
    vectors = _relaxed_vectors(weights, rng)
    planes = rng.standard_normal((vectors.shape[1], _N_PLANES))
    sides = np.where(vectors @ planes > 0.0, 1.0, -1.0).T
    starts = sides[np.argsort(_cuts(weights, sides))[-_N_STARTS:]]
    polished = np.array([_climb_with_swaps(weights, start) for start in starts])
    return _best(weights, polished)


@dataclass(frozen=True)
class ColoringRule:
    """How a booster gets the colouring of round t, by ``draw(t, k, affinity, rng)``.

    Rounds count from 0; the affinity may be None unless ``needs_affinity``.
    """

    needs_affinity: bool
    draw: Callable[[int, int, Affinity | None, np.random.Generator], Coloring]


def coloring_rule(coloring: Any, k: int) -> ColoringRule:
    """Turn the parameter ``coloring`` of a booster into a rule.

    Parameters
    ----------
    coloring : {"random", "balanced", "greedy", "maxcut"}, callable or array-like of shape (T, k)
        A callable ``f(affinity, rng)`` returns a colouring; an array holds one per round.
        Unusable ones raise ValueError: an array's rows here, the rest when drawn.
    k : int
        Number of labels.

    Examples
    --------
    >>> rule = coloring_rule([[0, 1, 1], [0, 0, 1]], k=3)
    >>> rule.needs_affinity, rule.draw(1, 3, None, np.random.default_rng(0)).tolist()
    (False, [0, 0, 1])
    """
    if isinstance(coloring, str) and coloring in _NAMED:
        return _NAMED[coloring]
    if callable(coloring):
        return ColoringRule(True, partial(_draw_cutting, coloring))
    if isinstance(coloring, str) or not np.iterable(coloring):
        names = ", ".join(map(repr, _NAMED))
        raise ValueError(f"coloring={coloring!r}; pass {names}, a callable or a (T, {k}) array")
    given = tuple(_checked(row, t, k) for t, row in enumerate(coloring))
    return ColoringRule(False, partial(_draw_given, given))


def _draw_blind(function: Callable, t: int, k: int, affinity: Any, rng: Any) -> Coloring:
    return function(k, rng)


def _draw_cutting(function: Callable, t: int, k: int, affinity: Any, rng: Any) -> Coloring:
    return _checked(function(affinity, rng), t, k)


def _draw_given(given: tuple[Coloring, ...], t: int, k: int, affinity: Any, rng: Any) -> Coloring:
    if t >= len(given):
        raise ValueError(f"coloring has {len(given)} rows, none for round {t}; pass one per round")
    return given[t]


_NAMED = {
    "random": ColoringRule(False, partial(_draw_blind, random_coloring)),
    "balanced": ColoringRule(False, partial(_draw_blind, balanced_coloring)),
    "greedy": ColoringRule(True, partial(_draw_cutting, greedy_coloring)),
    "maxcut": ColoringRule(True, partial(_draw_cutting, maxcut_coloring)),
}


def _checked(coloring: ArrayLike, t: int, k: int) -> Coloring:
    """Reject a colouring from outside that no round can use."""
    where = f"coloring of round {t} (counted from 0)"
    checked = as_binary(coloring, where)
    if checked.shape != (k,):
        raise ValueError(f"{where} has shape {checked.shape}; pass {k} colours, one per label")
    if k > 1 and _is_constant(checked):
        raise ValueError(f"{where} gives all labels one colour, so U = 0; use both 0 and 1")
    return checked


def as_binary(values: ArrayLike, name: str) -> NDArray[np.int8]:
    """Check that all values are 0/1, or all -1/+1, and return them as 0/1."""
    array = np.asarray(values)
    if np.isin(array, (0, 1)).all():
        return array.astype(np.int8)
    if np.isin(array, (-1, 1)).all():
        return (array > 0).astype(np.int8)
    raise ValueError(f"{name} holds {array.ravel()[:9]}; use only 0 and 1, or only -1 and +1")
