"""Charts as SVG text: error curves of the demo, and the panels of HTML pages.

Written by hand rather than by matplotlib, which is an optional dependency: ``steadyboost demo``,
``audit --html`` and ``compare --html`` work in any installation, the colours of a page follow its
style sheet (also on a dark screen), and each mark has a tooltip. All text is escaped here.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from xml.sax.saxutils import escape, quoteattr

import numpy as np

# Of the chart of error curves; labels of the curves are right of CHART_RIGHT.
CHART_WIDTH, CHART_LEFT, CHART_RIGHT, CHART_TOP, CHART_BOTTOM = 900, 62, 630, 84, 60
LABEL_GAP = 21  # between the baselines of two labels, in a font of 13 pixels
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
INK, QUIET, GRID = "#24292f", "#57606a", "#e4e8ec"
# After Okabe and Ito (2008), for colour-blind readers, in an order in which neighbours also differ
# in lightness; grey is for the baseline. Displays of matplotlib use the same palette.
BASELINE_COLOR = "#6e7781"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#e69f00", "#56b4e9", "#8c564b", "#332288")
DASHES = ("", "7 3", "2 3")  # for the second and third use of a colour


@dataclass(frozen=True)
class Line:
    """A named curve of values by round; bold ones are emphasised."""

    name: str
    values: Sequence[float]
    baseline: bool = False
    bold: bool = False


@dataclass(frozen=True)
class LineStyle:
    """Style of a curve and of its label."""

    color: str
    dash: str
    width: float
    opacity: float


@dataclass(frozen=True)
class ChartArea:
    """The plotting area in pixels, and the values at its right and upper edges."""

    n_rounds: int
    top_value: float
    height: int

    @property
    def floor(self) -> int:
        return self.height - CHART_BOTTOM

    def x(self, round_: float) -> float:
        # A single round is at the right edge, next to its label.
        share = (round_ - 1) / (self.n_rounds - 1) if self.n_rounds > 1 else 1.0
        return CHART_LEFT + share * (CHART_RIGHT - CHART_LEFT)

    def y(self, value: float) -> float:
        return self.floor - value / self.top_value * (self.floor - CHART_TOP)


def error_chart(lines: Sequence[Line], title: str, subtitle: str) -> str:
    """A chart of error rates in percent by round, one line per method, as SVG text.

    Each curve is labelled at its end with its name and last value; one that ends early is continued
    by dots. Curves may start above the axis, which ends just above the largest last value, to
    show the differences between the final errors.
    """
    height = max(480, CHART_TOP + CHART_BOTTOM + LABEL_GAP * len(lines))
    top_value = min(100.0, 10 * math.ceil(max(line.values[-1] for line in lines) * 1.1 / 10 + 0.01))
    frame = ChartArea(max(len(line.values) for line in lines), top_value, height)
    styles = _styles(lines)
    order = sorted(range(len(lines)), key=lambda i: (not lines[i].baseline, lines[i].bold))
    body = [
        *_head(height, title, subtitle),
        *_axes(frame),
        *(_curve(frame, lines[i], styles[i]) for i in order),
        *_labels(frame, lines, styles),
        "</svg>",
    ]
    return "\n".join(body) + "\n"


def _styles(lines: Sequence[Line]) -> list[LineStyle]:
    fresh = iter(product(DASHES * len(lines), COLORS))
    styles = []
    for line in lines:
        dash, color = ("", BASELINE_COLOR) if line.baseline else next(fresh)
        # Wide and drawn first, so that a curve that coincides with it stays visible.
        width = 5.0 if line.baseline else 3.0 if line.bold else 1.8
        styles.append(LineStyle(color, dash, width, 0.5 if line.baseline else 1.0))
    return styles


def _head(height: int, title: str, subtitle: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {height}" '
        f'width="{CHART_WIDTH}" height="{height}" role="img" aria-label={quoteattr(title)} '
        f"font-family={quoteattr(FONTS)} "
        f'font-size="13" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{CHART_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        f'<clipPath id="area"><rect x="{CHART_LEFT - 4}" y="{CHART_TOP}" '
        f'width="{CHART_RIGHT - CHART_LEFT + 8}" '
        f'height="{height - CHART_TOP - CHART_BOTTOM}"/></clipPath>',
        f'<text x="{CHART_LEFT}" y="34" font-size="18" font-weight="600">{escape(title)}</text>',
        f'<text x="{CHART_LEFT}" y="56" fill="{QUIET}">{escape(subtitle)}</text>',
    ]


def _axes(frame: ChartArea) -> Iterable[str]:
    for value in _ticks(frame.top_value):
        y = frame.y(value)
        color = INK if value == 0 else GRID
        yield f'<path d="M{CHART_LEFT} {y:.1f} H{CHART_RIGHT}" stroke="{color}"/>'
        yield text_at(CHART_LEFT - 10, y + 4.5, f"{value:g} %", "end", QUIET)
    for round_ in _round_ticks(frame.n_rounds):
        x = frame.x(round_)
        yield f'<path d="M{x:.1f} {frame.floor} v5" stroke="{INK}"/>'
        yield text_at(x, frame.floor + 21, str(round_), "middle", QUIET)
    yield text_at(
        (CHART_LEFT + CHART_RIGHT) / 2,
        frame.floor + 44,
        "boosting rounds (trees of a forest)",
        "middle",
        QUIET,
    )


def text_at(x: float, y: float, words: str, anchor: str, color: str) -> str:
    """Text as an SVG element."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">'
        f"{escape(words)}</text>"
    )


