"""Decision regions of a model of two features."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from steadyboost.exports.trees import feature_names
from steadyboost.pages.svg import COLORS, INK
from steadyboost.plots.style import MARKERS, Display

PALE = 0.62  # saturation at probability 1, so that the rows stay visible on top


class DecisionRegionsDisplay(Display):
    """The predicted class at each point of the plane, paler for lower probabilities, and the rows.

    Parameters
    ----------
    xx, yy : ndarray of shape (height, width)
        Coordinates of a grid of points.
    proba : ndarray of shape (height, width, k)
        Probabilities of the classes there.
    X, y : array-like, default=None
        Rows to draw; y are class numbers from 0.
    classes : sequence
        Names of the classes.
    noisy : array-like of bool, default=None
        Rows whose label is wrong, drawn with a dark edge.
    names : pair of str
        Names of the two features.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from steadyboost import AdaBoostClassifier
    >>> from steadyboost.plots import DecisionRegionsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> DecisionRegionsDisplay.from_estimator(model, X, y, resolution=50).proba.shape
    (50, 50, 2)
    """

    size = (3.6, 3.1)

    def __init__(
        self,
        xx: np.ndarray,
        yy: np.ndarray,
        proba: np.ndarray,
        *,
        X: Any = None,
        y: Any = None,
        classes: Any,
        noisy: Any = None,
        names: tuple[str, str] = ("x0", "x1"),
    ):
        self.xx, self.yy, self.proba = xx, yy, proba
        self.X = None if X is None else np.asarray(X, dtype=float)
        self.y = None if y is None else np.asarray(y)
        self.classes, self.names = [str(label) for label in classes], names
        self.noisy = None if noisy is None else np.asarray(noisy, dtype=bool)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        noisy: Any = None,
        resolution: int = 300,
        ax: Axes | None = None,
    ) -> "DecisionRegionsDisplay":
        """Of a fitted booster of two numeric features.

        Parameters
        ----------
        estimator : booster
            A fitted booster.
        X : array-like of shape (n_samples, 2)
            Rows: the picture covers them.
        y : array-like of shape (n_samples,), default=None
            Their labels; with them the rows are drawn.
        noisy : array-like of bool, default=None
            Which labels are wrong.
        resolution : int, default=300
            Points along each side.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : DecisionRegionsDisplay
            Drawn.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"X has shape {rows.shape}; regions are drawn of 2 features.")
        low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
        pad = 0.05 * (high - low)
        sides = [np.linspace(a, b, resolution) for a, b in zip(low - pad, high + pad, strict=True)]
        xx, yy = np.meshgrid(*sides)
        points: Any = np.column_stack([xx.ravel(), yy.ravel()])
        if hasattr(estimator, "feature_names_in_"):
            points = type(X)(points, columns=list(estimator.feature_names_in_))
        proba = estimator.predict_proba(points).reshape(*xx.shape, -1)
        codes = None if y is None else np.searchsorted(estimator.classes_, y)
        first, second = feature_names(estimator)
        return cls(
            xx,
            yy,
            proba,
            X=rows,
            y=codes,
            classes=estimator.classes_,
            noisy=noisy,
            names=(first, second),
        ).plot(ax)

    def _draw(self, ax: Axes) -> None:
        k = self.proba.shape[2]
        colors = np.array([to_rgb(COLORS[c % len(COLORS)]) for c in range(k)])
        best, sure = self.proba.argmax(axis=2), self.proba.max(axis=2)
        strength = PALE * np.clip((sure - 1 / k) / (1 - 1 / k), 0, 1)[..., None]
        strength = 0.12 + (1 - 0.12 / PALE) * strength
        extent = (self.xx.min(), self.xx.max(), self.yy.min(), self.yy.max())
        ax.imshow(
            1 - strength * (1 - colors[best]),
            extent=extent,
            origin="lower",
            aspect="auto",
            interpolation="bilinear",
        )
        for c in range(k):
            ax.contour(
                self.xx, self.yy, best == c, levels=[0.5], colors=[INK], linewidths=0.6, alpha=0.7
            )
        if self.y is not None:
            self._draw_rows(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])
        ax.spines[:].set_visible(True)

    def _draw_rows(self, ax: Axes) -> None:
        assert self.X is not None
        noisy = np.zeros(len(self.X), bool) if self.noisy is None else self.noisy
        handles = []
        for c, name in enumerate(self.classes):
            color, marker = COLORS[c % len(COLORS)], MARKERS[c % len(MARKERS)]
            for wrong, rim, width in ((False, "white", 0.4), (True, INK, 1.1)):
                across, up = self.X[(self.y == c) & (noisy == wrong)].T
                look: dict[str, Any] = {"marker": marker, "edgecolors": rim, "linewidths": width}
                ax.scatter(across, up, s=17, color=color, zorder=3 + wrong, **look)
            handles.append(_entry(name, marker, color))
        if noisy.any():
            handles.append(_entry("wrong label", "o", "white", INK))
        ax.figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=len(handles),
            handletextpad=0.1,
            columnspacing=1.2,
        )


def _entry(name: str, marker: str, color: str, rim: str | None = None) -> Line2D:
    """A marker in the legend."""
    return Line2D(
        [],
        [],
        linestyle="",
        marker=marker,
        color=color,
        markeredgecolor=rim or color,
        markersize=4.5,
        label=name,
    )
