"""Displays of training rows: their margins, their weights, and suspicious labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.base import clone

from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.bounds import margins as vote_margins
from steadyboost.bounds.margin import lead, own_labels
from steadyboost.callbacks import Callback
from steadyboost.noise.label_table import LabelTable, percent
from steadyboost.pages.svg import COLORS, GRID, QUIET
from steadyboost.plots.style import DASHES, RIGHT, WRONG, Display, light_grid, percent_axis


class MarginDistributionDisplay(Display):
    """Cumulative distribution of the margins, one line per group of rows or model.

    Parameters
    ----------
    margins : dict of str to array-like
        Margins, from -1 (all votes against the label) to 1 (all for it), by name.

    References
    ----------
    .. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
       Statistics 26, 1651-1686.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump
    >>> from steadyboost.plots import MarginDistributionDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=20, random_state=0).fit(X, y)
    >>> display = MarginDistributionDisplay.from_estimator(model, X, y)
    >>> display.ax_.get_xlabel()
    'margin'
    """

    def __init__(self, margins: Mapping[str, Any]):
        if not margins:
            raise ValueError("margins={} has nothing to draw; pass margins by name.")
        self.margins = {name: np.sort(np.asarray(own, float)) for name, own in margins.items()}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        noisy: Any = None,
        of: str = "auto",
        ax: Axes | None = None,
    ) -> "MarginDistributionDisplay":
        """Margins of rows under a fitted booster.

        Parameters
        ----------
        estimator : booster
            A fitted booster.
        X, y : array-like
            Rows and their labels.
        noisy : array-like of bool, default=None
            Which labels are wrong; these rows are drawn as a separate line.
        of : {"auto", "votes", "probabilities"}, default="auto"
            Margins of normalized votes [1]_, or of probabilities, which are also defined for
            boosters that do not add up votes, or have a subproblem per class. "auto" takes votes
            where a booster has them.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : MarginDistributionDisplay
            Drawn.
        """
        found = margins_of(estimator, X, y, of)
        if noisy is None:
            return cls({"": found}).plot(ax)
        noisy = np.asarray(noisy, dtype=bool)
        return cls({"label is right": found[~noisy], "label is wrong": found[noisy]}).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.axvline(0, color=GRID, linewidth=1.2, zorder=0)
        for number, (name, own) in enumerate(self.margins.items()):
            share = 100 * np.arange(1, len(own) + 1) / len(own)
            along = np.concatenate([[-1.0], own, [1.0]])
            ax.step(
                along,
                np.concatenate([[0.0], share, [100.0]]),
                where="post",
                color=COLORS[number % len(COLORS)],
                linestyle=DASHES[number % len(DASHES)],
                label=name,
            )
        widest = max(float(np.abs(own).max()) for own in self.margins.values())
        reach = min(1.0, np.ceil(10 * widest + 0.2) / 10)
        ax.set(xlabel="margin", ylabel="cumulative share of rows")
        ax.set(xlim=(-reach, reach), ylim=(0, 100.5))
        percent_axis(ax.yaxis)
        light_grid(ax)
        for x, side, words in ((0.49, "right", "← misclassified"), (0.51, "left", "correct →")):
            ax.text(x, 1.02, words, ha=side, transform=ax.transAxes, color=QUIET, fontsize=7.5)
        if any(self.margins):
            ax.legend(loc="best", borderaxespad=0.4)


def margins_of(model: Any, X: Any, y: Any, of: str) -> np.ndarray:
    """Margins between -1 and 1."""
    if of not in ("auto", "votes", "probabilities"):
        raise ValueError(f"of={of!r} is not known; pass 'auto', 'votes' or 'probabilities'.")
    own = own_labels(model, y)
    is_binary = isinstance(model, BinaryBoostingClassifier) and model.n_classes_ == 2
    has_votes = is_binary or model.adds_votes
    if of == "probabilities" or (of == "auto" and not has_votes):
        return lead(model.predict_proba(X), own)
    if is_binary:
        reach = np.abs(model.estimator_weights_).sum() or 1.0
        return np.where(own == 1, 1, -1) * model.decision_function(X) / reach
    if not model.adds_votes:
        raise ValueError(
            f"of='votes': {type(model).__name__} has no vote margins; pass of='probabilities'."
        )
    return vote_margins(model, X, y)


N_DRAWN = 60  # rows of each kind that are drawn as single lines; more would hide each other
LEAST = 1e-6  # smaller weights, relative to the mean, are drawn here: the axis is logarithmic


class _Weights(Callback):
    """Records the sample weights of each round."""

    def on_begin(self, run: Any) -> None:
        self.by_round: list[np.ndarray] = []

    def on_round(self, run: Any) -> None:
        self.by_round.append(run.weights.copy())


class WeightHistoryDisplay(Display):
    """Sample weights by boosting round, of rows with wrong and with correct labels.

    Thin lines are single rows, up to 60 of each kind; thick lines are means over all rows of a
    kind. Weights are relative to the mean weight of all rows.

    Parameters
    ----------
    weights : array-like of shape (n_rounds, n_samples)
        Weights of each round, on any scale.
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
            Axes to draw on; a new figure by default.

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


