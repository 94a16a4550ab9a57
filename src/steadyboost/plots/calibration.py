"""Whether models are as often right as they are sure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from steadyboost.plots.style import (
    COLORS,
    DASHES,
    MARKERS,
    QUIET,
    Display,
    light_grid,
    percent_axis,
)

AREA, LEAST_AREA = 200.0, 10.0  # square points of markers of all rows, and of few
FEW = 10  # rows below which a bin says too little to be drawn


class Reliability(NamedTuple):
    """Of bins that have rows: how sure, how often right, and how many rows; and the ECE."""

    confidence: np.ndarray
    accuracy: np.ndarray
    n_rows: np.ndarray
    error: float


class CalibrationDisplay(Display):
    """How often predictions are right by how sure the model is, one line per model.

    Rows are put in bins of equal width by the probability of the predicted class; the area of a
    marker is the share of the rows in its bin, and bins of fewer than ten rows are not drawn. The
    expected calibration error (ECE) is the mean gap to the diagonal, over all rows [1]_.

    Parameters
    ----------
    curves : dict of str to Reliability
        By name.
    n_classes : int, default=2
        A predicted class is never less likely than one in so many.

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
