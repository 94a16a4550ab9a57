"""How good predictions are: errors, probabilities, and each class on its own."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

BINS = 15


@dataclass(frozen=True)
class Evaluation:
    """Shares of wrong answers and the quality of probabilities, from 0 for the best.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    >>> found = evaluate(np.array([0, 1, 1]), proba)
    >>> round(found.error, 3), round(found.balanced_error, 3)
    (0.333, 0.25)
    >>> found.confusion
    [[1, 0], [1, 1]]
    """

    rows: int
    error: float
    balanced_error: float
    log_loss: float
    calibration_error: float
    confusion: list[list[int]]  # [true class][predicted class]

    def per_class(self) -> list[dict[str, Any]]:
        """Rows of each class, how many were predicted as it, and which share was right."""
        table = np.array(self.confusion)
        right, rows, predicted = np.diag(table), table.sum(axis=1), table.sum(axis=0)
        return [
            {"rows": n, "predicted": m, "recall": _share(hit, n), "precision": _share(hit, m)}
            for hit, n, m in zip(right.tolist(), rows.tolist(), predicted.tolist(), strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def evaluate(y: np.ndarray, proba: np.ndarray) -> Evaluation:
    """Compare class indices with class probabilities.

    Parameters
    ----------
    y : ndarray of shape (n,)
        True classes, as places in the order of the columns of ``proba``.
    proba : ndarray of shape (n, k)
        Class probabilities.

    Returns
    -------
    evaluation : Evaluation
        The balanced error is the mean of the errors of the classes that ``y`` has.
    """
    k = proba.shape[1]
    confusion = np.bincount(y * k + proba.argmax(axis=1), minlength=k * k).reshape(k, k)
    rows = confusion.sum(axis=1)
    missed = 1 - np.diag(confusion)[rows > 0] / rows[rows > 0]
    own = np.maximum(proba[np.arange(len(y)), y], np.finfo(float).tiny)
    return Evaluation(
        len(y),
        float(1 - np.trace(confusion) / len(y)),
        float(missed.mean()),
        float(-np.log(own).mean()),
        calibration_error(y, proba),
        confusion.tolist(),
    )


def calibration_error(y: np.ndarray, proba: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error of the predicted class, in bins of equal width.

    The mean over rows of the gap, in their bin, between how sure a model is and how often it is
    right: M. P. Naeini, G. Cooper, M. Hauskrecht (2015). Obtaining well calibrated probabilities
    using Bayesian binning. *AAAI*.

    Examples
    --------
    >>> import numpy as np
    >>> calibration_error(np.array([0, 0]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    0.5
    """
    sure, right = proba.max(axis=1), proba.argmax(axis=1) == y
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = np.bincount(places, weights=right - sure, minlength=bins)
    return float(np.abs(gaps).sum() / len(y))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
