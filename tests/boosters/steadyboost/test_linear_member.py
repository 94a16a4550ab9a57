"""Members without trees: logistic regressions on columns and on a kernel."""

import numpy as np
import pytest
from common import problem
from pandas import DataFrame
from reference.smooth_members import kernel, regression, ridge
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from steady_members import SEED, binned, shared_rows

import steadyboost
from steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost import design, kernel_member, linear_member
from steadyboost.boosters.steadyboost.kernel_member import KernelMember, squared_distances
from steadyboost.boosters.steadyboost.kernel_ridge import best_temperature, cross_fit_ridge
from steadyboost.boosters.steadyboost.linear_member import LinearMember, products
from steadyboost.boosters.steadyboost.softmax_regression import (
    Regression,
    _factor,
    cross_fit,
    parts_of,
)
from steadyboost.learners.base import Data
from steadyboost.preprocessing.binner import Binner

KINDS = [LinearMember, KernelMember]


def member(kind, X, k, n_folds=3):
    return kind(k, n_folds, Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).cuts)


def rows_of(n=60, k=3, n_columns=4):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(n, n_columns)) * np.arange(1, n_columns + 1)
    y = (columns @ rng.normal(size=(n_columns, k)) + rng.normal(size=(n, k))).argmax(axis=1)
    weights = rng.random(n) + 0.5
    return Regression(columns, y.astype(np.int32), weights / weights.sum(), k)


# The regression


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("conditioned", [True, False])
def test_the_regression_is_that_of_the_twin(k, conditioned, monkeypatch):
    monkeypatch.setattr(steadyboost.boosters.steadyboost.softmax_regression, "TOLERANCE", 1e-9)
    rows, penalty = rows_of(k=k), 0.1
    factor = _factor(rows, penalty) if conditioned else None
    point = rows.start()
    for _ in range(20):
        point = rows.fit(penalty, factor, point)
    coef, intercept = parts_of(point, k)
    expected, constants = regression(rows.columns, rows.y, rows.weights, k, penalty)
    np.testing.assert_allclose(coef, expected, atol=1e-4)
    np.testing.assert_allclose(
        intercept - intercept.mean(), constants - constants.mean(), atol=1e-4
    )


def test_sparse_columns_give_the_same_regression():
    rows, folds = rows_of(), np.arange(60) % 3
    rows.columns[rows.columns < 0] = 0
    dense = cross_fit(rows, folds, 3)
    sparse = cross_fit(Regression(csr_array(rows.columns), rows.y, rows.weights, 3), folds, 3)
    proba = [
        softmax(rows.columns @ one.coef[0] + one.intercept[0], axis=1) for one in (dense, sparse)
    ]
    np.testing.assert_allclose(*proba, atol=0.1)


def test_labels_that_have_nothing_to_do_with_the_columns_get_a_strong_penalty():
    rng, folds = np.random.default_rng(0), np.arange(200) % 5
    columns, noise = rng.normal(size=(200, 10)), rng.integers(2, size=200)
    weights = np.full(200, 1 / 200)
    right = (columns[:, 0] > 0).astype(np.int32)
    weak, strong = (
        cross_fit(Regression(columns, y, weights, 2), folds, 5).penalty for y in (right, noise)
    )
    assert strong > weak


@pytest.mark.parametrize("k", [2, 3])
def test_ridge_regressions_are_those_of_the_twin(k):
    rows, folds = rows_of(k=k), np.arange(60) % 3
    found, loss = cross_fit_ridge(rows, folds, 3)
    targets, left_out = np.eye(k)[rows.y], np.empty((60, k))
    for fold in range(3):
        own = folds != fold
        coef, intercept = ridge(rows.columns[own], targets[own], rows.weights[own], found.penalty)
        factor = np.linalg.norm(found.coef[fold]) / np.linalg.norm(coef)
        np.testing.assert_allclose(found.coef[fold], factor * coef, atol=1e-8)
        np.testing.assert_allclose(found.intercept[fold], factor * intercept, atol=1e-8)
        held = ~own
        left_out[held] = rows.columns[held] @ found.coef[fold] + found.intercept[fold]
    log_proba = np.log(softmax(left_out, axis=1))[np.arange(60), rows.y]
    np.testing.assert_allclose(loss, -rows.weights @ log_proba, rtol=1e-6)


