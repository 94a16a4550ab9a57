"""Checks and conversions shared by all sources of data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from steadyboost.lab.datasets.catalog import Dataset
from steadyboost.lab.datasets.errors import Unavailable

if TYPE_CHECKING:
    import pandas as pd


def give_types(frame: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Make columns of text numeric or categorical, with question marks as missing values.

    A column without a kind (by its name, or ``*`` for all) becomes numeric if every value
    is a number, else categorical.
    """
    from pandas.api.types import is_numeric_dtype

    for column in frame.columns:
        kind = kinds.get(column, kinds.get("*", "unknown"))
        if kind == "categorical" or not (kind == "text" or is_numeric_dtype(frame[column])):
            frame[column] = _typed(frame[column], kind)
    return frame


def _typed(values: pd.Series, kind: str) -> pd.Series:
    import pandas as pd

    text = values.astype(str)
    known = text.where(text != "?")
    if kind != "categorical":
        try:
            return pd.to_numeric(known)
        except ValueError:
            if kind == "numeric":
                raise
    return known.astype("category")


def check_shape(info: Dataset, X: pd.DataFrame, y: pd.Series) -> None:
    """Raise `Unavailable` unless the data have the size of the original."""
    found = (*X.shape, y.nunique())
    expected = (info.rows, info.columns, info.classes)
    if found != expected:
        have, want = (
            "{} rows x {} columns, {} classes".format(*size) for size in (found, expected)
        )
        raise Unavailable(f"gave {have}; the original has {want}")


def check_split(info: Dataset, split: str | None) -> None:
    """Raise `Unavailable` if no source but a folder can have the split."""
    if split is None:
        return
    if info.train_rows is None:
        raise Unavailable("there is no pre-specified split; pass split=None")
    if split not in ("train", "test"):
        raise Unavailable(f"there is no split {split!r}; pass 'train', 'test' or None")
    if info.train_sum is None:
        raise Unavailable("none is known to keep the pre-specified split; pass split=None")


def take_split(
    info: Dataset, X: pd.DataFrame, y: pd.Series, split: str | None
) -> tuple[pd.DataFrame, pd.Series]:
    """Return one part of data whose training rows come first, or raise `Unavailable`."""
    if split is None:
        return X, y
    if not _training_rows_first(info, X):
        raise Unavailable("does not keep the pre-specified split; pass split=None for all rows")
    rows = slice(0, info.train_rows) if split == "train" else slice(info.train_rows, None)
    return X[rows].reset_index(drop=True), y[rows].reset_index(drop=True)


def _training_rows_first(info: Dataset, X: pd.DataFrame) -> bool:
    total = X[: info.train_rows].to_numpy(dtype=float).sum()
    expected = np.nan if info.train_sum is None else info.train_sum
    return bool(np.isclose(total, expected, rtol=1e-9, atol=1e-6))
