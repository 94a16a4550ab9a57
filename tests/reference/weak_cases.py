"""Questions to put to weak learners, and boosters that put them."""

from dataclasses import dataclass

import numpy as np
import pytest
from common import FRAMES, make, problem, quiet, table
from reference.tree_cases import columns_of, pack, random_columns, related_labels
from sklearn.datasets import load_iris, load_wine

import steadyboost
from steadyboost.learners.attribute_test import sums_of
from steadyboost.learners.base import Data, Question
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder, categorical_mask
from steadyboost.trees.parallel import serial_map

PACKAGED = {"iris": load_iris, "wine": load_wine}
FROM_FOLDER = ("soybean_large", "audiology")
NAMES = (*PACKAGED, "made up", *FROM_FOLDER)
KINDS = ("classes", "equal weights", "colours", "edges")
PARAMS = {
    "SAMMEClassifier": {},
    "AdaBoostM1Classifier": {},
    "AdaBoostOCClassifier": {},
    "MSmoothBoostClassifier": {"smoothing": 0.5},
    "AdaBoostM2Classifier": {},
    "ECOCClassifier": {},
    "BaggingClassifier": {},
    "ArcX4Classifier": {},
}

each_name = pytest.mark.parametrize("name", NAMES)
each_kind = pytest.mark.parametrize("kind", KINDS)
each_booster = pytest.mark.parametrize("booster", PARAMS)


@dataclass
class Alone:
    n_threads: int = 1
    run = staticmethod(serial_map)


def prepared(X, categorical="from_dtype"):
    """A user's table as a learner gets it."""
    encoder = Encoder.learn(X, categorical_mask(X, categorical))
    numbers = encoder.encode(X)
    binner = Binner.learn(numbers, encoder.is_categorical)
    return Data(numbers, binner.bin(numbers), encoder.n_values)


def made_up(seed=0, n_rows=150, n_labels=4):
    """Numeric columns, two of them with gaps, categories with gaps, and a constant."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, numeric=2, gappy=2, categorical=2, n_bins=6)
    y = related_labels(rng, columns, n_labels)
    columns[1].bins[:] = 3
    binned = pack(columns)
    return Data(np.zeros((n_rows, binned.n_features)), binned), y


def rows_of(name, request):
    """Data and labels of a problem by its name; some need the user's folder."""
    if name == "made up":
        return made_up()
    if name in PACKAGED:
        X, y = PACKAGED[name](return_X_y=True)
    else:
        X, y = request.getfixturevalue("from_folder")(name)
    return prepared(X), np.unique(y, return_inverse=True)[1].astype(np.int32)


def ask(y, kind, seed=0):
    """A question of some kind on labels; one weight in twenty is zero."""
    rng = np.random.default_rng(seed)
    k = int(y.max()) + 1
    weights = rng.exponential(size=len(y)) * (rng.random(len(y)) < 0.95)
    weights /= weights.sum()
    if kind == "edges":
        pairs = weights[:, None] * rng.dirichlet(np.ones(k), size=len(y))
        pairs[np.arange(len(y)), y] = 0
        edges = np.column_stack([-pairs, pairs.sum(axis=1)])
        edges[np.arange(len(y)), y] = edges[:, k]
        edges /= edges[:, k].sum()
        return Question(y, edges[:, k].copy(), k, np.ones((1, k)), edges=edges)
    if kind == "equal weights":
        weights = np.full(len(y), 1 / len(y))
    if kind == "colours":
        colors = rng.permutation(np.arange(k) % 2)
        return Question(
            colors[y].astype(np.int32), weights, 2, np.array([colors == 0, colors == 1])
        )
    return Question(y, weights, k, np.ones(k))


def channels_for(question, counts=None):
    """The question as the twins want it: integers, and whether they are edges."""
    sums = sums_of(question, counts)
    if question.edges is not None:
        return sums.channels, True
    channels = np.zeros((len(question.targets), question.n_answers), dtype=np.int64)
    channels[np.arange(len(question.targets)), question.targets] = sums.weights
    return channels, False


def answered(votes, question):
    """The answer of each row as a set: a class, or the labels that are named."""
    if question.edges is None:
        return [frozenset([vote]) for vote in votes.tolist()]
    return [frozenset(np.flatnonzero(question.code[vote]).tolist()) for vote in votes]


def error_of(votes, question):
    """Weighted error of the votes, or their pseudoloss."""
    if question.edges is None:
        return question.weights[votes != question.targets].sum()
    return (1 - (question.edges[:, :-1] * question.code[votes]).sum()) / 2


def columns_for(data):
    return columns_of(data.binned)


def check_with(booster, learner):
    """Fit on a frame with gaps and on numbers; sound probabilities, in every stage."""
    columns, y = table()
    for X, labels in ((FRAMES["pandas"](columns), y), problem(k=4)):
        params = {"n_estimators": 20, **PARAMS[booster]}
        model = make(getattr(steadyboost, booster), estimator=learner, **params)
        quiet(model.fit, X, labels)
        stages = list(model.staged_predict(X))
        assert 1 <= len(stages) == model.n_iter_
        np.testing.assert_array_equal(stages[-1], model.predict(X))
        proba = model.predict_proba(X)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert np.isfinite(model.feature_importances_).all()
        assert model.score(X, labels) > 1.2 * np.bincount(labels).max() / len(labels)
