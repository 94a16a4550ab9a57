"""Reading a table: features, labels and weights, and a summary of what was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.files import counted
from steadyboost.io.columns import DATE, NUMBER, TEXT, ColumnRoles, TableError
from steadyboost.io.delimited import UTF8, check_names, need_polars, read_header, read_rows
from steadyboost.io.formats import TYPED, read_arff, read_libsvm, read_typed, typed_names
from steadyboost.io.kinds import Hints, KindFinder, doubts_about, is_date, missing_in
from steadyboost.io.notation import DECIMALS, in_words
from steadyboost.trees.data.binning import MAX_BINS

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": None, ".txt": None, ".data": None, ".tsv": "\t", ".tab": "\t"}
LIBSVM = (".libsvm", ".svm", ".svmlight")
KNOWN = (
    *(".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".xlsx"),
    *(".arff", ".libsvm"),
)


@dataclass(frozen=True)
class Found:
    """Summary of a table: size, kinds of columns, missing values, and warnings about it.

    Attributes
    ----------
    file : str
        The path.
    rows, columns : int
        Number of rows and of features.
    categorical : dict of str to int
        Number of values of each categorical column.
    dates : dict of str to str
        The first and the last date of each column of dates.
    notations : dict of str to str
        Decimal signs and orders of dates of columns where these are not the usual ones.
    missing : dict of str to int
        Number of missing values of each column that has some.
    ignored : list of str
        Columns that were left out, as asked for.
    left_out : list of str
        What else was left out, and why: a sentence each.
    remarks : list of str
        How the file was read, where that is not plain.
    doubts : list of str
        Columns that may not be what they were taken for.
    """

    file: str
    rows: int
    columns: int
    categorical: dict[str, int] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    notations: dict[str, str] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """The summary in one line each: size, kinds, missing values and warnings."""
        lines = [f"{self.file}: {counted(self.rows, 'row')}, {counted(self.columns, 'feature')}"]
        if self.categorical:
            told = [
                f"{name} ({counted(values, 'value')})" for name, values in self.categorical.items()
            ]
            lines.append(f"categorical: {_few(told)}")
        if self.dates:
            lines.append(f"dates: {_few([self._date(name) for name in self.dates])}")
        for sign, words in {",": "decimal commas", ".": "thousands separators"}.items():
            names = [name for name, notation in self.notations.items() if notation == sign]
            lines += [f"{words}: {_few(names)}"] if names else []
        if self.missing:
            total = sum(self.missing.values())
            told = [f"{name} ({gaps:,})" for name, gaps in self.missing.items()]
            lines.append(f"missing values: {total:,} in {_few(told)}")
        if self.ignored:
            lines.append(f"not used: {_few(self.ignored)}")
        lines += [f"left out: {reason}" for reason in self.left_out]
        return [*lines, *(f"note: {remark}" for remark in (*self.remarks, *self.doubts))]

    def _date(self, name: str) -> str:
        """A column of dates: its range, and its order if that is not the usual one."""
        order = in_words(self.notations.get(name, "%Y-%m-%d"))
        written = "" if order == "year-month-day" else f", written {order}"
        return f"{name} ({self.dates[name]}{written})"


def inspect_table(
    path: Path, frame: pl.DataFrame, roles: ColumnRoles, numbers: np.ndarray, read: KindFinder
) -> Found:
    """Summarise the features of a table, whose rows have these numbers in the file."""
    texts = [column.name for column in frame if _is_text(column)]
    chosen = set(roles.categorical)
    codes = [name for name in frame.columns if name in texts or name in chosen]
    gaps = {column.name: missing_in(column) for column in frame}
    doubts = [doubts_about(frame[name], MAX_BINS, numbers) for name in texts if name not in chosen]
    dates = {c.name: _range(c) for c in frame if is_date(c) and c.null_count() < len(c)}
    return Found(
        str(path),
        len(frame),
        len(frame.columns),
        categorical={name: frame[name].drop_nulls().n_unique() for name in codes},
        dates=dates,
        notations={name: own for name, own in read.notations.items() if name in frame.columns},
        missing={name: count for name, count in gaps.items() if count},
        ignored=list(roles.ignore),
        remarks=read.remarks,
        doubts=[doubt for doubt in doubts if doubt],
    )


def _range(dates: pl.Series) -> str:
    first: Any = dates.min()
    last: Any = dates.max()
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _is_text(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype == pl.String


def _few(told: list[str], most: int = 8) -> str:
    shown = ", ".join(told[:most])
    return shown if len(told) <= most else f"{shown} and {len(told) - most} more"


@dataclass(frozen=True)
class Table:
    """The table of a file.

    Attributes
    ----------
    X : polars.DataFrame or scipy.sparse.csr_matrix
        The features.
    labels : ndarray of str or None
        Labels as text; None without a target.
    weights : ndarray or None
        Sample weights.
    found : Found
        Summary of what was read.
    codes : list of str
        Numeric columns that the caller named as categorical.
    kept : polars.DataFrame or None
        Columns to be copied to outputs.
    numbers : ndarray of int
        The number of each row in the file, from 1, not counting the header.
    """

    X: Any
    labels: Any
    weights: np.ndarray | None
    found: Found
    codes: list[str]
    kept: pl.DataFrame | None = None
    numbers: np.ndarray = field(default_factory=lambda: np.arange(0))

    @property
    def kinds(self) -> dict[str, str] | None:
        """Kinds of the columns by name; None for a sparse matrix, which has no names."""
        if issparse(self.X):
            return None
        return {column.name: kind_of(column) for column in self.X}

    def without(self, reasons: Mapping[str, str]) -> Table:
        """The table without some features, and why they are left out."""
        if not reasons:
            return self
        X, found = self.X.drop(list(reasons)), self.found
        rest: dict[str, Any] = {
            name: {key: value for key, value in getattr(found, name).items() if key in X.columns}
            for name in ("categorical", "dates", "notations", "missing")
        }
        doubts = [d for d in found.doubts if not any(f"column {name!r} " in d for name in reasons)]
        found = replace(
            found,
            columns=len(X.columns),
            left_out=[*found.left_out, *reasons.values()],
            doubts=doubts,
            **rest,
        )
        return replace(self, X=X, found=found)


def kind_of(column: pl.Series) -> str:
    """The kind of a converted column."""
    return TEXT if _is_text(column) else DATE if is_date(column) else NUMBER


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
    notations: Mapping[str, str] | None = None,
    drop_unlabelled: bool = False,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a CSV, TSV, Parquet, Feather, JSON lines, Excel, ARFF or libsvm file.

    Text files may be compressed by gzip. Columns whose values are all numbers are numeric, also
    with decimal commas or thousands separators; those whose values are all dates become dates;
    others are categorical. An empty field, ``?``, ``NA`` and the like are missing values.

    Parameters
    ----------
    path : str or path-like
        The file; the format follows from the ending of its name.
    target, weights : str, default=None
        Columns of the labels and of the sample weights. Rows of a libsvm file begin with their
        labels.
    ignore, categorical : collection of str, default=()
        Columns to leave out, and columns to treat as categorical even if they hold numbers.
    keep : collection of str, default=()
        Columns to return as text beside the features, such as an identifier of the rows.
    features : dict of str to {"number", "date", "text"}, default=None
        The columns that a model needs, in its order; others are left out.
    n_features : int, default=None
        Number of columns of a libsvm file, for a model that expects so many.
    notations : dict of str to str, default=None
        How numbers and dates of the columns were written in the training data.
    drop_unlabelled : bool, default=False
        Leave out the rows without a label, instead of raising an error.
    separator, encoding : str, default=None
        Of a text file; found out by default. Encodings are UTF-8, UTF-16 or, for other bytes,
        Windows-1252.
    decimal : {".", ","}, default=None
        The decimal sign of all numbers in a text file; found out by default.

    Returns
    -------
    table : Table
        ``X``, ``labels`` (text) and ``weights``, and a summary, ``found``.

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
    if decimal is not None and decimal not in DECIMALS:
        raise TableError(f"{path}: the decimal sign {decimal!r} must be ',' or '.'.")
    ignored, coded, kept = (tuple(dict.fromkeys(names)) for names in (ignore, categorical, keep))
    roles = ColumnRoles(target, weights, ignored, coded, kept, features)
    if has_own_labels(path):
        return _sparse_table(path, roles, n_features)
    finder = KindFinder(path, Hints(roles.kinds, notations or {}, decimal))
    frame = _read(path, roles, finder, separator, encoding)
    if not len(frame):
        raise TableError(f"{path} has no rows.")
    return _divided(path, frame, roles, finder, drop_unlabelled)


def has_own_labels(path: str | Path) -> bool:
    """Whether files of this format have labels without naming a column."""
    return file_suffix(Path(path)) in LIBSVM


def file_suffix(path: Path) -> str:
    """The ending of the name, without ``.gz``."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def _read(
    path: Path, roles: ColumnRoles, finder: KindFinder, separator: str | None, encoding: str | None
) -> pl.DataFrame:
    """The columns that have a role, each converted to its kind."""
    need_polars()
    suffix = file_suffix(path)
    if suffix in TYPED:
        names = typed_names(path, suffix)
        check_names(path, names)
        return finder.convert(read_typed(path, suffix, roles.columns(path, names)))
    if suffix == ".arff":
        frame, kinds = read_arff(path)
        finder.hints = replace(finder.hints, kinds={**kinds, **roles.kinds})
        return finder.convert(frame.select(roles.columns(path, frame.columns)))
    if suffix not in SEPARATORS:
        ends = ", ".join(KNOWN)
        raise TableError(f"{path}: the name must end in one of {ends}, perhaps followed by .gz.")
    return _read_text(path, roles, finder, separator or SEPARATORS[suffix], encoding)


