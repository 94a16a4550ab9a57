"""Results do not change where rows or rounds become many: one test on each side of a threshold."""

import numpy as np
import pytest
from common import assert_same_model, make, problem, redraw_rate

from steadyboost import SoftmaxBoostClassifier, SteadyBoostClassifier
from steadyboost.boosters.martiboost.mass import LAYER_ROWS as MASS_ROWS
from steadyboost.boosters.martiboost.mass import push
from steadyboost.boosters.softmax_boost import soft_risk
from steadyboost.boosters.steadyboost import forest_member
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.ensemble import weighting
from steadyboost.ensemble.rounds import LARGEST, SEEDS_AT_ONCE, Seeds
from steadyboost.ensemble.scores import add_votes
from steadyboost.ensemble.weighting import SUMMED_ROWS, ExpScoreCache
from steadyboost.noise import noise_model
from steadyboost.noise.noise_model import fit_noise_models, some_rows, symmetric


def test_seeds_are_the_same_in_any_order():
    n = 3 * SEEDS_AT_ONCE + 5
    state = np.random.RandomState(7)
    expected = [state.randint(LARGEST) for _ in range(n)]
    forwards, backwards = Seeds(7), Seeds(7)
    assert [forwards[t] for t in range(n)] == expected
    assert [backwards[t] for t in reversed(range(n))] == expected[::-1]


@pytest.mark.parametrize("n", [1, 9, 10, 11, 25, 1000])
def test_some_rows_are_evenly_spread_and_all_where_they_are_few(n, monkeypatch):
    monkeypatch.setattr(noise_model, "MOST_ROWS", 10)
    some = some_rows(n)
    assert len(some) == min(n, 10)
    assert (some[0], some[-1]) == (0, n - 1)
    gaps = np.diff(some)
    assert n == 1 or gaps.max() - gaps.min() <= 1


def test_a_forest_that_is_sized_by_some_rows_says_the_same(monkeypatch):
    """With one size to choose from, all depends on which trees have not seen a row."""
    X, y = problem(n=300)
    said, ask = [], ForestMember.finish

    def asked(forest):
        said.append(ask(forest))
        return said[-1]

    monkeypatch.setattr(ForestMember, "finish", asked)
    monkeypatch.setattr(forest_member, "LEAF_SIZES", np.array([2.0]))
    for most in (30, 299, 300, 10**6):
        monkeypatch.setattr(noise_model, "MOST_ROWS", most)
        SteadyBoostClassifier(n_estimators=5, n_folds=2, random_state=0).fit(X, y)
    found = np.array(said).reshape(4, 2, 300, 3)  # of both forests
    for proba in found[:-1]:
        np.testing.assert_array_equal(proba, found[-1])


