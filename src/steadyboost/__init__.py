"""SteadyBoost: boosting that stays steady when labels are wrong.

Public names load on first use, so that ``import steadyboost`` stays quick.
"""

__version__ = "0.1.0"