def step_for(span: float) -> float:
    """Distance of ticks: the smallest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... for at most six steps."""
    power = 10.0 ** math.floor(math.log10(span / 6))
    return next(step for m in (1, 2, 5, 10) if span <= 6 * (step := m * power) * (1 + 1e-9))


def _spacing(span: float) -> int:
    return max(1, round(step_for(span)))


def _ticks(top: float) -> Iterable[int]:
    return range(0, math.floor(top) + 1, _spacing(top))


def _round_ticks(n_rounds: int) -> list[int]:
    step = _spacing(n_rounds)
    return sorted({1, *range(step, n_rounds + 1, step)})


def _curve(frame: ChartArea, line: Line, style: LineStyle) -> str:
    points = [(frame.x(t), frame.y(value)) for t, value in enumerate(line.values, start=1)]
    x, y = points[-1]
    coordinates = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    dash = f'stroke-dasharray="{style.dash}" ' if style.dash else ""
    parts = [
        f'<g clip-path="url(#area)"><polyline points="{coordinates}" fill="none" '
        f'stroke="{style.color}" stroke-width="{style.width}" opacity="{style.opacity}" '
        f'{dash}stroke-linejoin="round"/>',
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{style.color}"/>',
    ]
    if x < CHART_RIGHT:
        parts.append(
            f'<path d="M{x:.1f} {y:.1f} H{CHART_RIGHT}" stroke="{style.color}" '
            'stroke-width="1.6" stroke-dasharray="1 6" stroke-linecap="round"/>'
        )
    return "".join(parts) + "</g>"


def _labels(frame: ChartArea, lines: Sequence[Line], styles: Sequence[LineStyle]) -> Iterable[str]:
    ends = [frame.y(line.values[-1]) for line in lines]
    places = spread(ends, LABEL_GAP, CHART_TOP, frame.floor)
    x = CHART_RIGHT + 32
    for line, style, end, place in zip(lines, styles, ends, places, strict=True):
        weight = 700 if line.bold else 400
        yield (
            f'<path d="M{CHART_RIGHT + 5} {end:.1f} L{x - 6} {place:.1f}" stroke="{style.color}" '
            'fill="none" opacity="0.6"/>'
        )
        yield (
            f'<text x="{x}" y="{place + 4.5:.1f}" font-weight="{weight}">'
            f'<tspan fill="{style.color}">{line.values[-1]:.1f} %</tspan>'
            f'<tspan x="{x + 58}">{escape(line.name)}</tspan></text>'
        )


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions close to the wanted ones, in the same order, at least ``gap`` apart.

    None is above ``high``, and none below ``low`` if there is space for all.
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places = list(wanted)
    edge = low
    for i in order:
        places[i] = max(places[i], edge)
        edge = places[i] + gap
    edge = high
    for i in reversed(order):
        places[i] = min(places[i], edge)
        edge = places[i] - gap
    return places


# CSS variables of the page, which have other values on a dark screen.
PAGE_INK, PAGE_QUIET, PAGE_GRID = "currentColor", "var(--quiet)", "var(--grid)"
PAGE_COLORS = tuple(f"var(--series-{k})" for k in range(len(COLORS)))
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 270, 46, 368, 34, 226
EDGE = 4  # pixels for marks that lie on an axis


