"""The pictures of an experiment: panels filled with its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from steadyboost.lab.experiments.plan import Picture
from steadyboost.lab.experiments.printed import label_of, point_at
from steadyboost.lab.experiments.results import Results
from steadyboost.lab.experiments.statistics import estimate
from steadyboost.lab.reports.charts import (
    BOTTOM,
    COLORS,
    LEFT,
    QUIET,
    RIGHT,
    TOP,
    Axis,
    axis_over,
    bar,
    dot,
    legend,
    line,
    panel,
    style_of,
)

N_BINS = 30
PERCENT = "%"


def draw(picture: Picture, results: Results) -> tuple[str, list[str]]:
    """The legend (HTML) and the panels (SVG) of a picture; no panels where there is no result."""
    experiment = results.experiment
    panels = [svg for svg in KINDS[picture.kind](picture, results) if svg]
    if picture.kind in ("scatter", "histogram"):
        return "", panels
    ids = experiment.values("data" if picture.by == "method" else "method")
    dimension = "data" if picture.by == "method" else "method"
    return legend([label_of(experiment, dimension, id_) for id_ in ids]), panels


def _curves(picture: Picture, results: Results) -> list[str]:
    return [_curve_panel(picture, results, data.id) for data in results.experiment.data]


def _curve_panel(picture: Picture, results: Results, data: str) -> str:
    """Error by round or by time on one data set, a line per method."""
    experiment, series = results.experiment, []
    for index, method in enumerate(experiment.methods):
        curve = results.curve(method.id, data, experiment.noise[-1], picture.part)
        if curve is not None:
            along = curve.seconds if picture.by == "time" else curve.rounds
            points = list(zip(along, curve.errors, strict=True))
            series.append((method.label, style_of(index), points))
    if not series:
        return ""
    x, y = _axes([p for _, _, points in series for p in points], picture.log)
    marks = [line(x, y, points, style, name) for name, style, points in series]
    along_name = "seconds" if picture.by == "time" else "round"
    return panel(label_of(experiment, "data", data), x, y, (along_name, PERCENT), marks)


def _axes(points: list[tuple[float, float]], log: bool) -> tuple[Axis, Axis]:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    # An error of 0 has no logarithm: such a panel keeps even steps upwards.
    log_y = log and min(ys) > 0
    return axis_over(xs, LEFT, RIGHT, log), axis_over(ys, BOTTOM, TOP, log_y)


def _lines(picture: Picture, results: Results) -> list[str]:
    """Error by the rate of noise (a panel per data set), or by method (one panel in all)."""
    if picture.by == "noise":
        return [_noise_panel(picture, results, data.id) for data in results.experiment.data]
    return [_method_panel(picture, results)]


def _noise_panel(picture: Picture, results: Results, data: str) -> str:
    experiment = results.experiment
    rates = (*experiment.reference_noise, *experiment.noise)
    series = [
        (method.label, style_of(index), _along(picture, results, data, method.id, rates))
        for index, method in enumerate(experiment.methods)
    ]
    return _line_panel(label_of(experiment, "data", data), series, "% of labels wrong")


def _along(
    picture: Picture, results: Results, data: str, method: str, rates: tuple[float, ...]
) -> list[tuple[float, float]]:
    points = []
    for rate in rates:
        place = {"data": data, "method": method, "noise": rate, "part": picture.part}
        found = estimate(results.values(point_at(results.experiment, place)))
        if found:
            points.append((100 * rate, found.mean))
    return points


def _method_panel(picture: Picture, results: Results) -> str:
    """Methods that differ in one number, such as lambda, along the axis; a line per data set."""
    experiment, series = results.experiment, []
    for index, data in enumerate(experiment.data):
        points = []
        for method in experiment.methods:
            point = point_at(experiment, {"data": data.id, "method": method.id})
            found = estimate(results.values(point))
            if found:
                points.append((float(method.id.split("=")[1]), found.mean))
        series.append((data.label, style_of(index), points))
    return _line_panel(picture.title, series, experiment.methods[0].id.split("=")[0].strip())


def _line_panel(title: str, series: list[tuple[str, Any, list]], along: str) -> str:
    points = [point for _, _, found in series for point in found]
    if not points:
        return ""
    x, y = _axes(points, log=False)
    marks = [line(x, y, found, style, name) for name, style, found in series if found]
    return panel(title, x, y, (along, PERCENT), marks)


def _bars(picture: Picture, results: Results) -> list[str]:
    return [_bar_panel(results, data.id) for data in results.experiment.data]


def _bar_panel(results: Results, data: str) -> str:
    """A bar per method on one data set."""
    experiment = results.experiment
    found = []
    for index, method in enumerate(experiment.methods):
        point = point_at(experiment, {"data": data, "method": method.id})
        found.append((index, method.label, estimate(results.values(point))))
    shown = [(index, name, value.mean) for index, name, value in found if value]
    if not shown:
        return ""
    y = Axis(0.0, 1.1 * max(mean for _, _, mean in shown) or 1.0, BOTTOM, TOP)
    slot = (RIGHT - LEFT) / len(experiment.methods)
    marks = [
        bar(
            LEFT + slot * (i + 0.2),
            0.6 * slot,
            y.at(mean),
            BOTTOM,
            COLORS[i],
            f"{name}: {mean:.1f}",
        )
        for i, name, mean in shown
    ]
    x = Axis(0, 1, LEFT, RIGHT)
    return panel(label_of(experiment, "data", data), x, y, ("", PERCENT), marks, category=True)


def _paired(picture: Picture, results: Results, round_: int) -> np.ndarray:
    """The errors of two methods on the same problems, (n, 2)."""
    place = {"part": picture.part, "round": round_}
    one, other = (
        results.values(point_at(results.experiment, place, {"method": method}))
        for method in picture.methods
    )
    pairs = np.column_stack([one, other])
    return pairs[~np.isnan(pairs).any(axis=1)]


def _scatter(picture: Picture, results: Results) -> list[str]:
    """One method against another, a panel per number of rounds; below the line the second wins."""
    panels, names = [], picture.methods
    for round_ in results.experiment.shown_rounds:
        pairs = _paired(picture, results, round_)
        if not len(pairs):
            continue
        x, y = (axis_over([0.0, *pairs.ravel()], *ends) for ends in ((LEFT, RIGHT), (BOTTOM, TOP)))
        diagonal = f'<path d="M{x.at(0):.1f} {y.at(0):.1f}L{RIGHT} {TOP}" stroke="{QUIET}"/>'
        marks = [
            dot(x.at(a), y.at(b), COLORS[0 if b < a else 1], f"{a:.1f} / {b:.1f}", 2.5)
            for a, b in pairs
        ]
        title = f"{picture.title}, T = {round_}"
        labels = (f"{names[0]}, %", f"{names[1]}, %")
        panels.append(panel(title, x, y, labels, [diagonal, *marks]))
    return panels


def _histogram(picture: Picture, results: Results) -> list[str]:
    """The differences of two methods; right of zero the second is better."""
    panels = []
    for round_ in results.experiment.shown_rounds:
        pairs = _paired(picture, results, round_)
        if len(pairs):
            panels.append(_histogram_panel(picture, pairs[:, 0] - pairs[:, 1], round_))
    return panels


def _histogram_panel(picture: Picture, differences: np.ndarray, round_: int) -> str:
    reach = float(np.abs(differences).max()) or 1.0
    counts, edges = np.histogram(differences, bins=N_BINS, range=(-reach, reach))
    x = Axis(-reach, reach, LEFT, RIGHT)
    y = Axis(0.0, 1.1 * float(counts.max()), BOTTOM, TOP)
    width = x.at(edges[1]) - x.at(edges[0]) - 1
    marks = [
        bar(x.at(low), width, y.at(n), BOTTOM, COLORS[0 if low >= 0 else 1], f"{n} problems")
        for n, low in zip(counts, edges[:-1], strict=True)
    ]
    names = " less ".join(picture.methods)
    title = f"{picture.title}, T = {round_}"
    return panel(title, x, y, (f"{names}, points", "problems"), marks)


KINDS: dict[str, Callable[[Picture, Results], list[str]]] = {
    "curves": _curves,
    "lines": _lines,
    "bars": _bars,
    "scatter": _scatter,
    "histogram": _histogram,
}
