"""DMCBoost: the two phases, their line searches, and trees whose splits are chosen by them."""

from steadyboost.boosters.dmcboost.classifier import DMCBoostClassifier

__all__ = ["DMCBoostClassifier"]
