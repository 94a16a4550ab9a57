"""Growth of the scores of WeightBoost: bounds that hold for any data.

References
----------
.. [1] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm using
   input-dependent regularizer. ICML. Appendix A.
"""

from typing import Any, NamedTuple

import numpy as np

_REGULARIZERS = ("exponential", "inverse_polynomial")


class GrowthBound(NamedTuple):
    """The largest score that any row can have after each round, and a weaker bound on it."""

    worst_case: np.ndarray
    closed_form: np.ndarray


def weightboost_bound(
    steps: Any,
    beta: float,
    regularizer: str = "exponential",
    *,
    power: float = 1.0,
    normalizers: Any = None,
) -> GrowthBound:
    """Bound the absolute values of the scores of WeightBoost: appendix A of [1]_, extended.

    With S_t(x) for the absolute value of H_t(x), a round adds at most a_t q(beta S_{t-1}(x)) to it,
    where a_t = alpha_t / C_t. Let a be the largest a_t so far, b = beta a, and T the number of
    rounds; S_1 is a_1.

    ``closed_form`` is, for q(u) = e^-u, the paper's ln(e^(beta S_1) + b e^b (T - 1)) / beta. It
    holds, though a step of the printed proof is wrong for beta < 1; but under a normalizer C_t not
    with the largest alpha_t in place of a. For q(u) = (1 + u)^-p it is (v - 1) / beta, where
    v^(p + 1) is (1 + beta S_1)^(p + 1) + (p + 1) b (1 + b)^p (T - 1). So scores grow like the
    logarithm, or the root of order p + 1, of the number of rounds.

    ``worst_case`` goes from round to round with each one's own a_t: the largest score is then that
    of the round before, raised, or a_t itself.

    Parameters
    ----------
    steps : array-like of shape (n_rounds,)
        alpha_t of each round, including a learning rate.
    beta : float
        Strength of the regularizer, at least 0.
    regularizer : {"exponential", "inverse_polynomial"}, default="exponential"
        q: e^-u or (1 + u)^-p.
    power : float, default=1.0
        p, for the second.
    normalizers : array-like of shape (n_rounds,), optional
        C_t of each round; none are needed for plain eq. (4), where they are 1.

    Returns
    -------
    GrowthBound
        Arrays with one entry per round.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyboost import bounds
    >>> found = bounds.weightboost_bound(np.full(1000, 0.5), beta=0.5)
    >>> found.worst_case[[0, 9, 99, 999]].round(1)
    array([ 0.5,  2.6,  6.5, 11.1])
    """
    _check(beta, regularizer, power)
    rises = np.abs(_effective_steps(steps, normalizers))
    exponent = None if regularizer == "exponential" else float(power)
    return GrowthBound(_worst_case(rises, beta, exponent), _closed_form(rises, beta, exponent))


def _check(beta: float, regularizer: str, power: float) -> None:
    if not 0 <= beta < np.inf:
        raise ValueError(f"beta={beta!r} must be a finite number that is not negative.")
    if regularizer not in _REGULARIZERS:
        choices = " or ".join(map(repr, _REGULARIZERS))
        raise ValueError(f"regularizer={regularizer!r} has no known bound; choose {choices}.")
    if not 0 < power < np.inf:
        raise ValueError(f"power={power!r} must be a finite number above 0.")


def _effective_steps(steps: Any, normalizers: Any) -> np.ndarray:
    steps = np.asarray(steps, dtype=float)
    if steps.ndim != 1 or not np.isfinite(steps).all():
        raise ValueError(f"steps of shape {steps.shape} must be one finite number per round.")
    if normalizers is None:
        return steps
    normalizers = np.asarray(normalizers, dtype=float)
    if normalizers.shape != steps.shape or not (normalizers > 0).all():
        raise ValueError(
            f"normalizers of shape {normalizers.shape} must be one number above 0 for each of the "
            f"{len(steps)} steps."
        )
    return steps / normalizers


def _worst_case(rises: np.ndarray, beta: float, power: float | None) -> np.ndarray:
    """m + a q(beta m) is convex in m, so that its maximum on [0, m] is at an end."""
    largest, found = 0.0, []
    for rise in rises.tolist():
        u = beta * largest
        factor = np.exp(-u) if power is None else (1 + u) ** -power
        largest = max(rise, largest + rise * factor)
        found.append(largest)
    return np.array(found)


def _closed_form(rises: np.ndarray, beta: float, power: float | None) -> np.ndarray:
    """e^(beta |H|), or (1 + beta |H|)^(p + 1), rises by no more than a constant per round."""
    first, largest, later = rises[:1], np.maximum.accumulate(rises), np.arange(len(rises))
    if beta == 0:
        return first + later * largest
    b = beta * largest
    with np.errstate(divide="ignore"):
        log_b = np.log(b)
    if power is None:
        return _log_sum(beta * first, b + log_b, later) / beta
    order = power + 1
    constant = np.log(order) + log_b + power * np.log1p(b)
    return np.expm1(_log_sum(order * np.log1p(beta * first), constant, later) / order) / beta


def _log_sum(first: np.ndarray, constant: np.ndarray, times: np.ndarray) -> np.ndarray:
    """ln(e^first + times e^constant), without overflow, and exact where it is near 0."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        near_zero = np.log1p(np.expm1(first) + times * np.exp(constant))
        large = np.logaddexp(first, np.log(times) + constant)
    return np.where(np.maximum(first, constant) < 1, near_zero, large)
