"""From what a user passes as ``X`` to numbers: codes for categories, parts of dates.

Done once per fit.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from steadyboost.trees.data.binning import MAX_BINS

MOST_CHARACTERS = 2**24  # of an array of texts, each of which has room for the longest


def as_frame(X: Any) -> nw.DataFrame | None:
    """``X`` as a narwhals frame (pandas, polars, pyarrow, ...), None if it is not a data frame."""
    if isinstance(X, np.ndarray):
        return None  # a shortcut: narwhals takes longer
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_text(dtype: nw.dtypes.DType) -> bool:
    return dtype in (nw.Categorical, nw.Enum, nw.String, nw.Object) or isinstance(dtype, nw.Enum)


def categorical_mask(X: Any, categorical_features: Any) -> np.ndarray:
    """Which columns are categorical, from the public parameter ``categorical_features``."""
    frame = as_frame(X)
    n_features = X.shape[1]
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"categorical_features={categorical_features!r} is not known; pass 'from_dtype', "
                "None, or a list of column names or indices, or a boolean mask."
            )
        if frame is not None:
            mask[:] = [_is_text(dtype) for dtype in frame.schema.values()]
        return mask
    listed = np.asarray(categorical_features)
    if listed.dtype == bool:
        if listed.shape != (n_features,):
            raise ValueError(
                f"categorical_features is a mask of shape {listed.shape}, but X has {n_features} "
                f"features; pass {n_features} booleans."
            )
        return listed.copy()
    mask[[_column_index(item, frame, n_features) for item in categorical_features]] = True
    return mask


def _column_index(item: Any, frame: nw.DataFrame | None, n_features: int) -> int:
    names = [] if frame is None else list(frame.columns)
    if isinstance(item, str):
        if item in names:
            return names.index(item)
        where = "X has no column names" if frame is None else f"the columns are {names[:20]}"
        raise ValueError(f"categorical_features names {item!r}, but {where}.")
    if not isinstance(item, Integral) or not -n_features <= int(item) < n_features:
        raise ValueError(
            f"categorical_features has index {item}, but X has {n_features} features; "
            f"use indices from 0 to {n_features - 1}."
        )
    return int(item)


def categories_of(series: nw.Series) -> np.ndarray:
    """Values as categories: floats, as a column with missing values has them, or else texts."""
    kind = series.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        kind = series.cat.get_categories().dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return series.cast(nw.Float64).to_numpy()
    try:
        values = objects(series.cast(nw.String).to_list())
    except Exception as error:  # each library of data frames has its own
        raise ValueError(
            f"Column {series.name!r} has type {kind} and cannot be read as categories; convert it "
            "to texts or numbers."
        ) from error
    values[series.is_null().to_numpy()] = None
    return values


def objects(values: Sequence[Any]) -> np.ndarray:
    """An array of references to values: one of texts takes the longest one's memory for each."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def text_array(values: Sequence[str]) -> np.ndarray:
    """Texts as an array of numpy's texts, or of objects where a long one would make it huge."""
    longest = max(map(len, values), default=0)
    return objects(values) if longest * len(values) > MOST_CHARACTERS else np.array(values, str)


def _is_missing(value: Any) -> bool:
    return value is None or value != value


# What a date becomes: the days since 1970-01-01, with the time of day as a fraction, and what may
# repeat. A part that is the same in all training rows is left out.
DATE_PARTS = ("days", "year", "month", "weekday", "hour")
MICROSECONDS_PER_DAY = 86_400e6


@dataclass
class Encoder:
    """Turns a table into numbers: codes for categories, parts of dates, NaN for what is missing.

    A column of the table is a *feature*. It becomes one column of numbers, or, if it holds dates,
    one for each part.

    Attributes
    ----------
    categories : list of list or None
        For each feature the values of a categorical one, None for others. At most 255 are kept,
        the most frequent; others, and those not seen in training, count as missing.
    dates : list of list of str or None
        For each feature the parts of dates that vary, from ``DATE_PARTS``; None for others.
    """

    categories: list[list[Any] | None]
    dates: list[list[str] | None] | None = None

    @classmethod
    def learn(cls, X: Any, mask: np.ndarray) -> "Encoder":
        _refuse_sparse(X, mask)
        frame = as_frame(X)
        if frame is None and not mask.any():
            return cls([None] * len(mask))
        categories: list[list[Any] | None] = []
        dates: list[list[str] | None] = []
        for column, categorical in zip(each_column(X), mask, strict=True):
            is_date = not categorical and holds_dates(column)
            categories.append(
                most_frequent(count_values(raw_column(column))) if categorical else None
            )
            dates.append(varying_parts(date_columns(column)) if is_date else None)
        return cls(categories, dates if any(dates) else None)

    @cached_property
    def parts(self) -> list[tuple[int, str | None]]:
        """For each column of numbers its feature, and the part of a date that it holds."""
        dates = self.dates or [None] * len(self.categories)
        return [
            (f, part) for f, own in enumerate(dates) for part in ([None] if own is None else own)
        ]

    @property
    def n_columns(self) -> int:
        """Number of columns of numbers."""
        return len(self.parts)

    @cached_property
    def column_categories(self) -> list[list[Any] | None]:
        """The categories of each column of numbers, None where it has none."""
        return [self.categories[f] for f, _ in self.parts]

    def column_names(self, features: Iterable[Any]) -> list[str]:
        """Names of the columns of numbers, such as ``born.month``."""
        names = list(map(str, features))
        return [names[f] if part is None else f"{names[f]}.{part}" for f, part in self.parts]

    def by_feature(self, values: np.ndarray) -> np.ndarray:
        """Sums, over the columns of each feature, of a number per column."""
        features = [f for f, _ in self.parts]
        return np.bincount(features, weights=values, minlength=len(self.categories))

    @cached_property
    def is_categorical(self) -> np.ndarray:
        """Whether each column of numbers holds codes of categories."""
        return np.array([kept is not None for kept in self.column_categories], dtype=bool)

    @cached_property
    def n_values(self) -> np.ndarray:
        """Number of categories of each column of numbers, 0 for one without."""
        return np.array([len(kept or ()) for kept in self.column_categories], dtype=np.int64)

    def encode(self, X: Any) -> Any:
        """A numeric (n, columns) array; ``X`` itself where it is one already, or sparse."""
        _refuse_sparse(X, self.is_categorical)
        if as_frame(X) is None and not (self.is_categorical.any() or any(self.dates or ())):
            return X
        columns = list(each_column(X))
        out = np.empty((len(X), self.n_columns), dtype=np.float64)
        for place, (f, part) in enumerate(self.parts):
            out[:, place] = self._column(columns[f], f, part)
        return out

    def _column(self, column: Any, feature: int, part: str | None) -> np.ndarray:
        """The numbers of a column of the table, or one part of its dates."""
        if part is not None:
            return date_part(column, part)
        kept = self.categories[feature]
        return numeric_column(column) if kept is None else _codes(raw_column(column), kept)


