"""AdaBoost.OC and MSmoothBoost against their slow twins, and what makes them equal or invariant."""

from dataclasses import replace

import numpy as np
import pytest
from combinations import pairwise
from common import Recording, make, problem
from reference.output_codes import adaboost_oc, msmooth_boost, real_data
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.naive_bayes import GaussianNB

from steadyboost import (
    AdaBoostM1Classifier,
    AdaBoostOCClassifier,
    MSmoothBoostClassifier,
    Tree,
)
from steadyboost.ensemble.codes.colorings import cut_value, greedy_coloring, maxcut_coloring
from steadyboost.noise import corrupt

LAMBDAS = (0.0, 0.1, 0.5, 1.0, 2.5)
VARIANTS = [
    (AdaBoostOCClassifier, {"alpha": "pseudoloss"}),
    (AdaBoostOCClassifier, {"alpha": "error"}),
    *((MSmoothBoostClassifier, {"smoothing": s}) for s in LAMBDAS),
]
each_variant = pytest.mark.parametrize(("booster", "params"), VARIANTS)


SETS = ["iris", "wine", "glass", "vehicle"]


@pytest.fixture
def rows_of(request):
    """A function of the name of a real data set."""

    def rows(name):
        folder = name in ("glass", "vehicle") and request.getfixturevalue("from_folder")
        return real_data(name, folder)

    return rows


@pytest.fixture(params=SETS)
def data(request, rows_of):
    return rows_of(request.param)


