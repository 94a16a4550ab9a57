"""WeightBoost: the classifier, and the factors that depend on the input."""

from steadyboost.boosters.weightboost.classifier import WeightBoostClassifier

__all__ = ["WeightBoostClassifier"]
