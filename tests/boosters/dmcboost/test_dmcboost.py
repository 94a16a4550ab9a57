"""DMCBoost: its twin, and what its two phases must do."""

import warnings

import numpy as np
import pytest
from common import problem, quiet
from reference import dmcboost as twin
from reference.tree_cases import columns_of
from sklearn.exceptions import ConvergenceWarning

from steadyboost import DMCBoostClassifier, Tree
from steadyboost.boosters.dmcboost.phases import bottom_mass
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.workers import Workers
from steadyboost.linesearch import bottom_margin


def small(seed=0, n=60, k=3):
    """Few values per column, so that the twin is done in time."""
    X, y = problem(n, k, n_features=4, seed=seed)
    return np.round(X).clip(-2, 2), y


def fit(X, y, weights=None, **params):
    model = DMCBoostClassifier(**{"bottom": 0.3, "max_depth": 2, "patience": 4, **params})
    return quiet(model.fit, X, y, sample_weight=weights)


def columns(model, X):
    return columns_of(model._binner.bin(model._encoder.encode(X)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {"selection": "gradient", "n_estimators": 20},
        {"selection": "line_search", "n_estimators": 8},
        {"selection": "gradient", "max_depth": 3, "max_leaf_nodes": 4, "n_estimators": 12},
    ],
    ids=["gradient", "line search", "best first"],
)
def test_agrees_with_its_twin(params, weighted):
    X, y = small(n=32)
    weights = np.random.default_rng(0).choice([1.0, 2.0], len(y)) if weighted else None
    model = fit(X, y, weights, **params)
    options = {"patience": 4, "max_depth": 2, **params}
    options["n_rounds"] = options.pop("n_estimators")
    rounds = twin.dmcboost(columns(model, X), y, 3, model.bottom_, weights=weights, **options)
    assert model.n_iter_ == len(rounds)
    history = model.history_[: len(rounds)]
    assert history["phase"] == [r.phase for r in rounds]
    assert set(history["phase"]) == {1, 2}
    np.testing.assert_allclose(model.estimator_weights_, [r.step for r in rounds], rtol=1e-10)
    np.testing.assert_allclose(history["error"], [r.error for r in rounds], atol=1e-12)
    np.testing.assert_allclose(history["g"], [r.g for r in rounds], atol=1e-10)
    np.testing.assert_allclose(history["interval"], [r.interval for r in rounds], atol=1e-10)
    for answer, r in zip(model.estimators_, rounds, strict=True):
        votes = answer.votes(model._data(model._encoder.encode(X), Workers(1)))
        np.testing.assert_array_equal(votes, r.votes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("params", [{}, {"estimator": Tree(max_depth=2)}], ids=["own", "other"])
def test_the_error_never_rises_in_phase_one(seed, params):
    X, y = problem(seed=seed)
    history = fit(X, y, n_estimators=25, **params).history_
    errors = [r["error"] for r in history if r["phase"] == 1]
    assert errors
    assert (np.diff([1.0, *errors]) <= 1e-12).all()


@pytest.mark.parametrize(("k", "seed"), [(2, 1), (3, 0)])
def test_phases_come_one_after_the_other_and_the_best_margin_is_kept(k, seed):
    X, y = problem(k=k, seed=seed)
    model = fit(X, y, patience=6, n_estimators=200)
    phases = model.history_["phase"]
    assert phases == sorted(phases)
    assert set(phases) == {1, 2}
    g = np.array(model.history_["g"])[np.array(phases) == 2]
    kept = model.n_iter_ - phases.count(1)
    assert kept == g.argmax() + 1
    assert len(g) - kept == 6


def test_margins_and_the_bottom_are_those_of_the_objective():
    X, y = problem()
    model = fit(X, y, n_estimators=40)
    margins = model.margins(X, y)
    assert np.abs(margins).max() <= 1
    assert ((margins > 0) <= (model.predict(X) == y)).all()
    lowest = np.sort(margins)[: int(model.bottom_)]
    assert model.history_["g"][model.n_iter_ - 1] == pytest.approx(lowest.mean(), abs=1e-12)
    assert margins[model.bottom_set_].max() <= lowest[-1] + 1e-12
    assert len(model.bottom_set_) >= model.bottom_


def test_steps_of_phase_two_are_at_their_optimum_plus_epsilon():
    X, y = problem()
    model = fit(X, y, n_estimators=60, epsilon=0.02)
    scores = [s.copy() for s in model._staged_scores(X)]
    steps = np.abs(model.estimator_weights_)
    first = model.history_["phase"][: model.n_iter_].count(1)
    unit = steps[:first].sum()
    for t in range(first, model.n_iter_):
        begin, end = model.history_[t]["interval"]
        assert steps[t] == pytest.approx(begin + 0.02 * unit, rel=1e-12)
        votes = (scores[t] - scores[t - 1]).argmax(axis=1)
        options = {"bottom": model.bottom_, "scale": steps[:t].sum()}
        slopes = [bottom_margin(scores[t - 1], y, votes, q, **options)[1] for q in (begin, end)]
        assert slopes[0] > 0 or begin == 0
        assert slopes[1] <= 1e-9


def test_rounds_go_on_where_they_were_left():
    X, y = problem()
    whole = fit(X, y, n_estimators=40)
    for n in (3, 10, 25):
        part = fit(X, y, n_estimators=n, warm_start=True)
        quiet(part.set_params(n_estimators=40).fit, X, y)
        np.testing.assert_array_equal(part.estimator_weights_, whole.estimator_weights_)
        np.testing.assert_array_equal(part.decision_function(X), whole.decision_function(X))


def test_weights_count_rows():
    X, y = problem(150)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    X, y = np.round(X, 1), y
    weighted = fit(X, y, times.astype(float), n_estimators=25)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), n_estimators=25)
    np.testing.assert_allclose(weighted.estimator_weights_, repeated.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_auto_prefers_a_larger_bottom_for_noisier_labels():
    X, y = problem(500, noise=0.0, seed=1)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, (y + 1) % 3, y)
    params = {"bottom": "auto", "n_estimators": 60, "random_state": 0}
    clean, dirty = fit(X, y, **params), fit(X, noisy, **params)
    assert dirty.bottom_ >= clean.bottom_
    path = dirty.bottom_path_
    assert sorted(record["value"] for record in path) == [
        1 / 20,
        1 / 10,
        1 / 5,
        1 / 4,
        1 / 3,
        1 / 2,
    ]
    fine = [record["error"] for record in path if record["margin"] >= 0]
    assert fine == sorted(fine)
    assert dirty.bottom_ == round(path[0]["value"] * len(y))


