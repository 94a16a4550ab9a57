"""Changing the labels of a table in its file, and nothing else.

Reading a table and writing it again would change how numbers are written, which fields have
quotes, line ends and more. Here a file of delimited text is cut into its fields as they are
written; those of the target are replaced, and all others come out byte for byte.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from steadyboost.files import replacing
from steadyboost.io.columns import TableError, nearest
from steadyboost.io.delimited import MARKS, check_names, open_bytes, open_text, read_header
from steadyboost.io.formats import PARQUET, read_typed, typed_names
from steadyboost.io.table import SEPARATORS, file_suffix

if TYPE_CHECKING:
    import polars as pl

# How text behind a byte order mark is written
CODECS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"(?!")')


class TableFile(Protocol):
    """A table in a file, whose labels can be changed."""

    names: list[str]

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def column(self, name: str) -> list[str]:
        """A column as text, without quotes and blanks around it."""
        ...

    def row(self, number: int, without: str) -> list[Any]:
        """The values of a row in the order of the columns, without one of them."""
        ...

    def write(
        self, output: Path, target: str, labels: Mapping[int, str], left_out: Collection[int]
    ) -> None:
        """Write the table with other labels in some rows, and without those left out."""
        ...


def is_editable(path: Path) -> bool:
    """Whether the labels of such a file can be changed."""
    return file_suffix(path) in (*PARQUET, *SEPARATORS)


def open_table(path: str | Path) -> TableFile:
    """A table to be changed: delimited text or Parquet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, clean = Path(folder, "pets.csv"), Path(folder, "clean.csv")
    ...     _ = file.write_text('kg;"pet"\\r\\n4,20;"cat"\\r\\n30;"cat"\\r\\n')
    ...     open_table(file).write(clean, "pet", {1: "dog"}, left_out=[])
    ...     clean.read_bytes().decode()
    'kg;"pet"\\r\\n4,20;"cat"\\r\\n30;"dog"\\r\\n'
    """
    path = Path(path)
    if not path.is_file():
        raise TableError(f"{path}: there is no such file.")
    suffix = file_suffix(path)
    if suffix in PARQUET:
        return ParquetTable(path)
    if suffix in SEPARATORS:
        return DelimitedTable(path, SEPARATORS[suffix])
    raise TableError(
        f"{path}: labels can be changed in CSV, TSV and Parquet files; convert the table first."
    )


class DelimitedTable:
    """A file of delimited text, as records of fields as they are written."""

    def __init__(self, path: Path, separator: str | None):
        header = read_header(path, separator, None)
        self.path, self.separator = path, header.separator
        self.names = [name.strip() for name in header.raw]
        with open_text(path, header.encoding) as text:
            self.header, *self.records = split_records(text.read(), self.separator)
        with open_bytes(path) as file:
            start = file.read(3)
        self.mark = next((mark for mark in MARKS if start.startswith(mark)), b"")
        self.codec = CODECS[self.mark] if self.mark else header.encoding.removesuffix("-sig")
        for number, (fields, _) in enumerate(self.records, start=1):
            if len(fields) != len(self.names):
                raise TableError(
                    f"{path}: row {number} has {len(fields)} fields, the header {len(self.names)}."
                )

    def __len__(self) -> int:
        return len(self.records)

    def place(self, name: str) -> int:
        """Number of a column."""
        if name not in self.names:
            raise TableError(f"{self.path} has no column {name!r}{nearest(name, self.names)}")
        return self.names.index(name)

    def column(self, name: str) -> list[str]:
        place = self.place(name)
        return [value_of(fields[place]) for fields, _ in self.records]

    def row(self, number: int, without: str) -> list[Any]:
        place, (fields, _) = self.place(without), self.records[number]
        return [value_of(field) for at, field in enumerate(fields) if at != place]

    def write(
        self, output: Path, target: str, labels: Mapping[int, str], left_out: Collection[int]
    ) -> None:
        place = self.place(target)
        lines = [joined(*self.header, self.separator)]
        for number, (fields, end) in enumerate(self.records):
            if number in left_out:
                continue
            if number in labels:
                field = rewritten(fields[place], labels[number], self.separator)
                fields = [*fields[:place], field, *fields[place + 1 :]]
            lines.append(joined(fields, end, self.separator))
        write_bytes(output, self.mark + "".join(lines).encode(self.codec))


class ParquetTable:
    """A Parquet file: columns keep their types."""

    def __init__(self, path: Path):
        self.path, self.names = path, typed_names(path, PARQUET[0])
        check_names(path, self.names)
        self.frame: pl.DataFrame = read_typed(path, PARQUET[0], self.names)

    def __len__(self) -> int:
        return len(self.frame)

    def column(self, name: str) -> list[str]:
        if name not in self.names:
            raise TableError(f"{self.path} has no column {name!r}{nearest(name, self.names)}")
        return ["" if value is None else str(value).strip() for value in self.frame[name]]

    def row(self, number: int, without: str) -> list[Any]:
        values = zip(self.names, self.frame.row(number), strict=True)
        return [value for name, value in values if name != without]

    def write(
        self, output: Path, target: str, labels: Mapping[int, str], left_out: Collection[int]
    ) -> None:
        import polars as pl

        old = self.frame[target].to_list()
        by_text = {str(value).strip(): value for value in old if value is not None}
        new = [by_text[labels[row]] if row in labels else value for row, value in enumerate(old)]
        changed = self.frame.with_columns(pl.Series(target, new, dtype=self.frame[target].dtype))
        content = io.BytesIO()
        changed[[row for row in range(len(old)) if row not in left_out]].write_parquet(content)
        write_bytes(output, content.getvalue())


def split_records(text: str, separator: str) -> Iterator[tuple[list[str], str]]:
    """The fields of each record as they are written, and its line end."""
    pending = ""
    end = "\n" if "\n" in text else "\r"
    lines = text.split(end)
    for number, line in enumerate(lines):
        is_last = number == len(lines) - 1
        if is_last and not line and not pending:
            return
        record = pending + line + ("" if is_last else end)
        body = record.removesuffix("\n").removesuffix("\r")
        fields = body.split(separator) if '"' not in body else split_fields(body, separator)
        if fields is None and not is_last:  # a line end within quotes
            pending = record
            continue
        pending = ""
        yield fields or [body], record[len(body) :]


def split_fields(record: str, separator: str) -> list[str] | None:
    """The fields of a record with quotes; None if the last one is still open."""
    fields: list[str] = []
    start = 0
    while True:
        behind = start
        if record.startswith('"', start):
            quoted = QUOTED.match(record, start)
            if quoted is None:
                return None
            behind = quoted.end()
        end = record.find(separator, behind)
        if end < 0:
            return [*fields, record[start:]]
        fields.append(record[start:end])
        start = end + 1


def value_of(field: str) -> str:
    """The value of a field, without its quotes and the blanks around it."""
    field = field.strip()
    if len(field) > 1 and field[0] == field[-1] == '"':
        field = field[1:-1].replace('""', '"').strip()
    return field


def rewritten(field: str, value: str, separator: str) -> str:
    """A field with another value, in its quotes and between its blanks, if it has any."""
    core = field.strip()
    before, after = field.split(core, 1) if core else ("", "")
    needs_quotes = value != value.strip() or any(sign in value for sign in f'{separator}"\r\n')
    if core.startswith('"') or needs_quotes:
        value = '"' + value.replace('"', '""') + '"'
    return f"{before}{value}{after}"


def joined(fields: Sequence[str], end: str, separator: str) -> str:
    return separator.join(fields) + end


def write_bytes(output: Path, content: bytes) -> None:
    """All of it or nothing, compressed if the name ends in ``.gz``."""
    # Without the time of day, the same table gives the same file.
    packed = gzip.compress(content, mtime=0) if output.suffix.lower() == ".gz" else content
    with replacing(output) as file:
        file.write(packed)
