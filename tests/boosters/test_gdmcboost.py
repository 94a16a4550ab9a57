"""GD-MCBoost against its slow twin, and what its theory says."""

import numpy as np
import pytest
from common import Recording, make, problem
from reference import gdmcboost as twin
from reference.output_codes import real_data
from scipy.optimize import approx_fprime
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.tree import DecisionTreeClassifier

from steadyboost import AdaBoostClassifier, GDMCBoostClassifier, Stump
from steadyboost.ensemble.codes.codes import simplex_vertices

LEAVES = ("codeword", "vector")
each_leaves = pytest.mark.parametrize("leaves", LEAVES)


class Asked(GDMCBoostClassifier):
    """Notes what it asked."""

    def question(self, rows, round_):
        question = super().question(rows, round_)
        self.asked = [*getattr(self, "asked", []), question.edges.copy()]
        self.rows = rows
        return question


def points(scores):
    """<F, Y_l> from the scores, which are half of it up to a constant of the row."""
    return 2 * (scores - scores.mean(axis=1, keepdims=True))


def assert_twins(model, learner, X, rounds):
    k, close = model.n_classes_, {"rtol": 1e-10, "atol": 1e-10}
    corners = twin.codewords(k)
    assert model.n_iter_ == len(rounds)
    np.testing.assert_allclose(learner.weights, [r.weights for r in rounds], **close)
    np.testing.assert_allclose(model.estimator_errors_, [r.error for r in rounds], **close)
    steps = [r.step * k / (2 * k - 2) for r in rounds]
    np.testing.assert_allclose(model.estimator_weights_, steps, **close)
    np.testing.assert_allclose(model.history_["log_risk"], [r.log_risk for r in rounds], **close)
    scores = [points(s) for s in model._staged_scores(X)]
    np.testing.assert_allclose(scores, [r.F @ corners.T for r in rounds], **close)


# Twins


@pytest.mark.parametrize("name", ["iris", "wine", "glass", "vehicle"])
@pytest.mark.parametrize("depth", [1, 2])
@each_leaves
def test_it_equals_its_twin_round_by_round(name, depth, leaves, request):
    folder = name in ("glass", "vehicle") and request.getfixturevalue("from_folder")
    X, y = real_data(name, folder)
    learner = Recording(depth)
    model = make(GDMCBoostClassifier, estimator=learner, leaves=leaves, n_estimators=8).fit(X, y)
    rounds = twin.gdmcboost(learner.votes, y, model.n_classes_, leaves=leaves)
    assert_twins(model, learner, X, rounds)


@each_leaves
def test_with_user_weights_and_a_learning_rate_too(leaves):
    X, y = problem(k=4)
    prior, learner = np.random.default_rng(0).exponential(size=len(y)), Recording(2)
    options = {"estimator": learner, "leaves": leaves, "n_estimators": 12, "learning_rate": 0.4}
    model = make(GDMCBoostClassifier, **options).fit(X, y, prior)
    rounds = twin.gdmcboost(learner.votes, y, 4, leaves=leaves, prior=prior, rate=0.4)
    assert_twins(model, learner, X, rounds)


@each_leaves
def test_edges_are_products_of_gradients_and_codewords(leaves):
    X, y = problem(k=4)
    learner = Recording(2)
    model = make(Asked, estimator=learner, leaves=leaves, n_estimators=6).fit(X, y)
    rounds = twin.gdmcboost(learner.votes, y, 4, leaves=leaves)
    for edges, r in zip(model.asked, rounds, strict=True):
        worth = r.gradients @ twin.codewords(4).T / np.exp(r.log_risk) / len(y)
        np.testing.assert_allclose(4 / 6 * edges[:, :-1], worth, atol=1e-12)


# Theory


@pytest.mark.parametrize("make_corners", [simplex_vertices, twin.codewords])
@pytest.mark.parametrize("k", [2, 3, 7, 26])
def test_codewords_are_the_corners_of_a_simplex(k, make_corners):
    gram = np.full((k, k), -1 / (k - 1))
    np.fill_diagonal(gram, 1)
    corners = make_corners(k)
    assert corners.shape == (k, k - 1)
    np.testing.assert_allclose(corners @ corners.T, gram, atol=1e-12)


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    y, prior = rng.integers(5, size=6), rng.exponential(size=6)
    F, corners = rng.normal(size=(6, 4)), twin.codewords(5)

    def risk(flat):
        return twin.risk(flat.reshape(6, 4), y, corners, prior)

    step = 1e-6
    ends = [[risk(F.ravel() + s * step * e) for s in (1, -1)] for e in np.eye(24)]
    central = np.array([(up - down) / (2 * step) for up, down in ends]).reshape(6, 4)
    np.testing.assert_allclose(twin.gradients(F, y, corners, prior), -central, atol=1e-7)


