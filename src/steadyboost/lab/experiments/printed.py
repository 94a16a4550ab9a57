"""Printed tables as text: a row per line, cells between bars, in the order of the columns."""

import re
from typing import Any

from steadyboost.lab.experiments.plan import LAST, Experiment, Point, Printed

UNREADABLE, NOT_RUN = "?", "-"  # in our copy of the paper; by the paper itself
_NUMBER = re.compile(r"^(\d*\.?\d+)(?:\s*±\s*(\d*\.?\d+))?$")


def read_printed(experiment: Experiment, text: str) -> dict[Point, Printed]:
    """The printed numbers by their place; labels and counts must fit the experiment."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows = experiment.points(experiment.rows)
    columns = experiment.points(experiment.columns)
    rows = [row for row in rows if not _is_extra(experiment, row)]
    columns = [column for column in columns if not _is_extra(experiment, column)]
    if len(lines) != len(rows):
        raise ValueError(f"{experiment.name}: {len(lines)} printed rows for {len(rows)} rows")
    numbers: dict[Point, Printed] = {}
    for line, row in zip(lines, rows, strict=True):
        numbers.update(_read_row(experiment, line, row, columns))
    return numbers


def _read_row(
    experiment: Experiment, line: str, row: dict[str, Any], columns: list[dict[str, Any]]
) -> dict[Point, Printed]:
    label, *cells = (part.strip() for part in line.split("|"))
    if label != (expected := row_label(experiment, row)):
        raise ValueError(f"{experiment.name}: printed row {label!r}; expected {expected!r}")
    if len(cells) != len(columns):
        raise ValueError(
            f"{experiment.name}: printed row {label!r} has {len(cells)} cells for "
            f"{len(columns)} columns"
        )
    return {
        point_at(experiment, row, column): parse(cell)
        for cell, column in zip(cells, columns, strict=True)
    }


def parse(cell: str) -> Printed:
    """A number as printed, such as ``14.4 ± 6.1``; ``?`` where it cannot be read."""
    if cell in (UNREADABLE, NOT_RUN):
        return Printed(cell)
    match = _NUMBER.match(cell)
    if match is None:
        raise ValueError(f"printed cell {cell!r} is neither a number nor '?' nor '-'")
    mean, sd = match.groups()
    return Printed(cell, float(mean), None if sd is None else float(sd))


def row_label(experiment: Experiment, values: dict[str, Any]) -> str:
    """How a row or column is called: the labels of its dimensions."""
    return " / ".join(label_of(experiment, key, value) for key, value in values.items())


def label_of(experiment: Experiment, dimension: str, value: Any) -> str:
    """How one value is called in tables."""
    if dimension == "data":
        return next(choice.label for choice in experiment.data if choice.id == value)
    if dimension == "method":
        return experiment.method(value).label
    if dimension == "noise":
        return f"{100 * value:g} % noise"
    if dimension == "round":
        return "at the end" if value == LAST else f"T = {value}"
    return str(value)


def point_at(experiment: Experiment, *places: dict[str, Any]) -> Point:
    """A point from the dimensions that are given and, where there is but one, the others."""
    given: dict[str, Any] = {
        "data": experiment.data[0].id,
        "noise": experiment.noise[-1],
        "method": experiment.methods[0].id,
        "round": experiment.shown_rounds[-1],
        "part": experiment.parts[-1],
    }
    for place in places:
        given.update(place)
    return Point(**given)


def _is_extra(experiment: Experiment, values: dict[str, Any]) -> bool:
    return "method" in values and experiment.method(values["method"]).extra
