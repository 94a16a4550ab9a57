"""A column is numbers if each of its values is one, else it is categories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import narwhals.stable.v2 as nw
import numpy as np

from steadyboost.io.errors import TableError

GAPS = ("", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")  # what stands for no value
NUMBER, TEXT = "number", "text"
NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary)


def typed(path: Path, frame: nw.DataFrame, kinds: Mapping[str, str]) -> nw.DataFrame:
    """Give each column its kind, or the one that its values have."""
    columns = [_typed(path, frame[name], kinds.get(name)) for name in frame.columns]
    return frame.with_columns(*columns) if columns else frame


def _typed(path: Path, column: nw.Series, kind: str | None) -> nw.Series:
    if any(column.dtype == nested for nested in NESTED):
        raise TableError(f"{path}: column {column.name!r} holds {column.dtype}, not plain values.")
    if kind == TEXT:
        return as_text(column)
    if column.dtype.is_numeric():
        return _finite(path, column)
    text = as_text(column)
    try:
        numbers = _as_numbers(text)
    except Exception:  # each library has errors of its own
        if kind == NUMBER:
            _blame_a_row(path, text)
        return text
    return _finite(path, numbers)


def as_text(column: nw.Series) -> nw.Series:
    """Text without blanks around it; null where there is no value."""
    if column.dtype.is_float():
        return _written(column)
    truth = column.dtype == nw.Boolean
    text = column.cast(nw.String).str.strip_chars()
    text = text.str.to_lowercase() if truth else text
    frame = text.to_frame()
    return frame.select(
        nw.when(~nw.col(text.name).is_in(GAPS)).then(nw.col(text.name)).alias(text.name)
    )[text.name]


def _written(column: nw.Series) -> nw.Series:
    """Numbers as text; whole ones without a point, lest a gap turn category 1 into 1.0."""

    def write(number: float | None) -> str | None:
        return None if number is None or number != number else f"{number:.16g}"

    texts = [write(number) for number in column.to_list()]
    return nw.new_series(column.name, texts, nw.String, backend=column.implementation)


def _as_numbers(text: nw.Series) -> nw.Series:
    if text.str.contains("_", literal=True).any():  # 1_000 is a number in Python alone
        raise ValueError("a number has no underscores")
    return text.cast(nw.Float64)


def is_number(text: str) -> bool:
    """Whether a text is a number, as libraries other than Python's own see it."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _blame_a_row(path: Path, text: nw.Series) -> None:
    for row, value in enumerate(text.to_list(), start=1):
        if value is not None and not is_number(value):
            raise TableError(
                f"{path}: row {row} of column {text.name!r} is {value!r}, not a number."
            )


def _finite(path: Path, column: nw.Series) -> nw.Series:
    infinite = np.isinf(column.to_numpy()) if column.dtype.is_float() else np.zeros(1, dtype=bool)
    if infinite.any():
        row = int(infinite.argmax()) + 1
        raise TableError(
            f"{path}: row {row} of column {column.name!r} is infinite; "
            "replace it by a number or leave it empty."
        )
    return column


def missing_in(column: nw.Series) -> int:
    """How many values are not there."""
    gaps = column.is_null()
    if column.dtype.is_float():
        gaps = gaps | column.is_nan().fill_null(True)
    return int(gaps.sum())


def doubts_about(column: nw.Series, most: int) -> str | None:
    """What makes it doubtful that a column of text is one of categories."""
    values = column.drop_nulls().unique().to_list()
    odd = [value for value in values if not is_number(value)]
    if len(values) >= 10 and len(odd) <= len(values) / 10:
        row = column.to_list().index(odd[0]) + 1
        return (
            f"column {column.name!r} is read as categories because of values such as "
            f"{odd[0]!r} in row {row}; all others are numbers"
        )
    if len(values) > most:
        return (
            f"column {column.name!r} has {len(values):,} different texts, of which {most} can be "
            f"told apart; leave it out by --ignore {column.name} if it only numbers the rows"
        )
    return None
