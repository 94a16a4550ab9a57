"""Pair weights against the same weights written out."""

import numpy as np
import pytest
from common import Recording, make, problem
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference.maxcut import affinity_by_definition, u_by_definition
from reference.output_codes import weights_in_logs
from sklearn.datasets import load_iris, load_wine

from steadyboost import (
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    MSmoothBoostClassifier,
    Stump,
    Tree,
)
from steadyboost.boosters.families.output_codes import PairDistribution
from steadyboost.ensemble import training_state as rows_module
from steadyboost.ensemble import weighting as weighting_module
from steadyboost.ensemble.codes.colorings import cut_value, random_coloring
from steadyboost.ensemble.scores import add_votes
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.weighting import PairWeighting
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data

LAMBDAS = (0.0, 0.1, 1.0, 3.0)
VARIANTS = [
    pytest.param(AdaBoostOCClassifier, {"alpha": "pseudoloss"}, id="oc-pseudoloss"),
    pytest.param(AdaBoostOCClassifier, {"alpha": "error"}, id="oc-error"),
    pytest.param(MSmoothBoostClassifier, {"smoothing": 0.0}, id="ms-0"),
    pytest.param(MSmoothBoostClassifier, {"smoothing": 0.5}, id="ms-0.5"),
]
each_variant = pytest.mark.parametrize(("booster", "params"), VARIANTS)
each_lambda = pytest.mark.parametrize("smoothing", LAMBDAS)


def damping_of(smoothing):
    """MSmoothBoost's, without a fit."""
    model = MSmoothBoostClassifier()
    model.smoothing_ = smoothing
    return model.damping()


def scored_rows(n=60, k=5, scale=2.0, weights=None, workers=None, seed=0):
    """Rows with random labels and scores."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n).astype(np.int32)
    rows = TrainingState(Data(np.zeros((n, 1))), y, k, weights, workers or Workers(1))
    scores = scale * rng.normal(size=(n, k))
    rows.each(lambda block: np.copyto(block.scores, scores[block.rows]))
    return rows


def pairs_by_definition(rows, smoothing):
    """000, eqs. (5) and (8); without smoothing 003's D."""
    own = np.arange(rows.n_classes) == rows.y[:, None]
    raised = np.exp(rows.scores - rows.scores[own][:, None])
    against = np.where(own, 0, raised).sum(axis=1)
    D = np.where(own, 0, raised) / (1 + smoothing * against[:, None]) ** 2
    if rows.sample_weight is not None:
        D = D * rows.sample_weight[:, None]
    return D / D.sum()


