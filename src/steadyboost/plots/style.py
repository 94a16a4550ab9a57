"""The style that all displays share, readable in print and by colour-blind readers."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure

from steadyboost.pages.svg import COLORS, GRID, INK, spread

RIGHT, WRONG = COLORS[:2]  # rows whose label is right, and whose label is wrong
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (5, 1.5, 1.2, 1.5)))
SEQUENTIAL = LinearSegmentedColormap.from_list(
    "steady", ["#ffffff", "#9cc8e3", "#0072b2", "#0b2e4f"]
)

STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "figure.facecolor": "white",
}


class Display:
    """Base class of the displays: creates the axes in our style; subclasses draw."""

    size = (3.6, 2.6)  # inches: one column of a paper
    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : object
            With ``ax_`` and ``figure_``.
        """
        with plt.rc_context(STYLE):
            if ax is None:
                _, ax = plt.subplots(figsize=self.size, layout="constrained")
            self.ax_, self.figure_ = ax, ax.figure
            ax.spines[["top", "right"]].set_visible(False)
            self._draw(ax)
            is_interactive = plt.isinteractive()
        # The first figure of a notebook loads a backend, which switches the interactive mode on;
        # the end of the context would switch it off, and no later figure would be shown.
        matplotlib.interactive(is_interactive)
        return self

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError


def percent_axis(axis: Any) -> None:
    """Format the ticks of an axis as percentages."""
    axis.set_major_formatter(lambda value, _: f"{value:g} %")


def light_grid(ax: Axes, axis: Any = "y") -> None:
    ax.grid(axis=axis, color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)


def label_ends(ax: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names at the right ends of lines, (value, name, colour), without overlaps.

    The limits of the axes must be final.
    """
    if not ends:
        return
    height = ax.get_window_extent().height / ax.figure.dpi * 72  # in points
    gap = 1.25 * STYLE["font.size"] / height
    low, high = ax.get_ylim()
    scale = ax.yaxis.get_transform()
    bottom, top = scale.transform(low), scale.transform(high)
    wanted = [float((scale.transform(value) - bottom) / (top - bottom)) for value, _, _ in ends]
    for place, (_, name, color) in zip(spread(wanted, gap, 0.0, 1.0), ends, strict=True):
        ax.text(
            1.02,
            place,
            name,
            color=color,
            transform=ax.transAxes,
            va="center",
            ha="left",
            clip_on=False,
        )
