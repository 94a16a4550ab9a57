"""Martingale boosting: rows drift to their side, layer by layer.

References
----------
.. [1] P. M. Long, R. A. Servedio (2005). Martingale boosting. COLT, 79-94.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.martiboost import MartiBoostClassifier
from steadyboost.bounds.margin import own_labels, require

RARE = 1e-9  # share of a class at a node, below which its drift there is rounding


class MartiBoostBound(NamedTuple):
    """Balanced training errors after each layer, of a random path and of the majority of paths.

    ``bound`` is of the first, and twice that of the second.
    """

    random_error: np.ndarray
    majority_error: np.ndarray
    bound: np.ndarray


def martiboost_bound(
    model: MartiBoostClassifier, X: Any, y: Any, sample_weight: Any = None
) -> MartiBoostBound:
    """Bound the training error of MartiBoost on two classes: Theorem 1 of [1]_, for its advantages.

    Errors are means of the classes' own, as the nodes balance the classes. Let a_l be the least
    advantage of a layer: how far the probability of a step to its own side exceeds 1/2, at any node
    that a class reaches. The lead of a random path is then a sum of steps that is no smaller than
    one with these drifts, and Hoeffding's inequality gives exp(-2 (sum a_l)^2 / T) after T layers,
    exp(-2 a^2 T) where all are a; it is 1 where the sum is not positive. The majority of the paths
    of a row is wrong only if half of them are, so its error is at most twice as large.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import MartiBoostClassifier, bounds
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MartiBoostClassifier(n_layers=20).fit(X, y)
    >>> found = bounds.martiboost_bound(model, X, y)
    >>> bool((found.random_error <= found.bound).all())
    True
    >>> bool((found.majority_error <= 2 * found.bound).all())
    True
    """
    require(model, MartiBoostClassifier, "martiboost_bound")
    if model.n_classes_ != 2:
        raise ValueError(
            f"The model has {model.n_classes_} classes, but the theorem is about two; fit one "
            "model for each problem, class against class."
        )
    own = own_labels(model, y)
    weights = np.ones(len(own)) if sample_weight is None else np.asarray(sample_weight, float)
    shares = np.stack([np.where(own == c, weights, 0.0) for c in (0, 1)])
    shares /= shares.sum(axis=1, keepdims=True)
    at_nodes, drift, rare = np.ones((2, 1)), 0.0, 0.0
    random_errors, majority_errors, bound = [], [], []
    for layer, scores in enumerate(model._staged_scores(X), start=1):
        mass = scores[:, 1 : layer + 2]  # after the score: at the nodes of this layer
        after = shares @ mass
        advantage, missed = _advantage(at_nodes, after)
        drift, rare, at_nodes = drift + advantage, rare + missed, after
        goes_right = 2 * np.arange(layer + 1) >= layer
        right = mass[:, goes_right].sum(axis=1)
        random_errors.append((shares[0] @ right + shares[1] @ (1 - right)) / 2)
        wrong = (scores[:, 0] > 0) != (own == 1)
        majority_errors.append((shares @ wrong).mean())
        bound.append(min(1.0, np.exp(-2 * max(drift, 0.0) ** 2 / layer) + rare))
    return MartiBoostBound(*map(np.array, (random_errors, majority_errors, bound)))


def _advantage(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The least advantage of a layer, from the classes' mass at the nodes before and after it.

    And the mass at nodes that are reached too rarely to tell.
    """
    least, missed = 0.5, 0.0
    for c in (0, 1):
        moved = 0.0  # from the node on the left
        for node, mass in enumerate(before[c]):
            stays = after[c, node] - moved
            moved = mass - stays
            if mass <= RARE:
                missed += mass
            else:
                least = min(least, (moved if c else stays) / mass - 0.5)
    return least, missed
