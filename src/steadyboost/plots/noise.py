"""Errors by the share of wrong labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.base import clone

from steadyboost.noise import corrupt
from steadyboost.plots.style import (
    COLORS,
    DASHES,
    MARKERS,
    Display,
    label_ends,
    light_grid,
    percent_axis,
)


class NoiseCurveDisplay(Display):
    """Test errors by the share of wrong training labels, one line per method.

    Lines are means, bands one standard deviation to either side.

    Parameters
    ----------
    errors : dict of str to array-like of shape (n_noises, n_draws)
        Error rates of each method, between 0 and 1; or of shape (n_noises,).
    noises : array-like of shape (n_noises,)
        Shares of wrong labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import BaggingClassifier, SAMMEClassifier
    >>> from steadyboost.plots import NoiseCurveDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> models = {"SAMME": SAMMEClassifier(n_estimators=5), "Bagging": BaggingClassifier()}
    >>> display = NoiseCurveDisplay.from_estimators(
    ...     models, X[::2], y[::2], X[1::2], y[1::2], noises=[0, 0.2], n_draws=2
    ... )
    >>> display.errors["SAMME"].shape
    (2, 2)
    """

    def __init__(self, errors: Mapping[str, Any], noises: Sequence[float]):
        self.noises = np.asarray(noises, dtype=float)
        self.errors = {name: np.asarray(own, dtype=float) for name, own in errors.items()}
        self.errors = {
            name: own[:, None] if own.ndim == 1 else own for name, own in self.errors.items()
        }
        for name, own in self.errors.items():
            if len(own) != len(self.noises):
                raise ValueError(
                    f"errors[{name!r}] has {len(own)} rows for {len(self.noises)} noises; pass a "
                    "row for each."
                )

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        noises: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4),
        n_draws: int = 3,
        random_state: int = 0,
        ax: Axes | None = None,
    ) -> "NoiseCurveDisplay":
        """Train classifiers on labels made wrong on purpose, and test them on right ones.

        Parameters
        ----------
        estimators : dict of str to classifier
            By name.
        X, y, X_test, y_test : array-like
            Rows and right labels to train on and to test on.
        noises : sequence of float
            Shares of training labels to be replaced by other ones at random.
        n_draws : int, default=3
            Draws of the wrong labels; all methods get the same.
        random_state : int, default=0
            Seed of the first draw.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : NoiseCurveDisplay
            Drawn.
        """
        errors = {name: np.empty((len(noises), n_draws)) for name in estimators}
        for at, noise in enumerate(noises):
            for draw in range(n_draws):
                labels, _ = corrupt(y, noise, random_state=random_state + draw)
                for name, estimator in estimators.items():
                    model = clone(estimator).fit(X, labels)
                    errors[name][at, draw] = 1 - model.score(X_test, y_test)
        return cls(errors, noises).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ends = []
        for number, (name, errors) in enumerate(self.errors.items()):
            color = COLORS[number % len(COLORS)]
            mean, deviation = 100 * errors.mean(axis=1), 100 * errors.std(axis=1)
            along = 100 * self.noises
            ax.fill_between(
                along, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0
            )
            ax.plot(
                along,
                mean,
                color=color,
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linestyle=DASHES[number // len(COLORS) % len(DASHES)],
            )
            ends.append((float(mean[-1]), name, color))
        ax.set(xlabel="training labels made wrong", ylabel="test error")
        ax.set_ylim(bottom=0)
        ax.margins(x=0.03)
        percent_axis(ax.xaxis)
        percent_axis(ax.yaxis)
        light_grid(ax)
        label_ends(ax, ends)
