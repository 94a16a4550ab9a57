"""SteadyBoost: the classifier, its cross-fitted members and forests, and the noise model."""

from steadyboost.boosters.steadyboost.classifier import SteadyBoostClassifier

__all__ = ["SteadyBoostClassifier"]
