"""Kinds of columns: numbers, dates or text, found in the values or converted as told."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steadyboost.files import GAPS
from steadyboost.io import notation as notations
from steadyboost.io.columns import DATE, NUMBER, TEXT, TableError, is_number

if TYPE_CHECKING:
    import polars as pl

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Hints:
    """What is known of the columns before they are read.

    Attributes
    ----------
    kinds : dict of str to str
        Kinds of columns by name; others are found in their values.
    notations : dict of str to str
        Notations of columns by name, as found when a model was fitted.
    decimal : str or None
        The decimal sign of all numbers, if it was given.
    reread : callable or None
        Reads columns again as they are written, where a file has text only.
    prefers_comma : bool
        Which notation a value such as ``1,234`` has, where nothing else tells.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    notations: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    reread: Callable[[Sequence[str]], pl.DataFrame] | None = None
    prefers_comma: bool = False


class KindFinder:
    """Converts the columns of a file to their kinds, and keeps how they were read."""

    def __init__(self, path: Path, hints: Hints):
        self.path, self.hints = path, hints
        self.notations: dict[str, str] = {}
        self.remarks: list[str] = []
        self.open: dict[str, set[str]] = {}  # decimal signs that fit a column

    def convert(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Each column as numbers, dates with the time of day, or text."""
        columns = {column.name: self._convert(column) for column in frame}
        for name, sign in self._choose_decimals(columns).items():
            columns[name] = self._read_numbers(columns[name], sign)
        if "," in self.notations.values() and self.hints.decimal is None:
            columns |= self._dots_as_thousands(columns)
        numeric = [name for name, column in columns.items() if column.dtype.is_float()]
        for name in numeric:
            _check_finite(self.path, columns[name])
        return frame.with_columns([columns[column.name] for column in frame])

    def _convert(self, column: pl.Series) -> pl.Series:
        import polars as pl

        kind = self.hints.kinds.get(column.name)
        if column.dtype.is_nested() or column.dtype == pl.Binary:
            raise TableError(
                f"{self.path}: column {column.name!r} holds {column.dtype}, not numbers or text."
            )
        if kind == TEXT:
            return as_text(column)
        if is_date(column):
            if kind == NUMBER:
                raise TableError(f"{self.path}: column {column.name!r} holds dates, not numbers.")
            return column.cast(pl.Datetime("us")) if column.dtype == pl.Date else column
        if isinstance(column.dtype, pl.Duration):
            return column.dt.total_microseconds() / 1e6 / SECONDS_PER_DAY
        if column.dtype.is_numeric():
            if kind == DATE and column.null_count() < len(column):
                raise TableError(f"{self.path}: column {column.name!r} holds numbers, not dates.")
            return column
        return self._convert_text(as_text(column), kind)

    def _convert_text(self, text: pl.Series, kind: str | None) -> pl.Series:
        known = self.hints.notations.get(text.name)
        if kind == DATE:
            return self._read_dates(text, known)
        decimal = self.hints.decimal or known
        if decimal in notations.DECIMALS:
            return self._read_given(text, kind, decimal)
        numbers = _plain_numbers(text)
        if numbers is not None:
            return numbers
        signs = notations.decimals_of(text)
        if signs:
            self.open[text.name] = signs
            return text
        if kind == NUMBER:
            _raise_for_text(self.path, text)
        orders = notations.orders_of(text)
        return self._read_dates(text, orders[0], orders[1:]) if orders else text

    def _read_given(self, text: pl.Series, kind: str | None, decimal: str) -> pl.Series:
        """A column as numbers of a notation that was given, or as text where it has no kind."""
        numbers = notations.parse_numbers(text, decimal)
        if numbers is not None:
            plain = _plain_numbers(text)
            if plain is None or not plain.equals(numbers, null_equal=True):
                self.notations[text.name] = decimal
            return numbers
        if kind == NUMBER:
            row = notations.first_misfit(text, decimal) or 0
            sign = {",": "comma", ".": "point"}[decimal]
            raise TableError(
                f"{self.path}: row {row + 1} of column {text.name!r} is {text[row]!r}, not a "
                f"number with a decimal {sign}, as in training; pass --decimal with the sign of "
                "this file, or correct the value."
            )
        orders = notations.orders_of(text)
        return self._read_dates(text, orders[0], orders[1:]) if orders else text

    def _choose_decimals(self, columns: Mapping[str, pl.Series]) -> dict[str, str]:
        """The decimal sign of each column whose numbers are not plain.

        Values such as 1,234 fit both signs; the columns that fit one only decide.
        """
        clear = {name: min(signs) for name, signs in self.open.items() if len(signs) == 1}
        found = set(clear.values())
        usual = found.pop() if len(found) == 1 else "," if self.hints.prefers_comma else "."
        for name in self.open.keys() - clear.keys():
            column = columns[name]
            if not clear and notations.is_ambiguous(column):
                value = column.drop_nulls()[0]
                other = {",": ".", ".": ","}[usual]
                self.remarks.append(
                    f"column {name!r} has numbers such as {value!r}, whose comma is read as a "
                    f"{'decimal sign' if usual == ',' else 'thousands separator'}; pass "
                    f"--decimal {other} if it is not"
                )
        return {name: clear.get(name, usual) for name in self.open}

    def _read_numbers(self, text: pl.Series, sign: str) -> pl.Series:
        numbers = notations.parse_numbers(text, sign)
        assert numbers is not None
        self.notations[text.name] = sign
        return numbers

    def _dots_as_thousands(self, columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
        """In a file with decimal commas, columns of 1.234 and the like hold whole numbers."""
        floats = [name for name, column in columns.items() if column.dtype.is_float()]
        plain = [name for name in floats if name not in self.notations]
        if self.hints.reread is None or not plain:
            return {}
        found = {}
        for raw in self.hints.reread(plain):
            text = as_text(raw)
            if notations.is_ambiguous(text):
                numbers = notations.parse_numbers(text, ",")
                if numbers is not None:
                    found[text.name] = numbers
                    self.notations[text.name] = ","
                    self.remarks.append(
                        f"column {text.name!r} is read with thousands separators, as other "
                        "columns have decimal commas; pass --decimal . if this is wrong"
                    )
        return found

    def _read_dates(
        self, text: pl.Series, order: str | None, others: Sequence[str] = ()
    ) -> pl.Series:
        """A column as dates in an order, or in one that fits if none is known."""
        if order is None:
            order, *others = notations.orders_of(text) or ["%Y-%m-%d"]
        dates = notations.parse_dates(text, order)
        if dates.null_count() > text.null_count():
            row = (dates.is_null() & text.is_not_null()).arg_max() or 0
            raise TableError(
                f"{self.path}: row {row + 1} of column {text.name!r} is {text[row]!r}, not a date "
                f"written as {notations.in_words(order)}."
            )
        self.notations[text.name] = order
        if others:
            fits = " or ".join(notations.in_words(other) for other in others)
            self.remarks.append(
                f"column {text.name!r} is read as {notations.in_words(order)}, but {fits} fits, "
                "too; write the year first to be sure (2020-12-31)"
            )
        return dates


def is_date(column: pl.Series) -> bool:
    """Whether a column holds dates, with or without the time of day."""
    import polars as pl

    return column.dtype in (pl.Date, pl.Datetime)


def as_text(column: pl.Series) -> pl.Series:
    """Text without leading and trailing blanks; null for missing values."""
    import polars as pl

    if column.dtype.is_float():
        return _written(column)
    text = column.cast(pl.String).str.strip_chars()
    known = pl.when(~pl.col(text.name).is_in(list(GAPS))).then(pl.col(text.name))
    return text.to_frame().select(known.alias(text.name)).to_series()


def _written(column: pl.Series) -> pl.Series:
    """Numbers as text; 1.0 as 1, since a missing value turns a column of integers to floats."""
    import polars as pl

    def write(number: float | None) -> str | None:
        return None if number is None or number != number else f"{number:.16g}"

    return pl.Series(column.name, [write(number) for number in column.to_list()], dtype=pl.String)


def _plain_numbers(text: pl.Series) -> pl.Series | None:
    """The numbers that texts stand for; None if any of them is not a number."""
    import polars as pl

    try:
        return text.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        return None


def _raise_for_text(path: Path, text: pl.Series) -> None:
    for row, value in enumerate(text.to_list(), start=1):
        if value is not None and not is_number(value):
            raise TableError(
                f"{path}: row {row} of column {text.name!r} is {value!r}, not a number."
            )


def _check_finite(path: Path, column: pl.Series) -> None:
    infinite = column.is_infinite()
    if infinite.any():
        row = (infinite.arg_max() or 0) + 1
        raise TableError(
            f"{path}: row {row} of column {column.name!r} is infinite; "
            "replace it by a number or leave it empty."
        )


def missing_in(column: pl.Series) -> int:
    """Number of missing values, null or NaN."""
    return column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)


def doubts_about(column: pl.Series, most: int, numbers: np.ndarray) -> str | None:
    """Why a column of text may not be categorical; ``most`` categories are used.

    ``numbers`` are those of the rows in the file, from 1.
    """
    values = column.drop_nulls().unique(maintain_order=True).to_list()
    odd = [value for value in values if not is_number(value)]
    # Of at least ten values nine in ten are numbers: the others are more likely slips. A column
    # that the file or a model declares as text may hold nothing but numbers.
    if len(values) >= 10 and 0 < len(odd) <= len(values) / 10:
        row = numbers[column.to_list().index(odd[0])]
        return (
            f"column {column.name!r} is read as categories because of values such as "
            f"{odd[0]!r} in row {row}; all others are numbers"
        )
    place = notations.nearly_dates(column)
    if place is not None:
        return (
            f"column {column.name!r} is read as categories because of values such as "
            f"{column[place]!r} in row {numbers[place]}; nearly all others are dates"
        )
    if len(values) > most:
        return (
            f"column {column.name!r} has {len(values):,} distinct values; only the {most} most "
            f"frequent are used. To leave it out, pass --ignore {shlex.quote(column.name)}"
        )
    return None