def colorings_of(k, n_rounds=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(k) >= k // 2 for _ in range(n_rounds)]).astype(int)


def recorded(booster, X, y, depth=1, weights=None, **params):
    """A fitted model, and the learner that noted its weights and votes."""
    learner = Recording(depth)
    model = make(booster, **{"estimator": learner, "n_estimators": 30, **params})
    return model.fit(X, y, weights), learner


def twin_of(model, learner, y, prior=None):
    """The slow twin, told the colourings and the votes."""
    given = learner.votes, np.array(model.history_["coloring"]), y, model.n_classes_
    options = {"prior": prior, "rate": model.learning_rate}
    if isinstance(model, MSmoothBoostClassifier):
        return msmooth_boost(*given, model.smoothing_, **options)
    return adaboost_oc(*given, model.alpha, **options)


def assert_twins(model, learner, twin, X):
    """The same weights, U, errors, steps and scores in every round."""
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(learner.weights, [r.weights for r in twin], **close)
    np.testing.assert_allclose(model.history_["U"], [r.U for r in twin], **close)
    np.testing.assert_allclose(model.estimator_errors_, [r.error for r in twin], **close)
    np.testing.assert_allclose(model.estimator_weights_, [r.step for r in twin], **close)
    scores = [s.copy() for s in model._staged_scores(X)]
    np.testing.assert_allclose(scores, [r.scores for r in twin], **close)
    if isinstance(model, AdaBoostOCClassifier):
        losses = [r.pseudoloss for r in twin]
        np.testing.assert_allclose(model.history_["pseudoloss"], losses, **close)


# Twins


@pairwise(name=SETS, variant=VARIANTS, depth=[1, 3])
def test_it_equals_its_twin_round_by_round(rows_of, name, variant, depth):
    X, y = rows_of(name)
    booster, params = variant
    model, learner = recorded(booster, X, y, depth, **params)
    assert_twins(model, learner, twin_of(model, learner, y), X)


@each_variant
@pytest.mark.parametrize("coloring", ["random", "greedy", "maxcut"])
def test_whatever_the_colouring_and_the_users_weights(booster, params, coloring):
    X, y = problem(k=5)
    weights = np.random.default_rng(0).exponential(size=len(y))
    params = {"coloring": coloring, "learning_rate": 0.7, **params}
    model, learner = recorded(booster, X, y, 2, weights, **params)
    assert_twins(model, learner, twin_of(model, learner, y, weights), X)


@each_variant
def test_it_equals_its_twin_with_a_learner_of_its_own(booster, params):
    X, y = load_wine(return_X_y=True)
    bayes, colorings = GaussianNB(), colorings_of(3)
    model = make(booster, estimator=bayes, coloring=colorings, n_estimators=20, **params)
    model.fit(X[:, :4], y)

    def ask(weights, targets):
        return bayes.fit(X[:, :4], targets, sample_weight=weights).predict(X[:, :4])

    slow = adaboost_oc if booster is AdaBoostOCClassifier else msmooth_boost
    twin = slow(ask, colorings, y, 3, **params)
    np.testing.assert_allclose(model.estimator_weights_, [r.step for r in twin], rtol=1e-8)
    np.testing.assert_allclose(model._scores(X[:, :4]), twin[-1].scores, atol=1e-8)


# Equivalences


def centred(scores):
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("depth", [1, 3])
def test_without_smoothing_it_is_adaboost_oc_by_error(data, depth):
    X, y = data
    y = corrupt(y, 0.1, random_state=0)[0]  # so that no tree is perfect at once
    one, asked = recorded(MSmoothBoostClassifier, X, y, depth, smoothing=0)
    other, asked_too = recorded(AdaBoostOCClassifier, X, y, depth, alpha="error")
    third, _ = recorded(AdaBoostOCClassifier, X, y, depth, alpha="pseudoloss")
    # Once a tree is all but perfect, the last bit decides between equal splits.
    sound = int(np.argmax(np.append(one.estimator_errors_, 0) < 1e-6))
    np.testing.assert_allclose(asked.weights[:sound], asked_too.weights[:sound], atol=1e-10)
    steps, others, thirds = (m.estimator_weights_[:sound] for m in (one, other, third))
    np.testing.assert_allclose(2 * steps, others, rtol=1e-8)
    assert np.abs(2 * steps - thirds).max() > 0.1
    scores, doubled = (list(m.staged_decision_function(X))[sound - 1] for m in (one, other))
    np.testing.assert_allclose(centred(2 * scores), centred(2 * doubled), atol=1e-8)


@pytest.mark.parametrize("depth", [1, 2])
def test_with_two_classes_all_weigh_alike(depth):
    X, y = load_breast_cancer(return_X_y=True)
    y = corrupt(y, 0.1, random_state=0)[0]
    rivals = [
        (AdaBoostM1Classifier, {}),
        (AdaBoostOCClassifier, {"alpha": "error"}),
        (AdaBoostOCClassifier, {"alpha": "pseudoloss"}),
        (MSmoothBoostClassifier, {"smoothing": 0}),
    ]
    fits = [recorded(booster, X, y, depth, **params) for booster, params in rivals]
    for model, learner in fits[1:]:
        np.testing.assert_allclose(learner.weights, fits[0][1].weights, atol=1e-10)
        np.testing.assert_array_equal(model.predict(X), fits[0][0].predict(X))


def test_the_pseudoloss_is_half_less_the_edge_times_u(data):
    X, y = data
    model, learner = recorded(AdaBoostOCClassifier, X, y)
    gamma, U = 0.5 - model.estimator_errors_, np.array(model.history_["U"])
    np.testing.assert_allclose(model.history_["pseudoloss"], 0.5 - gamma * U, rtol=1e-12)
    by_definition = [r.pseudoloss for r in twin_of(model, learner, y)]
    np.testing.assert_allclose(model.history_["pseudoloss"], by_definition, atol=1e-12)


@pytest.mark.parametrize("alpha", ["pseudoloss", "error"])
def test_the_exponential_loss_is_a_product_of_normalisers(data, alpha):
    """003's Z has exponents [y not in h] + [l in h], which are those of S(l) - S(y) plus 1."""
    X, y = data
    model, learner = recorded(AdaBoostOCClassifier, X, y, alpha=alpha)
    k, rows = model.n_classes_, np.arange(len(y))
    Z = [r.Z * np.exp(-r.step) for r in twin_of(model, learner, y)]
    for scores, product in zip(model._staged_scores(X), np.cumprod(Z), strict=True):
        pairs = np.exp(scores - scores[rows, y][:, None])
        assert (pairs.sum() - len(y)) / len(y) == pytest.approx((k - 1) * product, rel=1e-9)


@pytest.mark.parametrize("smoothing", [0.1, 0.5, 1.0, 2.5])
def test_identities_of_mu(smoothing):
    X, y = load_wine(return_X_y=True)
    model, learner = recorded(MSmoothBoostClassifier, X, y, smoothing=smoothing)
    own = np.arange(3) == y[:, None]
    for r in twin_of(model, learner, y):
        mu, c = r.mu, r.mu[own]
        np.testing.assert_allclose(c + smoothing * (mu.sum(axis=1) - c), 1, rtol=1e-12)
        mass = c * (1 - c) / smoothing
        np.testing.assert_allclose(r.pairs.sum(axis=1), mass / mass.sum(), atol=1e-12)
        assert mass.max() <= 1 / (4 * smoothing) + 1e-12
        if smoothing == 1:
            np.testing.assert_allclose(mu.sum(axis=1), 1, rtol=1e-12)
    if smoothing == 1:
        *_, before, _ = (s.copy() for s in model._staged_scores(X))
        raised = np.exp(before)
        np.testing.assert_allclose(mu, raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)


def test_the_first_round_does_not_depend_on_lambda(data):
    X, y = data
    fits = [recorded(MSmoothBoostClassifier, X, y, 2, smoothing=s) for s in LAMBDAS]
    for model, learner in fits[1:]:
        np.testing.assert_allclose(learner.weights[0], fits[0][1].weights[0], rtol=1e-12)
        np.testing.assert_array_equal(learner.votes[0], fits[0][1].votes[0])
        assert model.estimator_weights_[0] == pytest.approx(fits[0][0].estimator_weights_[0])
        assert np.abs(learner.weights[5] - fits[0][1].weights[5]).max() > 1e-6


# Invariances


class Flipped(Recording):
    """Says 0 for 1 and 1 for 0."""

    def answer(self, data, question, counts, seed, threads):
        answer, votes = Tree.answer(self, data, question, counts, seed, threads)
        self.weights.append(question.weights.copy())
        return replace(answer, label=1 - answer.label), 1 - votes


@each_variant
def test_a_flipped_learner_only_flips_the_steps(booster, params):
    X, y = problem(k=4)
    colorings = colorings_of(4)
    params = {"coloring": colorings, "n_estimators": 20, **params}
    model, learner = recorded(booster, X, y, 2, **params)
    flipped = Flipped(2)
    other = make(booster, estimator=flipped, **params).fit(X, y)
    np.testing.assert_allclose(flipped.weights, learner.weights, atol=1e-10)
    np.testing.assert_allclose(other.estimator_weights_, -model.estimator_weights_, rtol=1e-8)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-9)


