"""Ridge regression of the classes' indicators, whose scores become probabilities by a temperature.

The squared loss has a solution in closed form, for all classes and all penalties at once, and a
wrong label pulls at it no more than linearly.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from steadyboost.boosters.steadyboost.softmax_regression import CrossFit, Regression
from steadyboost.noise.noise_model import some_rows

PENALTIES = 10.0 ** np.arange(-3, 3)  # over the mean variance of the columns
LOG_TEMPERATURES = (-3.0, 5.0)
FLATTEST = 1e-12  # penalty: less are rounding errors, as entries of the kernel are at most 1
JUDGED_ROWS = 4000  # by which penalty and temperature are chosen
CANCELLED = 1e-6  # share of the weight below which a difference of sums has lost too many digits
CLOSE = 0.02  # that the logarithm is found: the loss is flat at its lowest


class Moments(NamedTuple):
    """Sums over weighted rows: their mass, and those of columns and targets, and their products."""

    mass: float
    columns: np.ndarray
    targets: np.ndarray
    squares: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> "Moments":
        roots = np.sqrt(weights)[:, None]
        own, hit = columns * roots, targets * roots
        sums = weights @ columns, weights @ targets
        return cls(float(weights.sum()), *sums, own.T @ own, own.T @ hit)

    def plus(self, other: "Moments", factor: float = 1.0) -> "Moments":
        """The sums over the rows of both, those of the other times a factor."""
        return Moments(
            self.mass + factor * other.mass,
            self.columns + factor * other.columns,
            self.targets + factor * other.targets,
            self.squares + factor * other.squares,
            self.products + factor * other.products,
        )

    def without(self, other: "Moments") -> "Moments":
        """The sums over rows that are not among the others."""
        return self.plus(other, -1.0)

    def solutions(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Coefficients and intercepts of each penalty."""
        mean, share = self.columns / self.mass, self.targets / self.mass
        covariance = self.squares / self.mass - np.outer(mean, mean)
        common = self.products / self.mass - np.outer(mean, share)
        diagonal = np.diagonal(covariance).copy()
        variance = float(diagonal.mean()) if len(diagonal) else 0.0
        found = []
        for penalty in np.maximum(PENALTIES * variance, FLATTEST):
            np.fill_diagonal(covariance, diagonal + penalty)
            coef = cho_solve(cho_factor(covariance, check_finite=False), common, check_finite=False)
            found.append((coef, share - mean @ coef))
        return found


def cross_fit_ridge(rows: Regression, folds: np.ndarray, n_folds: int) -> tuple[CrossFit, float]:
    """Regressions, one per fold, and the loss of the rows that each left out.

    Penalty and temperature are those for which this logarithmic loss is lowest.
    """
    targets = np.eye(rows.n_classes)[rows.y]
    held = [np.flatnonzero(folds == fold) for fold in range(n_folds)]
    parts = [Moments.of(rows.columns[own], targets[own], rows.weights[own]) for own in held]
    whole = reduce(Moments.plus, parts)
    scores = np.empty((len(PENALTIES), len(rows.y), rows.n_classes))
    fits = []
    for fold, own in enumerate(held):
        fits.append(_moments_without(fold, parts, whole).solutions())
        columns = rows.columns[own]
        for number, (coef, intercept) in enumerate(fits[-1]):
            scores[number, own] = columns @ coef + intercept
    some = some_rows(len(rows.y), JUDGED_ROWS)
    judged = rows.y[some], rows.weights[some] / rows.weights[some].sum()
    found = [best_temperature(each[some], *judged) for each in scores]
    best = int(np.argmin([loss for _, loss in found]))
    factor, loss = found[best]
    coef, intercept = (np.stack([fit[best][part] for fit in fits]) for part in range(2))
    return CrossFit(factor * coef, factor * intercept, float(PENALTIES[best])), loss


def _moments_without(fold: int, parts: list[Moments], whole: Moments) -> Moments:
    """Sums over the rows that are not in a fold; over all, if none would be left."""
    left = whole.without(parts[fold])
    if left.mass >= CANCELLED * whole.mass:
        return left
    left = reduce(Moments.plus, (part for other, part in enumerate(parts) if other != fold))
    return left if left.mass > 0 else whole


def best_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The factor on scores for which the labels' logarithmic loss is lowest, and that loss."""
    at = np.arange(len(y)), y

    def loss(log_factor: float) -> float:
        return -float(weights @ log_softmax(np.exp(log_factor) * scores, axis=1)[at])

    found = minimize_scalar(
        loss, bounds=LOG_TEMPERATURES, method="bounded", options={"xatol": CLOSE}
    )
    return float(np.exp(found.x)), float(found.fun)
