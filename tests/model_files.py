"""Small model files, taken apart and put together again."""

import functools
import io
import itertools
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from common import make, problem, quiet

import steadyboost
from steadyboost import (
    C45,
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    DecisionRule,
    MartiBoostClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    Tree,
    WeightBoostClassifier,
)
from steadyboost.ensemble.model_io.file import ModelFileError, load, save_model

KINDS = ("SAMME", "MSmoothBoost", "C4.5", "MartiBoost", "many", "ended")
# Further boosters, which only tests/fuzz takes
BOOSTERS = ("SteadyBoost", "DMCBoost", "Bagging", "SoftmaxBoost", "ECOC", "GDMCBoost")
SMALL_KINDS = (*BOOSTERS, "AdaBoostOC", "ArcX4", "table", "steady table", "sets", "rules")

each_kind = pytest.mark.parametrize("kind", KINDS)


def small_models():
    X, y = problem(n=40, n_features=4)
    X[:, 1] = np.round(X[:, 1])
    labels = np.array(["a", "b", "c"])[y]
    params = {"estimator": Tree(max_depth=2), "n_estimators": 3, "categorical_features": [1]}
    yield make(SAMMEClassifier, **params).fit(X, labels)
    yield make(MSmoothBoostClassifier, smoothing=0.5, **params).fit(X, y)
    yield make(AdaBoostM2Classifier, **{**params, "estimator": C45()}).fit(X, y)
    yield make(MartiBoostClassifier, **params).fit(X, y)
    yield make(WeightBoostClassifier, **params).fit(X, labels)
    X[y == 2, 0] += 100  # a problem that is perfect at once, and not asked again
    yield make(AdaBoostClassifier, **params).fit(X, labels)


def small_model(kind):
    """A model of a booster by name; or of a table of texts and dates, or of sets of labels."""
    X, y = problem(n=40, n_features=4)
    if kind in ("table", "steady table"):
        table = frame_of(["a", "b", "c", "d"], [None, ["u", "v"], [0.0, 1.0], None], DATES, n=40)
        booster = SAMMEClassifier if kind == "table" else SteadyBoostClassifier
        return quiet(make(booster, n_estimators=3, categorical_features=["b", "c"]).fit, table, y)
    if kind == "sets":
        sets = np.eye(3, dtype=int)[y] | (X[:, :3] > 1)
        return quiet(make(AdaBoostMHClassifier, n_estimators=3).fit, X, sets)
    if kind == "rules":
        return quiet(make(AdaBoostClassifier, estimator=DecisionRule(), n_estimators=3).fit, X, y)
    return quiet(make(getattr(steadyboost, f"{kind}Classifier"), n_estimators=3).fit, X, y)


DATES = [None, None, None, ["days", "month"]]


def frame_of(names, categories, dates, n=12):
    """A table of numbers, of categories and of dates, with gaps."""
    import polars as pl

    rng = np.random.default_rng(0)

    def column(kept, parts):
        if parts:
            first = np.datetime64("1999-05-06")
            values = (first + 97 * np.arange(n)).astype("datetime64[us]").tolist()
        else:
            values = rng.choice(kept, n).tolist() if kept else rng.normal(size=n).tolist()
        return [*values[:-1], None]

    every = zip(names, categories, dates or [None] * len(names), strict=True)
    return pl.DataFrame({str(name): column(*kinds) for name, *kinds in every}, strict=False)


@functools.cache
def sound_file(kind):
    """The bytes of a sound file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.sb")
        if kind in KINDS:
            model = next(itertools.islice(small_models(), KINDS.index(kind), None))
        else:
            model = small_model(kind)
        save_model(model, path)
        return path.read_bytes()


def unpack(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression) as archive:
        warnings.simplefilter("ignore")  # a name that comes twice is what we want
        for name, data in members.items() if isinstance(members, dict) else members:
            archive.writestr(name, data)
    return stream.getvalue()


def edited(original, change):
    """A file whose JSON a function has changed."""
    members = unpack(original)
    document = json.loads(members["model.json"])
    change(document)
    members["model.json"] = json.dumps(document).encode()
    return pack(members)


def error_of(data, tmp_path):
    path = tmp_path / "hostile.sb"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="is not a SteadyBoost model file") as caught:
        load(path)
    return str(caught.value)
