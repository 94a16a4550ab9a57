"""Data for the tests of C4.5."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

GOLF = """
sunny 85 85 false no
sunny 80 90 true no
overcast 83 78 false yes
rain 70 96 false yes
rain 68 80 false yes
rain 65 70 true no
overcast 64 65 true yes
sunny 72 95 false no
sunny 69 70 false yes
rain 75 80 false yes
sunny 75 70 true yes
overcast 72 90 true yes
overcast 81 75 false yes
rain 71 80 true no
"""
GOLF_FEATURES = ["outlook", "temperature", "humidity", "windy"]
GOLF_VALUES = [["sunny", "overcast", "rain"], None, None, ["true", "false"]]
GOLF_CLASSES = ["Play", "Don't Play"]


def golf():
    """Quinlan's fourteen days."""
    rows = [line.split() for line in GOLF.split("\n") if line]
    names = GOLF_VALUES[0], GOLF_VALUES[3]
    X = [[names[0].index(r[0]), float(r[1]), float(r[2]), names[1].index(r[3])] for r in rows]
    return np.array(X), [3, 0, 0, 2], np.array([r[4] == "no" for r in rows], int), 2


def made_up(seed, n_rows=150, n_classes=3, missing=0.1):
    """Two continuous and two discrete attributes that matter, one of each that does not."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=(n_rows, 2)),
            rng.integers(0, 3, n_rows),
            rng.integers(0, 4, n_rows),
            rng.normal(size=n_rows),
            rng.integers(0, 5, n_rows),
        ]
    )
    score = X[:, 0] + (X[:, 2] == 1) * X[:, 1] + 0.7 * X[:, 3] + 0.4 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.exponential(size=n_rows)
    return X, [0, 0, 3, 4, 0, 5], y, weights * n_rows / weights.sum(), n_classes


def real(name, n_rows):
    """Some rows of a data set in the user's folder, as coded arrays."""
    folder = os.environ.get("STEADYBOOST_DATA")
    if not folder:
        pytest.skip("STEADYBOOST_DATA does not name a folder with data sets")
    pd = pytest.importorskip("pandas")
    entry = json.loads((Path(folder) / "schema.json").read_text())[name]
    parts = ["" if part == "all" else f".{part}" for part in entry["splits"]]
    files = [Path(folder) / f"{name}{part}.csv.gz" for part in parts]
    frame = pd.concat([pd.read_csv(f, dtype=str, keep_default_na=False) for f in files])
    frame = frame.sample(n=min(n_rows, len(frame)), random_state=0)
    y, classes = pd.factorize(frame.pop("target"), sort=True)
    columns, n_values = [], []
    for column in frame:
        known = frame[column].where(frame[column] != "?")
        if entry["columns"].get(column, entry["columns"].get("*")) == "numeric":
            columns.append(pd.to_numeric(known).to_numpy(float))
            n_values.append(0)
        else:
            codes, values = pd.factorize(known, sort=True)
            columns.append(np.where(codes < 0, np.nan, codes))
            n_values.append(len(values))
    return np.column_stack(columns), n_values, y, len(classes)
