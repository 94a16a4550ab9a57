"""Our boosters beside other libraries on a user's data, by cross-validation."""

from steadyboost.lab.comparison.result import Comparison, Standing
from steadyboost.lab.comparison.run import compare

__all__ = ["Comparison", "Standing", "compare"]
