"""Other file formats: Parquet, Feather, JSON lines and Excel; ARFF; libsvm.

polars, which reads most of them, is an optional dependency (``steadyboost[tables]``), so that
functions import it when they are called.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from steadyboost.io.columns import NUMBER, TEXT, TableError, is_number
from steadyboost.io.delimited import check_names, first_line, need_polars, open_bytes, open_text
from steadyboost.preprocessing.sparse import MOST_FEATURES

if TYPE_CHECKING:
    import polars as pl

ATTRIBUTE = re.compile(
    r"""@attribute \s+ (?: '(?P<single>(?:[^'\\]|\\.)*)' | "(?P<double>[^"]*)" | (?P<bare>\S+) )
    \s+ (?P<type>.+)""",
    re.IGNORECASE | re.VERBOSE,
)
NUMERIC = ("numeric", "real", "integer")  # types of ARFF
PARQUET, FEATHER = (".parquet", ".pq"), (".feather", ".arrow", ".ipc")
JSON_LINES, EXCEL = (".jsonl", ".ndjson"), (".xlsx",)
TYPED = {  # formats whose columns have types
    **dict.fromkeys(PARQUET, "Parquet"),
    **dict.fromkeys(FEATHER, "Feather"),
    **dict.fromkeys(JSON_LINES, "JSON lines"),
    **dict.fromkeys(EXCEL, "Excel"),
}


def from_columns(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """A polars data frame of some columns."""
    need_polars()
    import polars as pl

    return pl.DataFrame(dict(columns))


# Formats whose columns have types


@contextmanager
def _reading(path: Path, suffix: str) -> Iterator[None]:
    """Turn whatever goes wrong into a ``TableError``."""
    try:
        yield
    except TableError:
        raise
    except Exception as error:  # polars raises errors of many types, and panics on some bytes
        raise TableError(
            f"{path} cannot be read as {TYPED[suffix]}: {first_line(error)}"
        ) from error


def typed_names(path: Path, suffix: str) -> list[str]:
    """The columns of a Parquet file, from its metadata; of the others, all of it is read."""
    import polars as pl

    if suffix not in PARQUET:
        return read_typed(path, suffix).columns
    with _reading(path, suffix):
        return list(pl.read_parquet_schema(path))


def read_typed(path: Path, suffix: str, wanted: Collection[str] | None = None) -> pl.DataFrame:
    """The wanted columns of a Parquet, Feather, JSON lines or Excel file, or all."""
    import polars as pl

    with _reading(path, suffix):
        if suffix in PARQUET:
            return pl.read_parquet(path, columns=None if wanted is None else list(wanted))
        if suffix in EXCEL:
            frame = _read_excel(path)
        else:
            with open_bytes(path) as file:
                data = io.BytesIO(file.read())
            # All rows tell the types: a later one may have another, or further columns.
            frame = pl.read_ipc(data) if suffix in FEATHER else _read_json_lines(data)
    return frame if wanted is None else frame.select(wanted)


def _read_json_lines(data: io.BytesIO) -> pl.DataFrame:
    import polars as pl

    return pl.read_ndjson(data, infer_schema_length=None)


def _read_excel(path: Path) -> pl.DataFrame:
    """The first sheet, if it is the only one that is not empty."""
    import polars as pl

    if not importlib.util.find_spec("fastexcel"):
        raise TableError(
            f"{path}: Excel files are read by fastexcel, which is not installed; "
            "pip install 'steadyboost[excel]'."
        )
    # It logs a warning for each empty column, which we tell in our own words.
    logging.getLogger("fastexcel").setLevel(logging.ERROR)
    sheets = pl.read_excel(path, sheet_id=0, raise_if_empty=False)
    filled = {name: frame for name, frame in sheets.items() if len(frame.columns)}
    if len(filled) > 1:
        names = ", ".join(map(repr, filled))
        raise TableError(f"{path} has several sheets, {names}; save the one to use as CSV.")
    if not filled:
        raise TableError(f"{path} has no rows.")
    return next(iter(filled.values()))


# ARFF, the format of Weka: a header that gives each column its type, then rows


def read_arff(path: Path) -> tuple[pl.DataFrame, dict[str, str]]:
    """All columns as text, and their kinds according to the header."""
    with open_text(path) as text:
        lines = (line.strip() for line in text)
        content = (line for line in lines if line and not line.startswith("%"))
        kinds = _header(path, content)
        columns: list[list[str | None]] = [[] for _ in kinds]
        for number, line in enumerate(content, start=1):
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
    raise TableError(f"{path} is not ARFF: it has no @attribute lines followed by @data.")


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


# libsvm (svmlight): a label and index:value pairs per row, kept sparse


def read_libsvm(path: Path, n_features: int | None) -> tuple[csr_matrix, np.ndarray]:
    """A sparse matrix of ``n_features`` columns, whose indices begin at 1, and labels as text."""
    _check_lines(path, n_features)
    X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right"))
        raise TableError(f"{path}: row {row} holds a value that is not a finite number.")
    return X, np.array([f"{label:.16g}" for label in y], dtype=object)


def _check_lines(path: Path, n_features: int | None) -> None:
    """Raise ``TableError`` with the row of an error, which scikit-learn's reader does not tell."""
    row = 0
    with open_text(path) as lines:
        for line in lines:
            label, *pairs = line.partition("#")[0].split() or [""]
            if not label:
                continue
            row += 1
            if not (is_number(label) and isfinite(float(label))):
                raise TableError(f"{path}: row {row} begins with {label!r}, not with a number.")
            _check_pairs(path, row, pairs, n_features)
    if not row:
        raise TableError(f"{path} has no rows.")


def _check_pairs(path: Path, row: int, pairs: list[str], n_features: int | None) -> None:
    last = 0
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not (colon and index.isdecimal() and is_number(value)):
            raise TableError(f"{path}: row {row} has {pair!r}, which is not index:value.")
        if int(index) <= last:
            raise TableError(f"{path}: row {row} has index {index}; indices must increase from 1.")
        last = int(index)
    if last > MOST_FEATURES:
        raise TableError(
            f"{path}: row {row} has index {last}, but at most {MOST_FEATURES} are possible."
        )
    if n_features is not None and last > n_features:
        raise TableError(
            f"{path}: row {row} has index {last}, but the model has {n_features} features."
        )
