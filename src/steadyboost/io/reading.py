"""Reading a table: features, labels and weights apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from steadyboost.io.arff import read_arff
from steadyboost.io.column_roles import ColumnRoles
from steadyboost.io.columns import NUMBER, TEXT, typed
from steadyboost.io.delimited import check_names, read_header, read_rows
from steadyboost.io.errors import TableError
from steadyboost.io.frames import parquet_names, read_parquet
from steadyboost.io.inspection import Found, inspect_table
from steadyboost.io.libsvm import read_libsvm

SEPARATORS = {".csv": None, ".txt": None, ".data": None, ".tsv": "\t", ".tab": "\t"}
LIBSVM = (".libsvm", ".svm", ".svmlight")
PARQUET = (".parquet", ".pq")
KNOWN = (".csv", ".tsv", ".parquet", ".arff", ".libsvm")


@dataclass(frozen=True)
class Table:
    """A table of a file: a data frame of features (or a sparse matrix), labels and weights."""

    X: Any
    labels: Any  # as text, None where none were asked for
    weights: np.ndarray | None
    found: Found
    codes: list[str]  # numeric columns that were said to be categories
    kept: nw.DataFrame | None = None  # columns handed through

    @property
    def kinds(self) -> dict[str, str] | None:
        """What each column holds, by its name; None where columns have no names."""
        if issparse(self.X):
            return None
        schema = nw.from_native(self.X).schema
        return {name: TEXT if kind == nw.String else NUMBER for name, kind in schema.items()}


def read_table(
    path: str | Path,
    *,
    target: str | None = None,
    weights: str | None = None,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    keep: Collection[str] = (),
    features: Mapping[str, str] | None = None,
    n_features: int | None = None,
) -> Table:
    """Read a CSV, TSV, Parquet, ARFF or libsvm file, also one packed by gzip.

    Columns whose values are all numbers are numeric, others categorical; an empty field, ``?``,
    ``NA`` and the like are missing values.

    Parameters
    ----------
    path : str or path-like
        The file; its name's ending tells the format.
    target, weights : str, default=None
        Columns of the labels and of the weights of rows. A libsvm file has its labels in front.
    ignore, categorical : collection of str, default=()
        Columns to leave out, and columns to take as categories even if they hold numbers.
    keep : collection of str, default=()
        Columns to hand through as they are, such as the names of the rows.
    features : dict of str to {"number", "text"}, default=None
        The columns that a model needs, in its order; others are left out.
    n_features : int, default=None
        Number of columns of a libsvm file, where a model needs so many.

    Returns
    -------
    table : Table
        ``X``, ``labels`` (text) and ``weights``, and what was ``found``.

    Raises
    ------
    TableError
        If the file cannot be read or lacks a column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "pets.csv")
    ...     _ = file.write_text("weight,fur,pet\\n4.2,short,cat\\n?,long,dog\\n")
    ...     table = read_table(file, target="pet")
    >>> table.labels
    array(['cat', 'dog'], dtype=object)
    >>> table.found.categorical, table.found.missing
    ({'fur': 2}, {'weight': 1})
    """
    path = Path(path)
    if not path.is_file():
        reason = "is a folder, not a file" if path.is_dir() else "there is no such file"
        raise TableError(f"{path}: {reason}.")
    ignored, coded, kept = (tuple(dict.fromkeys(names)) for names in (ignore, categorical, keep))
    roles = ColumnRoles(target, weights, ignored, coded, kept, features)
    if has_own_labels(path):
        return _sparse_table(path, roles, n_features)
    frame = _read(path, roles)
    if not len(frame):
        raise TableError(f"{path} has no rows.")
    return _divided(path, frame, roles)


def has_own_labels(path: str | Path) -> bool:
    """Whether files of this format say themselves what is a label."""
    return _suffix(Path(path)) in LIBSVM


def _suffix(path: Path) -> str:
    """How the name ends, but for ``.gz``."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def _read(path: Path, roles: ColumnRoles) -> nw.DataFrame:
    """The columns that have a role, each of its kind."""
    suffix = _suffix(path)
    if suffix in PARQUET:
        names = parquet_names(path)
        check_names(path, names)
        return typed(path, read_parquet(path, roles.columns(path, names)), roles.kinds)
    if suffix == ".arff":
        frame, kinds = read_arff(path)
        chosen = frame.select(roles.columns(path, frame.columns))
        return typed(path, chosen, {**kinds, **roles.kinds})
    if suffix not in SEPARATORS:
        ends = ", ".join(KNOWN)
        raise TableError(f"{path}: the name ends in none of {ends}, perhaps with .gz behind it.")
    header = read_header(path, SEPARATORS[suffix])
    columns = roles.columns(path, header.names)
    kinds = {**dict.fromkeys(roles.categorical, TEXT), **roles.kinds}
    as_written = {name for name, kind in kinds.items() if kind == TEXT}
    return typed(path, read_rows(path, header, as_written, columns), kinds)


def _divided(path: Path, frame: nw.DataFrame, roles: ColumnRoles) -> Table:
    labels = None if roles.target is None else _labels(path, frame[roles.target])
    weights = None if roles.weights is None else _weights(path, frame[roles.weights])
    apart = {roles.target, roles.weights, *roles.keep}
    names = [name for name in frame.columns if name not in apart]
    X = frame.select(names if roles.features is None else list(roles.features))
    if not names:
        raise TableError(f"{path} has no columns of features beside those named.")
    codes = [name for name in roles.categorical if X[name].dtype != nw.String]
    found = inspect_table(path, X, list(roles.ignore), set(roles.categorical))
    return Table(X.to_native(), labels, weights, found, codes, frame.select(roles.keep))


def _labels(path: Path, column: nw.Series) -> np.ndarray:
    gaps = column.is_null().to_numpy()
    if gaps.any():
        count = "the only such row" if gaps.sum() == 1 else f"{gaps.sum():,} such rows"
        raise TableError(
            f"{path}: row {gaps.argmax() + 1} has no value in the target column {column.name!r} "
            f"({count}); fill it in or drop the row."
        )
    return column.to_numpy().astype(object)


def _weights(path: Path, column: nw.Series) -> np.ndarray:
    weights = column.cast(nw.Float64).to_numpy()
    wrong = ~(weights >= 0)
    if wrong.any():
        row = wrong.argmax()
        what = "missing" if np.isnan(weights[row]) else f"{weights[row]:g}"
        raise TableError(
            f"{path}: row {row + 1} of the weights {column.name!r} is {what}; "
            "give each row a number of 0 or more."
        )
    return weights


def _sparse_table(path: Path, roles: ColumnRoles, n_features: int | None) -> Table:
    roles.columns(path, ["label"])  # the only name there is
    X, labels = read_libsvm(path, n_features)
    return Table(X, labels, None, Found(str(path), *X.shape), [])
