"""WeightBoost: what the paper proves of it, how beta is chosen, and factors of one's own."""

import numpy as np
import pytest
from common import Recording, assert_same_model, make, problem, quiet
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons

from steadyboost import AdaBoostClassifier, Stump, Tree, WeightBoostClassifier
from steadyboost.bounds import weightboost_bound
from steadyboost.ensemble.model_io.file import ModelFileError
from steadyboost.ensemble.validation import split_off
from steadyboost.lab.datasets import make_long_servedio


def iris_of_two():
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:] - 1


def one_against_all(load):
    X, y = load(return_X_y=True)
    return X, (y == 1).astype(int)


SETS = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "iris": iris_of_two,
    "wine": lambda: one_against_all(load_wine),
    "digits": lambda: one_against_all(load_digits),
    "moons": lambda: make_moons(300, noise=0.4, random_state=0),
    "Long and Servedio": lambda: make_long_servedio(400, noise=0.1, random_state=0),
    "noise": lambda: problem(k=2, noise=0.5),
}
FORMS = {
    "plain": {"normalize": None},
    "normalised": {},
    "strong": {"beta": 2.0, "normalize": 0.5},
    "polynomial": {"regularizer": "inverse_polynomial", "power": 2.0, "normalize": None},
    "normalised polynomial": {"regularizer": "inverse_polynomial"},
}
each_set = pytest.mark.parametrize("load", SETS.values(), ids=SETS.keys())
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def normalizers(model):
    return np.array([stage.extra["normalizer"] for stage in model.stages_])


# What the paper proves


@each_set
@each_form
@pytest.mark.parametrize("resample", [False, True])
def test_scores_stay_within_the_bounds_in_every_round(load, form, resample):
    X, y = load()
    params = {"estimator": Tree(2), "n_estimators": 60, "resample": resample, **form}
    model = make(WeightBoostClassifier, **params).fit(X, y)
    regularizer, power = params.get("regularizer", "exponential"), params.get("power", 1.0)
    bound = weightboost_bound(
        model.estimator_weights_,
        model.beta_,
        regularizer,
        power=power,
        normalizers=normalizers(model),
    )
    rows = np.vstack([X, X.mean(axis=0) + 3 * (X - X.mean(axis=0))])  # also far from training
    reached = [np.abs(scores).max() for scores in model._staged_scores(rows)]
    assert (np.array(reached) <= bound.worst_case * (1 + 1e-12)).all()
    assert (bound.worst_case <= bound.closed_form * (1 + 1e-12)).all()


@each_set
@pytest.mark.parametrize("form", [FORMS["plain"], FORMS["polynomial"]], ids=["plain", "polynomial"])
def test_each_round_lowers_the_cost_by_its_edge(load, form):
    """cost <= cost before (1 - G (1 - 2 sqrt(e (1 - e)))), where G is the mean factor by weight."""
    X, y = load()
    model = quiet(make(WeightBoostClassifier, estimator=Stump(), n_estimators=40, **form).fit, X, y)
    H = [np.zeros(len(y)), *(s[:, 0].copy() for s in model._staged_scores(X))]
    losses = np.exp(-(2 * y - 1) * np.array(H))
    factors = np.array([model.factor().values(h[:, None]) for h in H])
    share = (losses * factors).sum(axis=1) / losses.sum(axis=1)
    error = model.estimator_errors_
    falls = 1 - share[:-1] * (1 - 2 * np.sqrt(error * (1 - error)))
    cost = losses.mean(axis=1)
    imperfect = error > 1e-12
    assert (cost[1:] <= cost[:-1] * falls * (1 + 1e-12))[imperfect].all()
    if imperfect[0]:
        assert cost[1] == pytest.approx(falls[0], rel=1e-12)


# Normalizers


def test_the_mean_factor_is_the_one_asked_for_until_the_floor_is_reached():
    X, y = load_breast_cancer(return_X_y=True)
    model = make(WeightBoostClassifier, estimator=Tree(3), n_estimators=80, beta=3.0).fit(X, y)
    before = [np.zeros((len(y), 1)), *(s.copy() for s in model._staged_scores(X))][:-1]
    means = np.array([model.factor().values(scores).mean() for scores in before])
    C = normalizers(model)
    np.testing.assert_allclose(C, np.maximum(0.5, means / 0.1), rtol=1e-12)
    assert C[0] == pytest.approx(10)
    assert C.min() == 0.5


def test_prediction_uses_the_normalizers_of_training():
    X, y = problem(k=2)
    model = make(WeightBoostClassifier, n_estimators=30).fit(X, y)
    whole = model.decision_function(X)
    surest = np.argsort(-np.abs(whole))[:5]
    np.testing.assert_array_equal(model.decision_function(X[surest]), whole[surest])


def test_weights_count_in_the_normalizer():
    """A row twice is a row of weight two, in every normalizer."""
    X, y = problem(k=2)
    weights = 1.0 + (np.arange(len(y)) % 3 == 0)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = make(WeightBoostClassifier).fit(X, y, sample_weight=weights)
    repeated = make(WeightBoostClassifier).fit(X[twice], y[twice])
    np.testing.assert_allclose(normalizers(weighted), normalizers(repeated), rtol=1e-12)
    np.testing.assert_allclose(weighted._scores(X), repeated._scores(X), rtol=1e-9)


# Choosing beta


def chosen(X, y, n_estimators=24, **params):
    params = {"estimator": Stump(), "n_estimators": n_estimators, "beta": "auto", **params}
    return make(WeightBoostClassifier, **params).fit(X, y)


