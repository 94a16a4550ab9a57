"""Tables that are read in batches: Parquet files, and whatever gives an Arrow stream."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.dataset

from steadyboost.preprocessing.scratch import explain_full_disk, scratch_file

BATCH_ROWS = 1 << 17  # the most rows of a batch
BATCH_NUMBERS = 1 << 22  # numbers of a batch: fewer rows of many columns
MIN_BATCH_ROWS = 1 << 10
BATCHES_AHEAD = 2  # batches that are read ahead of their use
PARQUET = (".parquet", ".pq")


class Source:
    """A table that can be read several times, in batches of the same rows.

    A reader, which gives its rows once only, is copied to a file on disk at first, unless it is to
    be read once only.

    Parameters
    ----------
    table : path or object
        A Parquet file or a folder of them; a pyarrow Dataset; a polars LazyFrame; or any object
        with ``__arrow_c_stream__``.
    name : str
        What the user calls it, for errors.
    read_once : bool, default=False
        Whether one pass over the rows will do.
    """

    def __init__(self, table: Any, name: str = "X", *, read_once: bool = False):
        self.name = name
        self._table = open_parquet(table) if isinstance(table, (str, os.PathLike)) else table
        self._copy: IO[bytes] | None = None
        if isinstance(self._table, pa.RecordBatchReader) and not read_once:
            self._copy = copied(self._table)
        self.schema = self._reader().schema
        check_columns(self.schema, name)

    @property
    def names(self) -> list[str]:
        return self.schema.names

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The columns (None: all) in this order, a number of rows at a time that depends on them.

        The rows of a batch do not depend on how the source divides its own.
        """
        names = self.names if columns is None else list(columns)
        size = max(MIN_BATCH_ROWS, min(BATCH_ROWS, BATCH_NUMBERS // max(1, len(self.names))))
        return in_batches((t.select(names) for t in self._tables(names)), size)

    def need(self, names: Collection[str], what: str) -> None:
        """Raise an error if a column is missing."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ValueError(
                f"{what} {missing[0]!r} is not a column of {self.name}, which has "
                f"{self.names[:20]}."
            )

    def _tables(self, names: list[str]) -> Iterator[pa.Table]:
        """Parts of the table as the source gives them; only the named columns, where it can."""
        if isinstance(self._table, pa.dataset.Dataset):
            options = {"batch_readahead": BATCHES_AHEAD, "fragment_readahead": 1}
            parts: Any = self._table.to_batches(names, batch_size=BATCH_ROWS, **options)
        elif is_lazy_frame(self._table):
            frames = self._table.select(names).collect_batches(chunk_size=BATCH_ROWS)
            yield from (frame.to_arrow() for frame in frames)
            return
        else:
            parts = self._reader()
        yield from (pa.Table.from_batches([part]) for part in parts)

    def _reader(self) -> Any:
        """Something with a schema that gives the rows from the beginning."""
        if self._copy is not None:
            self._copy.seek(0)
            return pa.ipc.open_stream(self._copy)
        if isinstance(self._table, (pa.dataset.Dataset, pa.RecordBatchReader)):
            return self._table
        if is_lazy_frame(self._table):
            return self._table.head(0).collect().to_arrow()
        if not hasattr(self._table, "__arrow_c_stream__"):
            raise ValueError(
                f"{self.name} is of type {type(self._table).__name__}, which cannot be read as a "
                "stream; pass the path of a Parquet file, or a table with __arrow_c_stream__, "
                "such as a pyarrow Dataset, a polars LazyFrame or a DuckDB relation."
            )
        return pa.RecordBatchReader.from_stream(self._table)


def is_lazy_frame(table: Any) -> bool:
    """Whether this is a polars LazyFrame; polars itself is not needed to find out."""
    return hasattr(table, "collect_batches")


def open_parquet(path: Any) -> Any:
    """A Parquet file, or a folder of them, as a dataset."""
    place = Path(path)
    if not place.exists():
        raise ValueError(f"X={str(path)!r} does not exist; pass a Parquet file or a folder.")
    if place.is_file() and place.suffix.lower() not in PARQUET:
        raise ValueError(
            f"X={str(path)!r} is not a Parquet file by its name; read other formats by a library "
            "that gives them as a stream, such as polars.scan_csv or pyarrow.dataset."
        )
    try:
        return pa.dataset.dataset(place, format="parquet")
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"X={str(path)!r} cannot be read as Parquet: {reason}") from error


def check_columns(schema: pa.Schema, name: str) -> None:
    """Raise an error for a table of which columns cannot be told by their names."""
    twice = sorted({own for own in schema.names if schema.names.count(own) > 1})
    if twice:
        raise ValueError(f"{name} has several columns named {twice[0]!r}; rename them.")


def copied(reader: pa.RecordBatchReader) -> IO[bytes]:
    """All rows of a reader, in a file on disk."""
    file = scratch_file()
    with (
        explain_full_disk("rows that can be read once only"),
        pa.ipc.new_stream(file, reader.schema) as out,
    ):
        for batch in reader:
            out.write_batch(batch)
    return file


def in_batches(tables: Iterator[pa.Table], size: int) -> Iterator[pa.Table]:
    """The same rows in batches of ``size``; the last one may be smaller."""
    held: list[pa.Table] = []
    n_held = 0
    for table in tables:
        held.append(table)
        n_held += len(table)
        if n_held < size:
            continue
        joined, start = pa.concat_tables(held), 0
        for start in range(0, n_held - size + 1, size):
            yield joined[start : start + size]
        rest = joined[start + size :]
        held, n_held = [rest], len(rest)
    if n_held:
        yield pa.concat_tables(held)
