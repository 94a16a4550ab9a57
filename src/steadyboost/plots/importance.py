"""Feature importances."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from steadyboost.exports.trees import feature_names
from steadyboost.plots.style import RIGHT, Display, light_grid, percent_axis


class ImportanceDisplay(Display):
    """Impurity-based feature importances in decreasing order.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Shares, which add up to one.
    names : sequence of str
        Names of the features.
    n_features : int, default=15
        Maximum number of features; the others are summed up in one line.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.plots import ImportanceDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SAMMEClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, n_features=5)
    >>> len(display.ax_.get_yticklabels())
    6
    """

    def __init__(self, importances: Any, names: Sequence[str], *, n_features: int = 15):
        self.importances = np.asarray(importances, dtype=float)
        self.names, self.n_features = list(names), n_features
        if self.importances.shape != (len(self.names),):
            raise ValueError(
                f"importances has shape {self.importances.shape} for {len(self.names)} names; "
                "pass one number per name."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int = 15, ax: Axes | None = None
    ) -> "ImportanceDisplay":
        """Of a fitted booster."""
        importances = estimator.feature_importances_
        return cls(importances, feature_names(estimator), n_features=n_features).plot(ax)

    def plot(self, ax: Axes | None = None) -> Any:
        self.size = (3.6, 0.7 + 0.19 * min(len(self.names), self.n_features + 1))
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        order = np.argsort(-self.importances, kind="stable")
        shown, others = order[: self.n_features], order[self.n_features :]
        values = [100 * self.importances[f] for f in shown]
        names = [self.names[f] for f in shown]
        if len(others):
            values.append(100 * self.importances[others].sum())
            names.append(f"{len(others)} others")
        places = np.arange(len(values))
        colors = [RIGHT] * len(shown) + ["#b6bec7"] * (len(values) - len(shown))
        ax.hlines(places, 0, values, color=colors, linewidth=1.6)
        ax.scatter(values, places, color=colors, s=22, zorder=3)
        ax.set_yticks(places, names)
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
        ax.set_ylim(len(values) - 0.4, -0.6)
        ax.set_xlim(left=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("share in the decrease of impurity")
        percent_axis(ax.xaxis)
        light_grid(ax, "x")
