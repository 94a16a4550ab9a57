"""Soft labels: exactly weighted copies of the rows; and what is refused."""

import numpy as np
import pandas as pd
import pytest
from common import assert_same_model, each_booster, make, problem
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadyboost import (
    BaggingClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
)
from steadyboost.ensemble.soft_labels import rows_of_copies
from steadyboost.noise import corrupt

X, y = problem()
K = 3
SOFT = np.round(np.random.default_rng(0).dirichlet(np.ones(K), len(y)), 2)
SOFT[:100] = np.eye(K)[y[:100]]  # rows of one label have no copies
SOFT[:, -1] = 1 - SOFT[:, :-1].sum(axis=1)
WEIGHTS = np.random.default_rng(0).integers(1, 5, size=len(y)).astype(float)


def copies(weights=None):
    """The table of weighted copies, by loops."""
    rows = [
        (i, j, p * (1 if weights is None else weights[i]))
        for i, row in enumerate(SOFT.tolist())
        for j, p in enumerate(row)
        if p > 0
    ]
    place, label, weight = map(np.array, zip(*rows, strict=True))
    return X[place], label, weight


@each_booster
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_they_are_weighted_copies_of_a_row(booster, weights):
    """But for our own booster, which keeps copies together when it draws rows."""
    if booster is SteadyBoostClassifier:
        pytest.skip("see test_copies_are_drawn_together")
    soft = make(booster).fit(X, sample_weight=weights, label_distribution=SOFT)
    A, label, weight = copies(weights)
    assert_same_model(soft, make(booster).fit(A, label, sample_weight=weight), X)


@each_booster
def test_one_label_for_each_row_is_the_ordinary_fit(booster):
    soft = make(booster).fit(X, label_distribution=np.eye(K)[y])
    assert_same_model(soft, make(booster).fit(X, y), X)


def test_copies_are_drawn_together():
    """No row is judged by trees that have seen a copy of it."""
    rng = np.random.default_rng(0)
    random = rng.normal(size=(300, 3))
    soft = rng.dirichlet(np.ones(2) / 2, 300)
    model = SteadyBoostClassifier(n_estimators=20, random_state=0)
    model.fit(random, label_distribution=soft)
    likeliest = soft.argmax(axis=1)
    found = np.mean(model.out_of_sample_proba_.argmax(axis=1) == likeliest)
    assert found < 0.62  # features tell nothing: seen copies would give the labels away
    np.testing.assert_array_equal(model.classes_[model._given], likeliest)
    assert model.label_scores_.shape == (300,)


def test_they_help_where_labels_are_uncertain():
    A, b = problem(n=900, k=3, noise=0)
    noisy, _ = corrupt(b[:600], 0.4, random_state=0)
    soft = 0.5 * np.eye(3)[noisy] + 0.5 * np.eye(3)[b[:600]]  # two votes, one of them right
    one = SteadyBoostClassifier(n_estimators=30, random_state=0).fit(A[:600], noisy)
    two = SteadyBoostClassifier(n_estimators=30, random_state=0)
    two.fit(A[:600], label_distribution=soft)
    assert two.score(A[600:], b[600:]) >= one.score(A[600:], b[600:])


def test_columns_are_named_by_y_or_by_a_frame():
    names = np.array(["b", "a", "c"])[y]
    by_y = SAMMEClassifier(n_estimators=3).fit(X, names, label_distribution=SOFT[:, [1, 0, 2]])
    frame = pd.DataFrame(SOFT, columns=["b", "a", "c"])
    by_frame = SAMMEClassifier(n_estimators=3).fit(X, label_distribution=frame)
    assert by_y.classes_.tolist() == ["a", "b", "c"]
    assert_same_model(by_y, by_frame, X)


def test_copies_are_on_one_side_of_early_stopping():
    model = SAMMEClassifier(n_estimators=5, early_stopping=True, random_state=0)
    model.fit(X, label_distribution=SOFT)
    assert "val_error" in model.history_[0]


def test_they_are_routed():
    with config_context(enable_metadata_routing=True):
        model = SAMMEClassifier(n_estimators=3).set_fit_request(label_distribution=True)
        routed = make_pipeline(StandardScaler(), model).fit(X, y, label_distribution=SOFT)[-1]
    direct = SAMMEClassifier(n_estimators=3)
    direct.fit(StandardScaler().fit_transform(X), y, label_distribution=SOFT)
    assert_same_model(routed, direct, StandardScaler().fit_transform(X))


def test_rows_of_copies():
    assert rows_of_copies(slice(None)) is None
    assert rows_of_copies(np.array([0, 2, 5])) is None
    assert rows_of_copies(np.array([1, 1, 4, 7, 7])).tolist() == [0, 0, 1, 2, 2]


def off(row, values):
    changed = SOFT.copy()
    changed[row] = values
    return changed


@pytest.mark.parametrize(
    ("soft", "message"),
    [
        (off(7, [0.5, 0.5, 0.5]), "sums to 1.5 in row 7"),
        (off(3, [-0.5, 0.5, 1.0]), "in row 3; pass probabilities"),
        (off(4, [np.nan, 0.5, 0.5]), "in row 4; pass probabilities"),
        (SOFT[:-1], "for 240 rows"),
        (SOFT.argmax(axis=1), "shape"),
        (np.eye(4)[y], "class 3 no probability"),
        ([["a", "b"]] * len(y), "array of numbers"),
    ],
)
def test_bad_distributions_are_refused(soft, message):
    with pytest.raises(ValueError, match=message):
        SAMMEClassifier().fit(X, label_distribution=soft)


def test_columns_and_classes_must_agree():
    with pytest.raises(ValueError, match="3 columns, but y has 2 classes"):
        SAMMEClassifier().fit(X, y > 0, label_distribution=SOFT)


def test_what_cannot_take_them_says_so():
    with pytest.raises(ValueError, match="oob_score=False"):
        BaggingClassifier(oob_score=True, n_estimators=2).fit(X, label_distribution=SOFT)
    with pytest.raises(ValueError, match="costs and label_distribution"):
        SoftmaxBoostClassifier(n_estimators=2).fit(X, label_distribution=SOFT, costs=1 - SOFT)
