"""Training error of WeightBoost: the bound that its steps minimise.

References
----------
.. [1] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm using
   input-dependent regularizer. ICML.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.weightboost import WeightBoostClassifier
from steadyboost.bounds.margin import own_labels, require


class WeightBoostErrorBound(NamedTuple):
    """Training error after each round; ``cost`` bounds it, and ``product`` bounds the cost."""

    error: np.ndarray
    cost: np.ndarray
    product: np.ndarray


def weightboost_error_bound(
    model: WeightBoostClassifier, X: Any, y: Any, sample_weight: Any = None
) -> WeightBoostErrorBound:
    """Bound the training error of WeightBoost on two classes: eq. (6) of [1]_, round by round.

    ``cost`` is the mean of e^(-y H). Let e be the weighted error of a round, a its step over C_t,
    and G the mean of the factor q over rows weighted by e^(-y H). As q is from 0 to 1, e^(a q) is
    at most 1 + (e^a - 1) q, so that the round multiplies the cost by no more than
    1 - G (1 - (1 - e) e^-a - e e^a), which ``product`` multiplies up; for the paper's step and
    C_t = 1 that is 1 - G (1 - 2 sqrt(e (1 - e))). In the first round q is 1, and it is equal.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import Stump, WeightBoostClassifier, bounds
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = WeightBoostClassifier(Stump(), n_estimators=50).fit(X, y)
    >>> error, cost, product = bounds.weightboost_error_bound(model, X, y)
    >>> bool((error <= cost).all() and (cost <= product * (1 + 1e-9)).all())
    True
    """
    require(model, WeightBoostClassifier, "weightboost_error_bound")
    if model.n_classes_ != 2:
        raise ValueError(
            f"The model has {model.n_classes_} classes, but eq. (6) is about two; fit one model "
            "for each problem, class against class."
        )
    signs = 2.0 * own_labels(model, y) - 1
    weights = np.ones(len(signs)) if sample_weight is None else np.asarray(sample_weight, float)
    shares, factor = weights / weights.sum(), model.factor()
    scores, product = np.zeros((len(signs), 1)), 1.0
    errors, costs, products = [], [], []
    for stage, after in zip(model.stages_, model._staged_scores(X), strict=True):
        losses = shares * np.exp(-signs * scores[:, 0])
        gain = losses @ factor.values(scores) / losses.sum()
        step = stage.step / float(stage.extra["normalizer"])
        left = (1 - stage.error) * np.exp(-step) + stage.error * np.exp(step)
        product *= 1 - gain * (1 - left)
        scores = after.copy()
        margins = signs * scores[:, 0]
        errors.append(shares @ (margins <= 0))
        costs.append(shares @ np.exp(-margins))
        products.append(product)
    return WeightBoostErrorBound(*map(np.array, (errors, costs, products)))
