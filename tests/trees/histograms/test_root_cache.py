"""A histogram that follows its weights is the one that is made anew, to the bit."""

import numpy as np
import pytest
from common import assert_same_model, problem
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.histograms import by_numpy
from reference.tree_cases import assert_identical, pack, random_columns, related_labels
from steadyboost.trees.crew import Crew

from steadyboost import AdaBoostM1Classifier, SAMMEClassifier, Tree
from steadyboost.ensemble.workers import Workers
from steadyboost.learners import tree as learner
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.root_cache import RootHistogramCache
from steadyboost.trees.histograms.row_statistics import FixedPointSums, ScratchArrays

N_LABELS = 3
KNOWN = {"total": 1.0, "whole": 16.0}


def made_up(seed, n_rows=500):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, numeric=4, gappy=2, categorical=1)
    return rng, pack(columns), related_labels(rng, columns, N_LABELS).astype(np.int32)


def assert_as_if_new(found, binned, labels, weights):
    new = FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN)
    np.testing.assert_array_equal(found.weights, new.weights)
    np.testing.assert_array_equal(found.of_all, new.of_all)
    assert found.units == new.units == 2.0**56
    every = np.arange(binned.n_rows)
    expected = by_numpy(binned, new, every, range(binned.n_features), counting=False)
    np.testing.assert_array_equal(found.hist, expected)


@pytest.fixture(autouse=True)
def no_data_are_small(monkeypatch):
    monkeypatch.setattr("steadyboost.trees.growth.tree.SMALL", 0)
    monkeypatch.setattr("steadyboost.trees.large.SOLO_CELLS", 0)
    monkeypatch.setattr(learner, "CELLS_PER_WORD", np.inf)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 3), st.floats(0, 1), st.booleans()
)
def test_weights_that_move_are_added_up(seed, n_rows, n_threads, share, by_columns):
    rng, binned, labels = made_up(seed, n_rows)
    crew, space = Crew(n_threads) if n_threads > 1 else None, ScratchArrays()
    root, weights = RootHistogramCache(binned), rng.dirichlet(np.ones(n_rows))
    for _ in range(4):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("steadyboost.trees.adding.COLUMNS", 1 if by_columns else 10**9)
            found = root.set(labels, weights, N_LABELS, space=space, crew=crew, **KNOWN)
        assert_as_if_new(found, binned, labels, weights)
        weights = np.where(rng.random(n_rows) < share, weights * rng.random(n_rows), weights)


def test_other_labels_start_afresh():
    rng, binned, labels = made_up(0)
    root, weights = RootHistogramCache(binned), rng.dirichlet(np.ones(500))
    for own in (labels, labels[::-1].copy(), labels):
        found = root.set(own, weights, N_LABELS, space=ScratchArrays(), **KNOWN)
        assert_as_if_new(found, binned, own, weights)


@pytest.mark.parametrize("options", [{}, {"n_shards": 2}, {"crew": Crew(2)}])
@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"max_leaf_nodes": 6}, {}])
def test_trees_are_the_same_again_and_again(options, limits):
    rng, binned, labels = made_up(1)
    root, growth = RootHistogramCache(binned), TreeParams(**limits)
    for _ in range(3):
        weights = rng.dirichlet(np.ones(500))
        kept = root.set(labels, weights, N_LABELS, space=ScratchArrays(), **KNOWN)
        new = FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN)
        tree, leaves = grow_tree(binned, kept, growth, **options)
        other, other_leaves = grow_tree(binned, new, growth, **options)
        assert_identical(tree, other)
        np.testing.assert_array_equal(leaves, other_leaves)
        np.testing.assert_allclose(tree.value[0].sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("params", [{"rows": np.arange(100)}, {"features": np.arange(3)}])
def test_a_part_does_not_take_the_histogram_of_all(params):
    rng, binned, labels = made_up(2)
    weights = rng.dirichlet(np.ones(500))
    kept = RootHistogramCache(binned).set(labels, weights, N_LABELS, space=ScratchArrays(), **KNOWN)
    new, growth = FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN), TreeParams(max_depth=2)
    assert_identical(
        grow_tree(binned, kept, growth, **params)[0], grow_tree(binned, new, growth, **params)[0]
    )


X, Y = problem(n=400, k=4)
PARAMS = [
    {},
    {"n_jobs": 2},
    {"learning_rate": 0.3},
    {"resample": True},
    {"class_weight": {0: 3.0}},
    {"estimator__max_features": 2},
    {"estimator__min_samples_leaf": 5},
]


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM1Classifier])
@pytest.mark.parametrize("params", PARAMS)
def test_models_are_the_same(booster, params, monkeypatch):
    def fitted(n_words):
        monkeypatch.setattr(learner, "MANY_WORDS", n_words)
        model = booster(estimator=Tree(max_depth=3), n_estimators=25, random_state=0)
        return model.set_params(**params).fit(X, Y)

    assert_same_model(fitted(10**9), fitted(0), X)


def test_rounds_add_up_the_smaller_part_only(monkeypatch):
    monkeypatch.setattr(learner, "MANY_WORDS", 0)
    moved = []

    class Watched(RootHistogramCache):
        def set(self, *args, **options):
            sums = super().set(*args, **options)
            moved.append(np.count_nonzero(self.arrays[1]) / len(self.labels))
            return sums

    monkeypatch.setattr(learner, "RootSums", Watched)
    model = SAMMEClassifier(estimator=Tree(max_depth=1), n_estimators=40).fit(X, Y)
    assert len(model.estimators_) == len(moved) == 40
    assert moved[0] == 1
    assert np.median(moved) < 0.5


def test_no_histogram_is_kept_that_is_larger_than_the_data(monkeypatch):
    monkeypatch.setattr(learner, "MANY_WORDS", 0)
    monkeypatch.setattr(learner, "CELLS_PER_WORD", 1.0)
    monkeypatch.setattr(learner, "RootSums", None)
    assert len(SAMMEClassifier(n_estimators=3).fit(X, Y).estimators_) == 3


def test_threads_add_up_parts_of_the_rows():
    rng, binned, labels = made_up(3)
    weights = rng.dirichlet(np.ones(500))
    with Workers(2) as threads:
        options = {"space": ScratchArrays(), "crew": threads.crew}
        found = RootHistogramCache(binned).set(labels, weights, N_LABELS, **KNOWN, **options)
    assert_as_if_new(found, binned, labels, weights)
