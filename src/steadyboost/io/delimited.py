"""Delimited text: CSV, TSV and the like, in any common encoding."""

from __future__ import annotations

import codecs
import csv
import gzip
import importlib.util
import io
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from steadyboost.files import GAPS
from steadyboost.io.columns import TableError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ",;\t|"
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
LOOK_AHEAD = 10_000  # rows that usually tell a column's type; if not, all rows are used
FIRST_LINES = 20  # that tell the separator
UTF8 = "utf-8-sig"  # with or without a byte order mark
MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CHUNK = 1 << 20


def need_polars() -> None:
    """Raise ``TableError`` with the remedy where polars is not installed."""
    if not importlib.util.find_spec("polars"):
        raise TableError(
            "tables are read and written by polars, which is not installed; "
            "pip install 'steadyboost[tables]'."
        )


def first_line(error: BaseException) -> str:
    """The first line of a library's error message: what follows is advice for programmers."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".") + "."


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise ``TableError`` for columns without a name or with the same name."""
    for place, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"{path}: column {place} of {len(names)} has no name in the header.")
    repeated = [(name, count) for name, count in Counter(names).items() if count > 1]
    if repeated:
        name, count = repeated[0]
        times = "twice" if count == 2 else f"{count} times"
        more = f", and {len(repeated) - 1} other names repeat" if repeated[1:] else ""
        raise TableError(f"{path}: column name {name!r} appears {times}{more}.")


# Encodings


@contextmanager
def open_bytes(path: Path) -> Iterator[Any]:
    """Open a file, decompressed if its name ends in ``.gz``."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{path} is not a valid gzip file: {first_line(error)}") from error


@contextmanager
def open_text(path: Path, encoding: str = UTF8) -> Iterator[TextIO]:
    """Open a text file, decompressed if its name ends in ``.gz``."""
    try:
        with open_bytes(path) as file:
            yield io.TextIOWrapper(file, encoding=encoding, newline="")
    except csv.Error as error:
        raise TableError(f"{path} cannot be read as fields: {first_line(error)}") from error
    except UnicodeError as error:
        raise TableError(
            f"{path} is not text in {usual_name(encoding)}; pass another --encoding."
        ) from error


def find_encoding(path: Path) -> str:
    """UTF-8, UTF-16 by its byte order mark or its zero bytes, else Windows-1252."""
    with open_bytes(path) as file:
        start = file.read(CHUNK)
        for mark, encoding in MARKS.items():
            if start.startswith(mark):
                return encoding
        sample = start[:1000]
        if sample.count(0) > len(sample) / 4:  # every second byte of plain text in UTF-16
            return "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while start:
                decoder.decode(start)
                start = file.read(CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return UTF8


def usual_name(encoding: str) -> str:
    """The name of an encoding that users know."""
    return "utf-8" if encoding == UTF8 else encoding


def check_encoding(path: Path, name: str) -> str:
    """The name of an encoding that Python knows, in its usual form."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        raise TableError(
            f"{path}: the encoding {name!r} is not known; examples are utf-8, latin-1 and utf-16."
        ) from None
    return UTF8 if found == "utf-8" else found


# The header


class Delimited(NamedTuple):
    """A file of delimited text: how to read it, and the names in its first line as written.

    ``has_index`` tells whether the first column has no name: the index of a data frame;
    ``lone_returns`` whether lines end in a carriage return alone, as on old Macs.
    """

    path: Path
    encoding: str
    separator: str
    raw: list[str]
    has_index: bool
    lone_returns: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns, without that of the index."""
        return [name.strip() for name in self.raw[self.has_index :]]


def read_header(path: Path, separator: str | None, encoding: str | None) -> Delimited:
    """Find the encoding and the separator of a file where they are not given; read its header."""
    encoding = find_encoding(path) if encoding is None else check_encoding(path, encoding)
    with open_text(path, encoding) as text:
        lines = list(islice(text, FIRST_LINES))
        if not lines:
            raise TableError(f"{path} is empty.")
        if not lines[0].strip():
            raise TableError(
                f"{path} begins with an empty line, not with the names of its columns."
            )
        separator = as_separator(path, separator) if separator else _find_separator(lines)
        raw = next(csv.reader(lines, delimiter=separator))
    has_index = len(raw) > 1 and not raw[0].strip()
    header = Delimited(path, encoding, separator, raw, has_index, lines[0].endswith("\r"))
    check_names(path, header.names)
    return header


def as_separator(path: Path, text: str) -> str:
    """The sign that a user's word for it means."""
    sign = SEPARATOR_NAMES.get(text.lower(), text)
    if len(sign) != 1:
        raise TableError(f"{path}: the separator {text!r} must be one character, or tab.")
    return sign


