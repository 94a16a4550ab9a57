"""What unweighted votes share: bagging and Arc-x4."""

import numpy as np

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.model_io.fields import Check, Numbers
from steadyboost.learners.base import Question
from steadyboost.parameters import LARGE, SMALL


class VotingClassifier(BoostingClassifier):
    """Each hypothesis has one vote."""

    def step(self, question: Question, error: float) -> float:
        return 1.0

    def stage_fields(self) -> dict[str, Check]:
        """Votes: shares of anything else might be negative, or of nothing."""
        positive = Numbers(..., SMALL, LARGE, "f")
        return {**super().stage_fields(), "step": positive, "code": Numbers(..., 1, 1, "biuf")}

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Shares of the votes."""
        return scores / scores.sum(axis=1, keepdims=True)
