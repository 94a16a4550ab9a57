"""Columns, regressions and kernels of SteadyBoost's members without trees, slow and obvious."""

import numpy as np
from scipy.optimize import minimize


def design_row(bins, has_missing, values, categorical, n_bins):
    """The columns of one row, from its bins; ``values[f]`` has the value of each bin."""
    row = []
    for f, bin_ in enumerate(bins):
        missing = bin_ == n_bins[f]
        if n_bins[f] == 1:  # the same wherever it is known: nothing to learn from
            pass
        elif categorical[f]:
            row += [float(bin_ == b) for b in range(n_bins[f])]
        else:
            row.append(0.0 if missing else values[f][bin_])
            if 3 <= n_bins[f] <= 10:
                row += [float(bin_ == b) for b in range(n_bins[f])]
        if has_missing[f]:
            row.append(float(missing))
    return row


def standardised(values, bins):
    """Values of bins, less the mean over rows, over the standard deviation over rows."""
    known = np.array([values[b] for b in bins if b < len(values)])
    spread = known.std()
    return (np.asarray(values) - known.mean()) / spread if spread > 0 else np.zeros(len(values))


def regression(columns, y, weights, k, penalty):
    """Coefficients and intercepts of least loss, by a general minimiser without slopes' help."""
    n_columns = columns.shape[1]

    def loss(point):
        coef, intercept = point[: n_columns * k].reshape(n_columns, k), point[n_columns * k :]
        value = penalty / 2 * (coef**2).sum()
        for row, label, weight in zip(columns, y, weights, strict=True):
            scores = row @ coef + intercept
            value -= weight * (scores[label] - np.log(np.exp(scores).sum()))
        return value

    found = minimize(loss, np.zeros((n_columns + 1) * k), tol=1e-10).x
    return found[: n_columns * k].reshape(n_columns, k), found[n_columns * k :]


def kernel(rows, landmarks, precision):
    """How near each row is to each landmark."""
    return np.array([[np.exp(-precision * ((a - b) ** 2).sum()) for b in landmarks] for a in rows])


def ridge(columns, targets, weights, penalty):
    """Coefficients and intercepts of least squares, by the normal equations of centred columns.

    The penalty is in shares of the columns' mean variance.
    """
    weights = weights / weights.sum()
    mean, share = weights @ columns, weights @ targets
    centred = columns - mean
    covariance = centred.T @ np.diag(weights) @ centred
    penalty = penalty * np.diag(covariance).mean()
    coef = np.linalg.solve(
        covariance + penalty * np.eye(len(mean)), centred.T @ np.diag(weights) @ (targets - share)
    )
    return coef, share - mean @ coef