@pytest.mark.parametrize("k", [2, 3])
def test_automatic_beta_keeps_its_path_and_refits_on_all_rows(k):
    X, y = problem(n=300, k=k, noise=0.3)
    model = chosen(X, y)
    path = model.beta_path_
    assert sorted(record["value"] for record in path) == [0, 0.1, 0.25, 0.5, 1, 2]
    finalists = [record for record in path if record["rounds"] == 24]
    assert path[: len(finalists)] == finalists
    best = min(record["error"] for record in finalists)
    assert model.beta_ == min(r["value"] for r in finalists if r["error"] == best)
    assert_same_model(model, chosen(X, y, beta=model.beta_), X)


def test_held_out_errors_are_those_of_a_fit_to_the_other_rows():
    X, y = problem(n=300, k=2, noise=0.3)
    X = np.round(2 * X) / 2  # all rows and the training rows alone have the same bins
    model = chosen(X, y)
    train, test = split_off(y, 0.2, 0)
    for record in model.beta_path_:
        alone = chosen(X[train], y[train], beta=record["value"], n_estimators=record["rounds"])
        assert record["error"] == pytest.approx(1 - alone.score(X[test], y[test]))


def test_ties_go_to_the_smaller_beta():
    X, _ = iris_of_two()
    model = chosen(X, (X[:, 0] > 6).astype(int), estimator=Tree(2))
    finalists = [r for r in model.beta_path_ if r["rounds"] == 24]
    assert len({record["error"] for record in finalists}) == 1
    assert model.beta_ == min(record["value"] for record in finalists) == 0


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_threads_do_not_change_the_choice(resample, k):
    X, y = problem(n=300, k=k, noise=0.3)
    one, two = (chosen(X, y, n_jobs=n, resample=resample) for n in (1, 2))
    assert one.beta_path_ == two.beta_path_
    assert_same_model(one, two, X)


def test_a_beta_that_is_given_is_used_as_it_is():
    X, y = problem(k=2)
    model = chosen(X, y)
    model.set_params(beta=1).fit(X, y)
    assert model.beta_ == 1.0
    assert not hasattr(model, "beta_path_")


# Factors of one's own


def hyperbola(u):
    return 1 / (1 + u)


@pytest.mark.parametrize("k", [2, 3])
def test_a_function_in_place_of_a_name(k):
    X, y = problem(k=k)
    ours = make(WeightBoostClassifier, regularizer=hyperbola, n_estimators=20).fit(X, y)
    named = make(WeightBoostClassifier, regularizer="inverse_polynomial", n_estimators=20)
    named.fit(X, y)
    np.testing.assert_allclose(ours._scores(X), named._scores(X), rtol=1e-10, atol=1e-12)


def test_a_factor_that_reaches_zero_shuts_rows_out_and_stays_finite():
    """Once all rows are shut out, nothing changes any more."""
    X, y = problem(k=2)
    shut = {"regularizer": lambda u: np.maximum(0.0, 1 - u), "beta": 4.0, "normalize": None}
    learner = Recording(2)
    model = make(WeightBoostClassifier, estimator=learner, n_estimators=60, **shut).fit(X, y)
    assert model.n_iter_ == 60
    assert np.isfinite(model.estimator_weights_).all()
    np.testing.assert_allclose(np.sum(learner.weights, axis=1), 1)
    stages = [scores[:, 0].copy() for scores in model._staged_scores(X)]
    open_before = 4 * np.abs(stages[0]) < 1
    assert np.array_equal(stages[0][~open_before], stages[-1][~open_before])


@pytest.mark.parametrize(
    ("regularizer", "message"),
    [
        (lambda u: 1 + u, r"numbers in \[0, 1\] of the same shape"),
        (lambda u: 0.5, r"for shape \(240,\) it gave \(\)"),
        (lambda u: np.exp(-u)[:-1], r"for shape \(240,\) it gave \(239,\)"),
    ],
    ids=["large", "number", "short"],
)
def test_a_function_that_is_no_factor_is_named(regularizer, message):
    X, y = problem(k=2)
    with pytest.raises(ValueError, match=f"regularizer=.*{message}"):
        make(WeightBoostClassifier, regularizer=regularizer, n_estimators=9).fit(X, y)


def test_a_model_with_a_function_is_no_model_file(tmp_path):
    X, y = problem(k=2)
    model = make(WeightBoostClassifier, regularizer=hyperbola).fit(X, y)
    with pytest.raises(ModelFileError, match=r"regularizer is a function.* skops or joblib"):
        model.save(tmp_path / "model.sb")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("beta", -0.1),
        ("beta", "best"),
        ("regularizer", "linear"),
        ("power", 0),
        ("normalize", 0),
        ("normalize", 1.5),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y = problem(k=2)
    model = make(WeightBoostClassifier, **{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter of WeightBoostClassifier"):
        model.fit(X, y)


def test_wrong_labels_get_less_of_the_weight_than_under_adaboost():
    X, truth = make_moons(400, noise=0.1, random_state=0)
    wrong = np.random.default_rng(0).random(len(truth)) < 0.15
    shares = {}
    for booster in (AdaBoostClassifier, WeightBoostClassifier):
        learner = Recording(2)
        make(booster, estimator=learner, n_estimators=60).fit(X, np.where(wrong, 1 - truth, truth))
        shares[booster] = np.mean([weights[wrong].sum() for weights in learner.weights[-10:]])
    assert shares[WeightBoostClassifier] < 0.9 * shares[AdaBoostClassifier]
