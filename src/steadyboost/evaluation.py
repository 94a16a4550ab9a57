"""How good predictions are: errors, probabilities, and each class on its own."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from steadyboost.ensemble.verified import corrected

BINS = 15  # of the calibration error, as in Guo et al. (2017)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Shares of wrong answers and the quality of probabilities.

    Errors, the log-loss and the calibration error are 0 for the best model; the AUC is 1, and 0.5
    for one that knows nothing. The baseline error is that of always answering the most frequent
    class.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    >>> found = evaluate(np.array([0, 1, 1]), proba)
    >>> round(found.error, 3), round(found.balanced_error, 3)
    (0.333, 0.25)
    >>> round(found.baseline_error, 3), found.auc
    (0.333, 1.0)
    >>> found.confusion
    [[1, 0], [1, 1]]
    """

    rows: int
    error: float
    baseline_error: float
    balanced_error: float
    log_loss: float
    auc: float | None  # None where the rows have one class only
    calibration_error: float
    confusion: list[list[int]]  # [true class][predicted class]

    @property
    def most_frequent(self) -> int:
        """The class with the most rows."""
        return int(np.sum(self.confusion, axis=1).argmax())

    def summary(self) -> str:
        """The main figures in one sentence."""
        auc = "" if self.auc is None else f", AUC {self.auc:.3f}"
        return (
            f"{self.rows:,} rows: error {self.error:.2%} (baseline {self.baseline_error:.2%}), "
            f"balanced error {self.balanced_error:.2%}, log-loss {self.log_loss:.4f}{auc}"
        )

    def __repr__(self) -> str:
        return f"Evaluation of {self.summary()}"

    def _repr_html_(self) -> str:
        titles = ("class", "rows", "predicted", "recall", "precision")
        lines = [titles, *(_cells(label, one) for label, one in enumerate(self.per_class()))]
        rows = ("".join(f"<td>{cell}</td>" for cell in line) for line in lines)
        table = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p>{self.summary()}</p><table>{table}</table>"

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
        majority_error(y),
        float(missed.mean()),
        float(-np.log(own).mean()),
        mean_auc(y, proba),
        calibration_error(y, proba),
        confusion.tolist(),
    )


def majority_error(y: np.ndarray) -> float:
    """The error of always answering the most frequent label.

    Examples
    --------
    >>> import numpy as np
    >>> majority_error(np.array(["a", "b", "a", "a"]))
    0.25
    """
    return float(1 - np.unique(y, return_counts=True)[1].max() / len(y))


def mean_auc(y: np.ndarray, proba: np.ndarray) -> float | None:
    """Area under the ROC curve; of more than two classes, the mean of each against the rest.

    Classes without rows do not count; None if there is one class only.

    Examples
    --------
    >>> import numpy as np
    >>> mean_auc(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.95, 0.05]]))
    0.5
    """
    present = np.unique(y)
    if len(present) < 2:
        return None
    chosen = present[-1:] if proba.shape[1] == 2 else present
    return float(np.mean([roc_auc_score(y == c, proba[:, c]) for c in chosen]))


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


def _cells(label: int, one: dict[str, Any]) -> tuple[str, ...]:
    """A class in a notebook."""
    shares = ("-" if one[key] is None else f"{one[key]:.1%}" for key in ("recall", "precision"))
    return str(label), f"{one['rows']:,}", f"{one['predicted']:,}", *shares


MOST_CONDITION = 20.0  # of the matrix: beyond, its inverse makes more noise than it takes away
WIDEST = 0.25  # interval that still says something
Z = 1.645  # of a normal distribution: 90 % two-sided