def _refuse_sparse(X: Any, categorical: np.ndarray) -> None:
    if issparse(X) and categorical.any():
        raise ValueError(
            f"Columns {np.flatnonzero(categorical)[:10].tolist()} are categorical features, but X "
            "is sparse, which holds numbers only; pass a data frame or a dense array, or no "
            "categorical_features."
        )


def each_column(X: Any) -> Iterable[Any]:
    """The columns of a data frame or an array."""
    frame = as_frame(X)
    return X.T if frame is None else frame.iter_columns()


def raw_column(column: Any) -> np.ndarray:
    """The values of a categorical column."""
    return categories_of(column) if isinstance(column, nw.Series) else column


def numeric_column(column: Any) -> np.ndarray:
    """A column as numbers."""
    if not isinstance(column, nw.Series):
        return column
    kind = column.dtype
    if holds_dates(column):
        raise ValueError(
            f"Column {column.name!r} holds dates, where the model was fitted to numbers; convert "
            "it to the numbers it had in training."
        )
    try:
        if isinstance(kind, nw.Duration):
            return column.dt.total_microseconds().to_numpy() / MICROSECONDS_PER_DAY
        if kind.is_temporal():
            raise TypeError("times of day have no natural unit")
        numbers = column.to_numpy()
        if numbers.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        if numbers.dtype.kind not in "fiu":
            numbers = column.cast(nw.Float64).to_numpy()
    except Exception as error:
        raise ValueError(
            f"Column {column.name!r} has type {kind} and cannot be read as numbers; "
            "list it in categorical_features, or convert it."
        ) from error
    if np.isinf(numbers).any():
        raise ValueError(
            f"Column {column.name!r} of X contains infinity; replace it by a number or "
            "a missing value."
        )
    return numbers


def holds_dates(column: Any) -> bool:
    """Whether a column of a data frame has dates, with or without the time of day."""
    return isinstance(column, nw.Series) and isinstance(column.dtype, nw.Date | nw.Datetime)


def date_part(column: Any, part: str) -> np.ndarray:
    """A part of dates as numbers; NaN where a date is missing.

    Days count from midnight of 1970-01-01, UTC where dates have a time zone; other parts are
    those of the clock in the zone of the column.
    """
    if not holds_dates(column):
        return _no_dates(column)
    if part == "days":
        numbers = column.dt.timestamp("us").to_numpy() / MICROSECONDS_PER_DAY
    elif part == "hour" and isinstance(column.dtype, nw.Date):
        numbers = np.zeros(len(column))
    else:
        numbers = getattr(column.dt, part)().to_numpy()
    return np.where(column.is_null().to_numpy(), np.nan, numbers.astype(np.float64))


def _no_dates(column: Any) -> np.ndarray:
    """Missing values in place of dates; ``ValueError`` if the column holds anything else."""
    if isinstance(column, nw.Series):
        name, is_empty = repr(column.name), column.is_null().all()
    else:
        name, is_empty = "X", all(_is_missing(value) for value in column.tolist())
    if is_empty:
        return np.full(len(column), np.nan)
    raise ValueError(
        f"Column {name} held dates in training, but is {column.dtype} here; convert it to dates, "
        "for example by pandas.to_datetime."
    )


def date_columns(column: Any) -> dict[str, np.ndarray]:
    """All parts of dates."""
    return {part: date_part(column, part) for part in DATE_PARTS}


def varying_parts(columns: dict[str, np.ndarray]) -> list[str]:
    """The parts that are not the same in all rows, and always the days."""
    known = {part: values[~np.isnan(values)] for part, values in columns.items()}
    return [p for p, values in known.items() if p == "days" or (values != values[:1]).any()]


def count_values(values: np.ndarray) -> Counter:
    """How often each value occurs, without missing values."""
    return Counter(value for value in values.tolist() if not _is_missing(value))


def most_frequent(counts: Counter) -> list[Any]:
    """The values that are kept as categories, sorted."""
    ranked = sorted(counts, key=lambda v: (-counts[v], v))
    return sorted(ranked[:MAX_BINS])


def _codes(values: np.ndarray, kept: list[Any]) -> np.ndarray:
    lookup = {value: float(code) for code, value in enumerate(kept)}
    return np.fromiter(
        (lookup.get(value, np.nan) for value in values.tolist()), float, count=len(values)
    )
