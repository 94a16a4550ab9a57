"""Data sets from a folder that the user names in ``STEADYBOOST_DATA``.

The folder holds ``<name>.csv.gz``, or ``<name>.<split>.csv.gz`` for each part of a
pre-specified split, with a header row and the last column ``target``; ``schema.json`` says
which columns are numeric, categorical or text. Large sets are ``.npz`` files with arrays
``X``, ``y`` and perhaps ``feature_names``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.lab.datasets.errors import Unavailable
from steadyboost.lab.datasets.frames import give_types

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix

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
    import pandas as pd

    path = data_folder() / f"{name}.{split}.noisy.csv.gz"
    _require(path)
    return pd.read_csv(path, dtype=str)


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
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    with np.load(path, allow_pickle=False) as stored:
        X = stored["X"]
        names = stored["feature_names"] if "feature_names" in stored else list(kinds)
        if len(names) != X.shape[1]:
            names = [f"x{i}" for i in range(1, X.shape[1] + 1)]
        return pd.DataFrame(X, columns=[str(c) for c in names]).assign(target=stored["y"])
