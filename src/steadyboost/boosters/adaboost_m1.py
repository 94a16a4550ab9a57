"""AdaBoost.M1. Freund & Schapire (1997); papers/002 and papers/003."""

import numpy as np

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.scores import ROUNDING, log_odds, own_score
from steadyboost.ensemble.weighting import MultiplicativeWeighting
from steadyboost.learners.base import Question


class AdaBoostM1Classifier(BoostingClassifier):
    """AdaBoost for k classes with hypotheses that must be right more often than wrong.

    Differs from :class:`~steadyboost.SAMMEClassifier` in the step alone,
    ``ln((1 - error) / error)``, and stops at an error of one half, which weak learners such as
    stumps reach soon where there are many classes.

    Parameters
    ----------
    {shared_parameters}

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line
       learning and an application to boosting. Journal of Computer and System Sciences 55,
       119-139.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostM1Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostM1Classifier(n_estimators=10, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    weighting = MultiplicativeWeighting

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Right rounds multiply the weight by beta = error / (1 - error) = exp(-step)."""
        return -own_score(scores, y)

    def step(self, question: Question, error: float) -> float | None:
        return None if error >= 0.5 - ROUNDING else -log_odds(error)
