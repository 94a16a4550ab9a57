"""AdaBoost.M2 against its slow twin, and trees against all sets of labels they could name."""

from itertools import chain, combinations

import numpy as np
import pytest
from common import Recording, make, problem, quiet
from reference.output_codes import adaboost_m2, adaboost_oc, real_data
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    Stump,
    Tree,
)


@pytest.fixture(params=["iris", "wine", "glass", "vehicle"])
def data(request):
    folder = request.param in ("glass", "vehicle") and request.getfixturevalue("from_folder")
    return real_data(request.param, folder)


class Asked(AdaBoostM2Classifier):
    """Notes what it asked, and keeps its rows."""

    def question(self, rows, round_):
        question = super().question(rows, round_)
        self.asked = [*getattr(self, "asked", []), question.edges.copy()]
        self.rows = rows
        return question

    def pairs(self, t):
        """D(i, l) of a round."""
        pairs = -self.asked[t][:, :-1]
        pairs[np.arange(len(pairs)), self.rows.y] = 0
        return pairs

    def named(self, t):
        """h(x_i, l) of a round: the sets of labels, or how plausible each label is."""
        stage = self.stages_[t]
        votes = stage.answer.votes(self.rows.data)
        return votes if votes.ndim == 2 else stage.code[votes]


def assert_twins(model, X, twin):
    close = {"rtol": 1e-10, "atol": 1e-10}
    rounds = range(model.n_iter_)
    np.testing.assert_allclose([model.pairs(t) for t in rounds], [r.pairs for r in twin], **close)
    np.testing.assert_allclose(
        [model.asked[t][:, -1] for t in rounds], [r.weights for r in twin], **close
    )
    np.testing.assert_allclose(model.estimator_errors_, [r.pseudoloss for r in twin], **close)
    np.testing.assert_allclose(model.estimator_weights_, [r.step for r in twin], **close)
    scores = [s.copy() for s in model._staged_scores(X)]
    np.testing.assert_allclose(scores, [r.scores for r in twin], **close)


# Twins


@pytest.mark.parametrize("depth", [1, 3])
def test_it_equals_its_twin_round_by_round(data, depth):
    X, y = data
    model = make(Asked, estimator=Tree(depth), n_estimators=30).fit(X, y)
    assert model.n_iter_ == 30
    named = [model.named(t) for t in range(30)]
    assert_twins(model, X, adaboost_m2(named, y, model.n_classes_))


def test_with_user_weights_and_a_learning_rate_too():
    X, y = problem(k=4)
    weights = np.random.default_rng(0).exponential(size=len(y))
    model = make(Asked, estimator=Stump(), n_estimators=30, learning_rate=0.4)
    model.fit(X, y, weights)
    named = [model.named(t) for t in range(30)]
    assert_twins(model, X, adaboost_m2(named, y, 4, prior=weights, rate=0.4))


@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier(max_depth=2)])
def test_a_scikit_learn_learner_votes_by_its_probabilities(learner):
    """Freund & Schapire's general form: h(x, l) is anything from 0 to 1."""
    X, y = problem(k=4)
    model = make(Asked, estimator=learner, n_estimators=15).fit(X, y)
    named = [fitted.predict_proba(X) for fitted in model.estimators_]
    assert any(((h > 0) & (h < 1)).any() for h in named)
    for t, h in enumerate(named):
        D, own = model.pairs(t), h[np.arange(len(y)), y]
        loss = 0.5 * (D * (1 - own[:, None] + h)).sum()
        assert model.estimator_errors_[t] == pytest.approx(loss, abs=1e-12)
    assert_twins(model, X, adaboost_m2(named, y, 4, n_rounds=model.n_iter_))


def test_a_scikit_learn_learner_trains_on_the_rows_mass():
    X, y = load_wine(return_X_y=True)
    X = X[:, :4]

    def ask(D):
        return GaussianNB().fit(X, y, sample_weight=D.sum(axis=1)).predict_proba(X)

    model = make(AdaBoostM2Classifier, estimator=GaussianNB(), n_estimators=10).fit(X, y)
    twin = adaboost_m2(ask, y, 3, n_rounds=10)
    np.testing.assert_allclose(model.estimator_weights_, [r.step for r in twin], rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), twin[-1].scores, atol=1e-8)


# Equivalences


class Replay(Tree):
    """Names the sets of labels that a model of output codes found plausible."""

    answers_in_batches = False

    def __init__(self, stages):
        super().__init__()
        self.stages = iter(stages)

    def answer(self, data, question, counts, seed, threads):
        stage = next(self.stages)
        question.code = stage.code
        return stage.answer, stage.answer.votes(data)


