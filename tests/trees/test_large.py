"""A tree whose large nodes are shared by threads is the tree of one thread, bit for bit."""

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
    assert_identical,
    assert_threads_do_not_matter,
    growth_of,
    pack,
    random_columns,
    real,
)

from steadyboost import AdaBoostM2Classifier, SAMMEClassifier, Tree
from steadyboost.ensemble.workers import Workers
from steadyboost.trees import adding, large, tree
from steadyboost.trees.crew import Crew
from steadyboost.trees.sums import Space, Sums
from steadyboost.trees.tree import CRITERIA, Growth, grow_tree

MANY = 10**9


@pytest.fixture(autouse=True)
def always_share(monkeypatch):
    monkeypatch.setattr(tree, "SMALL", 0)
    monkeypatch.setattr(tree, "ShardedGrowth", None)
    monkeypatch.setattr(large, "SOLO_CELLS", 0)


@pytest.fixture(params=[1, MANY], ids=["by columns", "by rows"])
def columns(request, monkeypatch):
    monkeypatch.setattr(adding, "COLUMNS", request.param)


made_up = partial(tree_cases.made_up, numeric=9, gappy=3, categorical=3, n_bins=40)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_whoever_leads_can_do_without_the_others(criterion, limits, n_threads, columns):
    binned, sums = made_up(criterion)
    growth = growth_of(criterion, limits)
    assert_threads_do_not_matter(binned, sums, growth, {"crew": Crew(n_threads)})


@pytest.mark.parametrize("limits", ["depth", "leaves", "everything"])
@pytest.mark.parametrize("name", REAL)
def test_threads_grow_the_tree_of_one_on_real_data(name, limits, columns):
    _, binned, labels, n_labels = real(name)
    weights = np.random.default_rng(1).exponential(size=len(labels))
    sums = Sums.of_labels(labels, weights, n_labels)
    with Workers(2) as workers:
        threads = {"crew": workers.crew}
        assert_threads_do_not_matter(binned, sums, growth_of("gini", limits), threads)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_some_rows_and_features_are_shared_as_well(criterion, columns):
    binned, sums = made_up(criterion)
    growth, threads = growth_of(criterion, "samples"), {"crew": Crew(3)}
    rows, features = np.arange(0, 300, 2), np.array([1, 2, 7, 9, 14])
    assert_threads_do_not_matter(binned, sums, growth, threads, rows=rows, features=features)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_threads=st.integers(2, 4),
    criterion=st.sampled_from(sorted(CRITERIA)),
    limits=st.sampled_from(["depth", "leaves", "both", "samples", "none"]),
    least=st.sampled_from([1, MANY]),
)
def test_threads_that_run_side_by_side_grow_the_tree_of_one(
    seed, n_threads, criterion, limits, least
):
    binned, sums = made_up(criterion, seed, n_rows=700)
    with pytest.MonkeyPatch.context() as patched, Workers(n_threads) as workers:
        patched.setattr(adding, "COLUMNS", least)
        threads = {"crew": workers.crew}
        assert_threads_do_not_matter(binned, sums, growth_of(criterion, limits), threads)


@pytest.mark.parametrize("solo", [0, 500, 2000, 10**6])
def test_it_does_not_matter_from_where_on_one_thread_goes_on_alone(solo, columns, monkeypatch):
    monkeypatch.setattr(large, "SOLO_CELLS", solo)
    binned, sums = made_up("gini", n_rows=1000)
    assert_threads_do_not_matter(binned, sums, Growth(), {"crew": Crew(2)})


def test_equal_splits_go_to_the_first_feature(columns):
    rng = np.random.default_rng(3)
    column = random_columns(rng, 200, numeric=1, gappy=0, n_bins=200)
    binned = pack(column * 12)
    sums = Sums.of_labels((column[0].bins > 90).astype(np.int32), np.ones(200), 2)
    grown, _ = grow_tree(binned, sums, Growth(), crew=Crew(3))
    assert grown.feature[0] == 0


def test_joined_columns_are_added_up_together():
    rng = np.random.default_rng(5)
    columns = random_columns(rng, 2000, numeric=12, gappy=0, n_bins=3)
    binned, labels = pack(columns), rng.integers(2, size=2000).astype(np.int32)
    assert len(binned.joint(2)[1]) < 12
    sums = Sums.of_labels(labels, np.ones(2000), 2)
    assert_threads_do_not_matter(binned, sums, Growth(max_depth=4), {"crew": Crew(2)})


def test_a_room_serves_tree_after_tree(columns):
    crew, space = Crew(2), Space()
    for seed in range(4):
        binned, _ = made_up("gini")
        labels = np.random.default_rng(seed).integers(4, size=300).astype(np.int32)
        sums = Sums.of_labels(labels, np.ones(300), 4)
        again, leaf = grow_tree(binned, sums, Growth(max_depth=4), crew=crew, space=space)
        anew, other = grow_tree(binned, sums, Growth(max_depth=4))
        assert_identical(again, anew)
        np.testing.assert_array_equal(leaf, other)


@pytest.mark.parametrize("shape", [(0,), (3,), (257,), (2, 3), (0, 2)])
def test_no_two_threads_write_to_the_same_line(shape):
    (room,) = adding.for_each(Crew(3), (np.empty(shape, dtype=np.int64),))
    ends = [own[: shape[0]].ctypes.data + 8 * int(np.prod(shape)) for own in room]
    starts = [own.ctypes.data for own in room]
    assert min(np.subtract(starts[1:], ends[:-1])) >= adding.APART


X, Y = problem(n=400, k=4)


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM2Classifier])
@pytest.mark.parametrize("params", [{}, {"resample": True}, {"estimator__max_features": 4}])
def test_models_are_those_of_one_thread(booster, params, monkeypatch):
    monkeypatch.setattr("steadyboost.learners.tree.MANY_WORDS", 0)
    monkeypatch.setattr("steadyboost.learners.tree.CELLS_PER_WORD", np.inf)
    monkeypatch.setattr("steadyboost.ensemble.training_state.BLOCK_ROWS", 50)

    def fitted(n_jobs):
        model = booster(estimator=Tree(), n_estimators=20, random_state=0, n_jobs=n_jobs)
        return model.set_params(**params).fit(X, Y)

    assert_same_model(fitted(1), fitted(2), X)
