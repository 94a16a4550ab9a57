"""Theoretical bounds of the papers, evaluated for a fitted model and its training data.

Functions of ``(model, X, y)`` expect the training rows of the model and their sample weights.
Results have one entry per boosting round. Where a theorem assumes the step of the paper and the
model took another one (a learning rate other than 1, a clipped error), the factor of that round is
the one that holds for the step actually taken, if it is larger.
"""

from steadyboost.bounds.errors import (
    ProductBound,
    SmoothedBound,
    hamming_loss,
    m2_bound,
    margin_bound,
    mh_bound,
    msmooth_bound,
    msmooth_margin_bound,
    oc_bound,
    training_error,
)
from steadyboost.bounds.growth import GrowthBound, weightboost_bound
from steadyboost.bounds.margin import (
    SoftMargin,
    bottom_bound,
    margin_distribution,
    margins,
    normalized_scores,
    soft_margin,
)
from steadyboost.bounds.martingale import MartiBoostBound, martiboost_bound
from steadyboost.bounds.softmax import SoftmaxBound, softmax_bound
from steadyboost.bounds.weightboost_error import WeightBoostErrorBound, weightboost_error_bound

__all__ = [
    "GrowthBound",
    "MartiBoostBound",
    "ProductBound",
    "SmoothedBound",
    "SoftMargin",
    "SoftmaxBound",
    "WeightBoostErrorBound",
    "bottom_bound",
    "hamming_loss",
    "m2_bound",
    "margin_bound",
    "margin_distribution",
    "margins",
    "martiboost_bound",
    "mh_bound",
    "msmooth_bound",
    "msmooth_margin_bound",
    "normalized_scores",
    "oc_bound",
    "soft_margin",
    "softmax_bound",
    "training_error",
    "weightboost_bound",
    "weightboost_error_bound",
]
