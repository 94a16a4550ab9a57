"""What unweighted votes share: bagging and Arc-x4."""

import numpy as np

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.learners.base import Question


class VotingClassifier(BoostingClassifier):
    """Each hypothesis has one vote."""

    def step(self, question: Question, error: float) -> float:
        return 1.0

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Shares of the votes."""
        return scores / scores.sum(axis=1, keepdims=True)
