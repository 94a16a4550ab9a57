"""The data frame library that is there: polars, else pandas."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw

from steadyboost.io.errors import TableError

REMEDY = "pip install 'steadyboost[tables]'"


def backend() -> Literal["polars", "pandas"]:
    """The library to read and write with; polars takes the least time and memory."""
    if importlib.util.find_spec("polars"):
        return "polars"
    if importlib.util.find_spec("pandas"):
        return "pandas"
    raise TableError(f"tables need polars or pandas, and neither is installed; {REMEDY}.")


def from_columns(columns: Mapping[str, Sequence[Any]]) -> nw.DataFrame:
    """A frame of the library that is there."""
    return nw.from_dict(dict(columns), backend=backend())


def first_line(error: BaseException) -> str:
    """What a library says of an error, without its advice."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".") + "."


def read_parquet(path: Path, wanted: Collection[str] | None) -> nw.DataFrame:
    """A Parquet file, or those of its columns that are wanted."""
    columns = None if wanted is None else list(wanted)
    try:
        if backend() == "polars":
            import polars

            return nw.from_native(polars.read_parquet(path, columns=columns))
        import pandas

        return nw.from_native(pandas.read_parquet(path, columns=columns))
    except ImportError:
        raise TableError(
            f"{path}: pandas needs pyarrow to read Parquet, polars needs no more; {REMEDY}."
        ) from None
    except Exception as error:  # each library has errors of its own
        raise TableError(f"{path} cannot be read as Parquet: {first_line(error)}") from error


def parquet_names(path: Path) -> list[str]:
    """The columns of a Parquet file, without its rows where that is possible."""
    if backend() != "polars":
        return read_parquet(path, None).columns
    import polars

    try:
        return list(polars.read_parquet_schema(path))
    except Exception as error:
        raise TableError(f"{path} cannot be read as Parquet: {first_line(error)}") from error
