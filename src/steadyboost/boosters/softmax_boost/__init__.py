"""Soft-max boosting: the classifier, and the risk that it descends."""

from steadyboost.boosters.softmax_boost.classifier import SoftmaxBoostClassifier

__all__ = ["SoftmaxBoostClassifier"]