@dataclass(frozen=True)
class Axis:
    """Maps values to pixels, on a linear or logarithmic scale."""

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
    """Powers of ten in a range, and twice and five times these if they are too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [m * 10.0**power for power in powers for m in (1, 2, 5)]
    inside = [tick for tick in fine if low * 0.999 <= tick <= high * 1.001]
    tens = [tick for tick in inside if math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9)]
    return tens if len(tens) > 2 else inside


def axis_over(values: Sequence[float], start: float, end: float, log: bool = False) -> Axis:
    """An axis that shows all values; it starts at zero if that is close to the smallest."""
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
class SeriesStyle:
    """Colour and dash pattern of a series in a panel."""

    color: str
    dash: str

    @property
    def attributes(self) -> str:
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{self.color}"{dash}'


def style_of(index: int) -> SeriesStyle:
    """Style by index, so that a method has the same style in all panels."""
    return SeriesStyle(PAGE_COLORS[index % len(COLORS)], DASHES[index // len(COLORS) % len(DASHES)])


def panel(
    title: str,
    x: Axis,
    y: Axis,
    names: tuple[str, str],
    marks: Iterable[str],
    category: bool = False,
) -> str:
    """A chart with title, axes and marks; marks outside the axes are clipped."""
    wide, high = RIGHT - LEFT + 2 * EDGE, BOTTOM - TOP + 2 * EDGE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f"aria-label={quoteattr(title)} font-family={quoteattr(FONTS)} "
            f'font-size="12" fill="{PAGE_INK}">',
            f'<text x="{LEFT}" y="18" font-weight="600">{escape(title)}</text>',
            *_axis_lines(x, y, category),
            text_at((LEFT + RIGHT) / 2, HEIGHT - 8, names[0], "middle", PAGE_QUIET),
            text_at(4, TOP - 1, names[1], "start", PAGE_QUIET),
            # A nested svg element clips; a clipPath would need an id that is unique in the page.
            f'<svg x="{LEFT - EDGE}" y="{TOP - EDGE}" width="{wide}" height="{high}" '
            f'viewBox="{LEFT - EDGE} {TOP - EDGE} {wide} {high}">',
            *marks,
            "</svg></svg>",
        ]
    )


def _axis_lines(x: Axis, y: Axis, category: bool) -> Iterable[str]:
    for value in y.ticks():
        place = y.at(value)
        yield f'<path d="M{LEFT} {place:.1f}H{RIGHT}" stroke="{PAGE_GRID}"/>'
        yield text_at(LEFT - 6, place + 4, f"{value:g}", "end", PAGE_QUIET)
    yield f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="{PAGE_INK}"/>'
    for value in () if category else x.ticks():
        place = x.at(value)
        yield f'<path d="M{place:.1f} {BOTTOM}v4" stroke="{PAGE_INK}"/>'
        yield text_at(place, BOTTOM + 18, f"{value:g}", "middle", PAGE_QUIET)


def line(
    x: Axis, y: Axis, points: Sequence[tuple[float, float]], style: SeriesStyle, name: str
) -> str:
    """A series as a line, with its name as tooltip."""
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


def swatch(index: int) -> str:
    """A sample of the style of a series, for a legend."""
    return (
        '<svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
        f'<path d="M1 5H25" stroke-width="3" {style_of(index).attributes}/></svg>'
    )


STRIP_LEFT, STRIP_RIGHT, STRIP_TOP, STRIP_HEIGHT = 14, WIDTH - 14, 34, 38


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
    x = axis_over(values, STRIP_LEFT, STRIP_RIGHT, log)
    floor = STRIP_TOP + STRIP_HEIGHT * len(rows) + 6
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {floor + 42}" '
            f'role="img" aria-label={quoteattr(title)} font-family={quoteattr(FONTS)} '
            f'font-size="12" fill="{PAGE_INK}">',
            f'<text x="{STRIP_LEFT}" y="18" font-weight="600">{escape(title)}</text>',
            *_grid(x, floor, unit),
            *(_strip(x, STRIP_TOP + STRIP_HEIGHT * k, row) for k, row in enumerate(rows)),
            "</svg>",
        ]
    )


def _grid(x: Axis, floor: float, unit: str) -> list[str]:
    lines = []
    for value in x.ticks():
        place = x.at(value)
        lines.append(f'<path d="M{place:.1f} {STRIP_TOP - 4}V{floor}" stroke="{PAGE_GRID}"/>')
        lines.append(text_at(place, floor + 16, f"{value:g}", "middle", PAGE_QUIET))
    return [*lines, text_at((STRIP_LEFT + STRIP_RIGHT) / 2, floor + 34, unit, "middle", PAGE_QUIET)]


def _strip(x: Axis, top: float, row: Strip) -> str:
    place = top + 25
    mean = x.at(float(np.mean(row.values)))
    dots = [dot(x.at(value), place, row.color, f"{value:.4g}", 3.5) for value in row.values]
    return (
        f'<g><text x="{STRIP_LEFT}" y="{top + 13}">{escape(row.name)}</text>'
        f'<text x="{STRIP_RIGHT}" y="{top + 13}" text-anchor="end" font-weight="600">'
        f"{escape(row.words)}</text>"
        f'<path d="M{STRIP_LEFT} {place}H{STRIP_RIGHT}" stroke="{PAGE_GRID}"/>{"".join(dots)}'
        f'<path d="M{mean:.1f} {place - 7}v14" stroke="{row.color}" stroke-width="3"/></g>'
    )
