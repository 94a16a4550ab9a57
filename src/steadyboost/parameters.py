"""Constraints on parameters, as scikit-learn checks those of its own estimators.

The one private module of another package that is used, and the one place where it is: if it moves,
this file follows.
"""

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
)

__all__ = ["HasMethods", "Interval", "InvalidParameterError", "RealNotInt", "StrOptions"]
