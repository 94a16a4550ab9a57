"""From what a user passes as ``X`` to numbers, and from numbers to bins. Done once per fit."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from steadyboost.learners.sparse import bin_sparse, compress
from steadyboost.trees.binned import Binned, BinnedRows
from steadyboost.trees.binning import MAX_BINS, assign_bins, find_cuts, padded
from steadyboost.trees.sharded import Run, one_by_one
from steadyboost.trees.sparse_binning import find_sparse_cuts
from steadyboost.trees.sums import parts
from steadyboost.trees.tree import SMALL

SAMPLE_ROWS = 200_000  # enough rows for the quantiles of a column
BIN_ROWS = 65_536  # that a thread bins at a time


def as_frame(X: Any) -> nw.DataFrame | None:
    """``X`` as a narwhals frame (pandas, polars, pyarrow, ...), None if it is not a data frame."""
    if isinstance(X, np.ndarray):
        return None  # narwhals takes its time to find out
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_text(dtype: nw.dtypes.DType) -> bool:
    return dtype in (nw.Categorical, nw.Enum, nw.String, nw.Object) or isinstance(dtype, nw.Enum)


def categorical_mask(X: Any, categorical_features: Any) -> np.ndarray:
    """Which columns are categories, from the public parameter of that name."""
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
    """Numbers as numbers, lest a gap turn category 1 into 1.0; all else as text; None for gaps."""
    kind = series.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        kind = series.cat.get_categories().dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return series.cast(nw.Float64).to_numpy()
    values = series.cast(nw.String).to_numpy().astype(object)
    values[series.is_null().to_numpy()] = None
    return values


def _is_gap(value: Any) -> bool:
    return value is None or value != value


@dataclass
class Encoder:
    """Turns a table into numbers: categories into codes, all that is missing into NaN.

    ``categories[f]`` lists the values of a categorical column, None for a numeric one. At most
    255 are kept, the most frequent; others, and those not seen in training, count as missing.
    """

    categories: list[list[Any] | None]

    @classmethod
    def learn(cls, X: Any, mask: np.ndarray) -> "Encoder":
        _refuse_sparse(X, mask)
        if not mask.any():
            return cls([None] * len(mask))
        return cls(
            [
                most_frequent(count_values(raw_column(column))) if categorical else None
                for column, categorical in zip(each_column(X), mask, strict=True)
            ]
        )

    @property
    def is_categorical(self) -> np.ndarray:
        return np.array([kept is not None for kept in self.categories], dtype=bool)

    @property
    def n_values(self) -> np.ndarray:
        """Number of categories of each column, 0 for a numeric one."""
        return np.array([len(kept or ()) for kept in self.categories], dtype=np.int64)

    def encode(self, X: Any) -> Any:
        """A numeric (n, features) array; ``X`` itself where it is one already, or sparse."""
        _refuse_sparse(X, self.is_categorical)
        if as_frame(X) is None and not self.is_categorical.any():
            return X
        out = np.empty((len(X), len(self.categories)), dtype=np.float64)
        for f, (column, kept) in enumerate(zip(each_column(X), self.categories, strict=True)):
            out[:, f] = numeric_column(column) if kept is None else _codes(raw_column(column), kept)
        return out


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
    try:
        if kind.is_temporal():
            raise TypeError("dates and durations have no natural unit")
        numbers = column.to_numpy()
        if numbers.dtype.kind not in "fiu":
            numbers = column.cast(nw.Float64).to_numpy()
    except Exception as error:
        raise ValueError(
            f"Column {column.name!r} has type {kind} and cannot be read as numbers; "
            "list it in categorical_features, or convert it."
        ) from error
    if np.isinf(numbers).any():
        raise ValueError(
            f"Column {column.name!r} of X contains infinity; replace it by a number or a gap."
        )
    return numbers


def count_values(values: np.ndarray) -> Counter:
    """How often each value occurs; gaps are none."""
    return Counter(value for value in values.tolist() if not _is_gap(value))


def most_frequent(counts: Counter) -> list[Any]:
    """The values that are kept as categories, sorted."""
    ranked = sorted(counts, key=lambda v: (-counts[v], v))
    return sorted(ranked[:MAX_BINS])


def _codes(values: np.ndarray, kept: list[Any]) -> np.ndarray:
    lookup = {value: float(code) for code, value in enumerate(kept)}
    return np.fromiter(
        (lookup.get(value, np.nan) for value in values.tolist()), float, count=len(values)
    )


@dataclass
class Binner:
    """Cut points of each column, learnt from encoded numbers."""

    cuts: list[np.ndarray]
    has_missing: np.ndarray
    categorical: np.ndarray

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical: np.ndarray,
        weights: np.ndarray | None = None,
        max_bins: int = MAX_BINS,
        run: Run = one_by_one,
    ) -> "Binner":
        """Many rows are sampled: the same for any seed, so that equal tables have equal bins."""
        n, n_features = X.shape
        sample, run = None, _if_large(X, run)
        if n > SAMPLE_ROWS:
            drawn = np.random.default_rng(0).choice(n, SAMPLE_ROWS, replace=False, shuffle=False)
            sample = np.sort(drawn)
        if issparse(X):
            table = compress(X)
            found = find_sparse_cuts(table, weights, max_bins, sample, run)
            return cls(found, table.has_missing, categorical)

        def learn_column(f: int) -> tuple[np.ndarray, bool]:
            column = _column(X, f)
            limit = MAX_BINS if categorical[f] else max_bins
            return find_cuts(column, weights, limit, sample), bool(np.isnan(column).any())

        learnt = run(learn_column, range(n_features))
        missing = np.array([missing for _, missing in learnt], dtype=np.int64)
        return cls([cuts for cuts, _ in learnt], missing, categorical)

    @property
    def n_bins(self) -> np.ndarray:
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    def bin(
        self,
        X: Any,
        run: Run = one_by_one,
        features: np.ndarray | None = None,
    ) -> BinnedRows:
        """Rows of encoded numbers as bins; only ``features``, if given, are right."""
        run = _if_large(X, run)
        if issparse(X):
            return bin_sparse(X, self, run, features)
        n, n_features = X.shape
        packed = np.zeros(((n_features + 3) // 4, n), dtype=np.uint32)
        bytes_ = packed.view(np.uint8).reshape(len(packed), n, 4)
        features = np.arange(n_features) if features is None else features
        cuts, n_bins = padded(*self.cuts), self.n_bins

        def bin_part(rows: slice) -> np.ndarray:
            missing = np.zeros(n_features, dtype=np.int64)
            part = np.ascontiguousarray(X[rows], dtype=np.float64)
            assign_bins(part, features, cuts, n_bins - 1, bytes_[:, rows], missing)
            return missing

        missing = np.bitwise_or.reduce(run(bin_part, parts(n, -(-n // BIN_ROWS))))
        return Binned(packed, n_bins, self.has_missing | missing, self.categorical)


def _if_large(X: Any, run: Run) -> Run:
    """``run`` for much data: one thread more, even if it only waits, takes time in each round."""
    return run if X.shape[0] * X.shape[1] >= SMALL else one_by_one


def _column(X: np.ndarray, f: int) -> np.ndarray:
    return np.ascontiguousarray(X[:, f], dtype=np.float64)
