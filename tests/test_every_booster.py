"""Every booster on every kind of input, quickly: what must work with any supported version.

These tests need no more than the mandatory dependencies; what needs others is skipped without them.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from common import (
    assert_same_model,
    assert_usable,
    each_booster,
    each_frame,
    make,
    problem,
    quiet,
    table,
)
from scipy import sparse
from sklearn.base import clone

import steadyboost


def arrays():
    """The mixed table as numbers: the categories are codes, and gaps are NaN."""
    columns, y = table()
    codes = {None: np.nan, "red": 0.0, "green": 1.0, "blue": 2.0, "grey": 3.0}
    columns["colour"] = [codes[value] for value in columns["colour"]]
    X = np.column_stack([np.array(values, dtype=float) for values in columns.values()])
    return X, np.array(["none", "one", "both"])[y]


@each_booster
def test_it_fits_numbers(booster):
    X, y = problem(120)
    weights = np.random.default_rng(0).random(120)
    model = quiet(make(booster).fit, X, y, sample_weight=weights)
    assert_usable(model, X)
    assert model.score(X, y) > 0.4
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert model.feature_importances_.shape == (X.shape[1],)
    assert_same_model(quiet(clone(model).fit, X, y, sample_weight=weights), model, X)


@each_booster
def test_it_fits_gaps_and_categories(booster):
    X, y = arrays()
    assert_usable(quiet(make(booster, categorical_features=[1]).fit, X, y), X)


@each_booster
def test_it_fits_sparse_matrices(booster):
    X, y = problem(120)
    X[X < 0.5] = 0
    model = quiet(make(booster).fit, sparse.csr_matrix(X), y)
    probabilities = model.predict_proba(sparse.csr_matrix(X))
    np.testing.assert_allclose(probabilities, quiet(make(booster).fit, X, y).predict_proba(X))


@each_booster
@each_frame
def test_it_fits_frames(booster, frame):
    columns, y = table(60)
    X = frame(columns)
    model = quiet(make(booster, n_estimators=2).fit, X, y)
    assert model.feature_names_in_.tolist() == [*columns]
    assert model.predict(X).shape == y.shape


@each_booster
def test_it_is_saved_and_loaded(booster, tmp_path):
    X, y = arrays()
    model = quiet(make(booster, n_estimators=2, categorical_features=[1]).fit, X, y)
    model.save(tmp_path / "model.sb")
    assert_same_model(steadyboost.load(tmp_path / "model.sb"), model, X)


@each_booster
def test_two_threads_fit_the_same_model(booster):
    X, y = problem(120)
    one, two = (quiet(make(booster, n_jobs=n, n_estimators=2).fit, X, y) for n in (1, 2))
    assert_same_model(one, two, X)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--help"], "demo"), (["fit", "--help"], "--target"), (["--version"], "steadyboost")],
)
def test_the_command_line_starts(arguments, words):
    """In a process of its own: its test client differs from version to version."""
    code = "from steadyboost.cli import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
    )
    assert shown.returncode == 0, shown.stderr
    assert words in shown.stdout