@each_leaves
def test_no_other_step_has_less_risk(leaves):
    X, y = problem(k=4)
    learner = Recording(2)
    make(GDMCBoostClassifier, estimator=learner, leaves=leaves).fit(X, y)
    corners, prior = twin.codewords(4), np.ones(len(y))
    F = np.zeros((len(y), 3))
    for r in twin.gdmcboost(learner.votes, y, 4, leaves=leaves):
        h = (r.F - F) / r.step
        grid = np.concatenate([np.linspace(0, 3 * r.step, 31), r.step + np.array([-1e-4, 1e-4])])
        risks = [twin.risk(F + step * h, y, corners, prior) for step in grid]
        assert min(risks) >= twin.risk(r.F, y, corners, prior) * (1 - 1e-12)
        F = r.F


@each_leaves
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_risk_falls_in_every_round(leaves, rate):
    X, y = load_digits(return_X_y=True)
    options = {"leaves": leaves, "n_estimators": 40, "learning_rate": rate}
    model = make(GDMCBoostClassifier, estimator=Stump(), **options).fit(X, y)
    log_risk = model.history_["log_risk"]
    assert log_risk[0] == pytest.approx(np.log(9))
    assert (np.diff(log_risk) < 0).all()
    scores = [s.copy() for s in model._staged_scores(X)]
    own = np.arange(10) == y[:, None]
    risks = [np.exp(s - s[own][:, None])[~own].sum() / len(y) for s in scores]
    np.testing.assert_allclose(log_risk[1:], np.log(risks[:-1]), rtol=1e-9)
    wrong = [(s.argmax(axis=1) != y).mean() for s in scores]
    assert (np.array(wrong) <= risks).all()


def test_probabilities_have_the_least_expected_risk():
    p = np.array([0.5, 0.3, 0.15, 0.05])

    def expected(scores):
        return sum(p[y] * np.exp(np.delete(scores, y) - scores[y]).sum() for y in range(4))

    scores = np.log(p) / 2
    np.testing.assert_allclose(GDMCBoostClassifier().probabilities(scores[None]), [p])
    np.testing.assert_allclose(approx_fprime(scores, expected), np.zeros(4), atol=1e-6)


# Equivalences


@pytest.mark.parametrize(
    ("leaves", "learner"),
    [
        ("codeword", Stump(criterion="error")),
        ("vector", Stump(criterion="error")),
        ("codeword", DecisionTreeClassifier(max_depth=2)),
    ],
)
def test_two_classes_are_adaboost(leaves, learner):
    """<F, Y_1> is AdaBoost's H: corners are -1 and 1, edges are weights with signs."""
    X, y = load_breast_cancer(return_X_y=True)
    options = {"estimator": learner, "n_estimators": 30}
    model = make(GDMCBoostClassifier, leaves=leaves, **options).fit(X, y)
    other = make(AdaBoostClassifier, **options).fit(X, y)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(model.estimator_errors_, other.estimator_errors_, **close)
    np.testing.assert_allclose(model.estimator_weights_, other.estimator_weights_, **close)
    ours, theirs = model._scores(X), other._scores(X)[:, 0]
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], theirs, **close)


def test_vectors_that_are_codewords_have_their_step():
    """The line search of vectors, on labels, finds what labels have in closed form."""
    X, y = problem(k=4)
    model = make(Asked, estimator=Stump(), n_estimators=1).fit(X, y)
    question = Asked.question(model, model.rows, None)
    rng = np.random.default_rng(0)
    votes = np.where(rng.random(len(y)) < 0.5, y, rng.integers(4, size=len(y))).astype(np.int32)
    expected = model.along_labels(model.rows, question, votes)
    question.code = np.eye(4)
    assert model.along_vectors(model.rows, question, votes) == pytest.approx(expected, rel=1e-12)
    own = np.asfortranarray(np.eye(4)[votes])
    assert model.along_vectors(model.rows, question, own) == pytest.approx(expected, rel=1e-12)