def test_adaboost_oc_is_adaboost_m2_fed_its_plausible_sets(data):
    X, y = data
    learner = Recording(1)
    model = make(AdaBoostOCClassifier, estimator=learner, n_estimators=30).fit(X, y)
    colorings = np.array(model.history_["coloring"])
    sets = [
        (votes[:, None] == colors).astype(float)
        for votes, colors in zip(learner.votes, colorings, strict=True)
    ]
    fed = make(AdaBoostM2Classifier, estimator=Replay(model.stages_), n_estimators=30).fit(X, y)
    np.testing.assert_allclose(fed.estimator_errors_, model.history_["pseudoloss"], atol=1e-12)
    np.testing.assert_allclose(fed.estimator_weights_, model.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(fed._scores(X), model._scores(X), atol=1e-10)
    m2 = adaboost_m2(sets, y, model.n_classes_)
    oc = adaboost_oc(learner.votes, colorings, y, model.n_classes_)
    np.testing.assert_allclose([r.pairs for r in m2], [r.pairs for r in oc], rtol=1e-10)
    np.testing.assert_allclose([r.step for r in m2], model.estimator_weights_, rtol=1e-9)


def test_two_classes_are_adaboost_m1_with_trees_that_minimise_the_error():
    X, y = problem(k=2)
    m1, m2 = Recording(1), Recording(1)
    m1.criterion = "error"
    one = make(AdaBoostM1Classifier, estimator=m1, n_estimators=20).fit(X, y)
    other = make(AdaBoostM2Classifier, estimator=m2, n_estimators=20).fit(X, y)
    np.testing.assert_allclose(m2.weights, m1.weights, atol=1e-9)
    np.testing.assert_allclose(2 * other.estimator_weights_, one.estimator_weights_, rtol=1e-6)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


# Exact minima


def subsets(k):
    return chain.from_iterable(combinations(range(k), size) for size in range(k + 1))


def least_loss(D, y, k):
    """Least of half the sum of D (1 - [y in set] + [l in set]) over the sets, for some rows."""
    losses = []
    for members in subsets(k):
        h = np.isin(np.arange(k), members).astype(float)
        losses.append(0.5 * (D * (1 - h[y][:, None] + h)).sum())
    return min(losses)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_name_the_best_sets_that_their_leaves_allow(depth):
    X, y = problem(k=4)
    model = make(Asked, estimator=Tree(depth), n_estimators=12).fit(X, y)
    for t, stage in enumerate(model.stages_):
        leaves, D = stage.answer.votes(model.rows.data), model.pairs(t)
        best = sum(least_loss(D[leaves == leaf], y[leaves == leaf], 4) for leaf in set(leaves))
        assert stage.error == pytest.approx(best, abs=1e-12)


def all_sides(X):
    """Rows on the left of every cut of every feature."""
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            yield column <= cut


@pytest.mark.parametrize("load", [load_iris, lambda return_X_y: problem(n=60, k=4)])
def test_stumps_are_the_best_of_all_stumps(load):
    X, y = load(return_X_y=True)
    k = len(set(y))
    model = make(Asked, estimator=Stump(), n_estimators=6).fit(X, y)
    for t, error in enumerate(model.estimator_errors_):
        D = model.pairs(t)
        best = min(
            least_loss(D[left], y[left], k) + least_loss(D[~left], y[~left], k)
            for left in all_sides(X)
        )
        assert error == pytest.approx(best, abs=1e-9)


# Degenerate cases


def test_without_an_edge_the_first_hypothesis_is_kept():
    X, y = np.ones((30, 1)), np.arange(30) % 3
    with pytest.warns(ConvergenceWarning, match="no edge .*deeper tree"):
        model = make(AdaBoostM2Classifier).fit(X, y)
    assert model.n_iter_ == 1


def test_perfect_trees_go_on_with_a_clipped_loss():
    y = np.arange(40) % 4
    X = y[:, None]
    model = make(AdaBoostM2Classifier, estimator=Tree(2), n_estimators=4).fit(X, y)
    assert model.n_iter_ == 4
    assert model.score(X, y) == 1
    assert model.estimator_weights_[0] == pytest.approx(0.5 * np.log((1 - 1e-10) / 1e-10), rel=1e-9)


@pytest.mark.parametrize("learner", [Stump(), GaussianNB()], ids=["stump", "bayes"])
def test_three_thousand_rounds_stay_finite(learner):
    X, y = load_iris(return_X_y=True)
    params = {"estimator": learner, "n_estimators": 3000 if isinstance(learner, Stump) else 300}
    model = quiet(make(Asked, **params).fit, X, y)
    np.testing.assert_allclose([edges[:, -1].sum() for edges in model.asked], 1, rtol=1e-9)
    assert np.isfinite(model.asked[-1]).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.95
