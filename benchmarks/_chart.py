"""The chart of a run: how long a round of each peer takes, in rounds of ours."""

from pathlib import Path

import matplotlib
import numpy as np
from _bars import fit_ratio
from _models import MODELS, OURS
from _report import times
from _results import Results
from _sets import SETS

matplotlib.use("Agg")  # a file, whether or not there is a display
import matplotlib.pyplot as plt

COLOURS = {"adaboost": "#c44e52", "hgb": "#dd8452", "lightgbm": "#55a868", "xgboost": "#4c72b0"}


def draw(results: Results, path: Path) -> None:
    peers = [m for m in MODELS if m != OURS and any(f.model == m for f in results.fits)]
    names = list(results.shapes)
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    for place, peer in enumerate(peers):
        ratios = [fit_ratio(results, name, (peer, 1), (OURS, 1), "per_round") for name in names]
        _draw_peer(axes, peer, ratios, place - (len(peers) - 1) / 2, 0.8 / max(len(peers), 1))
    _label(axes, results, names)
    if peers:
        figure.legend(ncols=len(peers), fontsize=8, loc="outside lower center")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_peer(
    axes: plt.Axes, peer: str, ratios: list[float | None], offset: float, width: float
) -> None:
    """Bars up from 1 where we are faster, down from it where we are slower."""
    heights = [np.nan if ratio is None else ratio - 1 for ratio in ratios]
    places = np.arange(len(ratios)) + offset * width
    label, colour = MODELS[peer].label, COLOURS[peer]
    bars = axes.bar(places, heights, width, bottom=1, label=label, color=colour, zorder=2)
    axes.bar_label(bars, [times(ratio) for ratio in ratios], fontsize=7, padding=2)


def _label(axes: plt.Axes, results: Results, names: list[str]) -> None:
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=1, zorder=3)
    axes.margins(y=0.15)
    axes.grid(axis="y", alpha=0.3, zorder=0)
    axes.set_xticks(np.arange(len(names)), [_tick(results, name) for name in names])
    axes.set_ylabel("seconds per round, ours = 1")
    quick = "QUICK RUN, TINY SIZES: " if results.quick else ""
    axes.set_title(f"{quick}one boosting round, trees of depth 3, 1 thread (log scale)")


def _tick(results: Results, name: str) -> str:
    rows, columns, classes = results.shapes[name]
    return f"{SETS[name].title}\n{rows:,} × {columns}\n{classes} classes"