def _find_separator(lines: Sequence[str]) -> str:
    """The most frequent sign of the header that divides all lines into as many fields.

    If there is none, the most frequent sign of the header; the comma in case of ties.
    """
    counted = {sign: _fields(lines, sign) for sign in SEPARATORS}
    regular = {sign: n for sign, n in counted.items() if n > 1}
    if regular:
        return max(regular, key=lambda sign: regular[sign])
    return max(SEPARATORS, key=lines[0].count)


def _fields(lines: Sequence[str], sign: str) -> int:
    """Number of fields that all complete lines have; 0 if they differ."""
    rows = list(csv.reader(lines, delimiter=sign))
    # The last of the first lines may end within quotes.
    widths = {len(row) for row in (rows[:-1] if len(rows) > 2 else rows) if row}
    return widths.pop() if len(widths) == 1 else 0


# The rows


def read_rows(table: Delimited, text: Collection[str], wanted: Collection[str]) -> pl.DataFrame:
    """The wanted columns; those in ``text`` as text, others as numbers where possible."""
    import polars as pl

    check_widths(table)
    try:
        frame = _read_csv(table, text, wanted)
        # How a truth value is written (true, True) is lost, but is a category to others.
        truths = [column.name for column in frame if column.dtype == pl.Boolean]
        if truths:
            frame = frame.with_columns(_read_csv(table, truths, truths).get_columns())
        return frame
    except Exception as error:  # polars raises errors of many types, and panics on some bytes
        raise TableError(f"{table.path} cannot be read as CSV: {first_line(error)}") from error


def _read_csv(table: Delimited, text: Collection[str], wanted: Collection[str]) -> pl.DataFrame:
    import polars as pl

    source = _for_polars(table)
    # polars leaves quotes within a name doubled, so that its names are matched by their places.
    theirs = pl.read_csv(source, separator=table.separator, n_rows=0).columns[table.has_index :]
    named = zip(theirs, table.names, strict=True)
    raw = {r: name for r, name in named if name in wanted}
    as_written = {r: pl.String for r, name in raw.items() if name in text}

    def read(look_ahead: int | None) -> pl.DataFrame:
        return pl.read_csv(
            source,
            separator=table.separator,
            columns=list(raw),
            schema_overrides=as_written,
            null_values=list(GAPS),
            infer_schema_length=look_ahead,
        )

    try:
        frame = read(LOOK_AHEAD)
    except pl.exceptions.ComputeError:  # a later row does not fit the type of the first ones
        frame = read(None)
    return frame.rename(raw)


def _for_polars(table: Delimited) -> Any:
    """The file, which polars reads by columns; a copy in memory where it could not.

    That is text in another encoding than UTF-8, or with lines that end in a carriage return alone.
    """
    if table.encoding == UTF8 and not table.lone_returns:
        return table.path
    with open_text(table.path, table.encoding) as text:
        content = text.read()
    if table.lone_returns:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    return content.encode()


def check_widths(table: Delimited) -> None:
    """Raise ``TableError`` for a row of another length: polars would add nulls to short ones."""
    n = len(table.raw)
    with open_text(table.path, table.encoding) as text:
        lines = without_nul(table.path, text)
        for row, width in enumerate(_widths(lines, table.separator)):
            if width not in (0, n):
                fields = "1 field" if width == 1 else f"{width} fields"
                raise TableError(f"{table.path}: row {row} has {fields}, the header {n}.")


def without_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """The lines, and an error for one with a NUL byte, where other programs end the text."""
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise TableError(f"{path}: line {number} has a NUL byte, which is not text; remove it.")
        yield line


def _widths(lines: Iterator[str], separator: str) -> Iterator[int]:
    """Number of fields of each row, 0 for an empty line; only rows with quotes are parsed."""
    for line in lines:
        if '"' in line:
            yield len(next(csv.reader(chain([line], lines), delimiter=separator)))
        else:
            yield line.count(separator) + 1 if line.strip("\r\n") else 0


def read_texts(path: Path) -> pl.DataFrame:
    """All columns of a CSV file as text; empty fields are empty texts."""
    need_polars()
    import polars as pl

    return pl.read_csv(path, infer_schema_length=0).fill_null("")  # 0: no type is inferred
