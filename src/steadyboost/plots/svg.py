"""Pictures that need no plotting library: line charts written as SVG text."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from xml.sax.saxutils import escape, quoteattr

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900, 62, 630, 84, 60  # RIGHT: where the labels' column begins
LABEL_GAP = 21
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
INK, QUIET, GRID = "#24292f", "#57606a", "#e4e8ec"
# Told apart by most colour-blind readers (after Okabe and Ito), the quiet grey for a baseline.
BASELINE_COLOR = "#6e7781"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#e69f00", "#56b4e9", "#8c564b", "#332288")
DASHES = ("", "7 3", "2 3")  # a second and third use of each colour


@dataclass(frozen=True)
class Line:
    """A named series, whose first value is at round 1; bold ones stand out."""

    name: str
    values: Sequence[float]
    baseline: bool = False
    bold: bool = False


@dataclass(frozen=True)
class LineStyle:
    """How a line is drawn; its label has the same colour."""

    color: str
    dash: str
    width: float
    opacity: float


@dataclass(frozen=True)
class Frame:
    """The plot's area in pixels, and what its right and upper edges stand for."""

    n_rounds: int
    top_value: float
    height: int

    @property
    def floor(self) -> int:
        return self.height - BOTTOM

    def x(self, round_: float) -> float:
        # One round alone sits at the right edge, beside its label.
        share = (round_ - 1) / (self.n_rounds - 1) if self.n_rounds > 1 else 1.0
        return LEFT + share * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        return self.floor - value / self.top_value * (self.floor - TOP)


def error_chart(lines: Sequence[Line], title: str, subtitle: str) -> str:
    """A chart of error rates in percent by round, one line per method, as SVG text.

    Each line is labelled at its end with its name and last value; one that ends early goes on as
    dots. Lines may enter from above: the axis ends a little over the largest last value, where
    the differences that matter are.
    """
    height = max(480, TOP + BOTTOM + LABEL_GAP * len(lines))
    top_value = min(100.0, 10 * math.ceil(max(line.values[-1] for line in lines) * 1.1 / 10 + 0.01))
    frame = Frame(max(len(line.values) for line in lines), top_value, height)
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
        # Wide and below the others, so that one that runs along it shows on top.
        width = 5.0 if line.baseline else 3.0 if line.bold else 1.8
        styles.append(LineStyle(color, dash, width, 0.5 if line.baseline else 1.0))
    return styles


def _head(height: int, title: str, subtitle: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label={quoteattr(title)} '
        f"font-family={quoteattr(FONTS)} "
        f'font-size="13" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        f'<clipPath id="area"><rect x="{LEFT - 4}" y="{TOP}" width="{RIGHT - LEFT + 8}" '
        f'height="{height - TOP - BOTTOM}"/></clipPath>',
        f'<text x="{LEFT}" y="34" font-size="18" font-weight="600">{escape(title)}</text>',
        f'<text x="{LEFT}" y="56" fill="{QUIET}">{escape(subtitle)}</text>',
    ]


def _axes(frame: Frame) -> Iterable[str]:
    for value in _ticks(frame.top_value):
        y = frame.y(value)
        color = INK if value == 0 else GRID
        yield f'<path d="M{LEFT} {y:.1f} H{RIGHT}" stroke="{color}"/>'
        yield text_at(LEFT - 10, y + 4.5, f"{value:g} %", "end", QUIET)
    for round_ in _round_ticks(frame.n_rounds):
        x = frame.x(round_)
        yield f'<path d="M{x:.1f} {frame.floor} v5" stroke="{INK}"/>'
        yield text_at(x, frame.floor + 21, str(round_), "middle", QUIET)
    yield text_at(
        (LEFT + RIGHT) / 2, frame.floor + 44, "boosting rounds (trees of a forest)", "middle", QUIET
    )


def text_at(x: float, y: float, words: str, anchor: str, color: str) -> str:
    """A piece of text as SVG."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">'
        f"{escape(words)}</text>"
    )


def step_for(span: float) -> float:
    """The smallest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... that cuts the span into at most six."""
    power = 10.0 ** math.floor(math.log10(span / 6))
    return next(step for m in (1, 2, 5, 10) if span <= 6 * (step := m * power) * (1 + 1e-9))


def _spacing(span: float) -> int:
    return max(1, round(step_for(span)))


def _ticks(top: float) -> Iterable[int]:
    return range(0, math.floor(top) + 1, _spacing(top))


def _round_ticks(n_rounds: int) -> list[int]:
    step = _spacing(n_rounds)
    return sorted({1, *range(step, n_rounds + 1, step)})


def _curve(frame: Frame, line: Line, style: LineStyle) -> str:
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
    if x < RIGHT:
        parts.append(
            f'<path d="M{x:.1f} {y:.1f} H{RIGHT}" stroke="{style.color}" '
            'stroke-width="1.6" stroke-dasharray="1 6" stroke-linecap="round"/>'
        )
    return "".join(parts) + "</g>"


def _labels(frame: Frame, lines: Sequence[Line], styles: Sequence[LineStyle]) -> Iterable[str]:
    ends = [frame.y(line.values[-1]) for line in lines]
    places = spread(ends, LABEL_GAP, TOP, frame.floor)
    x = RIGHT + 32
    for line, style, end, place in zip(lines, styles, ends, places, strict=True):
        weight = 700 if line.bold else 400
        yield (
            f'<path d="M{RIGHT + 5} {end:.1f} L{x - 6} {place:.1f}" stroke="{style.color}" '
            'fill="none" opacity="0.6"/>'
        )
        yield (
            f'<text x="{x}" y="{place + 4.5:.1f}" font-weight="{weight}">'
            f'<tspan fill="{style.color}">{line.values[-1]:.1f} %</tspan>'
            f'<tspan x="{x + 58}">{escape(line.name)}</tspan></text>'
        )


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in their order, at least ``gap`` apart.

    None is beyond ``high``; nor below ``low``, where there is room for all.
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
