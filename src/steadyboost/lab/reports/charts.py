"""Small charts as SVG text: a panel with two axes, and what can be drawn on it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from steadyboost.plots import svg
from steadyboost.plots.svg import DASHES, FONTS, step_for, text_at

# Of the page's style, which has other values for a dark screen.
INK, QUIET, GRID = "currentColor", "var(--quiet)", "var(--grid)"
COLORS = tuple(f"var(--series-{k})" for k in range(len(svg.COLORS)))
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 270, 46, 368, 34, 226
EDGE = 4  # room for marks that lie on an axis


@dataclass(frozen=True)
class Axis:
    """From values to pixels, evenly or by their logarithm."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, place = (self._scaled(v) for v in (self.low, self.high, value))
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value

    def ticks(self) -> list[float]:
        if self.log and len(powers := log_ticks(self.low, self.high)) > 2:
            return powers
        step = step_for(self.high - self.low)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten in between, with twos and fives where these are too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [m * 10.0**power for power in powers for m in (1, 2, 5)]
    inside = [tick for tick in fine if low * 0.999 <= tick <= high * 1.001]
    tens = [tick for tick in inside if math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9)]
    return tens if len(tens) > 2 else inside


def axis_over(values: Sequence[float], start: float, end: float, log: bool = False) -> Axis:
    """An axis that shows all values, from zero where that is near."""
    low, high = min(values), max(values)
    if log:
        positive = [value for value in values if value > 0] or [1.0]
        low, high = min(positive), max(positive)
        return Axis(low / 1.1, high * 1.1, start, end, log=True)
    if 0 < low < 0.5 * high:
        low = 0.0
    room = 0.05 * (high - low) or 0.5
    return Axis(low if low == 0 else low - room, high + room, start, end)


@dataclass(frozen=True)
class Style:
    """Colour and dashes of a series."""

    color: str
    dash: str

    @property
    def attributes(self) -> str:
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{self.color}"{dash}'


def style_of(index: int) -> Style:
    """The same method has the same style in all panels."""
    return Style(COLORS[index % len(COLORS)], DASHES[index // len(COLORS) % len(DASHES)])


def panel(
    title: str,
    x: Axis,
    y: Axis,
    names: tuple[str, str],
    marks: Iterable[str],
    category: bool = False,
) -> str:
    """A chart with its title, axes and marks; marks beyond the axes are cut off."""
    wide, high = RIGHT - LEFT + 2 * EDGE, BOTTOM - TOP + 2 * EDGE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f"aria-label={quoteattr(title)} font-family={quoteattr(FONTS)} "
            f'font-size="12" fill="{INK}">',
            f'<text x="{LEFT}" y="18" font-weight="600">{escape(title)}</text>',
            *_axis_lines(x, y, category),
            text_at((LEFT + RIGHT) / 2, HEIGHT - 8, names[0], "middle", QUIET),
            text_at(4, TOP - 1, names[1], "start", QUIET),
            # A nested picture cuts off without an id, which would have to differ in each panel.
            f'<svg x="{LEFT - EDGE}" y="{TOP - EDGE}" width="{wide}" height="{high}" '
            f'viewBox="{LEFT - EDGE} {TOP - EDGE} {wide} {high}">',
            *marks,
            "</svg></svg>",
        ]
    )


def _axis_lines(x: Axis, y: Axis, category: bool) -> Iterable[str]:
    for value in y.ticks():
        place = y.at(value)
        yield f'<path d="M{LEFT} {place:.1f}H{RIGHT}" stroke="{GRID}"/>'
        yield text_at(LEFT - 6, place + 4, f"{value:g}", "end", QUIET)
    yield f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="{INK}"/>'
    for value in () if category else x.ticks():
        place = x.at(value)
        yield f'<path d="M{place:.1f} {BOTTOM}v4" stroke="{INK}"/>'
        yield text_at(place, BOTTOM + 18, f"{value:g}", "middle", QUIET)


def line(x: Axis, y: Axis, points: Sequence[tuple[float, float]], style: Style, name: str) -> str:
    """A series; its name shows under the pointer."""
    places = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
    dots = [dot(x.at(a), y.at(b), style.color, f"{name}: {b:.1f}") for a, b in points]
    few = "".join(dots) if len(points) <= 12 else ""
    return (
        f'<g><title>{escape(name)}</title><polyline points="{places}" fill="none" '
        f'stroke-width="2" stroke-linejoin="round" {style.attributes}/>{few}</g>'
    )


def dot(x: float, y: float, color: str, words: str, radius: float = 3.0) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}" fill-opacity="0.75">'
        f"<title>{escape(words)}</title></circle>"
    )


def bar(left: float, width: float, top: float, floor: float, color: str, words: str) -> str:
    height = max(0.0, floor - top)
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{color}"><title>{escape(words)}</title></rect>'
    )


def legend(names: Sequence[str]) -> str:
    """The styles of the methods, as HTML that wraps where there is little room."""
    keys = []
    for index, name in enumerate(names):
        swatch = (
            '<svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
            f'<path d="M1 5H25" stroke-width="3" {style_of(index).attributes}/></svg>'
        )
        keys.append(f"<span>{swatch} {escape(name)}</span>")
    return f'<p class="legend">{" ".join(keys)}</p>'
