"""Word counts made ready for boosting, as Jin et al. (2003) did: chi2-max selection, *ltc* weights.

Both transformers keep sparse counts sparse, and have their place between scikit-learn's
``CountVectorizer`` and a classifier.
"""

from steadyboost.text.selection import ChiSquaredMax
from steadyboost.text.weighting import LtcTransformer

__all__ = ["ChiSquaredMax", "LtcTransformer"]