def test_the_temperature_is_that_of_least_loss():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(200, 3)), rng.integers(3, size=200)
    scores[np.arange(200), y] += 1
    weights = np.full(200, 1 / 200)
    factor, loss = best_temperature(scores, y, weights)

    def at(other):
        return -np.log(softmax(other * scores, axis=1)[np.arange(200), y]).mean()

    np.testing.assert_allclose(loss, at(factor))
    assert loss < min(at(0.9 * factor), at(1.1 * factor))


# Members


@pytest.mark.parametrize("kind", KINDS)
def test_members_judge_rows_that_they_have_not_seen(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 20)), rng.integers(2, size=900)
    one = member(kind, X, 2)
    one.start(shared_rows(X, y, 2))
    assert abs(roc_auc_score(y, one.finish()[:, 1]) - 0.5) < 0.06


@pytest.mark.parametrize("kind", KINDS)
def test_members_learn(kind):
    X, y = make_classification(400, 8, n_informative=6, n_classes=3, random_state=0)
    one = member(kind, X, 3)
    one.start(shared_rows(X, y, 3))
    assert (one.finish().argmax(axis=1) == y).mean() > 0.6
    scores = one.initial_scores(Data(X, binned(X)))
    assert (one.proba(scores).argmax(axis=1) == y).mean() > 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_the_mean_of_the_regressions(kind):
    X, y = problem(n=120, k=3)
    one = member(kind, X, 3)
    rows = shared_rows(X, y, 3)
    one.start(rows)
    columns = one.map(rows.binned)
    each = [columns @ one.found.coef[f] + one.found.intercept[f] for f in range(3)]
    scores = one.initial_scores(rows.data)
    np.testing.assert_allclose(scores, np.mean(each, axis=0), atol=1e-8)


def test_the_kernel_is_that_of_the_twin():
    X, y = problem(n=50, k=3)
    one = member(KernelMember, X, 3)
    rows = shared_rows(X, y, 3)
    one.start(rows)
    columns = one.design.matrix(rows.binned)
    near = kernel(columns, one.landmarks, one.precision)
    np.testing.assert_allclose(one.nearness(rows.binned), near, atol=1e-12)
    # Inner products of the map are the kernel of the landmarks, which are all rows here.
    mapped = one.map(rows.binned)
    np.testing.assert_allclose(mapped @ mapped.T, near, atol=1e-4)
    np.testing.assert_allclose(one.initial_scores(rows.data), near @ one.coef + one.intercept)


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_are_fitted_by_some_and_judged_in_blocks(kind, monkeypatch):
    X, y = problem(n=300, k=3)
    rows = shared_rows(X, y, 3)
    whole = member(kind, X, 3)
    whole.start(rows)
    proba = whole.finish()
    monkeypatch.setattr(linear_member, "BLOCK_NUMBERS", 1000)
    np.testing.assert_allclose(whole.finish(), proba, atol=1e-10)
    monkeypatch.setattr(linear_member, "MOST_ROWS", 150)
    some = member(kind, X, 3)
    some.start(rows)
    assert not np.array_equal(some.coef, whole.coef)
    assert (some.finish().argmax(axis=1) == y).mean() > 0.5
    assert some.finish().shape == (300, 3)


def test_products_of_a_row_do_not_depend_on_other_rows():
    rng = np.random.default_rng(0)
    columns, coef = rng.normal(size=(601, 7)), rng.normal(size=(7, 3))
    out = products(np.asfortranarray(columns), coef, np.arange(3.0))
    np.testing.assert_allclose(out, columns @ coef + np.arange(3.0))
    for rows in ([0], [5, 6, 600], slice(100, 400)):
        own = products(np.asfortranarray(columns[rows]), coef, np.arange(3.0))
        np.testing.assert_array_equal(own, out[rows])
    with pytest.raises(ValueError, match="7 columns do not fit 6 coefficients"):
        products(columns, coef[:6], np.zeros(3))