def _read_text(
    path: Path, roles: ColumnRoles, finder: KindFinder, separator: str | None, encoding: str | None
) -> pl.DataFrame:
    """The same for delimited text."""
    file = read_header(path, separator, encoding)
    columns = roles.columns(path, file.names)
    if encoding is None and file.encoding != UTF8:
        finder.remarks.append(
            f"{path} is not UTF-8 and is read as {file.encoding}; pass --encoding if letters are "
            "wrong"
        )
    if file.has_index and roles.features is None:
        finder.remarks.append(
            "the first column has no name and is left out: it looks like an index"
        )
    kinds = {**dict.fromkeys(roles.categorical, TEXT), **roles.kinds}
    hints = finder.hints
    if hints.decimal is not None:  # polars would read 1.234 as a number with a decimal point
        as_written = set(columns)
    else:
        as_written = {name for name, kind in kinds.items() if kind == TEXT} | {*hints.notations}
    finder.hints = replace(
        hints,
        kinds=kinds,
        reread=lambda names: read_rows(file, names, names),
        prefers_comma=file.separator == ";",
    )
    return finder.convert(read_rows(file, as_written, columns))


def _divided(
    path: Path, frame: pl.DataFrame, roles: ColumnRoles, finder: KindFinder, drop: bool
) -> Table:
    """Features, labels and weights; rows without a label are left out if that is asked for."""
    numbers = np.arange(1, len(frame) + 1)
    left_out: list[str] = []
    if drop and roles.target is not None:
        frame, numbers, left_out = _labelled(path, frame, numbers, roles.target)
    labels = None if roles.target is None else _labels(path, frame[roles.target])
    weights = None if roles.weights is None else _weights(path, frame[roles.weights], numbers)
    apart = {roles.target, roles.weights, *roles.keep}
    names = [name for name in frame.columns if name not in apart]
    X = frame.select(names if roles.features is None else list(roles.features))
    if not names:
        raise TableError(f"{path} has no feature columns besides those named.")
    codes = [name for name in roles.categorical if not _is_text(X[name])]
    found = inspect_table(path, X, roles, numbers, finder)
    found = replace(found, left_out=left_out)
    return Table(X, labels, weights, found, codes, frame.select(roles.keep), numbers)


