"""Margins of a fitted model, and bounds on the error of new rows that follow from them.

References
----------
.. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
   Statistics 26, 1651-1686.
.. [2] S. Zhai, T. Xia, S. Wang (2014). A multi-class boosting method with direct optimization.
   KDD, 273-282.
.. [3] L. Wang, M. Sugiyama, Z. Jing, C. Yang, Z.-H. Zhou, J. Feng (2011). A refined margin analysis
   for boosting algorithms via equilibrium margin. Journal of Machine Learning Research 12,
   1835-1863.
"""

from math import ceil, log
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.estimator import BoostingClassifier


def require(model: Any, kind: type, name: str) -> None:
    """Raise ``TypeError`` unless the model is a fitted one of the kind that a bound is for."""
    if not isinstance(model, kind):
        raise TypeError(f"{name} needs a fitted {kind.__name__}; got {type(model).__name__}.")
    check_is_fitted(model, "stages_")


def own_labels(model: Any, y: Any) -> np.ndarray:
    """Class indices of the rows of a model of at least two classes."""
    require(model, BoostingClassifier, "training_error")
    if model.n_classes_ < 2:
        raise ValueError("The model knows one class only, so there is no wrong label to bound.")
    return model._class_indices(np.asarray(y), "y")


def lead(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Score of each row's own label minus the largest score of any other label."""
    is_own = np.arange(scores.shape[1]) == own[:, None]
    return scores[is_own] - np.where(is_own, -np.inf, scores).max(axis=1)


def normalized_scores(model: Any, X: Any) -> np.ndarray:
    """Scores divided by the largest difference that two scores of a row could have, (n, k)."""
    require(model, BoostingClassifier, "normalized_scores")
    if not model.adds_votes:
        raise TypeError(
            f"{type(model).__name__} has no vote margins: its scores are not a weighted vote."
        )
    reach = sum(abs(stage.step) * _code_range(stage.code) for stage in model.stages_)
    return model._scores(X) / (reach or 1.0)


def margins(model: Any, X: Any, y: Any) -> np.ndarray:
    """Normalized margins of the rows, from -1 (all votes against the label) to 1 (all for it) [1]_.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=50, random_state=0).fit(X, y)
    >>> bool((bounds.margins(model, X, y) > 0).all()), model.score(X, y)
    (True, 1.0)
    """
    return lead(normalized_scores(model, X), own_labels(model, y))


def margin_distribution(
    model: Any, X: Any, y: Any, theta: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Empirical distribution function of the margins, at all margins or at those in ``theta``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=50, random_state=0).fit(X, y)
    >>> bounds.margin_distribution(model, X, y, theta=[0, 1])[1]
    array([0., 1.])
    """
    ordered = np.sort(margins(model, X, y))
    theta = ordered if theta is None else np.asarray(theta, dtype=float)
    return theta, np.searchsorted(ordered, theta, side="right") / len(ordered)


def _code_range(code: np.ndarray) -> float:
    """The largest difference between the scores of two labels after one vote with a step of 1."""
    if code.ndim == 1:
        return float(np.abs(code).max())
    return float(np.ptp(code, axis=1).max()) or 1.0


class SoftMargin(NamedTuple):
    """Value of the soft-margin problem (6) of [2]_, its margin ``rho`` and its slack variables."""

    value: float
    rho: float
    slacks: np.ndarray


def soft_margin(margins: Any, bottom: float, sample_weight: Any = None) -> SoftMargin:
    """Solve the soft-margin problem: by Theorem 1 of [2]_ the mean of the n' smallest margins.

    ``bottom`` is n', as the total weight of the rows of the smallest margins.

    Examples
    --------
    >>> soft_margin([0.5, -0.25, 0.25, 1.0], 2).value
    0.0
    """
    margins, weights = _check_margins(margins, sample_weight)
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

    It has the form of Theorem 2 of [2]_, whose printed constants cannot all be read, and follows
    the same argument [3]_: an average of N hypotheses drawn from the ensemble has margins close to
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
    ordered = np.sort(_check_margins(margins, None)[0])
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
    """Kullback-Leibler divergence of a Bernoulli variable of mean q from one of mean p."""

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


def _check_margins(margins: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    margins = np.asarray(margins, dtype=float)
    if margins.ndim != 1 or not len(margins) or not (np.abs(margins) <= 1 + 1e-9).all():
        raise ValueError("margins must be a list of numbers from -1 to 1, one per row.")
    weights = np.ones(len(margins)) if sample_weight is None else np.asarray(sample_weight, float)
    if weights.shape != margins.shape or not (weights > 0).all():
        raise ValueError(
            f"sample_weight must have a positive weight for each of {len(margins)} rows."
        )
    return margins, weights
