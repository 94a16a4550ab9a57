"""A histogram that is updated with its weights is the one that is built anew, to the bit."""

import numpy as np
import pytest
from common import assert_same_model, problem
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.histograms import by_numpy
from reference.tree_cases import assert_identical, pack, random_columns, related_labels

from steadyboost import AdaBoostM1Classifier, SAMMEClassifier, Tree
from steadyboost.ensemble.workers import Workers
from steadyboost.learners import tree as learner
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.root_cache import RootHistogramCache
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism, ScratchArrays

N_LABELS = 3
KNOWN = {"total": 1.0, "fixed_point_scale": 16.0}


def made_up(seed, n_rows=500):
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, n_rows, numeric=4, gappy=2, categorical=1)
    return rng, pack(columns), related_labels(rng, columns, N_LABELS).astype(np.int32)


def assert_as_if_new(found, binned, labels, weights):
    new = FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN)
    np.testing.assert_array_equal(found.weights, new.weights)
    np.testing.assert_array_equal(found.known_total, new.known_total)
    assert found.scale == new.scale == 2.0**56
    every = np.arange(binned.n_rows)
    expected = by_numpy(binned, new, every, range(binned.n_features), counting=False)
    np.testing.assert_array_equal(found.hist, expected)


@pytest.fixture(autouse=True)
def no_data_are_small(monkeypatch):
    monkeypatch.setattr("steadyboost.trees.growth.tree.SHARDING_PAYS", 0)
    monkeypatch.setattr(learner, "ROOT_CACHE_CELLS_PER_WORD", np.inf)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 3), st.floats(0, 1))
def test_weights_that_move_are_added_up(seed, n_rows, n_threads, share):
    rng, binned, labels = made_up(seed, n_rows)
    root, weights = RootHistogramCache(binned), rng.dirichlet(np.ones(n_rows))
    options = {"scratch": ScratchArrays(), "n_threads": n_threads, **KNOWN}
    for _ in range(4):
        found = root.set(labels, weights, N_LABELS, **options)
        assert_as_if_new(found, binned, labels, weights)
        weights = np.where(rng.random(n_rows) < share, weights * rng.random(n_rows), weights)


def test_other_labels_start_afresh():
    rng, binned, labels = made_up(0)
    root, weights = RootHistogramCache(binned), rng.dirichlet(np.ones(500))
    for own in (labels, labels[::-1].copy(), labels):
        found = root.set(own, weights, N_LABELS, scratch=ScratchArrays(), **KNOWN)
        assert_as_if_new(found, binned, own, weights)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"max_leaf_nodes": 6}, {}])
def test_trees_are_the_same_again_and_again(n_threads, limits):
    rng, binned, labels = made_up(1)
    root, growth, parallel = (
        RootHistogramCache(binned),
        TreeParams(**limits),
        Parallelism(n_threads),
    )
    for _ in range(3):
        weights = rng.dirichlet(np.ones(500))
        kept = root.set(labels, weights, N_LABELS, scratch=ScratchArrays(), **KNOWN)
        new = FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN)
        tree, leaves = grow_tree(binned, kept, growth, parallel=parallel)
        other, other_leaves = grow_tree(binned, new, growth, parallel=parallel)
        assert_identical(tree, other)
        np.testing.assert_array_equal(leaves, other_leaves)
        np.testing.assert_allclose(tree.value[0].sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("params", [{"rows": np.arange(100)}, {"features": np.arange(3)}])
def test_a_part_does_not_take_the_histogram_of_all(params):
    rng, binned, labels = made_up(2)
    weights = rng.dirichlet(np.ones(500))
    kept = RootHistogramCache(binned).set(
        labels, weights, N_LABELS, scratch=ScratchArrays(), **KNOWN
    )
    new, growth = (
        FixedPointSums.of_labels(labels, weights, N_LABELS, **KNOWN),
        TreeParams(max_depth=2),
    )
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
        monkeypatch.setattr(learner, "ROOT_CACHE_WORDS", n_words)
        model = booster(estimator=Tree(max_depth=3), n_estimators=25, random_state=0)
        return model.set_params(**params).fit(X, Y)

    assert_same_model(fitted(10**9), fitted(0), X)


def test_rounds_add_up_the_smaller_part_only(monkeypatch):
    monkeypatch.setattr(learner, "ROOT_CACHE_WORDS", 0)
    moved = []

    class Watched(RootHistogramCache):
        def set(self, *args, **options):
            sums = super().set(*args, **options)
            moved.append(np.count_nonzero(self.stats.weights) / len(self.labels))
            return sums

    monkeypatch.setattr(learner, "RootHistogramCache", Watched)
    model = SAMMEClassifier(estimator=Tree(max_depth=1), n_estimators=40).fit(X, Y)
    assert len(model.estimators_) == len(moved) == 40
    assert moved[0] == 1
    assert np.median(moved) < 0.5


def test_no_histogram_is_kept_that_is_larger_than_the_data(monkeypatch):
    monkeypatch.setattr(learner, "ROOT_CACHE_WORDS", 0)
    monkeypatch.setattr(learner, "ROOT_CACHE_CELLS_PER_WORD", 1.0)
    monkeypatch.setattr(learner, "RootHistogramCache", None)
    assert len(SAMMEClassifier(n_estimators=3).fit(X, Y).estimators_) == 3


@pytest.mark.parametrize("kinds", [{}, {"numeric": 12, "gappy": 0, "categorical": 0, "n_bins": 3}])
def test_threads_add_up_segments_of_the_rows(kinds):
    """Three threads give the histogram of one, and its trees, also where features are bundled."""
    rng = np.random.default_rng(3)
    columns = random_columns(rng, 2000, **{"numeric": 4, "gappy": 2, "categorical": 1, **kinds})
    binned, labels = pack(columns), related_labels(rng, columns, N_LABELS).astype(np.int32)
    one, three = RootHistogramCache(binned), RootHistogramCache(binned)
    with Workers(3) as threads:
        for _ in range(4):
            weights = rng.dirichlet(np.ones(2000))
            alone = one.set(labels, weights, N_LABELS, scratch=ScratchArrays(), **KNOWN)
            options = {"scratch": ScratchArrays(), "n_threads": 3, "run": threads.run}
            found = three.set(labels, weights, N_LABELS, **KNOWN, **options)
            np.testing.assert_array_equal(found.hist, alone.hist)
            assert_as_if_new(found, binned, labels, weights)
            trees = [grow_tree(binned, sums, TreeParams(max_depth=3))[0] for sums in (alone, found)]
            assert_identical(*trees)


def test_the_number_of_threads_may_change_from_tree_to_tree():
    rng, binned, labels = made_up(4)
    root = RootHistogramCache(binned)
    for n_threads in (1, 3, 2, 1, 7):
        weights = rng.dirichlet(np.ones(500))
        options = {"scratch": ScratchArrays(), "n_threads": n_threads}
        found = root.set(labels, weights, N_LABELS, **KNOWN, **options)
        assert_as_if_new(found, binned, labels, weights)
