"""Tables of classes against classes: what was said of what is true."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.metrics import confusion_matrix
from sklearn.utils.multiclass import unique_labels

from steadyboost.plots.style import INK, SEQUENTIAL, Display

MANY = 12  # classes above which cells are too small for numbers


class _MatrixDisplay(Display):
    """A square table whose rows are shares that add up to one."""

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
    """What a model says of the rows of each class, in percent of the class.

    Parameters
    ----------
    matrix : array-like of shape (k, k)
        Rows are true classes, columns are what is said of them; counts or shares.
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
    """How labels became wrong: the labels that rows of each true class were given.

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