def _labelled(
    path: Path, frame: pl.DataFrame, numbers: np.ndarray, target: str
) -> tuple[pl.DataFrame, np.ndarray, list[str]]:
    """The rows with a label, their numbers, and a sentence about the others."""
    known = frame[target].is_not_null().to_numpy()
    if known.all():
        return frame, numbers, []
    if not known.any():
        raise TableError(f"{path}: no row has a value in the target column {target!r}.")
    count = counted(int((~known).sum()), "row")
    return frame.filter(known), numbers[known], [f"{count} without a value of {target!r}"]


def _labels(path: Path, column: pl.Series) -> np.ndarray:
    gaps = column.is_null().to_numpy()
    if gaps.any():
        count = "the only such row" if gaps.sum() == 1 else f"{gaps.sum():,} such rows"
        raise TableError(
            f"{path}: row {gaps.argmax() + 1} has no value in the target column {column.name!r} "
            f"({count}); pass --drop-unlabelled to leave such rows out."
        )
    return np.array(column.to_list(), dtype=object)


def _weights(path: Path, column: pl.Series, numbers: np.ndarray) -> np.ndarray:
    import polars as pl

    weights = column.cast(pl.Float64).to_numpy()
    wrong = ~(weights >= 0)
    if wrong.any():
        row = wrong.argmax()
        what = "missing" if np.isnan(weights[row]) else f"{weights[row]:g}"
        raise TableError(
            f"{path}: row {numbers[row]} of the weights {column.name!r} is {what}; "
            "give each row a number of 0 or more."
        )
    return weights


def _sparse_table(path: Path, roles: ColumnRoles, n_features: int | None) -> Table:
    roles.columns(path, ["label"])  # no other column has a name
    X, labels = read_libsvm(path, n_features)
    numbers = np.arange(1, X.shape[0] + 1)
    return Table(X, labels, None, Found(str(path), *X.shape), [], numbers=numbers)
