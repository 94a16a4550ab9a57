"""MartiBoost: the classifier, and the branching program that it trains."""

from steadyboost.boosters.martiboost.classifier import MartiBoostClassifier

__all__ = ["MartiBoostClassifier"]