def test_a_second_phase_that_does_harm_is_left_out():
    X, y = problem(600, noise=0.0, seed=1)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.45, (y + 1) % 3, y)
    model = fit(X, noisy, bottom="auto", n_estimators=200, random_state=0)
    assert not model.ascends_
    assert model.bottom_path_[0]["error"] > model.bottom_path_[0]["phase_1"]
    assert {record["phase"] for record in model.history_} == {1}
    second = fit(X, noisy, bottom=0.5, n_estimators=200, random_state=0)
    assert second.ascends_
    assert model.score(X, y) > second.score(X, y)


def test_a_bottom_that_is_too_small_for_the_noise_is_reported():
    X, y = problem(noise=0.6)
    with pytest.warns(ConvergenceWarning, match="bottom=0.05 is too small for the noise"):
        DMCBoostClassifier(max_depth=1, bottom=0.05, n_estimators=60).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DMCBoostClassifier(max_depth=2, bottom=0.9, n_estimators=60).fit(*problem(noise=0.0))


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"bottom": 1000}, "bottom=1000 is more than all rows"),
        ({"bottom": 0.0}, "'bottom' parameter"),
        ({"selection": "random"}, "'selection' parameter"),
    ],
)
def test_bad_parameters_are_named(params, complaint):
    with pytest.raises(ValueError, match=complaint):
        DMCBoostClassifier(**{"bottom": 0.2, **params}).fit(*problem(40))


@pytest.mark.parametrize(
    ("bottom", "weights", "mass"),
    [(0.25, None, 15), (7, None, 7), (0.001, None, 1), (0.25, 2.0, 30), (0.25, 0.1, 1.5)],
)
def test_the_bottom_is_a_weight_of_rows(bottom, weights, mass):
    weights = None if weights is None else np.full(60, weights)
    rows = TrainingState(None, np.zeros(60, dtype=np.int32), 2, weights, Workers(1))
    assert bottom_mass(bottom, rows) == pytest.approx(mass)
