"""The labels that an audit finds suspicious."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from steadyboost.boosters.steadyboost.label_table import LabelTable
from steadyboost.plots.style import GRID, QUIET, WRONG, Display


class SuspectsDisplay(Display):
    """The most suspicious rows of an audit: what they were given and what is suggested.

    Parameters
    ----------
    table : data frame, dict of arrays or table of labels
        Columns ``row``, ``given``, ``suggested`` and ``score``, the probability that the given
        label is right.
    n_suspects : int, default=15
        Rows to show.
    noisy : array-like of bool, default=None
        Where it is known which labels are wrong, by row number: false alarms are hollow then.

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
        self.size = (3.6, 0.8 + 0.18 * len(self.table["row"]))
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        scores = self.table["score"].astype(float)
        places = list(range(len(scores)))
        ax.hlines(places, 0, 1, color=GRID, linewidth=0.7, transform=ax.get_yaxis_transform())
        self._draw_dots(ax, scores, np.array(places))
        ax.set_yticks(places, [f"row {row}" for row in self.table["row"]])
        beside: dict[str, Any] = {
            "transform": ax.get_yaxis_transform(),
            "va": "center",
            "clip_on": False,
        }
        pairs = zip(self.table["given"], self.table["suggested"], strict=True)
        for place, (given, suggested) in zip(places, pairs, strict=True):
            ax.text(1.04, place, f"{given} → {suggested}", **beside)
        ax.text(1.04, -1, "given → suggested", color=QUIET, fontsize=7.5, **beside)
        ax.set_ylim(len(scores) - 0.4, -0.6)
        span = max(float(np.ptp(scores)), 1e-3) if len(scores) else 1.0
        ax.set_xlim(scores.min(initial=1.0) - 0.06 * span, scores.max(initial=0.0) + 0.06 * span)
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
