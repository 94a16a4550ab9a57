"""Reading the files in ``papers/``, which are checked before anything runs.

Printed tables are text: a row per line, cells between bars, in the order of the columns.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

from steadyboost.lab.experiments.plan import (
    LAST,
    Claim,
    DataChoice,
    Experiment,
    Method,
    Picture,
    Point,
    Printed,
    Protocol,
    Quantity,
    Quick,
)

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


RELATIONS = ("lower", "at_most", "higher", "not_lower")


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments."""

    id: str
    citation: str
    experiments: tuple[Experiment, ...]
    notes: tuple[str, ...] = ()


@cache
def papers() -> tuple[Paper, ...]:
    """All papers, in the order of their numbers."""
    folder = files("steadyboost.lab.experiments") / "papers"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(read_paper((folder / name).read_text(encoding="utf-8")) for name in names)


def find(names: list[str]) -> list[Experiment]:
    """Experiments by name (``000/table-2``), by paper (``000``) or all of them (``all``)."""
    everything = [experiment for paper in papers() for experiment in paper.experiments]
    found: dict[str, Experiment] = {}
    for name in names:
        chosen = [e for e in everything if name in ("all", e.name, e.paper)]
        if not chosen:
            known = ", ".join(e.name for e in everything)
            raise ValueError(f"there is no experiment {name!r}; known are all, {known}.")
        found.update({experiment.name: experiment for experiment in chosen})
    return list(found.values())


def read_paper(text: str) -> Paper:
    """A paper from the text of its file."""
    table = tomllib.loads(text)
    head = table["paper"]
    protocols = {id_: _make(Protocol, id=id_, **t) for id_, t in table["protocols"].items()}
    methods = {id_: read_method(id_, t) for id_, t in table["methods"].items()}
    data = {id_: _make(DataChoice, id=id_, **t) for id_, t in table["data"].items()}
    experiments: dict[str, Experiment] = {}
    for entry in table["experiments"]:
        experiment = _read_experiment(head["id"], entry, protocols, methods, data)
        for other in experiment.printed_from:
            numbers = {**experiments[other].printed, **experiment.printed}
            experiment = replace(experiment, printed=numbers)
        experiments[experiment.id] = experiment
    notes = tuple(head.get("notes", ()))
    return Paper(head["id"], head["citation"], tuple(experiments.values()), notes)


def read_method(id_: str, table: Mapping[str, Any]) -> Method:
    entry = dict(table)
    if "learner" in entry:
        entry["learner"] = _learner(entry["learner"])
    if "grid" in entry:
        entry["grid"] = {key: tuple(values) for key, values in entry["grid"].items()}
    return _make(Method, id=id_, **entry)


def _learner(entry: Any) -> dict[str, Any]:
    return {"name": entry} if isinstance(entry, str) else dict(entry)


def _read_experiment(
    paper: str,
    table: Mapping[str, Any],
    protocols: dict[str, Protocol],
    methods: dict[str, Method],
    data: dict[str, DataChoice],
) -> Experiment:
    entry = dict(table)
    name = f"{paper}/{entry['id']}"
    printed = entry.pop("printed", "")
    chosen = _look_up(name, "method", entry.pop("methods", ()), methods)
    sweep = entry.pop("sweep", None)
    if sweep:
        chosen += _swept(methods[sweep["method"]], sweep)
    entry.update(
        methods=tuple(chosen),
        data=tuple(_look_up(name, "data", entry["data"], data)),
        protocols=protocols,
        claims=tuple(_read_claim(name, claim) for claim in entry.get("claims", ())),
        pictures=tuple(_make(Picture, **_tupled(p)) for p in entry.get("pictures", ())),
        quick=_make(Quick, **_tupled(entry.get("quick", {}))),
    )
    if "learner" in entry:
        entry["learner"] = _learner(entry["learner"])
    experiment = _make(Experiment, paper=paper, **_tupled(entry))
    _check(experiment)
    return replace(experiment, printed=read_printed(experiment, printed)) if printed else experiment


def _look_up(name: str, kind: str, ids: Any, known: dict[str, Any]) -> list[Any]:
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        raise ValueError(f"{name}: {kind} {unknown[0]!r} is not defined in its file")
    return [known[id_] for id_ in ids]


def _swept(method: Method, sweep: Mapping[str, Any]) -> list[Method]:
    """One method per value of a parameter."""
    return [
        replace(
            method,
            id=f"{sweep['symbol']} = {value}",
            name="",
            parameters={**method.parameters, sweep["parameter"]: value},
        )
        for value in sweep["values"]
    ]


def _read_claim(name: str, table: Mapping[str, Any]) -> Claim:
    entry = _tupled(table)
    entry["left"], entry["right"] = _quantity(table["left"]), _quantity(table["right"])
    claim = _make(Claim, **entry)
    if claim.relation not in RELATIONS:
        raise ValueError(f"{name}: relation {claim.relation!r}; choose from {RELATIONS}")
    return claim


def _quantity(table: Mapping[str, Any]) -> Quantity:
    entry = dict(table)
    method = entry.get("method", ())
    entry["method"] = (method,) if isinstance(method, str) else tuple(method)
    if "minus" in entry:
        # What the second term does not say, it has in common with the first.
        whole = {key: value for key, value in table.items() if key != "minus"}
        entry["minus"] = _quantity({**whole, **entry["minus"]})
    return _make(Quantity, **entry)


def _tupled(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}


def _make(cls: type, **entry: Any) -> Any:
    """An instance; a key that the class does not have is named in the error."""
    known = {f.name for f in fields(cls)}
    unknown = sorted(set(entry) - known)
    if unknown:
        raise ValueError(f"{cls.__name__} {entry.get('id', '')!r} has no {unknown[0]!r}")
    return cls(**entry)


def _check(experiment: Experiment) -> None:
    """Raise ``ValueError`` where parts of an experiment do not fit together."""
    name, known = experiment.name, {method.id for method in experiment.methods}
    if len({method.label for method in experiment.methods}) < len(known):
        raise ValueError(f"{name}: two methods have the same name")
    used = [q for claim in experiment.claims for q in (claim.left, claim.right)]
    used += [q.minus for q in used if q.minus is not None]
    for method in (m for quantity in used for m in quantity.method):
        if method not in known:
            raise ValueError(f"{name}: a claim is about {method!r}, which is not run")
    for id_ in {experiment.protocol, *(d.protocol for d in experiment.data if d.protocol)}:
        if id_ not in experiment.protocols:
            raise ValueError(f"{name}: protocol {id_!r} is not defined in its file")
    if experiment.focus and experiment.focus not in known:
        raise ValueError(f"{name}: focus {experiment.focus!r} is not run")
