"""Criteria of a split.

A side of a split is a vector of channel sums ``v`` with a mass ``m``. Each criterion gives a side
a score, and a split gains ``score(left) + score(right) - score(node)``:

========  ============================  ==========================================
GINI      sum v_c^2 / m                 decrease of the weighted Gini impurity
ENTROPY   sum v_c ln(v_c / m)           decrease of the weighted entropy (nats)
ERROR     max v_c                       decrease of the weighted error
EDGE      sum |v_c|, last channel m     signed edges: AdaBoost.M2 and .MH votes
MAX_EDGE  max v_c, last channel m       signed edges where a leaf names one label
NEWTON    v_0^2 / (v_1 + l2), m = v_1   gradient and Hessian sums
NORM      sqrt(sum v_c^2), last m       signed edges where a leaf names a vector
========  ============================  ==========================================

Many splits leave one label the best on both sides and so the same MAX_EDGE; a small share of the
EDGE score breaks such ties.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel

GINI, ENTROPY, ERROR, EDGE, MAX_EDGE, NEWTON, NORM = range(7)  # class criteria are below EDGE
FEW_CATEGORIES = 10  # whose gains count in full, as those of the cuts of a number do
TIE_SHARE = 1 / 1024  # a power of two: scaling by it does not round


class SplitParams(NamedTuple):
    """The criterion of splits, and the minimum mass and number of rows of both sides.

    Masses, ``l2`` and ``category_noise`` are in fixed point, as the sums are. Rows are counted in
    cells of their own, or, with a ``count_mask``, in these lowest bits of the mass: one addition
    serves both.
    """

    criterion: int
    min_mass: int
    min_count: int  # 0 where rows are not counted
    l2: float
    category_noise: float  # see signal_share; 0 where categories are taken as they are
    count_mask: int = 0


@kernel
def mass_of(sums, criterion):
    if criterion >= EDGE:
        return sums[len(sums) - 1]
    mass = np.int64(0)
    for c in range(len(sums)):
        mass += sums[c]
    return mass


@kernel
def _class_score(sums, mass, criterion):
    score = 0.0
    if criterion == GINI:
        for c in range(len(sums)):
            v = np.float64(sums[c])
            score += v * v
        return score / mass if mass > 0 else 0.0
    if criterion == ENTROPY:
        for c in range(len(sums)):
            if sums[c] > 0:
                score += sums[c] * np.log(sums[c] / np.float64(mass))
        return score
    for c in range(len(sums)):
        score = np.float64(sums[c]) if sums[c] > score else score
    return score


@kernel
def _channel_score(sums, criterion, l2):
    if criterion <= MAX_EDGE:
        top, edges = sums[0], np.int64(0)
        for c in range(len(sums) - 1):
            top = sums[c] if sums[c] > top else top
            edges += abs(sums[c])
        return np.float64(edges) if criterion == EDGE else top + TIE_SHARE * edges
    if criterion == NORM:
        score = 0.0
        for c in range(len(sums) - 1):
            score += np.float64(sums[c]) ** 2
        return np.sqrt(score)
    g = np.float64(sums[0])
    return g * g / (sums[1] + l2) if sums[1] + l2 > 0 else 0.0


@kernel
def score_of(sums, mass, split):
    """Score of one side; higher is purer."""
    if split.criterion < EDGE:
        return _class_score(sums, mass, split.criterion)
    return _channel_score(sums, split.criterion, split.l2)


@kernel
def signal_share(between, n, noise):
    """Share of the differences between n categories that is no chance, from 0 to 1.

    ``between`` is the sum over categories of mass times squared deviation, of which each one has
    ``noise`` by chance, with twice its square as variance. Put in the best order for the rows at
    hand, many categories gain by chance more than any number does; few gain as much.
    """
    free = n - FEW_CATEGORIES
    if noise == 0.0 or free <= 0:
        return 1.0
    if between <= 0.0:
        return 0.0
    return max(0.0, 1.0 - noise * (free + np.sqrt(2.0 * free)) / between)


@kernel
def gain_of(score, total, split):
    """Gain of a split over its node, -inf if too small to split.

    An impure node may split without gain (as in XOR); edges and Newton sums must gain.
    """
    # Differences below 1e-12 of a score are rounding.
    own = score_of(total, mass_of(total, split.criterion), split)
    least = 1e-12 * abs(own)
    if split.criterion < EDGE:
        least = -least - 1e-300  # also where the score of the node is 0
    return score - own if score - own > least else -np.inf
