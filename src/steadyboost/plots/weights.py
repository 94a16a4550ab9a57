"""Where the weight goes, round by round."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.base import clone

from steadyboost.callbacks import Callback
from steadyboost.plots.style import QUIET, RIGHT, WRONG, Display, light_grid

N_DRAWN = 60  # rows of each kind that are drawn one by one
LEAST = 1e-6  # weights below, relative to the mean, are drawn there


class _Weights(Callback):
    """Keeps the weights that each round trained with."""

    def on_begin(self, run: Any) -> None:
        self.by_round: list[np.ndarray] = []

    def on_round(self, run: Any) -> None:
        self.by_round.append(run.weights.copy())


class WeightHistoryDisplay(Display):
    """Weights of rows by round, with wrong labels apart from right ones.

    Thin lines are rows, up to 60 of each kind; thick lines the mean of all rows of the kind. A
    weight of 1 is that of an average row.

    Parameters
    ----------
    weights : array-like of shape (n_rounds, n_samples)
        Weights of each round, in any unit.
    noisy : array-like of bool of shape (n_samples,), default=None
        Which labels are wrong.
    random_state : int, default=0
        Which rows are drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump
    >>> from steadyboost.noise import corrupt
    >>> from steadyboost.plots import WeightHistoryDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> y, noisy = corrupt(y, 0.1, random_state=0)
    >>> model = SAMMEClassifier(Stump(), n_estimators=20, random_state=0)
    >>> WeightHistoryDisplay.from_estimator(model, X, y, noisy=noisy).weights.shape
    (20, 178)
    """

    def __init__(self, weights: Any, noisy: Any = None, *, random_state: int = 0):
        weights = np.asarray(weights, dtype=float)
        self.weights = weights / weights.mean(axis=1, keepdims=True)
        n_rows = weights.shape[1]
        self.noisy = np.zeros(n_rows, bool) if noisy is None else np.asarray(noisy, dtype=bool)
        if self.noisy.shape != (n_rows,):
            raise ValueError(
                f"noisy has shape {self.noisy.shape}, but weights are of {n_rows} rows; pass one "
                "boolean per row."
            )
        self.random_state = random_state

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, noisy: Any = None, ax: Axes | None = None
    ) -> "WeightHistoryDisplay":
        """Train a clone of a booster on rows, and draw the weights of its rounds.

        Parameters
        ----------
        estimator : booster
            A booster, fitted or not; early stopping is switched off, which sets rows aside.
        X, y : array-like
            Rows and their labels.
        noisy : array-like of bool, default=None
            Which labels are wrong.
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        display : WeightHistoryDisplay
            Drawn.
        """
        seen = _Weights()
        clone(estimator).set_params(callbacks=[seen], early_stopping=False).fit(X, y)
        return cls(seen.by_round, noisy).plot(ax)

    def _draw(self, ax: Axes) -> None:
        rounds = np.arange(1, len(self.weights) + 1)
        kinds = [("label is right", ~self.noisy, RIGHT), ("label is wrong", self.noisy, WRONG)]
        rng = np.random.default_rng(self.random_state)
        for _, rows, color in kinds:
            of_kind = np.flatnonzero(rows)
            drawn = rng.choice(of_kind, min(N_DRAWN, len(of_kind)), replace=False)
            lines = np.maximum(self.weights[:, drawn], LEAST)
            ax.plot(rounds, lines, color=color, linewidth=0.5, alpha=0.28, zorder=1)
        for name, rows, color in kinds:
            if rows.any():
                mean = self.weights[:, rows].mean(axis=1)
                ax.plot(rounds, mean, color="white", linewidth=3.6, zorder=2)
                ax.plot(rounds, mean, color=color, linewidth=2, label=name, zorder=3)
        ax.set_yscale("log")
        ax.axhline(1, color=QUIET, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
        ax.set(xlabel="boosting round", ylabel="weight (mean row = 1)")
        ax.set_xlim(1, max(2, len(rounds)))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.minorticks_off()
        light_grid(ax)
        if self.noisy.any():
            ax.legend(loc="lower left", borderaxespad=0.2)
