"""Ridge regression of the classes' indicators, whose scores become probabilities by a temperature.

The squared loss has a solution in closed form, for all classes and all penalties at once, and a
wrong label pulls at it no more than linearly.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from steadyboost.boosters.steadyboost.softmax_regression import CrossFit, Regression

PENALTIES = 10.0 ** np.arange(-3, 3)  # over the mean variance of the columns
LOG_TEMPERATURES = (-3.0, 5.0)
FLATTEST = 1e-12  # variance: less are rounding errors, as entries of the kernel are at most 1
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
        weighted = columns * weights[:, None]
        sums = weighted.sum(axis=0), weights @ targets
        return cls(float(weights.sum()), *sums, weighted.T @ columns, weighted.T @ targets)

    def without(self, other: "Moments") -> "Moments":
        """The sums over rows that are not among the others."""
        return Moments(
            self.mass - other.mass,
            self.columns - other.columns,
            self.targets - other.targets,
            self.squares - other.squares,
            self.products - other.products,
        )

    def solutions(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Coefficients and intercepts of each penalty."""
        mean, share = self.columns / self.mass, self.targets / self.mass
        covariance = self.squares / self.mass - np.outer(mean, mean)
        values, vectors = eigh(covariance)
        turned = vectors.T @ (self.products / self.mass - np.outer(mean, share))
        variance = max(float(values.mean()), FLATTEST) if len(values) else FLATTEST
        found = []
        for penalty in PENALTIES * variance:
            coef = vectors @ (turned / (np.maximum(values, 0) + penalty)[:, None])
            found.append((coef, share - mean @ coef))
        return found


def cross_fit_ridge(rows: Regression, folds: np.ndarray, n_folds: int) -> tuple[CrossFit, float]:
    """Regressions, one per fold, and the loss of the rows that each left out.

    Penalty and temperature are those for which this logarithmic loss is lowest.
    """
    targets = np.eye(rows.n_classes)[rows.y]
    whole = Moments.of(rows.columns, targets, rows.weights)
    scores = np.empty((len(PENALTIES), len(rows.y), rows.n_classes))
    fits = []
    for fold in range(n_folds):
        held = folds == fold
        own = rows.columns[held]
        fits.append(_moments_without(held, rows, targets, whole).solutions())
        for number, (coef, intercept) in enumerate(fits[-1]):
            scores[number, held] = own @ coef + intercept
    found = [best_temperature(each, rows.y, rows.weights) for each in scores]
    best = int(np.argmin([loss for _, loss in found]))
    factor, loss = found[best]
    coef, intercept = (np.stack([fit[best][part] for fit in fits]) for part in range(2))
    return CrossFit(factor * coef, factor * intercept, float(PENALTIES[best])), loss


def _moments_without(
    held: np.ndarray, rows: Regression, targets: np.ndarray, whole: Moments
) -> Moments:
    """Sums over the rows that are not held out; over all, if none would be left."""
    left = whole.without(Moments.of(rows.columns[held], targets[held], rows.weights[held]))
    if left.mass < CANCELLED * whole.mass:
        weights = rows.weights[~held]
        mass = weights.sum()
        if mass == 0:
            return whole
        left = Moments.of(rows.columns[~held], targets[~held], weights / mass)
    return left


def best_temperature(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The factor on scores for which the labels' logarithmic loss is lowest, and that loss."""
    at = np.arange(len(y)), y

    def loss(log_factor: float) -> float:
        return -float(weights @ log_softmax(np.exp(log_factor) * scores, axis=1)[at])

    found = minimize_scalar(
        loss, bounds=LOG_TEMPERATURES, method="bounded", options={"xatol": CLOSE}
    )
    return float(np.exp(found.x)), float(found.fun)