class SuspectsDisplay(Display):
    """The most suspicious rows of an audit, with their given and suggested labels.

    Parameters
    ----------
    table : data frame, dict of arrays or table of labels
        Columns ``row``, ``given``, ``suggested`` and ``score``, the probability that the given
        label is right.
    n_suspects : int, default=15
        Rows to show.
    noisy : array-like of bool, default=None
        Which labels are known to be wrong, by row number; false alarms are then drawn hollow.

    Examples
    --------
    >>> from steadyboost.plots import SuspectsDisplay
    >>> table = {
    ...     "row": [17, 4],
    ...     "given": ["cat", "dog"],
    ...     "suggested": ["dog", "cat"],
    ...     "score": [0.01, 0.07],
    ... }
    >>> display = SuspectsDisplay(table).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['row 17', 'row 4']
    """

    def __init__(self, table: Any, *, n_suspects: int = 15, noisy: Any = None):
        names = ("row", "given", "suggested", "score")
        columns = {name: np.asarray(_column(table, name)) for name in names}
        order = np.argsort(columns["score"].astype(float), kind="stable")[:n_suspects]
        self.table = {name: values[order] for name, values in columns.items()}
        self.noisy = None if noisy is None else np.asarray(noisy, bool)[self.table["row"]]

    @classmethod
    def from_audit(
        cls, audit: Any, *, n_suspects: int = 15, noisy: Any = None, ax: Axes | None = None
    ) -> "SuspectsDisplay":
        """Of what :func:`steadyboost.noise.audit` found."""
        return cls(audit.table, n_suspects=n_suspects, noisy=noisy).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_suspects: int = 15, noisy: Any = None, ax: Axes | None = None
    ) -> "SuspectsDisplay":
        """Of the training rows of a fitted :class:`~steadyboost.SteadyBoostClassifier`."""
        return cls(estimator.labels_, n_suspects=n_suspects, noisy=noisy).plot(ax)

    def plot(self, ax: Axes | None = None) -> Any:
        self.size = (4.4, 0.8 + 0.18 * len(self.table["row"]))
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        scores = self.table["score"].astype(float)
        if not len(scores):
            ax.text(0.5, 0.5, "no rows to show", transform=ax.transAxes, ha="center", color=QUIET)
            ax.set_axis_off()
            return
        places = list(range(len(scores)))
        ax.hlines(places, 0, 1, color=GRID, linewidth=0.7, transform=ax.get_yaxis_transform())
        self._draw_dots(ax, scores, np.array(places))
        ax.set_yticks(places, [f"row {row}" for row in self.table["row"]])
        beside: dict[str, Any] = {
            "transform": ax.get_yaxis_transform(),
            "va": "center",
            "clip_on": False,
        }
        lines = zip(self.table["given"], self.table["suggested"], scores, strict=True)
        for place, (given, suggested, score) in zip(places, lines, strict=True):
            change = f"{given}" if given == suggested else f"{given} → {suggested}"
            ax.text(1.04, place, f"{change} ({percent(score)})", **beside)
        quiet: dict[str, Any] = {"color": QUIET, "fontsize": 7.5, **beside}
        ax.text(1.04, -1, "given → suggested (P(right))", **quiet)
        ax.set_ylim(len(scores) - 0.4, -0.6)
        # At least a tenth wide, and from 0 if that is near: small differences stay small.
        low = 0.0 if scores.min() < 0.1 else float(scores.min())
        high = min(1.0, max(float(scores.max()), low + 0.1))
        room = 0.04 * (high - low)
        ax.set_xlim(low - room, high + room)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("probability that the label is right")

    def _draw_dots(self, ax: Axes, scores: np.ndarray, places: np.ndarray) -> None:
        wrong = np.ones(len(scores), bool) if self.noisy is None else self.noisy
        ax.scatter(scores[wrong], places[wrong], color=WRONG, s=24, zorder=3, label="wrong label")
        if self.noisy is not None:
            ax.scatter(
                scores[~wrong],
                places[~wrong],
                facecolors="white",
                edgecolors=WRONG,
                linewidths=1.1,
                s=21,
                zorder=3,
                label="false alarm",
            )
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, handletextpad=0.1)


def _column(table: Any, name: str) -> Any:
    return getattr(table, name) if isinstance(table, LabelTable) else table[name]