def test_distances_are_none_below_zero():
    rows = np.random.default_rng(0).normal(size=(20, 3)) + 1e4
    distances = squared_distances(rows, rows)
    assert (distances >= 0).all()
    np.testing.assert_allclose(np.diag(distances), 0, atol=1e-6)


# In the classifier


def small(**params):
    return SteadyBoostClassifier(n_estimators=4, n_folds=2, random_state=0, **params)


def test_smooth_borders_are_left_to_smooth_members():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    y = (X.sum(axis=1) > 0).astype(int)
    model = small().fit(X[:250], y[:250])
    assert model.member_weights_.argmax() >= 3, model.member_weights_
    assert model.score(X[250:], y[250:]) > 0.93


def test_wide_sparse_text_is_learnt(monkeypatch, tmp_path):
    monkeypatch.setattr(design, "MOST_DENSE", 10)
    rng = np.random.default_rng(0)
    X = (rng.random((200, 40)) < 0.1).astype(float)
    y = (X[:, :10].sum(axis=1) > X[:, 10:20].sum(axis=1)).astype(int)
    model = small().fit(csr_array(X), y)
    assert model._landmarks.size == 0
    assert model.score(csr_array(X), y) > 0.8
    model.save(tmp_path / "model.sb")
    read = steadyboost.load(tmp_path / "model.sb")
    np.testing.assert_array_equal(
        read.predict_proba(csr_array(X)), model.predict_proba(csr_array(X))
    )
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(csr_array(X)))


def test_wide_sparse_rows_may_follow_dense_ones(monkeypatch):
    monkeypatch.setattr(design, "MOST_DENSE", 1)
    X = np.random.default_rng(0).poisson(0.5, (100, 3)).astype(float)
    model = small().fit(X, (X[:, 0] > X[:, 1]).astype(int))
    np.testing.assert_allclose(model.predict_proba(csr_array(X)), model.predict_proba(X))


def test_stages_begin_with_the_smooth_members():
    X, y = problem(n=150)
    model = small().fit(X, y)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, model.predict_proba(X))
    first = next(model._staged_scores(X))
    assert (first[:, -6:] != 0).any(axis=0).all()


def test_features_that_no_tree_tests_are_binned_for_the_smooth_members():
    X, y = problem(n=200)
    model = small().fit(DataFrame(X), y)
    np.testing.assert_array_equal(model.initial_features(), np.arange(X.shape[1]))
    one_by_one = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(one_by_one, model.predict_proba(X)[:20])


def test_damaged_coefficients_are_found(tmp_path):
    X, y = problem(n=100)
    model = small().fit(X, y)
    model._linear_coef = model._linear_coef[:-1]
    model.save(tmp_path / "model.sb")
    with pytest.raises(ValueError, match="do not fit"):
        steadyboost.load(tmp_path / "model.sb")


def test_members_do_not_depend_on_what_they_said_before():
    X, y = problem(n=150, k=3)
    rows = shared_rows(X, y, 3)
    assert rows.seed == SEED
    one, other = member(KernelMember, X, 3), member(KernelMember, X, 3)
    one.start(rows)
    one.start(rows)
    other.start(rows)
    np.testing.assert_array_equal(one.finish(), other.finish())


def test_the_precision_of_the_kernel_may_be_chosen_by_some_rows(monkeypatch):
    monkeypatch.setattr(kernel_member, "JUDGED_ROWS", 40)
    X, y = problem(n=80, k=2)
    fitted = member(KernelMember, X, 2)
    fitted.start(shared_rows(X, y, 2))
    assert fitted.found.coef.shape[:2] == (3, fitted.whitening.shape[1])
    error = np.mean(fitted.finish().argmax(axis=1) != y)
    assert error < 0.5


def test_a_table_without_values_gives_no_warning(recwarn):
    y = np.arange(60) % 2
    model = SteadyBoostClassifier(n_estimators=3, random_state=0).fit(np.full((60, 3), np.nan), y)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 3), np.nan)), 0.5, atol=0.1)
    assert not [str(one.message) for one in recwarn if one.category is RuntimeWarning]
