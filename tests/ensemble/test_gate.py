"""The door of fit and predict: bad tables, labels and weights are refused, all others work."""

import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from common import assert_same_model, each_booster, each_booster_with, make, problem, quiet

from steadyboost import (
    AdaBoostClassifier,
    DMCBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
    Tree,
)
from steadyboost.ensemble.validation import SMALLEST_WEIGHT, check_labels, in_range
from steadyboost.ensemble.workers import Workers
from steadyboost.preprocessing.sparse import check_structure

X, Y = problem(n=60, n_features=4)


# Sparse matrices


def damaged(form, change):
    table = sp.csr_matrix(np.where(X > 0.5, X, 0)).asformat(form).copy()
    change(table)
    return table


def set_last(name, value):
    def change(table):
        getattr(table, name)[-1] = value

    return change


def cut(table):
    table.data = table.data[:3]


def unordered(table):
    table.indptr[2], table.indptr[3] = table.indptr[3] + 1, 0


DAMAGE = {
    "csr, a column too many": ("csr", set_last("indices", 4)),
    "csr, far away": ("csr", set_last("indices", 2**30)),
    "csr, below zero": ("csr", set_last("indices", -1)),
    "csc, a row too many": ("csc", set_last("indices", 60)),
    "csc, below zero": ("csc", set_last("indices", -(2**30))),
    "csr, an end beyond the data": ("csr", set_last("indptr", 10**6)),
    "csr, values cut off": ("csr", cut),
    "csr, starts that go back": ("csr", unordered),
    "coo, a row too many": ("coo", set_last("row", 60)),
    "coo, a column below zero": ("coo", set_last("col", -7)),
    "bsr, a block too many": ("bsr", set_last("indices", 99)),
}


@pytest.mark.parametrize(("form", "change"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_sparse_matrix_is_refused(form, change):
    model = SAMMEClassifier(n_estimators=2).fit(sp.csr_matrix(np.where(X > 0.5, X, 0)), Y)
    table = damaged(form, change)
    with pytest.raises(ValueError, match="sparse matrix that is damaged"):
        SAMMEClassifier(n_estimators=2).fit(table, Y)
    with pytest.raises(ValueError, match="sparse matrix that is damaged"):
        model.predict(table)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"])
def test_sound_sparse_matrices_of_any_format_pass(form):
    check_structure(sp.csr_matrix(X).asformat(form))
    check_structure(sp.csr_matrix((0, 3)).asformat(form))


# Columns and labels


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame(X[:, :2], columns=["a", "a"]), "several columns of the name 'a'"),
        (pd.DataFrame(index=range(60)), "X has 0 features"),
        (pd.DataFrame({"a": X[:, 0] + 1j}), "Column 'a' .* cannot be read as numbers"),
    ],
)
def test_frames_that_are_none_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        SAMMEClassifier(n_estimators=2).fit(table, Y)


@pytest.mark.parametrize(
    ("cells", "kind"), [([object()] * 60, "Object"), ([[1, 2]] * 60, "List(Int64)")]
)
def test_cells_that_are_no_categories_are_refused(cells, kind):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": polars.Series(cells, dtype=getattr(polars, kind, None))})
    booster = SAMMEClassifier(n_estimators=2, categorical_features=["a"])
    with pytest.raises(ValueError, match=f"'a' has type {re.escape(kind)} and cannot be read as"):
        booster.fit(frame, Y)


@pytest.mark.parametrize("labels", [["a", 1], ["a", True], [1, True], [2.5, "b"]], ids=str)
@pytest.mark.parametrize("container", [list, lambda y: np.array(y, dtype=object), pd.Series])
def test_labels_of_several_types_are_refused(labels, container):
    with pytest.raises(TypeError, match="labels of several types"):
        SAMMEClassifier(n_estimators=2).fit(X, container(labels * 30))


@pytest.mark.parametrize("several", [True, False])
def test_a_long_label_does_not_give_its_width_to_all(several):
    labels = ["x" * 300_000, *["a", "b"] * 10_000]
    tracemalloc.start()
    found = check_labels(labels, labels, several)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.tolist() == labels
    assert most < 10e6  # an array of texts of one width would take 24 GB


def test_complex_numbers_are_refused_in_a_sentence():
    for arguments in ((X + 1j, Y), (sp.csr_matrix(X + 1j), Y), (X, Y + 1j), (X, Y, Y + 1j)):
        with pytest.raises(ValueError, match=r"Complex data not supported: .* numbers without"):
            SAMMEClassifier(n_estimators=2).fit(*arguments)


def test_lists_of_several_lengths_are_no_labels():
    with pytest.raises(ValueError, match="lists of several lengths"):
        SAMMEClassifier(n_estimators=2).fit(X, [[1], [1, 2]] * 30)


# Weights

