"""What is proved of the margins at the bottom.

References
----------
.. [1] S. Zhai, T. Xia, S. Wang (2014). A multi-class boosting method with direct optimization.
   KDD, 273-282.
.. [2] L. Wang, M. Sugiyama, Z. Jing, C. Yang, Z.-H. Zhou, J. Feng (2011). A refined margin analysis
   for boosting algorithms via equilibrium margin. Journal of Machine Learning Research 12,
   1835-1863.
"""

from math import ceil, log
from typing import Any, NamedTuple

import numpy as np


class SoftMargin(NamedTuple):
    """The value of the soft-margin problem (6) of [1]_, the margin that it asks for, and slacks."""

    value: float
    rho: float
    slacks: np.ndarray


def soft_margin(margins: Any, bottom: float, sample_weight: Any = None) -> SoftMargin:
    """Theorem 1 of [1]_: max rho - sum of slacks / n' is the mean of the n' smallest margins.

    ``bottom`` is n', as the weight of the rows at the bottom.

    Examples
    --------
    >>> soft_margin([0.5, -0.25, 0.25, 1.0], 2).value
    0.0
    """
    margins, weights = _margins(margins, sample_weight)
    if not 0 < bottom <= weights.sum():
        raise ValueError(
            f"bottom={bottom!r} must be above 0 and at most the weight of all rows, "
            f"{weights.sum():g}."
        )
    order = np.argsort(margins, kind="stable")
    below = np.cumsum(weights[order])
    rho = float(margins[order[np.searchsorted(below, bottom * (1 - 1e-12))]])
    slacks = np.maximum(rho - margins, 0)
    return SoftMargin(rho - float(weights @ slacks) / bottom, rho, slacks)


def bottom_bound(
    margins: Any, bottom: int, n_hypotheses: float, n_classes: int, *, delta: float = 0.05
) -> float:
    """Bound on the error on new rows, from the ``bottom``-th smallest training margin.

    It has the form of Theorem 2 of [1]_, whose printed constants cannot all be read, and follows
    the same argument [2]_: an average of N hypotheses drawn from the ensemble has margins close to
    its own, there are only ``n_hypotheses ** N`` averages, and for each of them the Chernoff bound
    holds. With theta the margin, n rows, H hypotheses and N = ceil(8 / theta^2 log(2 n^2 / log H)),
    the error is with probability 1 - delta, for all ensembles and all ``bottom``, at most

        (K - 1) log H / 2n + log H / 2n^2 + D^-1((bottom - 1) / n, u),
        u = (N log H + log(n (2N + 1) N (N + 1) / delta)) / n,

    where D^-1(q, u) is the largest p whose Kullback-Leibler divergence from q is at most u. Steps
    must not be negative; else count each hypothesis and its opposite. It is 1 where theta is not
    positive.

    Examples
    --------
    >>> margins = np.linspace(0.2, 0.8, 100_000)
    >>> round(bottom_bound(margins, 5000, n_hypotheses=50, n_classes=3), 3)
    0.239
    """
    ordered = np.sort(_margins(margins, None)[0])
    n = len(ordered)
    for name, value, least in (("n_hypotheses", n_hypotheses, 2), ("n_classes", n_classes, 2)):
        if not value >= least:
            raise ValueError(f"{name}={value!r} must be at least {least}.")
    if not 1 <= bottom <= n or bottom != int(bottom):
        raise ValueError(f"bottom={bottom!r} must be a number of rows, from 1 to {n}.")
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must be a probability between 0 and 1.")
    theta, log_count = float(ordered[int(bottom) - 1]), log(n_hypotheses)
    if theta <= 0 or log_count >= 2 * n * n:
        return 1.0
    drawn = max(1, ceil(8 / theta**2 * log(2 * n * n / log_count)))
    choices = log(n) + log(2 * drawn + 1) + log(drawn) + log(drawn + 1) - log(delta)
    farthest = inverse_divergence((bottom - 1) / n, (drawn * log_count + choices) / n)
    drift = (n_classes - 1) * log_count / (2 * n) + log_count / (2 * n * n)
    return min(1.0, drift + farthest)


def divergence(q: float, p: float) -> float:
    """Kullback-Leibler divergence of a coin of probability q from one of probability p."""

    def part(a: float, b: float) -> float:
        return 0.0 if a == 0 else (np.inf if b == 0 else a * log(a / b))

    return part(q, p) + part(1 - q, 1 - p)


def inverse_divergence(q: float, u: float) -> float:
    """The largest p of at least q with ``divergence(q, p) <= u``."""
    low, high = q, 1.0
    for _ in range(100):
        p = (low + high) / 2
        low, high = (p, high) if divergence(q, p) <= u else (low, p)
    return high


def _margins(margins: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    margins = np.asarray(margins, dtype=float)
    if margins.ndim != 1 or not len(margins) or not (np.abs(margins) <= 1 + 1e-9).all():
        raise ValueError("margins must be a list of numbers from -1 to 1, one per row.")
    weights = np.ones(len(margins)) if sample_weight is None else np.asarray(sample_weight, float)
    if weights.shape != margins.shape or not (weights > 0).all():
        raise ValueError(
            f"sample_weight must have a positive weight for each of {len(margins)} rows."
        )
    return margins, weights