@dataclass(frozen=True)
class CleanError:
    """An estimate of the error on clean labels.

    Attributes
    ----------
    error : float
        Estimated share of wrong predictions; NaN where it cannot be estimated.
    low, high : float
        Ends of its 90 % interval.
    given_error : float
        Share of predictions that differ from the given labels.
    rows : int
        Rows that the estimate rests on.
    reason : str
        Why there is no estimate; empty if there is one.
    """

    error: float
    low: float
    high: float
    given_error: float
    rows: int
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether there is an estimate."""
        return not self.reason


def clean_error(y: Any, y_pred: Any, noise: Any = None, *, verified: Any = None) -> CleanError:
    """Estimate the error on clean labels from test labels some of which are wrong.

    With a transition matrix T from true to given classes, the expected losses of a row given its
    true class are the solution of T loss = 0-1 loss (Natarajan et al., 2013): the mean of such
    losses over the rows has no bias, if labels are wrong with equal probability in all rows of a
    class and the matrix is right. The interval covers the draw of the rows and the interval of the
    noise rate. Where some rows have been checked, these alone give an error without assumptions.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Given labels of test rows.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    noise : LabelAudit or fitted SteadyBoostClassifier, default=None
        What is known of the labels' noise: an audit of the test rows, or the model that was fitted
        to training rows with labels from the same source.
    verified : array-like of bool or of positions, or dictionary, default=None
        Rows whose label in ``y`` is right, or right labels by position. They should be a random
        sample.

    Returns
    -------
    error : CleanError
        The estimate with its interval; false, with a reason, where there is none.

    References
    ----------
    .. [1] N. Natarajan et al. (2013). Learning with noisy labels. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyboost.evaluation import clean_error
    >>> y = np.repeat([0, 1], 50)
    >>> found = clean_error(y, np.zeros(100, dtype=int), verified=np.arange(0, 100, 2))
    >>> found.error, found.rows
    (0.5, 50)
    """
    given, predicted = np.asarray(y), np.asarray(y_pred)
    if given.ndim != 1 or given.shape != predicted.shape or not len(given):
        raise ValueError(
            f"y has shape {given.shape} and y_pred {predicted.shape}; pass a label for each row."
        )
    right, checked, _ = corrected(verified, given)
    if checked is not None:
        return _of_checked(right != predicted, given != predicted, checked)
    if noise is None:
        raise ValueError("noise and verified are None; pass an audit, a model or checked rows.")
    return _of_noisy(given, predicted, NoiseEstimate.of(noise))


class NoiseEstimate(NamedTuple):
    """A transition matrix, its classes, and the noise rate with its interval."""

    matrix: np.ndarray
    classes: np.ndarray
    rate: float
    interval: tuple[float, float]

    @classmethod
    def of(cls, noise: Any) -> "NoiseEstimate":
        """Of an audit, or of a fitted model, whose attributes end with an underscore."""
        names = ("transition_matrix", "classes", "noise_rate", "noise_rate_interval")
        for end in ("", "_"):
            if all(hasattr(noise, name + end) for name in names):
                matrix, classes, rate, (low, high) = (getattr(noise, name + end) for name in names)
                return cls(np.asarray(matrix), np.asarray(classes), rate, (low, high))
        raise ValueError(
            f"noise={type(noise).__name__} has no transition matrix; pass what "
            "steadyboost.noise.audit returns, or a fitted SteadyBoostClassifier."
        )

    def at(self, rate: float) -> np.ndarray:
        """The matrix with as much noise as another rate means."""
        identity = np.eye(len(self.matrix))
        factor = rate / self.rate if self.rate > 0 else 0.0
        return identity + factor * (self.matrix - identity)


def _of_checked(wrong: np.ndarray, differs: np.ndarray, checked: np.ndarray) -> CleanError:
    """The share among checked rows, with the interval of Wilson (1927)."""
    n, given = int(checked.sum()), float(differs.mean())
    if n == 0:
        return CleanError(np.nan, 0.0, 1.0, given, 0, "no row is verified.")
    error = float(wrong[checked].mean())
    centre = (error + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(error * (1 - error) / n + Z**2 / (4 * n**2))
    return CleanError(error, max(float(centre - half), 0.0), float(centre + half), given, n)


def _of_noisy(given: np.ndarray, predicted: np.ndarray, noise: NoiseEstimate) -> CleanError:
    """The mean of the corrected losses, for the estimated rate and the ends of its interval."""
    y, said = (_places(labels, noise.classes) for labels in (given, predicted))
    given_error = float(np.mean(y != said))
    found = [_corrected(y, said, noise.at(rate)) for rate in (noise.rate, *noise.interval)]

    def none(reason: str) -> CleanError:
        return CleanError(np.nan, 0.0, 1.0, given_error, len(y), reason)

    if found[0] is None:
        return none(
            "the noise mixes classes up so much that given labels hardly tell them apart; have "
            "some rows checked, and pass verified=."
        )
    ends = [end for one in found if one is not None for end in (one[0] - one[1], one[0] + one[1])]
    low, high = (0.0, 1.0) if None in found else (max(min(ends), 0.0), min(max(ends), 1.0))
    if high - low > WIDEST:
        return none(
            f"the interval would be from {low:.3f} to {high:.3f}: the noise rate is too uncertain, "
            "or rows are too few; have some rows checked, and pass verified=."
        )
    return CleanError(min(max(found[0][0], 0.0), 1.0), low, high, given_error, len(y))


def _corrected(y: np.ndarray, said: np.ndarray, matrix: np.ndarray) -> tuple[float, float] | None:
    """Mean of the corrected losses and half the width of its interval; None if it is worthless."""
    if np.linalg.cond(matrix) > MOST_CONDITION or (np.diag(matrix) < 1 / len(matrix)).any():
        return None
    loss = np.linalg.solve(matrix, 1 - np.eye(len(matrix)))  # (given label, prediction)
    own = loss[y, said]
    return float(own.mean()), float(Z * own.std() / np.sqrt(len(own)))


def _places(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    unknown = np.unique(labels[classes[places] != labels])
    if len(unknown):
        raise ValueError(
            f"y or y_pred has labels {unknown[:5].tolist()}, which noise does not know; it has "
            f"{classes[:5].tolist()}."
        )
    return places
