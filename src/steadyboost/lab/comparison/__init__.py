"""Our boosters beside other libraries on a user's data, by cross-validation."""

from steadyboost.comparison.result import Comparison, Standing
from steadyboost.comparison.run import compare

__all__ = ["Comparison", "Standing", "compare"]
