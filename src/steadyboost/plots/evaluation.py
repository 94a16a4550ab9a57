"""Evaluation of predictions and labels: calibration curves, confusion and transition matrices."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator
from sklearn.metrics import confusion_matrix
from sklearn.utils.multiclass import unique_labels

from steadyboost.pages.svg import COLORS, INK, QUIET
from steadyboost.plots.style import DASHES, MARKERS, SEQUENTIAL, Display, light_grid, percent_axis

AREA, LEAST_AREA = 200.0, 10.0  # square points of markers of all rows, and of few
FEW = 10  # rows of a bin to be drawn: the accuracy of fewer is too uncertain


class Reliability(NamedTuple):
    """Mean confidence, accuracy and number of rows of the non-empty bins; and the ECE."""

    confidence: np.ndarray
    accuracy: np.ndarray
    n_rows: np.ndarray
    error: float


class CalibrationDisplay(Display):
    """Calibration curves: accuracy by predicted probability, one line per model.

    Rows are put in bins of equal width by the probability of the predicted class; the area of a
    marker is the share of the rows in its bin, and bins of fewer than ten rows are not drawn. The
    expected calibration error (ECE) is the mean gap to the diagonal, over all rows [1]_.

    Parameters
    ----------
    curves : dict of str to Reliability
        By name.
    n_classes : int, default=2
        Number of classes; the probability of a predicted class is at least its inverse.

    References
    ----------
    .. [1] M. P. Naeini, G. F. Cooper, M. Hauskrecht (2015). Obtaining well calibrated
       probabilities using Bayesian binning. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import BaggingClassifier
    >>> from steadyboost.plots import CalibrationDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = BaggingClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> 0 <= display.curves["BaggingClassifier"].error < 0.1
    True
    """

    size = (3.3, 3.1)

    def __init__(self, curves: Mapping[str, Reliability], n_classes: int = 2):
        self.curves, self.n_classes = dict(curves), n_classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 15,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "CalibrationDisplay":
        """Of a fitted classifier, or a dictionary of them by name, on rows with right labels."""
        named = estimator if isinstance(estimator, Mapping) else None
        if named is None:
            named = {name or type(estimator).__name__: estimator}
        classes = next(iter(named.values())).classes_
        curves = {
            words: reliability(y, model.predict_proba(X), model.classes_, n_bins)
            for words, model in named.items()
        }
        return cls(curves, len(classes)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        classes: Any = None,
        n_bins: int = 15,
        name: str = "",
        ax: Axes | None = None,
    ) -> "CalibrationDisplay":
        """Of probabilities, (n, k), and right labels."""
        proba = np.asarray(y_proba, dtype=float)
        classes = np.unique(y_true) if classes is None else np.asarray(classes)
        curve = reliability(y_true, proba, classes, n_bins)
        return cls({name: curve}, proba.shape[1]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        low = 20 * (100 / self.n_classes // 20)
        ax.plot([low, 100], [low, 100], color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        for number, (name, curve) in enumerate(self.curves.items()):
            ece = f"ECE {100 * curve.error:.1f} %"
            self._draw_curve(ax, number, curve, f"{name}: {ece}" if name else ece)
        ax.set(
            xlabel="probability of the predicted class",
            ylabel="predictions that are right",
            xlim=(low, 101),
            ylim=(low, 101),
        )
        ax.set_aspect("equal")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MultipleLocator(20))
            percent_axis(axis)
        light_grid(ax, "both")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    def _draw_curve(self, ax: Axes, number: int, curve: Reliability, name: str) -> None:
        enough = curve.n_rows >= min(FEW, curve.n_rows.max())
        confidence, accuracy = 100 * curve.confidence[enough], 100 * curve.accuracy[enough]
        color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
        dash = DASHES[number // len(COLORS) % len(DASHES)]
        ax.plot(confidence, accuracy, color=color, linestyle=dash, linewidth=1.2, zorder=2)
        areas = LEAST_AREA + AREA * curve.n_rows[enough] / curve.n_rows.sum()
        ax.scatter(
            confidence, accuracy, s=areas, marker=marker, color=color, linewidths=0, zorder=3
        )
        ax.plot([], [], color=color, linestyle=dash, marker=marker, markersize=4.5, label=name)


def reliability(y: Any, proba: np.ndarray, classes: Any, n_bins: int) -> Reliability:
    """Confidence and accuracy by bins of equal width."""
    y, classes = np.asarray(y), np.asarray(classes)
    if proba.shape != (len(y), len(classes)):
        raise ValueError(
            f"Probabilities of shape {proba.shape} do not fit {len(y)} labels of {len(classes)} "
            "classes; pass classes in the order of the columns."
        )
    sure, right = proba.max(axis=1), classes[proba.argmax(axis=1)] == y
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    used = counts > 0
    confidence = np.bincount(bins, weights=sure, minlength=n_bins)[used] / counts[used]
    accuracy = np.bincount(bins, weights=right, minlength=n_bins)[used] / counts[used]
    error = counts[used] @ np.abs(confidence - accuracy) / len(y)
    return Reliability(confidence, accuracy, counts[used], float(error))


MANY = 12  # classes; of more, the cells are too small for numbers


class _MatrixDisplay(Display):
    """A square matrix whose rows are shares that sum to one."""

    axis_names = ("", "")

    def __init__(self, matrix: Any, classes: Any = None):
        self.matrix = np.asarray(matrix, dtype=float)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(f"matrix has shape {self.matrix.shape}; pass a square one.")
        k = len(self.matrix)
        self.classes = [str(label) for label in (range(k) if classes is None else classes)]
        if len(self.classes) != k:
            raise ValueError(f"classes has {len(self.classes)} names for {k} rows of the matrix.")

    @property
    def shares(self) -> np.ndarray:
        """Rows divided by their sums; one without any stays zero."""
        total = self.matrix.sum(axis=1, keepdims=True)
        return np.divide(self.matrix, total, out=np.zeros_like(self.matrix), where=total > 0)

    @property
    def _rotation(self) -> int:
        """Of the names below: as far as they need it to fit."""
        longest, k = max(map(len, self.classes)), len(self.classes)
        if longest <= min(4, 1 + 24 // k):
            return 0
        return 45 if k <= MANY else 90

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw; see :meth:`Display.plot`. A new figure is as large as the classes need."""
        k = len(self.matrix)
        name = 0.07 * max(map(len, self.classes))
        cells = max(1.7, k * float(np.clip(2.4 / k, 0.16, 0.6)))
        below = name * np.sin(np.radians(self._rotation))
        self.size = (0.45 + name + cells + 0.5 * (k > MANY), 0.55 + below + cells)
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        shares, k = 100 * self.shares, len(self.matrix)
        image = ax.imshow(shares, cmap=SEQUENTIAL, vmin=0, vmax=100)
        ax.spines[:].set_visible(False)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(np.arange(k), self.classes)
            axis.set_ticks(np.arange(k - 1) + 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1.2)
        ax.tick_params(which="both", length=0)
        ax.set(ylabel=self.axis_names[0], xlabel=f"{self.axis_names[1]}, % of the row")
        if self._rotation:
            look: dict[str, Any] = {"ha": "right", "va": "center", "rotation_mode": "anchor"}
            plt.setp(ax.get_xticklabels(), rotation=self._rotation, **look)
        if k <= MANY:
            self._write_numbers(ax, shares)
        else:
            bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, pad=0.03, aspect=25)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0)

    def _write_numbers(self, ax: Axes, shares: np.ndarray) -> None:
        """Percent in each cell, but for zeros."""
        for (row, column), share in np.ndenumerate(shares):
            if share >= 0.05:
                text = f"{share:.1f}" if share < 9.95 else f"{share:.0f}"
                color = "white" if share > 55 else INK
                size = 8 if len(shares) <= 8 else 6.5
                ax.text(column, row, text, ha="center", va="center", color=color, fontsize=size)


