"""Margins of a fitted model.

References
----------
.. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
   Statistics 26, 1651-1686.
"""

from typing import Any

import numpy as np

from steadyboost.bounds.fitted import lead, own_labels, require
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.hooks import Hooks


def normalized_scores(model: Any, X: Any) -> np.ndarray:
    """Scores divided by the most by which two of a row could differ, (n, k)."""
    require(model, BoostingClassifier, "normalized_scores")
    if type(model).add is not Hooks.add:
        raise TypeError(f"{type(model).__name__} is no weighted vote: its scores have no range.")
    reach = sum(abs(stage.step) * _code_range(stage.code) for stage in model.stages_)
    return model._scores(X) / (reach or 1.0)


def margins(model: Any, X: Any, y: Any) -> np.ndarray:
    """How far each row's own label leads, from -1 (all votes against it) to 1 (all for it) [1]_.

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
    """Margins in rising order, or those in ``theta``, and the share of rows with no larger one.

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
    """The most by which one answer can set two labels apart, at a step of 1."""
    if code.ndim == 1:
        return float(np.abs(code).max())
    return float(np.ptp(code, axis=1).max()) or 1.0
