"""Theory as a service: what the papers prove of a booster, computed for your model and data.

Functions of ``(model, X, y)`` want the rows that the model was trained on, and the weights that
they had. Results have one entry per round of the model. Where a theorem supposes the paper's step
and the model took another (a learning rate other than 1, a clipped error), the factor of that
round is the one that holds for the step that was taken, if it is larger.
"""

from steadyboost.bounds.bottom import SoftMargin, bottom_bound, soft_margin
from steadyboost.bounds.errors import (
    ProductBound,
    SmoothedBound,
    m2_bound,
    msmooth_bound,
    msmooth_margin_bound,
    oc_bound,
    training_error,
)
from steadyboost.bounds.growth import GrowthBound, weightboost_bound
from steadyboost.bounds.margin import margin_distribution, margins, normalized_scores

__all__ = [
    "GrowthBound",
    "ProductBound",
    "SmoothedBound",
    "SoftMargin",
    "bottom_bound",
    "m2_bound",
    "margin_distribution",
    "margins",
    "msmooth_bound",
    "msmooth_margin_bound",
    "normalized_scores",
    "oc_bound",
    "soft_margin",
    "training_error",
    "weightboost_bound",
]
