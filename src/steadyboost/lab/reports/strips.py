"""Strips: a line per name with a dot per run and a bar at the mean, as SVG text.

The name stands above its line, so that the picture is as readable on a phone as on a desk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from steadyboost.lab.reports.charts import GRID, INK, QUIET, WIDTH, Axis, axis_over, dot
from steadyboost.plots.svg import FONTS, text_at

LEFT, RIGHT, TOP, LINE = 14, WIDTH - 14, 34, 38


@dataclass(frozen=True)
class Strip:
    """The values of one name, its colour, and its mean in words."""

    name: str
    values: Sequence[float]
    color: str
    words: str


def strips(title: str, unit: str, rows: Sequence[Strip], log: bool = False) -> str:
    """A picture of all values; nothing where there are none."""
    values = [value for row in rows for value in row.values]
    if not values:
        return ""
    x = axis_over(values, LEFT, RIGHT, log)
    floor = TOP + LINE * len(rows) + 6
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {floor + 42}" '
            f'role="img" aria-label={quoteattr(title)} font-family={quoteattr(FONTS)} '
            f'font-size="12" fill="{INK}">',
            f'<text x="{LEFT}" y="18" font-weight="600">{escape(title)}</text>',
            *_grid(x, floor, unit),
            *(_strip(x, TOP + LINE * k, row) for k, row in enumerate(rows)),
            "</svg>",
        ]
    )


def _grid(x: Axis, floor: float, unit: str) -> list[str]:
    lines = []
    for value in x.ticks():
        place = x.at(value)
        lines.append(f'<path d="M{place:.1f} {TOP - 4}V{floor}" stroke="{GRID}"/>')
        lines.append(text_at(place, floor + 16, f"{value:g}", "middle", QUIET))
    return [*lines, text_at((LEFT + RIGHT) / 2, floor + 34, unit, "middle", QUIET)]


def _strip(x: Axis, top: float, row: Strip) -> str:
    place = top + 25
    mean = x.at(float(np.mean(row.values)))
    dots = [dot(x.at(value), place, row.color, f"{value:.4g}", 3.5) for value in row.values]
    return (
        f'<g><text x="{LEFT}" y="{top + 13}">{escape(row.name)}</text>'
        f'<text x="{RIGHT}" y="{top + 13}" text-anchor="end" font-weight="600">'
        f"{escape(row.words)}</text>"
        f'<path d="M{LEFT} {place}H{RIGHT}" stroke="{GRID}"/>{"".join(dots)}'
        f'<path d="M{mean:.1f} {place - 7}v14" stroke="{row.color}" stroke-width="3"/></g>'
    )
