"""What all bounds ask of a fitted model and its rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.estimator import BoostingClassifier


def require(model: Any, kind: type, name: str) -> None:
    if not isinstance(model, kind):
        raise TypeError(f"{name} needs a fitted {kind.__name__}; got {type(model).__name__}.")
    check_is_fitted(model, "stages_")


def own_labels(model: Any, y: Any) -> np.ndarray:
    """Class indices of the rows; there must be wrong labels to lead over."""
    require(model, BoostingClassifier, "training_error")
    if model.n_classes_ < 2:
        raise ValueError("The model knows one class only, so there is no wrong label to bound.")
    return model._class_indices(np.asarray(y), "y")


def lead(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Each row's own score less the best of the others."""
    is_own = np.arange(scores.shape[1]) == own[:, None]
    return scores[is_own] - np.where(is_own, -np.inf, scores).max(axis=1)
