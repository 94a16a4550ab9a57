"""A tree by threads that share the features is the tree of one thread, bit for bit."""

from functools import partial

import numpy as np
import pytest
from common import assert_same_model, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tree_cases
from reference.tree_cases import (
    LIMITS,
    REAL,
    assert_threads_do_not_matter,
    growth_of,
    pack,
    random_columns,
    real,
)

from steadyboost import AdaBoostM2Classifier, SAMMEClassifier, Tree
from steadyboost.core.workers import Workers
from steadyboost.trees import together, tree
from steadyboost.trees.sharded import one_by_one
from steadyboost.trees.sums import Sums
from steadyboost.trees.tree import CRITERIA, Growth, grow_tree


@pytest.fixture(autouse=True)
def always_share(monkeypatch):
    monkeypatch.setattr(tree, "SMALL", 0)
    monkeypatch.setattr("steadyboost.trees.root.SMALL", 0)
    monkeypatch.setattr(together, "COLUMNS", 1)


@pytest.fixture
def only_together(monkeypatch):
    monkeypatch.setattr(tree, "ShardedGrowth", None)


made_up = partial(tree_cases.made_up, numeric=9, gappy=3, categorical=3, n_bins=90)


@pytest.mark.parametrize("n_threads", [2, 4])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_shares_of_features_grow_the_tree_of_all(criterion, limits, n_threads, only_together):
    binned, sums = made_up(criterion)
    assert_threads_do_not_matter(binned, sums, growth_of(criterion, limits), n_threads)


@pytest.mark.parametrize("limits", ["depth", "leaves", "everything"])
@pytest.mark.parametrize("name", REAL)
def test_shares_of_features_grow_the_tree_of_all_on_real_data(name, limits):
    _, binned, labels, n_labels = real(name)
    weights = np.random.default_rng(1).exponential(size=len(labels))
    assert_threads_do_not_matter(
        binned, Sums.of_labels(labels, weights, n_labels), growth_of("gini", limits), 2
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_some_rows_and_features_are_shared_as_well(criterion, only_together):
    binned, sums = made_up(criterion)
    rows, features = np.arange(0, 300, 2), np.array([1, 2, 7, 9, 14])
    assert_threads_do_not_matter(
        binned, sums, growth_of(criterion, "samples"), 3, rows=rows, features=features
    )


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_threads=st.integers(2, 4),
    criterion=st.sampled_from(sorted(CRITERIA)),
    limits=st.sampled_from(["depth", "leaves", "both", "samples", "none"]),
)
def test_threads_that_run_side_by_side_agree(seed, n_threads, criterion, limits):
    binned, sums = made_up(criterion, seed, n_rows=500)
    with Workers(n_threads) as workers:
        assert_threads_do_not_matter(
            binned, sums, growth_of(criterion, limits), n_threads, workers.run
        )


def test_equal_splits_go_to_the_first_feature(only_together):
    rng = np.random.default_rng(3)
    column = random_columns(rng, 200, numeric=1, gappy=0, n_bins=200)
    binned = pack(column * 12)
    sums = Sums.of_labels((column[0].bins > 90).astype(np.int32), np.ones(200), 2)
    grown, _ = grow_tree(binned, sums, Growth(), n_shards=3, run=one_by_one)
    assert grown.feature[0] == 0


@pytest.mark.parametrize("name", ["first_of", "go_on"])
def test_a_thread_that_fails_does_not_keep_the_others_waiting(name, monkeypatch):
    """Whenever it does: also between taking a share and growing it, which nobody does then."""
    binned, sums = made_up("gini")
    whole, failed = getattr(together, name), []

    def interrupted(*args):
        found = whole(*args)
        if not failed:
            failed.append(found)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(together, name, interrupted)
    with Workers(3) as workers, pytest.raises(KeyboardInterrupt):
        grow_tree(binned, sums, Growth(max_depth=5), n_shards=3, run=workers.run)


def test_joined_columns_are_not_torn_apart():
    rng = np.random.default_rng(5)
    columns = random_columns(rng, 300, numeric=12, gappy=0, n_bins=3)
    bins = pack(columns).bins(None, 2)
    assert together.shares_of(bins, 2) == [bins]


def test_features_that_are_few_are_not_shared(monkeypatch):
    monkeypatch.setattr(together, "COLUMNS", 16)
    bins = made_up("gini")[0].bins()
    assert together.shares_of(bins, 2) == [bins]


X, Y = problem(n=400, k=4)


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM2Classifier])
@pytest.mark.parametrize("params", [{}, {"resample": True}, {"estimator__max_features": 4}])
def test_models_are_those_of_one_thread(booster, params, monkeypatch):
    monkeypatch.setattr("steadyboost.learners.tree.MANY_WORDS", 0)
    monkeypatch.setattr("steadyboost.learners.tree.CELLS_PER_WORD", np.inf)

    def fitted(n_jobs):
        model = booster(estimator=Tree(), n_estimators=20, random_state=0, n_jobs=n_jobs)
        return model.set_params(**params).fit(X, Y)

    assert_same_model(fitted(1), fitted(2), X)
