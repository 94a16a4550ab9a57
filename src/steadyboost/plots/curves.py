"""Error curves: errors by boosting round, and by the share of wrong labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.base import clone

from steadyboost.noise import corrupt
from steadyboost.pages.svg import COLORS, QUIET
from steadyboost.plots.style import DASHES, MARKERS, Display, label_ends, light_grid, percent_axis

RECORDED = {"train_error": "training", "val_error": "validation"}


class LearningCurveDisplay(Display):
    """Errors by boosting round, one line per set of rows or per method.

    Parameters
    ----------
    curves : dict of str to array-like
        Error rates, between 0 and 1, of rounds 1, 2 ...; by name.
    best : bool, default=True
        Mark the round of the lowest error of the last curve, unless it is the last round.

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
        """Mark the round of the lowest error, unless it is the last."""
        at = int(np.nanargmin(values))
        if at == len(values) - 1:
            return
        color = COLORS[(len(self.curves) - 1) % len(COLORS)]
        ax.plot(at + 1, 100 * values[at], "o", color=color, markersize=4.5, zorder=5)
        ax.annotate(
            f"minimum {100 * values[at]:.1f} %\nin round {at + 1}",
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
    def from_estimators(  # nine arguments: a public signature, all but six of them keywords
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
        """Train classifiers on corrupted labels and test them on correct ones.

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