@each_lambda
@pytest.mark.parametrize("told_before", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_weights_and_u(smoothing, told_before, weighted):
    weights = np.random.default_rng(1).exponential(size=60) if weighted else None
    rows = scored_rows(weights=weights)
    colors = np.array([0, 1, 1, 0, 1], dtype=np.int8)
    D = pairs_by_definition(rows, smoothing)
    pairs = PairDistribution(rows, damping_of(smoothing), colors if told_before else None)
    U = pairs.weigh_rows(colors)
    assert pytest.approx(u_by_definition(D, rows.y, colors), rel=1e-12) == U
    apart = colors[rows.y][:, None] != colors
    np.testing.assert_allclose(rows.weights, (D * apart).sum(axis=1) / U, rtol=1e-11)


@each_lambda
def test_affinity_and_edges(smoothing):
    rows = scored_rows()
    D = pairs_by_definition(rows, smoothing)
    pairs = PairDistribution(rows, damping_of(smoothing))
    affinity = pairs.affinity()
    np.testing.assert_allclose(affinity, affinity_by_definition(D, rows.y, 5), rtol=1e-11)
    colors = np.array([0, 1, 1, 0, 1], dtype=np.int8)
    assert pairs.weigh_rows(colors) == pytest.approx(cut_value(affinity, colors), rel=1e-12)
    edges = pairs.edges()
    own = np.arange(5) == rows.y[:, None]
    np.testing.assert_allclose(edges[:, :-1][~own], -D[~own], rtol=1e-11)
    np.testing.assert_allclose(edges[:, :-1][own], D.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(edges[:, -1], D.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(edges[:, :-1].sum(axis=1), 0, atol=1e-15)


def test_rows_with_smoothing_weigh_c_times_one_less_c():
    for smoothing in (0.1, 1.0, 3.0):
        rows = scored_rows()
        own = np.arange(5) == rows.y[:, None]
        raised = np.exp(rows.scores - rows.scores[own][:, None])
        c = 1 / (1 + smoothing * (raised.sum(axis=1) - 1))
        mass = c * (1 - c) / smoothing
        found = PairDistribution(rows, damping_of(smoothing)).edges()[:, -1]
        np.testing.assert_allclose(found, mass / mass.sum(), rtol=1e-10)


@each_lambda
def test_scores_are_as_they_were(smoothing):
    rows = scored_rows()
    before = rows.scores
    pairs = PairDistribution(rows, damping_of(smoothing))
    pairs.affinity(), pairs.edges()
    pairs.weigh_rows(np.array([0, 1, 0, 1, 0], dtype=np.int8))
    np.testing.assert_array_equal(rows.scores, before)


@each_lambda
def test_blocks_and_threads_do_not_matter(smoothing, monkeypatch):
    whole = scored_rows(n=1000)
    monkeypatch.setattr(rows_module, "CHUNK_ROWS", 90)
    colors = np.array([0, 1, 1, 0, 1], dtype=np.int8)
    found = []
    for n_threads in (1, 2):
        with Workers(n_threads) as workers:
            rows = scored_rows(n=1000, workers=workers)
            assert len(rows.chunks) > 10
            pairs = PairDistribution(rows, damping_of(smoothing))
            found.append((pairs.affinity(), pairs.edges(), pairs.weigh_rows(colors), rows.weights))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    U = PairDistribution(whole, damping_of(smoothing)).weigh_rows(colors)
    assert found[0][2] == pytest.approx(U, rel=1e-12)
    np.testing.assert_allclose(found[0][3], whole.weights, rtol=1e-11)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 40), st.sampled_from([1, 3, 99])
)
def test_raised_scores_that_follow_votes_are_those_raised_anew(seed, k, n_rounds, life):
    rng = np.random.default_rng(seed)
    rows = scored_rows(n=20, k=k, seed=seed)
    rows.start(PairWeighting())
    block = rows.chunks[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighting_module, "MAX_PRODUCTS", life)
        for _ in range(n_rounds):
            code = rng.choice([-1.0, 0.0, 1.0], size=(2, k))
            step, votes = rng.normal(), rng.integers(2, size=20).astype(np.int32)
            add_votes(block.scores, votes, code, step)
            block.exp_scores.update(code, step, votes)
            if rng.random() < 0.5:
                block.exp_scores.sum_colors(np.zeros(k, dtype=np.int8))
    block.exp_scores.sum_colors(np.zeros(k, dtype=np.int8))
    wrong = np.arange(k) != block.y[:, None]
    expected = np.where(wrong, np.exp(block.scores - block.exp_scores.shift[:, None]), 0)
    np.testing.assert_allclose(block.exp_scores.values, expected, rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 7),
    st.sampled_from(LAMBDAS),
    st.sampled_from([0.0, 1.0, 30.0, 100.0, 200.0, 1000.0, 1e5]),
)
@example(0, 5, 0.0, 1000.0)
def test_weights_are_right_however_large_the_scores(seed, k, smoothing, scale):
    """Also where U itself is too small for a float: its shares are not."""
    rows = scored_rows(n=20, k=k, scale=scale, seed=seed)
    colors = random_coloring(k, np.random.default_rng(seed))
    U = PairDistribution(rows, damping_of(smoothing), colors).weigh_rows(colors)
    expected, log_U = weights_in_logs(rows.scores, rows.y, smoothing, colors)
    np.testing.assert_allclose(rows.weights, expected, atol=1e-9)
    assert np.exp(log_U) * (1 - 1e-9) - 1e-290 <= U <= np.exp(log_U) * (1 + 1e-9) + 1e-290


