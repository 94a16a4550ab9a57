"""Exact line searches along one weak hypothesis: the training error, and the bottom margins.

Scores have shape (n, k). A hypothesis votes for a label in each row, and a step is added to the
scores of these labels. Labels and votes are class indices; a vote of -1 abstains.
``scale`` is the sum of the absolute steps so far, the paper's c. A row is right only if its own
label has the largest score: ties are errors.

References
----------
.. [1] S. Zhai, T. Xia, S. Wang (2014). A multi-class boosting method with direct optimization.
   KDD, 273-282.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.error_line_search import choose_interval, error_curve
from steadyboost.boosters.dmcboost.margin_line_search import (
    MarginLines,
    MarginProblem,
    bottom_mean,
    find_step,
    lines_along,
)
from steadyboost.boosters.dmcboost.margin_state import as_integer_weights, scored_rows
from steadyboost.boosters.dmcboost.phases import LARGEST_SCALE
from steadyboost.ensemble.validation import LARGEST_WEIGHT, SMALLEST_WEIGHT
from steadyboost.parameters import SMALL


class ErrorSearch(NamedTuple):
    """A step of least training error, that error, and all open intervals with their errors."""

    step: float
    error: float
    intervals: np.ndarray
    errors: np.ndarray


class MarginSearch(NamedTuple):
    """A step, the mean bottom margin there, and the bracket in which the bisection ended."""

    step: float
    margin: float
    bracket: tuple[float, float]


def minimize_error(
    scores: Any, y: Any, votes: Any, sample_weight: Any = None, *, scale: float | None = None
) -> ErrorSearch:
    """Algorithm 1.1 of [1]_: the error on every interval of the step, and the best of them.

    Breakpoints closer than ``1e-9 * (1 + scale)`` are one, and 0 is a breakpoint. The step is the
    middle of an interval, or 1 beyond the end of a half-line. Ties of the error: a positive step,
    a bounded interval, the widest, the smallest step.

    Examples
    --------
    >>> found = minimize_error([[1, 0, 0], [0.5, 1, 0], [0, 0.2, 0.6]], [0, 0, 2], [1, 0, 1])
    >>> found.step
    0.75
    >>> (3 * found.errors).tolist()
    [1.0, 1.0, 2.0, 1.0, 2.0]
    """
    scores, y, votes, weights = _checked(scores, y, votes, sample_weight)
    scale = float(np.abs(scores).max()) if scale is None else _checked_scale(scale, least=0.0)
    # As integers, errors of intervals are exact, and so are ties between them.
    whole = as_integer_weights(weights, len(y))
    low, high, right = error_curve(scored_rows(scores, y), votes, whole, scale)
    best, _, step = choose_interval(right, low, high, False)
    ends = np.concatenate([[-np.inf], high]), np.concatenate([low, [np.inf]])
    total = int(whole.sum())
    errors = (total - right) / total
    return ErrorSearch(float(step), float(errors[best]), np.stack(ends, axis=1), errors)


def bottom_margin(
    scores: Any,
    y: Any,
    votes: Any,
    step: float,
    *,
    bottom: float,
    scale: float,
    sample_weight: Any = None,
) -> tuple[float, float]:
    """Objective (5) of [1]_ at a step, and its derivative (9) away from 0.

    ``bottom`` is the paper's n', the weight of the rows at the bottom. Where margins tie the
    derivative is the one-sided one, away from 0.

    Examples
    --------
    >>> scores, y, votes = [[3, 1, 0], [0, 2, 2], [1, 0, 3]], [0, 1, 0], [1, 1, 2]
    >>> g, slope = bottom_margin(scores, y, votes, 1.0, bottom=3, scale=4.0)
    >>> round(15 * g, 12), round(75 * slope, 12)
    (-1.0, -4.0)
    """
    scores, y, votes, weights = _checked(scores, y, votes, sample_weight)
    if not abs(step) <= LARGEST_SCALE:
        raise ValueError(f"step={step!r} must be a number up to {LARGEST_SCALE:g} in size.")
    scale, sign = _checked_scale(scale), -1.0 if step < 0 else 1.0
    lines, weights, mass = _lines(scores, y, votes, sign, weights, bottom)
    mean, slope, _ = bottom_mean(lines, weights, mass, scale, abs(float(step)))
    return float(mean), float(sign * slope)


def maximize_margin(
    scores: Any,
    y: Any,
    votes: Any,
    *,
    bottom: float,
    scale: float,
    sample_weight: Any = None,
    negative: bool = False,
    tol: float = 1e-5,
) -> MarginSearch:
    """Algorithm 2.1 of [1]_: the step from 0 to ``scale`` with the largest mean bottom margin.

    The mean is quasi-concave on either half-line, but not across 0; ``negative=True`` searches
    from 0 to ``-scale``. The step is that end of the last bracket, of width below ``tol``, at
    which the mean still rises, and 0 where it never does.

    Examples
    --------
    >>> scores, y, votes = [[3, 1, 0], [0, 2, 2], [1, 0, 3]], [0, 1, 0], [1, 1, 0]
    >>> found = maximize_margin(scores, y, votes, bottom=1, scale=4.0)
    >>> [round(end, 3) for end in found.bracket]
    [2.0, 2.0]
    """
    scores, y, votes, weights = _checked(scores, y, votes, sample_weight)
    scale = _checked_scale(scale)
    if not tol > 0:
        raise ValueError(f"tol={tol!r} must be a positive number.")
    sign = -1.0 if negative else 1.0
    lines, weights, mass = _lines(scores, y, votes, sign, weights, bottom)
    begin, end, mean, _ = find_step(lines.at, weights, MarginProblem(mass, scale, scale, tol))
    return MarginSearch(sign * begin, float(mean), (sign * begin, sign * end))


def _lines(
    scores: np.ndarray,
    y: np.ndarray,
    votes: np.ndarray,
    sign: float,
    weights: np.ndarray | None,
    bottom: float,
) -> tuple[MarginLines, np.ndarray, float]:
    """Margins as functions of the step, with the weights of the rows and of the bottom."""
    lines = lines_along(scored_rows(scores, y), votes, sign)
    weights = np.ones(len(y)) if weights is None else weights
    if not 0 < bottom <= weights.sum():
        raise ValueError(
            f"bottom={bottom!r} must be above 0 and at most the weight of all rows, "
            f"{weights.sum():g}."
        )
    return lines, weights, float(bottom)


def _checked(
    scores: Any, y: Any, votes: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 2 or scores.shape[0] < 1 or scores.shape[1] < 2:
        raise ValueError(f"scores has shape {scores.shape}; pass (n, k), with 2 classes or more.")
    if not np.isfinite(scores).all():
        raise ValueError("scores has infinite or missing values; pass finite ones.")
    if np.abs(scores).max() > LARGEST_SCALE:
        raise ValueError(f"scores has values beyond {LARGEST_SCALE:g}; divide all by one number.")
    y, votes = (np.asarray(labels) for labels in (y, votes))
    for name, labels, least in (("y", y, 0), ("votes", votes, -1)):
        shape_fits = labels.shape == (len(scores),) and labels.dtype.kind in "iu"
        if not shape_fits or labels.min() < least or labels.max() >= scores.shape[1]:
            raise ValueError(
                f"{name} must have a class index from {least} to {scores.shape[1] - 1} for each "
                f"of the {len(scores)} rows."
            )
    return scores, y, votes, _checked_weights(sample_weight, len(scores))


def _checked_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise ValueError(f"sample_weight must have a positive weight for each of the {n} rows.")
    if not SMALLEST_WEIGHT <= weights.min() <= weights.max() <= LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must be from {SMALLEST_WEIGHT:.0e} to {LARGEST_WEIGHT:.0e}; multiply "
            "all weights, and bottom, by one number."
        )
    return weights


def _checked_scale(scale: float, least: float = SMALL) -> float:
    if not least <= scale <= LARGEST_SCALE:
        raise ValueError(
            f"scale={scale!r} must be the sum of the absolute steps so far, from {least:g} to "
            f"{LARGEST_SCALE:g}."
        )
    return float(scale)
