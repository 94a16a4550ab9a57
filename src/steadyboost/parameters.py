"""Constraints on parameters, as scikit-learn checks those of its own estimators.

The one private module of another package that is used, and the one place where it is: if it moves,
this file follows.
"""

from numbers import Real

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
)

__all__ = [
    "LARGE",
    "SMALL",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "RealNotInt",
    "StrOptions",
    "factor",
    "non_negative",
]

# Beyond these, products of parameters, steps and scores would not be finite, or be zero.
SMALL, LARGE = 1e-12, 1e12


def factor(kind: type = Real) -> Interval:
    """A positive number of ordinary size."""
    return Interval(kind, SMALL, LARGE, closed="both")


def non_negative() -> Interval:
    """A number from 0 on of ordinary size."""
    return Interval(Real, 0, LARGE, closed="both")