def variations(X, y, k, colorings):
    """The same problem in other words: rows, labels, colourings, and what became of each label."""
    order = np.random.default_rng(1).permutation(k)
    there = np.argsort(order)
    yield "complement", X, y, 1 - colorings, np.arange(k)
    yield "permuted labels", X, there[y], colorings[:, order], there
    yield "doubled rows", np.vstack([X, X]), np.concatenate([y, y]), colorings, np.arange(k)


@each_variant
@pytest.mark.parametrize("depth", [1, 2])
def test_other_words_for_the_same_problem_change_nothing(booster, params, depth):
    X, y = problem(k=4)
    colorings = colorings_of(4)
    model, learner = recorded(booster, X, y, depth, coloring=colorings, n_estimators=20, **params)
    for words, X2, y2, colorings2, there in variations(X, y, 4, colorings):
        other, asked = recorded(
            booster, X2, y2, depth, coloring=colorings2, n_estimators=20, **params
        )
        share = len(y2) / len(y)
        weights = np.array(asked.weights)[:, : len(y)] * share
        np.testing.assert_allclose(weights, learner.weights, atol=1e-9, err_msg=words)
        scores = other._scores(X)[:, there]
        np.testing.assert_allclose(scores, model._scores(X), atol=1e-8, err_msg=words)


# Colourings


@each_variant
def test_history_tells_the_colouring_and_its_worth(booster, params):
    X, y = problem(k=5)
    seen = []

    def coloring(affinity, rng):
        greedy, best = greedy_coloring(affinity, rng), maxcut_coloring(affinity, rng)
        assert 0.5 - 1e-12 <= cut_value(affinity, greedy) <= cut_value(affinity, best) + 1e-12
        assert affinity.sum() == pytest.approx(1)
        seen.append((greedy, cut_value(affinity, greedy)))
        return greedy

    model, learner = recorded(booster, X, y, coloring=coloring, n_estimators=10, **params)
    assert model.history_["coloring"] == [c.tolist() for c, _ in seen]
    np.testing.assert_allclose(model.history_["U"], [u for _, u in seen], rtol=1e-12)
    assert_twins(model, learner, twin_of(model, learner, y), X)
    assert {"round", "error", "step", "U", "coloring"} <= set(model.history_.columns)


def test_named_colourings_are_what_they_are_called():
    X, y = problem(k=5)
    worth = {}
    for name in ("balanced", "random", "greedy", "maxcut"):
        model = make(AdaBoostOCClassifier, coloring=name, n_estimators=20).fit(X, y)
        worth[name] = np.array(model.history_["U"])
        sizes = np.sum(model.history_["coloring"], axis=1)
        assert set(sizes) <= ({3} if name == "balanced" else {1, 2, 3, 4})
    assert min(worth["greedy"].min(), worth["maxcut"].min()) >= 0.5
    assert worth["maxcut"].mean() > worth["balanced"].mean()


@each_variant
def test_fixed_colourings_are_used_in_turn_and_checked(booster, params):
    X, y = problem(k=3)
    given = [[0, 1, 1], [1, -1, 1], [0, 0, 1]]
    model = make(booster, coloring=given, n_estimators=3, **params).fit(X, y)
    assert model.history_["coloring"] == [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
    for coloring, problem_ in [
        ([[0, 1, 1], [1, 1, 1]], "round 1 .* one colour, so U = 0"),
        (lambda affinity, rng: np.zeros(3), "round 0 .* one colour, so U = 0"),
        ([[0, 1, 1]], "has 1 rows, none for round 1"),
        ([[0, 1], [1, 0]], "has shape"),
        ([[0, 1, 2], [1, 0, 1]], "use only 0 and 1"),
        ("rainbow", "coloring='rainbow'"),
    ]:
        with pytest.raises(ValueError, match=problem_):
            make(booster, coloring=coloring, n_estimators=2, **params).fit(X, y)
