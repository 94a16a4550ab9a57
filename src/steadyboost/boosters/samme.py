"""SAMME. Zhu, Zou, Rosset & Hastie (2009); papers/004, Algorithm 4."""

from math import log

import numpy as np

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.scores import ROUNDING, log_odds, own_score
from steadyboost.ensemble.weighting import MultiplicativeWeighting
from steadyboost.learners.base import Question


class SAMMEClassifier(BoostingClassifier):
    """AdaBoost for k classes that asks of the weak learner to beat a guess among k.

    Each round trains on the weighted classes; rows that its hypothesis gets wrong gain weight by
    ``exp(step)``, where the step is ``ln((1 - error) / error) + ln(k - 1)``. The scores estimate
    log-probabilities up to a constant, so ``predict_proba`` is their softmax.

    Parameters
    ----------
    {shared_parameters}

    References
    ----------
    .. [1] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009). Multi-class AdaBoost.
       Statistics and Its Interface 2, 349-360.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> SAMMEClassifier(n_estimators=10, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    weighting = MultiplicativeWeighting

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Wrong rounds multiply the weight by exp(step): all steps, less those that were right."""
        return -own_score(scores, y)

    def step(self, question: Question, error: float) -> float | None:
        k = self.n_classes_
        if error >= 1 - 1 / k - ROUNDING:
            return None
        return log(k - 1) - log_odds(error)