def test_some_rows_tell_the_noise_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    n, k = 6000, 3
    scores = 6 * rng.normal(size=(n, k))
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    true = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    given = (symmetric(0.3, k)[true].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    models = []
    for most in (n, n - 1, n // 2):
        monkeypatch.setattr(noise_model, "MOST_ROWS", most)
        models.append(fit_noise_models(proba[None], given, np.ones(n))[0])
    all_rows, but_one, half = models
    assert redraw_rate(all_rows) == pytest.approx(0.3, abs=0.03)
    assert redraw_rate(but_one) == pytest.approx(redraw_rate(all_rows), abs=1e-3)
    assert redraw_rate(half) == pytest.approx(redraw_rate(all_rows), abs=0.03)
    np.testing.assert_allclose(but_one.transition, all_rows.transition, atol=1e-3)


@pytest.mark.parametrize("labels", ["classes", "sets"])
@pytest.mark.parametrize("n_samples", ["all", 50])
def test_scores_may_be_raised_a_few_at_a_time(labels, n_samples, monkeypatch):
    X, y = problem(n=130)
    y = y if labels == "classes" else np.eye(3, dtype=int)[y]
    whole = make(SoftmaxBoostClassifier, n_samples=n_samples).fit(X, y)
    monkeypatch.setattr(soft_risk, "EXP_CELLS", 21)  # seven rows of three classes
    parts = make(SoftmaxBoostClassifier, n_samples=n_samples).fit(X, y)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def follow(n, steps, k=4):
    """Raised scores that follow votes for steps of these sizes, and the scores."""
    rng = np.random.default_rng(n)
    scores = np.asfortranarray(rng.normal(size=(n, k)))
    y = rng.integers(k, size=n).astype(np.int32)
    kept = ExpScoreCache(scores, y)
    for step in steps:
        code = rng.choice([-1.0, 1.0], size=(2, k))
        votes = rng.integers(2, size=n).astype(np.int32)
        add_votes(scores, votes, code, step)
        kept.update(code, step, votes)
    colors = np.array([0, 1, 1, 0], dtype=np.int8)
    return kept, kept.sum_colors(colors), colors


@pytest.mark.parametrize(
    "n", [1, SUMMED_ROWS - 1, SUMMED_ROWS, SUMMED_ROWS + 1, 3 * SUMMED_ROWS + 7]
)
def test_raised_scores_of_any_number_of_rows_are_summed(n):
    kept, (total, other), colors = follow(n, [0.5, 0.3, 0.9])
    wrong = np.arange(4) != kept.y[:, None]
    expected = np.where(wrong, np.exp(kept.scores - kept.shift[:, None]), 0)
    np.testing.assert_allclose(kept.values, expected, rtol=1e-12)
    np.testing.assert_allclose(total, expected.sum(axis=1), rtol=1e-12)
    across = colors != colors[kept.y][:, None]
    np.testing.assert_allclose(other, np.where(across, expected, 0).sum(axis=1), rtol=1e-12)


def test_raised_scores_are_raised_anew_before_they_drift_too_far(monkeypatch):
    steps = [0.4, 0.7, 0.6, 0.2]
    found = []
    for far in (0.0, 1.0, 300.0):
        monkeypatch.setattr(weighting, "MAX_DRIFT", far)
        kept = follow(50, steps)[0]
        found.append((kept.drift, kept.values * np.exp(kept.shift)[:, None]))
    drifts, values = zip(*found, strict=True)
    assert drifts == (0.0, pytest.approx(0.8), pytest.approx(1.9))
    np.testing.assert_allclose(values[0], values[2], rtol=1e-12)
    np.testing.assert_allclose(values[1], values[2], rtol=1e-12)


@pytest.mark.parametrize("n", [MASS_ROWS - 1, MASS_ROWS + 1, 2 * MASS_ROWS + 3])
def test_mass_of_any_number_of_rows_moves_as_that_of_some(n):
    rng = np.random.default_rng(n)
    mass = np.zeros((n, 4), order="F")
    mass[:, :3] = rng.dirichlet(np.ones(3), n)
    routes, votes = rng.random((3, 2)), rng.integers(2, size=(n, 3)).astype(np.int32)

    def pushed(rows):
        own, scores = np.asfortranarray(mass[rows]), np.empty(len(rows))
        push(own, routes, np.asfortranarray(votes[rows]), scores)
        return np.column_stack([own, scores])

    pieces = np.array_split(np.arange(n), 5)
    np.testing.assert_array_equal(
        pushed(np.arange(n)), np.concatenate([pushed(rows) for rows in pieces])
    )


def test_replayed_models_of_many_rounds_are_those_of_one_run():
    """More rounds than seeds are drawn at once, and than products are multiplied in a row."""
    X, y = problem(n=60)
    options = {"n_estimators": SEEDS_AT_ONCE + 6, "resample": True}
    whole = make(SoftmaxBoostClassifier, **options).fit(X, y)
    parts = make(SoftmaxBoostClassifier, **{**options, "n_estimators": 10}, warm_start=True)
    parts.fit(X, y).set_params(n_estimators=SEEDS_AT_ONCE + 6).fit(X, y)
    assert_same_model(parts, whole, X)
