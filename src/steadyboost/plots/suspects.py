"""The labels that an audit finds suspicious."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from steadyboost.plots.style import QUIET, WRONG, Display, light_grid


class SuspectsDisplay(Display):
    """The most suspicious rows of an audit: what they were given and what is suggested.

    Parameters
    ----------
    table : data frame or dict of arrays
        Columns ``row``, ``given``, ``suggested`` and ``score``; the larger the score, the more
        suspicious.
    n_suspects : int, default=15
        Rows to show.

    Examples
    --------
    >>> from steadyboost.plots import SuspectsDisplay
    >>> table = {
    ...     "row": [17, 4],
    ...     "given": ["cat", "dog"],
    ...     "suggested": ["dog", "cat"],
    ...     "score": [0.9, 0.7],
    ... }
    >>> display = SuspectsDisplay(table).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['row 17', 'row 4']
    """

    def __init__(self, table: Any, *, n_suspects: int = 15):
        columns = {name: np.asarray(table[name]) for name in ("row", "given", "suggested", "score")}
        order = np.argsort(-columns["score"], kind="stable")[:n_suspects]
        self.n_rows = len(columns["row"])
        self.table = {name: values[order] for name, values in columns.items()}

    @classmethod
    def from_audit(
        cls, audit: Any, *, n_suspects: int = 15, ax: Axes | None = None
    ) -> "SuspectsDisplay":
        """Of what :func:`steadyboost.noise.audit` found."""
        return cls(audit.table, n_suspects=n_suspects).plot(ax)

    def plot(self, ax: Axes | None = None) -> Any:
        self.size = (3.6, 0.75 + 0.19 * len(self.table["row"]))
        return super().plot(ax)

    def _draw(self, ax: Axes) -> None:
        scores = self.table["score"].astype(float)
        places = np.arange(len(scores))
        ax.hlines(places, 0, scores, color=WRONG, linewidth=1.6)
        ax.scatter(scores, places, color=WRONG, s=22, zorder=3)
        ax.set_yticks(places, [f"row {row}" for row in self.table["row"]])
        for place, given, suggested in zip(
            places, self.table["given"], self.table["suggested"], strict=True
        ):
            ax.text(
                1.03,
                place,
                f"{given} → {suggested}",
                transform=ax.get_yaxis_transform(),
                va="center",
                clip_on=False,
            )
        ax.text(
            1.03,
            -1,
            "given → suggested",
            transform=ax.get_yaxis_transform(),
            va="center",
            color=QUIET,
            fontsize=7.5,
            clip_on=False,
        )
        ax.set_ylim(len(scores) - 0.4, -0.6)
        ax.set_xlim(0, max(1.0, 1.03 * float(scores.max(initial=0.0))))
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel("score: how suspicious the label is")
        light_grid(ax, "x")
