"""ARFF, the format of Weka: a header that gives each column its type, then rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from steadyboost.io.columns import NUMBER, TEXT
from steadyboost.io.delimited import check_names, open_text
from steadyboost.io.errors import TableError
from steadyboost.io.frames import from_columns

ATTRIBUTE = re.compile(
    r"""@attribute \s+ (?: '(?P<single>(?:[^'\\]|\\.)*)' | "(?P<double>[^"]*)" | (?P<bare>\S+) )
    \s+ (?P<type>.+)""",
    re.IGNORECASE | re.VERBOSE,
)
NUMERIC = ("numeric", "real", "integer")


def read_arff(path: Path) -> tuple[nw.DataFrame, dict[str, str]]:
    """All columns as text, and the kinds that the header gives them."""
    with open_text(path) as text:
        lines = (line.strip() for line in text)
        said = (line for line in lines if line and not line.startswith("%"))
        kinds = _header(path, said)
        columns: list[list[str | None]] = [[] for _ in kinds]
        for number, line in enumerate(said, start=1):
            for column, field in zip(columns, _fields(path, number, line, kinds), strict=True):
                column.append(field)
    return from_columns(dict(zip(kinds, columns, strict=True))), kinds


def _header(path: Path, lines: Iterable[str]) -> dict[str, str]:
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.lower().startswith("@data"):
            check_names(path, [name for name, _ in found])
            return dict(found)
        if line.lower().startswith("@attribute"):
            found.append(_attribute(path, line))
        elif not line.lower().startswith("@relation"):
            break
    raise TableError(f"{path} is not ARFF: its header of @attribute lines does not lead to @data.")


def _attribute(path: Path, line: str) -> tuple[str, str]:
    match = ATTRIBUTE.fullmatch(line)
    if match is None:
        raise TableError(
            f"{path}: the line {line[:60]!r} does not give a column a name and a type."
        )
    name: Any = next(name for name in match.group("single", "double", "bare") if name is not None)
    is_numeric = match["type"].strip().lower() in NUMERIC
    return name.replace("\\'", "'").strip(), NUMBER if is_numeric else TEXT


def _fields(path: Path, number: int, line: str, kinds: dict[str, str]) -> list[str]:
    if line.startswith("{"):
        raise TableError(f"{path}: row {number} is sparse; write such rows as libsvm instead.")
    quote = '"' if '"' in line and "'" not in line else "'"
    reader = csv.reader([line], quotechar=quote, escapechar="\\", skipinitialspace=True)
    fields = next(reader)
    if len(fields) != len(kinds):
        raise TableError(f"{path}: row {number} has {len(fields)} fields, the header {len(kinds)}.")
    return fields
