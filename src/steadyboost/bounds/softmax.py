"""Soft-max boosting: how fast its risk falls, and its gradient vanishes.

References
----------
.. [1] M. Geist (2015). Soft-max boosting. Machine Learning 100, 305-332.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.softmax_boost import SoftmaxBoostClassifier
from steadyboost.bounds.margin import own_labels, require
from steadyboost.ensemble.costs import over_stakes, stakes_of
from steadyboost.ensemble.scores import softmax

SMOOTHNESS = 0.5  # of the risk, by the corrected Lemma 1; the printed one has 1


class SoftmaxBound(NamedTuple):
    """The risk after each round and a bound on it; the least gradient so far and a bound on it."""

    risk: np.ndarray
    risk_bound: np.ndarray
    gradient: np.ndarray
    gradient_bound: np.ndarray


def softmax_bound(
    model: SoftmaxBoostClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    printed: bool = False,
) -> SoftmaxBound:
    """The risk of soft-max boosting on its training rows: Theorem 1 of [1]_, corrected.

    The risk is L-smooth, with L = 1/2. A round that adds -a h to the scores therefore leaves at
    most ``risk_bound``, the risk before it less a <G, h> - L a^2 |h|^2 / 2, where G is its
    gradient; this holds for each step. Let v be the least edge <G, h> / (|G| |h|) so far. Where
    steps are a = r <G, h> / |h|^2 (``step="theory"``, and r the learning rate), the smallest |G|
    before round t is at most ``gradient_bound``, sqrt(R_0 / (r (1 - r L / 2) v^2 t)); it is NaN for
    other steps, and where v or the other factor is not positive.

    Parameters
    ----------
    model, X, y, sample_weight
        A fitted model of rows with one label each, and its training rows. Its ``cost_matrix_``
        counts as in training: over the stakes, from 0 to 1.
    printed : bool, default=False
        Take L = 1, as the paper prints it. It holds, and is twice as wide.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SoftmaxBoostClassifier, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxBoostClassifier(step="theory", n_samples="all", n_estimators=20).fit(X, y)
    >>> found = bounds.softmax_bound(model, X, y)
    >>> bool((found.risk <= found.risk_bound).all())
    True
    >>> bool((found.gradient <= found.gradient_bound).all())
    True
    """
    require(model, SoftmaxBoostClassifier, "softmax_bound")
    costs, shares = _costs_and_shares(model, own_labels(model, y), sample_weight)
    smoothness = 1.0 if printed else SMOOTHNESS
    before = np.zeros((len(costs), model.n_classes_))
    risks, least, norms, edges = [_risk(before, costs, shares)], [], [], []
    for scores in model._staged_scores(X):
        gradient, move = _gradient(before, costs), scores - before
        slope, size = _inner(gradient, move, shares), _inner(move, move, shares)
        least.append(risks[-1] + slope + smoothness / 2 * size)
        norms.append(np.sqrt(_inner(gradient, gradient, shares)))
        edges.append(-slope / max(norms[-1] * np.sqrt(size), np.finfo(float).tiny))
        before = scores.copy()
        risks.append(_risk(before, costs, shares))
    rate = model.learning_rate if model.step == "theory" else np.nan
    factor = rate * (1 - rate * smoothness / 2) * np.minimum.accumulate(edges) ** 2
    rounds = np.arange(1, len(edges) + 1)
    holds = (factor > 0) & (np.minimum.accumulate(edges) > 0)
    bound = np.sqrt(risks[0] / np.where(holds, factor * rounds, np.nan))
    return SoftmaxBound(np.array(risks[1:]), np.array(least), np.minimum.accumulate(norms), bound)


def _costs_and_shares(
    model: SoftmaxBoostClassifier, own: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Costs of each answer in each row, from 0 to 1, and the rows' shares, as in training."""
    weights = np.ones(len(own)) if sample_weight is None else np.asarray(sample_weight, float)
    table = 1 - np.eye(model.n_classes_) if model.cost_matrix_ is None else model.cost_matrix_
    if model.row_sampling == "stake":
        table, weights = over_stakes(table), weights * stakes_of(table)[own]
    return table[own], weights / weights.sum()


def _risk(scores: np.ndarray, costs: np.ndarray, shares: np.ndarray) -> float:
    """The mean cost of the rule."""
    return float(shares @ (softmax(scores) * costs).sum(axis=1))


def _gradient(scores: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Proposition 2 of [1]_."""
    rule = softmax(scores)
    return rule * (costs - (rule * costs).sum(axis=1, keepdims=True))


def _inner(a: np.ndarray, b: np.ndarray, shares: np.ndarray) -> float:
    return float(shares @ (a * b).sum(axis=1))
