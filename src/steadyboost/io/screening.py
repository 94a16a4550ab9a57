"""Columns that a model cannot learn from: identifiers, free text, and empty ones."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from steadyboost.io.kinds import missing_in
from steadyboost.io.table import Table

if TYPE_CHECKING:
    import polars as pl

FEW_ROWS = 20  # below this, that all values differ says little
NEARLY_ALL = 0.95  # share of distinct values of an identifier
MANY_WORDS = 4.0  # per value, on average: free text, where most values differ
ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|index|key)$|^unnamed", re.IGNORECASE)
CAMEL_ID = re.compile(r"[a-z]I[Dd]$")


def screened(table: Table, used: Collection[str] = ()) -> Table:
    """Leave out columns that a model cannot learn from, and say why.

    Parameters
    ----------
    table : Table
        A table to train on.
    used : collection of str, default=()
        Columns to use whatever they look like.

    Returns
    -------
    table : Table
        Without columns that are empty, that identify the rows, or that are free text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from steadyboost.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "pets.csv")
    ...     rows = [f"pet-{i},{i % 7},,{'cat' if i % 3 else 'dog'}" for i in range(30)]
    ...     _ = file.write_text("\\n".join(["name,weight,note,kind", *rows]))
    ...     table = screened(read_table(file, target="kind"))
    >>> table.X.columns
    ['weight']
    >>> len(table.found.left_out)
    2
    """
    if issparse(table.X):
        return table
    checked = [column for column in table.X if column.name not in used]
    reasons = {column.name: _reason(column) for column in checked}
    found = {name: reason for name, reason in reasons.items() if reason}
    if len(found) == len(table.X.columns):  # nothing would be left to learn from
        return table
    return table.without(found)


def _reason(column: pl.Series) -> str | None:
    """Why a column is left out; None if it is used."""
    import polars as pl

    name, use = repr(column.name), f"pass --use {shlex.quote(column.name)} to use it"
    if missing_in(column) == len(column):
        return f"column {name}, which is empty"
    if column.dtype == pl.String:
        words = _words(column)
        if words is not None:
            return (
                f"column {name}, which is free text of {words:.0f} words on average; word counts "
                "of it can be used in Python (steadyboost.text)"
            )
        is_identifier = _differs(column)
    else:
        is_identifier = _numbers_rows(column)
    return f"column {name}, which identifies the rows; {use}" if is_identifier else None


def _words(column: pl.Series) -> float | None:
    """Mean number of words of free text; None if it is not."""
    known = column.drop_nulls()
    if len(known) < FEW_ROWS or known.n_unique() < len(known) / 2:
        return None
    words = float(known.str.split(" ").list.len().mean())  # type: ignore[arg-type]
    return words if words >= MANY_WORDS else None


def _differs(column: pl.Series) -> bool:
    """Whether nearly all values of a column of text differ."""
    known = column.drop_nulls()
    return len(known) >= FEW_ROWS and known.n_unique() >= NEARLY_ALL * len(known)


def _numbers_rows(column: pl.Series) -> bool:
    """Whether whole numbers, all different, count the rows, or have the name of an identifier."""
    if not column.dtype.is_numeric() or len(column) < FEW_ROWS or missing_in(column):
        return False
    values = column.to_numpy()
    if (values % 1 != 0).any() or column.n_unique() < len(column):
        return False
    counts = values.max() - values.min() + 1 == len(values)
    ordered = bool((np.diff(values) > 0).all())
    has_id_name = bool(ID_NAME.search(column.name) or CAMEL_ID.search(column.name))
    return bool(counts and ordered) or has_id_name
