"""CSV, TSV and their like: columns are read at once, in the types that a look at them suggests."""

from __future__ import annotations

import csv
import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import narwhals.stable.v2 as nw

from steadyboost.io.columns import GAPS
from steadyboost.io.errors import TableError
from steadyboost.io.frames import backend, first_line

SEPARATORS = ",;\t|"
LOOK_AHEAD = 10_000  # rows that usually tell a column's type; if not, all are looked at


class Header(NamedTuple):
    """How the fields of a file are told apart, and the names in its first line as they stand."""

    separator: str
    raw: list[str]

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.raw]


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """The text of a file, unpacked if its name ends in ``.gz``."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not text in UTF-8; convert it first.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{path} is not a sound gzip file: {first_line(error)}") from error


def read_header(path: Path, separator: str | None) -> Header:
    """The first line; of equally frequent separators the comma."""
    with open_text(path) as text:
        line = text.readline()
    if not line:
        raise TableError(f"{path} is empty.")
    if not line.strip():
        raise TableError(f"{path} begins with an empty line, not with the names of its columns.")
    separator = separator or max(SEPARATORS, key=line.count)
    header = Header(separator, next(csv.reader([line.rstrip("\r\n")], delimiter=separator)))
    check_names(path, header.names)
    return header


def check_names(path: Path, names: Sequence[str]) -> None:
    """Each column needs a name of its own."""
    for place, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"{path}: column {place} of {len(names)} has no name in the header.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{path}: {len(twice)} names of columns repeat, such as {twice[0]!r}.")


def read_rows(
    path: Path, header: Header, text: Collection[str], wanted: Collection[str]
) -> nw.DataFrame:
    """The wanted columns; those in ``text`` as they are written, others as numbers if may be."""
    read = _with_polars if backend() == "polars" else _with_pandas
    check_widths(path, header)
    try:
        frame = read(path, header, text, wanted)
        truths = [name for name in frame.columns if _holds_truths(frame[name])]
        if truths:
            frame = frame.with_columns(*read(path, header, truths, truths).iter_columns())
        return frame
    except Exception as error:  # each library has errors of its own
        raise TableError(f"{path} cannot be read as CSV: {first_line(error)}") from error


def _with_polars(
    path: Path, header: Header, text: Collection[str], wanted: Collection[str]
) -> nw.DataFrame:
    import polars

    raw = {r: name for r, name in zip(header.raw, header.names, strict=True) if name in wanted}
    as_written = {r: polars.String for r, name in raw.items() if name in text}

    def read(look_ahead: int | None) -> polars.DataFrame:
        return polars.read_csv(
            path,
            separator=header.separator,
            columns=list(raw),
            schema_overrides=as_written,
            null_values=list(GAPS),
            infer_schema_length=look_ahead,
        )

    try:
        frame = read(LOOK_AHEAD)
    except polars.exceptions.ComputeError:  # a later row does not fit the type of the first
        frame = read(None)
    return nw.from_native(frame.rename(raw))


def _with_pandas(
    path: Path, header: Header, text: Collection[str], wanted: Collection[str]
) -> nw.DataFrame:
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(
            path,
            sep=header.separator,
            header=0,
            names=header.names,
            dtype=dict.fromkeys(text, str),
            na_values=list(GAPS),
            keep_default_na=False,
            index_col=False,
            skip_blank_lines=False,
            low_memory=False,
        )
    return nw.from_native(frame[[name for name in header.names if name in wanted]])


def _holds_truths(column: nw.Series) -> bool:
    """Whether texts were taken for truth values, so that how they are written is lost."""
    if column.dtype == nw.Object:
        return any(isinstance(value, bool) for value in column.unique().to_list())
    return column.dtype == nw.Boolean


def check_widths(path: Path, header: Header) -> None:
    """Each row has a field per column: libraries pass over fields too many, or add gaps."""
    n = len(header.raw)
    with open_text(path) as lines:
        for row, width in enumerate(_widths(lines, header.separator)):
            if width not in (0, n):
                fields = "1 field" if width == 1 else f"{width} fields"
                raise TableError(f"{path}: row {row} has {fields}, the header {n}.")


def _widths(lines: TextIO, separator: str) -> Iterator[int]:
    """How many fields each row has; 0 for an empty line. Only rows with quotes need parsing."""
    for line in lines:
        if '"' in line:
            yield len(next(csv.reader(chain([line], lines), delimiter=separator)))
        else:
            yield line.count(separator) + 1 if line.strip("\r\n") else 0
