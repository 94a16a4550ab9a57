"""Label noise: ways to make it."""

from steadyboost.noise.corruption import corrupt

__all__ = ["corrupt"]