class ConfusionMatrixDisplay(_MatrixDisplay):
    """Confusion matrix, in percent of the true class.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Rows are true classes, columns predicted classes; counts or shares.
    classes : sequence, default=None
        Their names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.plots import ConfusionMatrixDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=2, random_state=0).fit(X, y)
    >>> ConfusionMatrixDisplay.from_estimator(model, X, y).shares.diagonal().round(2)
    array([0.98, 0.97, 0.98])
    """

    axis_names = ("true class", "predicted class")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None
    ) -> "ConfusionMatrixDisplay":
        """Of a fitted classifier on rows with their true labels."""
        return cls.from_predictions(y, estimator.predict(X), ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, ax: Axes | None = None
    ) -> "ConfusionMatrixDisplay":
        """Of labels and what was predicted."""
        classes = unique_labels(y_true, y_pred)
        return cls(confusion_matrix(y_true, y_pred, labels=classes), classes).plot(ax)


class TransitionMatrixDisplay(_MatrixDisplay):
    """Noise transition matrix: the labels given to the rows of each true class.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Rows are true classes, columns the labels given; counts or shares.
    classes : sequence, default=None
        Their names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost.noise import corrupt
    >>> from steadyboost.plots import TransitionMatrixDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> noisy, _ = corrupt(y, 0.2, random_state=0)
    >>> display = TransitionMatrixDisplay.from_labels(y, noisy)
    >>> display.ax_.get_xlabel()
    'given label, % of the row'
    """

    axis_names = ("true class", "given label")

    @classmethod
    def from_labels(
        cls, y_true: Any, y_given: Any, *, ax: Axes | None = None
    ) -> "TransitionMatrixDisplay":
        """Of true labels and those that were given."""
        classes = unique_labels(y_true, y_given)
        return cls(confusion_matrix(y_true, y_given, labels=classes), classes).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> "TransitionMatrixDisplay":
        """As a fitted :class:`~steadyboost.SteadyBoostClassifier` estimates it."""
        return cls(estimator.transition_matrix_, estimator.classes_).plot(ax)

    @classmethod
    def from_audit(cls, audit: Any, *, ax: Axes | None = None) -> "TransitionMatrixDisplay":
        """As an audit of labels estimates it."""
        return cls(audit.transition_matrix, getattr(audit, "classes", None)).plot(ax)