WEIGHTS = {
    "tiny": np.full(60, 1e-310),
    "the smallest": np.full(60, 5e-324),
    "the largest": np.full(60, 1.7e308),
    "both": np.where(np.arange(60) % 2, 5e-324, 1.7e308),
    "some large": np.where(np.arange(60) % 7, 1.0, 1e300),
}


@each_booster_with(weights=WEIGHTS)
def test_any_finite_weights_give_a_sound_model(booster, weights):
    model = quiet(make(booster, n_estimators=3).fit, X, Y, weights)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("scale", [5e-324 * 2**40, 1.7e308])
def test_weights_beyond_the_range_are_as_their_multiples(scale):
    """Scaled by a power of two: not one of them is rounded."""
    weights = np.arange(60) % 3 + 1.0
    model = make(SAMMEClassifier).fit(X, Y, weights)
    power = 2.0 ** (np.floor(np.log2(scale)) - 2)
    assert_same_model(make(SAMMEClassifier).fit(X, Y, weights * power), model, X)


def test_weights_in_the_range_stay_as_they_are():
    weights = np.array([0.0, 1e-40, 3.0, 1e40])
    assert in_range(weights, 1e40).tolist() == weights.tolist()
    assert in_range(np.array([0.0, 1e-300, 1.0]), 1.0).tolist() == [0.0, SMALLEST_WEIGHT, 1.0]


def test_the_smallest_weight_beside_the_largest_is_not_zero():
    scaled = in_range(np.array([0.0, 5e-324, 1.7e308]), 1.7e308)
    assert scaled[0] == 0 < scaled[1] == SMALLEST_WEIGHT < scaled[2]


def test_class_weights_of_any_size_multiply_those_of_rows():
    params = {"class_weight": {0: 1e300, 1: 1e-300, 2: 1.0}, "n_estimators": 3}
    model = quiet(make(AdaBoostClassifier, **params).fit, X, Y, np.full(60, 1e300))
    assert np.isfinite(model.predict_proba(X)).all()


@each_booster
def test_weights_of_one_are_no_weights(booster):
    model = quiet(make(booster, n_estimators=3).fit, X, Y)
    assert_same_model(quiet(make(booster, n_estimators=3).fit, X, Y, np.ones(60)), model, X)


# Parameters


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e100, 1e300, np.inf, np.nan, 0, -1])
@pytest.mark.parametrize("booster", [SAMMEClassifier, SteadyBoostClassifier])
def test_a_learning_rate_out_of_range_is_refused(booster, value):
    with pytest.raises(ValueError, match="learning_rate"):
        make(booster, learning_rate=value).fit(X, Y)


@each_booster_with(value=[1e12, 1e3, 1e-12])
def test_the_ends_of_its_range_give_a_sound_model(booster, value):
    model = quiet(make(booster, n_estimators=30, learning_rate=value).fit, X, Y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("selection", ["gradient", "line_search"])
@pytest.mark.parametrize("params", [{"epsilon": 1e12}, {"tol": 5e-324}, {"learning_rate": 1e-12}])
def test_dmcboost_ends_with_extreme_parameters(params, selection):
    model = DMCBoostClassifier(n_estimators=12, selection=selection, random_state=0, **params)
    assert np.isfinite(quiet(model.fit, X, Y).predict_proba(X)).all()


@pytest.mark.parametrize("n_samples", [1e300, 2**40, 1e12])
def test_draws_without_end_are_refused(n_samples):
    with pytest.raises(ValueError, match="n_samples"):
        SoftmaxBoostClassifier(n_samples=n_samples).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [100_000, 2**31])
def test_more_threads_than_processors_are_not_started(n_jobs):
    model = make(SAMMEClassifier, n_jobs=n_jobs).fit(X, Y)
    assert_same_model(model, make(SAMMEClassifier, n_jobs=1).fit(X, Y), X)
    assert Workers.of_jobs(n_jobs).n_threads == Workers.of_jobs(-1).n_threads


def test_why_a_thread_could_not_start_is_told():
    with Workers(2) as workers:

        def refuse(_):
            raise RuntimeError("can't start new thread")

        workers._pool.submit = refuse
        with pytest.raises(RuntimeError, match="can't start new thread"):
            workers.run(str, range(4))


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_integers_beyond_floats_are_refused(value):
    with pytest.raises(ValueError, match="float"):
        SAMMEClassifier(n_estimators=2).fit([[value]] * 60, Y)
    with pytest.raises(ValueError, match="float"):
        SAMMEClassifier(n_estimators=2).fit(X, Y, [value] * 60)


def test_extreme_numbers_are_binned():
    table = np.random.default_rng(0).choice([5e-324, -5e-324, 1.7e308, -1.7e308, 0.0], (60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = SAMMEClassifier(Tree(max_depth=3), n_estimators=4).fit(table, Y)
    assert np.isfinite(model.predict_proba(table)).all()
