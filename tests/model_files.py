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
    MartiBoostClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Tree,
    WeightBoostClassifier,
)
from steadyboost.ensemble.model_io.file import ModelFileError, load, save_model

KINDS = ("SAMME", "MSmoothBoost", "C4.5", "MartiBoost", "many", "ended")
# Further boosters, which only the long runs of tests/fuzz take
SMALL_KINDS = ("SteadyBoost", "DMCBoost", "Bagging", "SoftmaxBoost", "ECOC", "GDMCBoost")

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


@functools.cache
def sound_file(kind):
    """The bytes of a sound file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.sb")
        if kind in KINDS:
            model = next(itertools.islice(small_models(), KINDS.index(kind), None))
        else:
            X, y = problem(n=40, n_features=4)
            booster = getattr(steadyboost, f"{kind}Classifier")
            model = quiet(make(booster, n_estimators=3).fit, X, y)
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