def test_rows_that_are_far_on_either_side_weigh_alike():
    rows = scored_rows(n=2, k=2, seed=1)
    rows.y[:] = 0
    rows.chunks[0].scores[:] = [[0.0, 400.0], [0.0, -400.0]]
    colors = np.array([0, 1], dtype=np.int8)
    assert PairDistribution(rows, damping_of(1.0), colors).weigh_rows(colors) == pytest.approx(1)
    np.testing.assert_allclose(rows.weights, [0.5, 0.5])


# Whole fits


class Watched(Recording):
    """A stump that also compares its weights with those by logarithms."""

    def answer(self, data, question, counts, seed, threads):
        colors = np.array(question.info["coloring"])
        exact, _ = weights_in_logs(self.rows.scores, self.rows.y, self.smoothing, colors)
        self.worst = max(self.worst, np.abs(exact - question.weights).max())
        return super().answer(data, question, counts, seed, threads)


def watched(booster, X, y, **params):
    """A fit of many rounds, and its learner."""

    class Showing(booster):
        def question(self, rows, round_):
            self.estimator.rows = rows
            return super().question(rows, round_)

    learner = Watched(1)
    learner.worst, learner.smoothing = 0.0, params.get("smoothing", 0.0)
    return make(Showing, estimator=learner, **params).fit(X, y), learner


@each_variant
def test_three_thousand_rounds_on_iris(booster, params):
    X, y = load_iris(return_X_y=True)
    learner = Recording(1)
    model = make(booster, estimator=learner, n_estimators=3000, **params).fit(X, y)
    assert model.n_iter_ == 3000
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1, rtol=1e-9)
    assert np.isfinite(model.estimator_weights_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.history_["U"]).all()


@each_variant
def test_the_weights_of_a_thousand_rounds_are_those_by_logarithms(booster, params):
    X, y = load_iris(return_X_y=True)
    model, learner = watched(booster, X, y, n_estimators=1000, **params)
    assert model.n_iter_ == 1000
    assert learner.worst < 1e-9


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize(
    ("booster", "params"), [*VARIANTS, pytest.param(AdaBoostM2Classifier, {}, id="m2")]
)
def test_raising_anew_each_round_gives_the_same_weights(booster, params, load, monkeypatch):
    X, y = load(return_X_y=True)
    fits = []
    for life in (weighting_module.MAX_PRODUCTS, 1):
        monkeypatch.setattr(weighting_module, "MAX_PRODUCTS", life)
        learner = Recording(1)
        fits.append(
            (make(booster, estimator=learner, n_estimators=40, **params).fit(X, y), learner)
        )
    (one, asked), (other, asked_too) = fits
    np.testing.assert_allclose(asked_too.weights, asked.weights, atol=1e-12)
    np.testing.assert_allclose(other.estimator_weights_, one.estimator_weights_, rtol=1e-10)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


@pytest.mark.parametrize(("booster", "params"), [VARIANTS[0], VARIANTS[-1]])
def test_a_thousand_rounds_on_letter(from_folder, booster, params):
    X, y = from_folder("letter", split="train" if "alpha" in params else "test")
    model = make(booster, estimator=Stump(), n_estimators=1000, **params).fit(X, y)
    assert model.n_iter_ == 1000
    assert np.isfinite(model.estimator_weights_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.7


# Degenerate cases


@each_variant
def test_one_class_needs_no_weights(booster, params):
    X, y = problem()
    model = make(booster, **params).fit(X, np.zeros(len(y)))
    assert model.n_iter_ == 1
    assert (model.predict(X) == 0).all()


@each_variant
def test_a_useless_learner_neither_stops_nor_counts(booster, params):
    X, y = np.zeros((30, 1)), np.arange(30) % 3
    model = make(booster, n_estimators=4, **params).fit(X, y)
    assert model.n_iter_ == 4
    assert np.isfinite(model.predict_proba(X)).all()


@each_variant
def test_perfect_hypotheses_go_on_with_a_clipped_error(booster, params):
    X, y = load_iris(return_X_y=True)
    model = make(booster, estimator=Tree(max_depth=None), n_estimators=9, **params).fit(X, y)
    assert model.n_iter_ == 9
    assert model.score(X, y) == 1
    assert np.isfinite(model.estimator_weights_).all()
    assert model.estimator_errors_.min() < 1e-12
