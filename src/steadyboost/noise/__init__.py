"""Label noise: ways to make it, and to find it."""

from steadyboost.noise.auditing import LabelAudit, audit
from steadyboost.noise.corruption import corrupt

__all__ = ["LabelAudit", "audit", "corrupt"]
