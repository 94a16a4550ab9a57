"""Learning curves: errors by round."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steadyboost.plots.style import (
    COLORS,
    DASHES,
    QUIET,
    Display,
    label_ends,
    light_grid,
    percent_axis,
)

RECORDED = {"train_error": "training", "val_error": "validation"}


class LearningCurveDisplay(Display):
    """Errors by boosting round, one line per set of rows or per method.

    Parameters
    ----------
    curves : dict of str to array-like
        Error rates, between 0 and 1, of rounds 1, 2 ...; by name.
    best : bool, default=True
        Mark the round of the least error of the last curve, unless it is the last round.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.plots import LearningCurveDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> display = LearningCurveDisplay.from_estimator(model, X, y, name="training")
    >>> list(display.curves)
    ['training']
    """

    def __init__(self, curves: Mapping[str, Any], *, best: bool = True):
        if not curves:
            raise ValueError("curves={} has nothing to draw; pass error rates by name.")
        self.curves = {name: np.asarray(values, dtype=float) for name, values in curves.items()}
        self.best = best

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        name: str = "test",
        ax: Axes | None = None,
    ) -> "LearningCurveDisplay":
        """Curves of a fitted booster.

        Parameters
        ----------
        estimator : booster
            A fitted booster. Errors that its history holds (early stopping records those of
            validation rows, ``Monitor()`` of both) are drawn.
        X, y : array-like, default=None
            Rows whose error is computed round by round.
        name : str, default="test"
            What these are called.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : LearningCurveDisplay
            Drawn.
        """
        history = estimator.history_
        curves = {
            words: [np.nan if value is None else value for value in history[column]]
            for column, words in RECORDED.items()
            if column in history.columns
        }
        if X is not None:
            y = np.asarray(y)
            curves[name] = [
                float(np.mean(_wrong(found, y))) for found in estimator.staged_predict(X)
            ]
        if not curves:
            raise ValueError(
                "The history of the model holds no errors: pass X and y, or fit with "
                "callbacks=[Monitor()] or early_stopping=True."
            )
        return cls(curves).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ends = []
        for number, (name, values) in enumerate(self.curves.items()):
            color, dash = COLORS[number % len(COLORS)], DASHES[number // len(COLORS) % len(DASHES)]
            rounds = np.arange(1, len(values) + 1)
            ax.plot(rounds, 100 * values, color=color, linestyle=dash)
            ends.append((100 * float(values[-1]), name, color))
        ax.set(xlabel="boosting round", ylabel="error")
        n_rounds = max(map(len, self.curves.values()))
        ax.set_xlim(1 if n_rounds > 1 else 0.5, max(n_rounds, 1.5))
        ax.set_ylim(0, 1.03 * ax.get_ylim()[1])
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
        percent_axis(ax.yaxis)
        light_grid(ax)
        if self.best:
            self._mark_best(ax, *list(self.curves.values())[-1:])
        label_ends(ax, ends)

    def _mark_best(self, ax: Axes, values: np.ndarray) -> None:
        """The round to stop at, where that is not the last."""
        at = int(np.nanargmin(values))
        if at == len(values) - 1:
            return
        color = COLORS[(len(self.curves) - 1) % len(COLORS)]
        ax.plot(at + 1, 100 * values[at], "o", color=color, markersize=4.5, zorder=5)
        ax.annotate(
            f"least {100 * values[at]:.1f} %\nin round {at + 1}",
            (at + 1, 100 * values[at]),
            xytext=(0, -7),
            textcoords="offset points",
            ha="center",
            va="top",
            color=QUIET,
            fontsize=7,
        )


def _wrong(found: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows that are wrong; a set of labels is if any of it is."""
    return (found != y).any(axis=1) if y.ndim == 2 else found != y
