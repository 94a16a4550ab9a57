"""The page of the papers' experiments: their tables, verdicts and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from steadyboost.lab.experiments.claims import ClaimVerdict
from steadyboost.lab.experiments.plan import Picture
from steadyboost.lab.experiments.reading import label_of, papers, point_at
from steadyboost.lab.experiments.report import (
    MARKS,
    Entry,
    Report,
    asked_by,
    is_best,
    legend,
    ours_text,
    remarks,
)
from steadyboost.lab.experiments.results import Results
from steadyboost.lab.reports import PACKAGE
from steadyboost.lab.runs import estimate
from steadyboost.pages.page import (
    Badge,
    Column,
    DataTable,
    Figure,
    TableCell,
    plain_cell,
    render,
)
from steadyboost.pages.svg import (
    BOTTOM,
    LEFT,
    PAGE_COLORS,
    PAGE_QUIET,
    RIGHT,
    TOP,
    Axis,
    axis_over,
    bar,
    dot,
    line,
    panel,
    style_of,
)

N_BINS = 30
PERCENT = "%"
BADGE_KINDS = {"reproduces": "yes", "does not": "no"}


class ClaimItem(NamedTuple):
    """A claim of a paper and the verdict on it."""

    badge: Badge
    says: str
    verdict: str


class ExperimentSection(NamedTuple):
    """The part of the page that is about one experiment."""

    anchor: str
    paper: str
    name: str
    title: str
    is_quick: bool
    badges: list[Badge]
    table: DataTable
    legend: str
    claims: list[ClaimItem]
    figures: list[Figure]
    remarks: list[str]


def experiments_page(reports: list[Report], made_by: str) -> str:
    """The page; ``made_by`` names the command and the date."""
    sections = [_section(report) for report in reports]
    by_paper = [(paper, [s for s in sections if s.paper == paper.id]) for paper in papers()]
    return render(
        "experiments.html",
        PACKAGE,
        title="SteadyBoost: the papers' experiments",
        heading="The papers' experiments, reproduced",
        made_by=made_by,
        is_quick=any(section.is_quick for section in sections),
        sections=sections,
        papers=[(paper, own) for paper, own in by_paper if own],
    )


def _section(report: Report) -> ExperimentSection:
    experiment = report.experiment
    states = Counter(verdict.state for verdict in report.verdicts)
    return ExperimentSection(
        _anchor(experiment.name),
        experiment.paper,
        experiment.name,
        experiment.title,
        experiment.is_quick,
        [_badge(state, f"{state}: {states[state]}") for state in MARKS if states[state]],
        _table(report),
        legend(experiment),
        [_claim(verdict) for verdict in report.verdicts],
        [draw(picture, report.results) for picture in experiment.pictures],
        remarks(report),
    )


def _anchor(name: str) -> str:
    return "e" + name.replace("/", "-")


def _badge(state: str, words: str) -> Badge:
    return Badge(f"{MARKS[state]} {words}", BADGE_KINDS.get(state, ""))


def _claim(verdict: ClaimVerdict) -> ClaimItem:
    return ClaimItem(_badge(verdict.state, verdict.state), asked_by(verdict), verdict.sentence)


def _table(report: Report) -> DataTable:
    experiment = report.experiment
    bold = experiment.columns == ("method",)
    rows = [
        [
            plain_cell(label),
            *(
                _cell(entry, experiment.measure, bold and is_best(entry, row, experiment.measure))
                for entry in row
            ),
        ]
        for label, row in zip(report.rows, report.entries, strict=True)
    ]
    columns = [Column("", is_number=False), *map(Column, report.columns)]
    return DataTable("t" + _anchor(experiment.name), columns, rows)


def _cell(entry: Entry, measure: str, best: bool) -> TableCell:
    return TableCell(
        ours_text(entry, measure),
        entry.ours.mean if entry.ours else "",
        entry.reason,
        is_bold=best,
        below=entry.printed_text,
    )


def draw(picture: Picture, results: Results) -> Figure:
    """The panels of a picture; none if there are no results."""
    experiment = results.experiment
    panels = [svg for svg in KINDS[picture.kind](picture, results) if svg]
    if picture.kind in ("scatter", "histogram"):
        return Figure(picture.title, panels)
    dimension = "data" if picture.by == "method" else "method"
    names = [label_of(experiment, dimension, id_) for id_ in experiment.values(dimension)]
    return Figure(picture.title, panels, names)


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
            PAGE_COLORS[i],
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
        diagonal = f'<path d="M{x.at(0):.1f} {y.at(0):.1f}L{RIGHT} {TOP}" stroke="{PAGE_QUIET}"/>'
        marks = [
            dot(x.at(a), y.at(b), PAGE_COLORS[0 if b < a else 1], f"{a:.1f} / {b:.1f}", 2.5)
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
        bar(x.at(low), width, y.at(n), BOTTOM, PAGE_COLORS[0 if low >= 0 else 1], f"{n} problems")
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
