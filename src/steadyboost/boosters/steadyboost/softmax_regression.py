"""Multinomial logistic regression with a penalty on the squares of the coefficients.

The penalty is chosen by the rows that were left out, on a path from strong to weak, where each
solution is the start of the next.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

MOST_ITERATIONS = 20  # of each step of the path: the next goes on from there
TOLERANCE = 1e-4  # of the largest slope, where the loss is a mean
PENALTIES = 10.0 ** np.arange(1, -5, -1)  # over the mean variance of the columns
MOST_CONDITIONED = 1000  # columns: their covariance, and its factor, take little time
SAMPLE_ROWS = 4000  # that tell their covariance


@dataclass(frozen=True)
class Regression:
    """Rows of a regression: columns, classes, and weights, which sum to 1."""

    columns: Any  # an array, or sparse
    y: np.ndarray
    weights: np.ndarray
    n_classes: int

    def loss(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Mean logarithmic loss, and its slopes by coefficients and intercepts."""
        own = np.arange(len(self.y)), self.y
        scores = self.columns @ coef + intercept
        scores -= scores.max(axis=1, keepdims=True)
        of_label = scores[own]
        pull = np.exp(scores, out=scores)
        total = pull.sum(axis=1)
        value = -self.weights @ (of_label - np.log(total))
        pull *= (self.weights / total)[:, None]
        pull[own] -= self.weights
        return float(value), self.columns.T @ pull, pull.sum(axis=0)

    def start(self) -> np.ndarray:
        """Coefficients of zero, and the logarithms of the classes' shares."""
        share = np.bincount(self.y, self.weights, minlength=self.n_classes)
        zeros = np.zeros(self.columns.shape[1] * self.n_classes)
        return np.concatenate([zeros, np.log(np.maximum(share, 1e-12))])

    def fit(self, penalty: float, factor: np.ndarray | None, start: np.ndarray) -> np.ndarray:
        """Coefficients and intercepts of least penalised loss, in one array, from a start.

        The steps are taken in coordinates in which, by the Cholesky ``factor``, the loss is about
        as steep in all directions; a tenth of the iterations will then do.
        """
        k, n = self.n_classes, self.columns.shape[1]
        shape = n, k

        def penalised(point: np.ndarray) -> tuple[float, np.ndarray]:
            coef = _from_factor(factor, point[: n * k].reshape(shape))
            value, slope, of_intercept = self.loss(coef, point[n * k :])
            slope = _by_factor(factor, slope + penalty * coef)
            value += penalty / 2 * float((coef * coef).sum())
            return value, np.concatenate([slope.ravel(), of_intercept])

        first = _to_factor(factor, start[: n * k].reshape(shape)).ravel()
        found = minimize(
            penalised,
            np.concatenate([first, start[n * k :]]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MOST_ITERATIONS, "gtol": TOLERANCE / k},
        ).x
        coef = _from_factor(factor, found[: n * k].reshape(shape))
        return np.concatenate([coef.ravel(), found[n * k :]])


def _from_factor(factor: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    return values if factor is None else solve_triangular(factor, values, check_finite=False)


def _by_factor(factor: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    if factor is None:
        return values
    return solve_triangular(factor, values, trans="T", check_finite=False)


def _to_factor(factor: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    return values if factor is None else factor @ values


def parts_of(point: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, (columns, classes), and intercepts of what :meth:`Regression.fit` returns."""
    return point[:-n_classes].reshape(-1, n_classes), point[-n_classes:]


@dataclass(frozen=True)
class CrossFit:
    """A regression per fold, each of which leaves out the rows of its fold."""

    coef: np.ndarray  # (folds, columns, classes)
    intercept: np.ndarray  # (folds, classes)
    penalty: float


def cross_fit(rows: Regression, folds: np.ndarray, n_folds: int) -> CrossFit:
    """Regressions with the penalty under which left-out rows have the lowest loss.

    Columns are centred, so that slopes of intercepts and coefficients have little to do with each
    other; but for sparse ones, which would not stay sparse.
    """
    if isinstance(rows.columns, np.ndarray):
        center = rows.weights @ rows.columns
        found = _cross_fit(replace(rows, columns=rows.columns - center), folds, n_folds)
        return replace(found, intercept=found.intercept - center @ found.coef)
    return _cross_fit(rows, folds, n_folds)


def _cross_fit(rows: Regression, folds: np.ndarray, n_folds: int) -> CrossFit:
    variance = _mean_variance(rows)
    kept = [_kept(folds == fold) for fold in range(n_folds)]
    problems = [_some_of(rows, own) for own in kept]
    points = [problem.start() for problem in problems]
    best: tuple[float, float, list[np.ndarray]] = np.inf, 0.0, points
    for penalty in PENALTIES * variance:
        factor = _factor(rows, penalty)
        points = [
            problem.fit(penalty, factor, point)
            for problem, point in zip(problems, points, strict=True)
        ]
        loss = _left_out_loss(rows, folds, points)
        if loss >= best[0]:
            break
        best = loss, penalty, points
    parts = [parts_of(point, rows.n_classes) for point in best[2]]
    coef, intercept = (np.stack(each) for each in zip(*parts, strict=True))
    return CrossFit(coef, intercept, float(best[1]))


def _kept(held: np.ndarray) -> np.ndarray:
    """The rows that a fold learns from: all, if none would be left."""
    return np.flatnonzero(~held) if not held.all() else np.arange(len(held))


def _some_of(rows: Regression, kept: np.ndarray) -> Regression:
    weights = rows.weights[kept]
    return Regression(rows.columns[kept], rows.y[kept], weights / weights.sum(), rows.n_classes)


def _left_out_loss(rows: Regression, folds: np.ndarray, points: list[np.ndarray]) -> float:
    """Mean loss of each row by the regression that left it out."""
    total = 0.0
    for fold, point in enumerate(points):
        held = np.flatnonzero(folds == fold)
        if len(held):
            own = _some_of(rows, held)
            total += rows.weights[held].sum() * own.loss(*parts_of(point, rows.n_classes))[0]
    return total


def _mean_variance(rows: Regression) -> float:
    """Of the columns; 1 where none varies, or there are none."""
    columns = rows.columns
    if not columns.shape[1]:
        return 1.0
    squares = columns.multiply(columns) if hasattr(columns, "multiply") else columns * columns
    variance = float(np.mean(squares.T @ rows.weights))
    return variance if variance > 0 else 1.0


def _factor(rows: Regression, penalty: float) -> np.ndarray | None:
    """Upper Cholesky factor of about the curvature at equal probabilities; none of many columns."""
    n, n_columns = rows.columns.shape
    if n_columns > MOST_CONDITIONED or n_columns == 0:
        return None
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(int))
    columns = rows.columns[some]
    columns = columns if isinstance(columns, np.ndarray) else columns.toarray()
    share = rows.weights[some] / rows.weights[some].sum()
    k = rows.n_classes
    curvature = (columns * share[:, None]).T @ columns * ((k - 1) / k**2)
    curvature[np.diag_indices(n_columns)] += penalty
    return cholesky(curvature, check_finite=False)
