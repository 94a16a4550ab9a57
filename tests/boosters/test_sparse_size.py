"""Sparse tables that would be large in full: texts, tens of thousands of columns."""

import tracemalloc

import numpy as np
import pytest
from common import assert_same_model
from scipy import sparse
from sklearn.metrics import f1_score

from steadyboost import C45, AttributeTest, DecisionRule, SAMMEClassifier, Stump, Tree
from steadyboost.lab.datasets import DatasetNotFound, reuters

MEGA = 2**20


def wide(n_rows, n_columns=50_000, per_row=100):
    """Counts of words, of which few are frequent; a label that depends on one of them."""
    rng = np.random.default_rng(0)
    words = (n_columns * rng.random((n_rows, per_row)) ** 4).astype(int)
    counts = rng.integers(1, 4, size=words.size).astype(float)
    rows = np.repeat(np.arange(n_rows), per_row)
    X = sparse.csr_array((counts, (rows, words.ravel())), shape=(n_rows, n_columns))
    return X, (X[:, [0]].toarray().ravel() > 0) ^ (rng.random(n_rows) < 0.1)


def peak_of(call):
    """The most memory that arrays took at once meanwhile, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit_and_predict(learner, X, y):
    model = SAMMEClassifier(learner, n_estimators=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    next(model.staged_predict(X.tocsc()))


def test_memory_is_that_of_the_entries():
    X, y = wide(20_000)
    fit_and_predict(Stump(), X[:1000], y[:1000])  # compile
    assert peak_of(lambda: fit_and_predict(Stump(), X, y)) < 120 * MEGA  # in full 7,629


@pytest.mark.parametrize(
    "learner", [Tree(max_depth=6), AttributeTest(), DecisionRule(max_tests=3), C45()]
)
def test_no_learner_needs_the_full_table(learner):
    X, y = wide(1500)
    fit_and_predict(learner, X[:200], y[:200])
    assert peak_of(lambda: fit_and_predict(learner, X, y)) < 60 * MEGA  # in full 572


@pytest.fixture(scope="module")
def news():
    """Reuters ApteMod: counts of words, and whether it is about company earnings."""
    try:
        parts = [reuters(split) for split in ("train", "test")]
    except DatasetNotFound as reason:
        pytest.skip(f"needs real data, but {reason}")
    return [(X, Y[:, names.index("earn")]) for X, Y, names in parts]


def test_news_are_learnt_by_stumps(news):
    (X, y), (X_test, y_test) = news
    model = SAMMEClassifier(Stump(), n_estimators=100, random_state=0)
    assert peak_of(lambda: model.fit(X, y)) < 60 * MEGA  # in full 603
    assert f1_score(y_test, model.predict(X_test)) > 0.95


def test_news_teach_what_they_teach_in_full(news):
    X, y = news[0][0][:1500], news[0][1][:1500]
    full = X.toarray()
    for learner in (Stump(), Tree(max_depth=4, criterion="entropy")):
        models = [SAMMEClassifier(learner, n_estimators=4).fit(rows, y) for rows in (X, full)]
        assert_same_model(*models, X)
        assert_same_model(*models, full)
