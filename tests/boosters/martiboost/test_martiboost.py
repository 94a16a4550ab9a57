"""MartiBoost against its slow twin, and what its papers prove and show."""

import numpy as np
import pytest
from common import Recording, assert_same_model, assert_usable, make, problem, quiet
from reference.martiboost import martiboost, masses, random_path, right_mass
from sklearn.tree import DecisionTreeClassifier

from steadyboost import MartiBoostClassifier, SAMMEClassifier, Stump, Tree
from steadyboost.lab.datasets import make_long_servedio


class OneByOne(Tree):
    """A tree that is asked for one node at a time, as learners of any other kind are."""

    answers_in_batches = False

    def answer(self, data, question, counts, seed, threads):
        return super().answer(data, question, counts, seed, threads)


class Replay:
    """A learner of the twin that gives recorded votes, one node after the other."""

    def __init__(self, votes):
        self.votes = iter(votes)

    def __call__(self, X, y, weights):
        votes = next(self.votes)
        return lambda X: votes


def replayed(learner, X, y, n_layers, prior=None):
    return martiboost(Replay(learner.votes), X, y, n_layers, prior)


def mixed(layers):
    return [node for layer in layers for node in layer.values() if node.hypothesis is not None]


def right_masses(model, X):
    """The mass of the right half after each layer."""
    return [proba[:, 1].copy() for proba in model.staged_predict_proba(X)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
def test_it_equals_its_twin(depth, weighted):
    X, y = problem(k=2)
    prior = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    learner = Recording(depth)
    model = make(MartiBoostClassifier, estimator=learner, n_estimators=25).fit(X, y, prior)
    layers = replayed(learner, X, y, 25, prior)
    weights = [node.weights for node in mixed(layers)]
    np.testing.assert_allclose(learner.weights, weights, rtol=1e-10, atol=1e-16)
    for t, (ours, theirs) in enumerate(
        zip(right_masses(model, X), masses(layers, X), strict=True), start=1
    ):
        np.testing.assert_allclose(ours, right_mass(theirs, t), rtol=1e-10, atol=1e-12)


def test_it_equals_its_twin_on_other_rows_and_with_a_learner_of_its_own():
    X, y = problem(k=2, n=600)
    train, test = slice(0, 300), slice(300, 600)

    def learner(X, y, weights):
        return DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y, weights).predict

    class Seeded(DecisionTreeClassifier):
        """With one seed for all nodes, whatever it is told."""

        def fit(self, X, y, sample_weight=None):
            self.random_state = 0
            return super().fit(X, y, sample_weight)

    model = make(MartiBoostClassifier, estimator=Seeded(max_depth=2), n_estimators=8)
    model.fit(X[train], y[train])
    layers = martiboost(learner, X[train], y[train], 8)
    for t, mass in enumerate(masses(layers, X[test]), start=1):
        ours = right_masses(model, X[test])[t - 1]
        np.testing.assert_allclose(ours, right_mass(mass, t), rtol=1e-10, atol=1e-12)


def test_each_mixed_node_sends_half_of_its_balanced_weight_right():
    X, y = make_long_servedio(400, noise=0.2, random_state=0)
    learner = Recording(1)
    model = make(MartiBoostClassifier, estimator=learner, n_estimators=40).fit(X, y)
    routes = np.concatenate([stage.extra["routes"] for stage in model.stages_])
    answers = [answer for stage in model.stages_ for answer in stage.answer.answers]
    routes = routes[[answer is not None for answer in answers]]
    for weights, votes, (zero, one) in zip(learner.weights, learner.votes, routes, strict=True):
        np.testing.assert_allclose(np.bincount(y, weights), 0.5, atol=1e-12)
        assert weights @ np.where(votes, one, zero) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_mass_is_conserved(k):
    X, y = problem(k=k, noise=0.3)
    model = make(MartiBoostClassifier, n_estimators=60).fit(X, y)
    n_subproblems = model.n_outputs()
    *_, scores = model._staged_scores(X)
    mass = scores[:, n_subproblems:].reshape(len(X), n_subproblems, -1)
    np.testing.assert_allclose(mass.sum(axis=2), 1, atol=1e-12)
    for stage in model.stages_:
        assert stage.extra["mass"].sum() == pytest.approx(n_subproblems, abs=1e-12)


def test_layer_l_has_l_nodes():
    X, y = make_long_servedio(2000, noise=0.4, random_state=0)
    n_layers = 12
    model = make(MartiBoostClassifier, n_layers=n_layers).fit(X, y)
    assert model.history_["hypotheses"] == list(range(1, n_layers + 1))
    assert sum(model.history_["hypotheses"]) == n_layers * (n_layers + 1) // 2
    assert [len(layer) for layer in model.estimators_[1:]] == list(range(2, n_layers + 1))


@pytest.mark.parametrize("noise", [0, 0.1])
def test_mass_goes_astray_as_rarely_as_proved(noise):
    """A step is right with probability 1/2 + gamma at least: Hoeffding's bound for martingales."""
    X, y = make_long_servedio(500, noise=noise, random_state=0)
    learner, n_layers = Recording(1), 60
    make(MartiBoostClassifier, estimator=learner, n_estimators=n_layers).fit(X, y)
    layers = replayed(learner, X, y, n_layers)
    edges = [2 * n.weights[y == 1] @ n.chances(X)[y == 1] - 0.5 for n in mixed(layers)]
    assert min(edges) > 0
    for t, mass in enumerate(masses(layers, X), start=1):
        ends = right_mass(mass, t)
        bound = np.exp(-2 * min(edges) ** 2 * t)
        assert 1 - ends[y == 1].mean() <= bound
        assert ends[y == 0].mean() <= bound


@pytest.mark.parametrize("learner", [{"max_depth": 1}, {"max_depth": 3}], ids=str)
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_nodes_that_are_trained_at_once_are_those_of_one_by_one(learner, resample, k):
    X, y = problem(k=k)
    weights = np.random.default_rng(0).exponential(size=len(y))
    options = {"n_estimators": 12, "resample": resample}
    one, other = (
        make(MartiBoostClassifier, estimator=kind(**learner), **options).fit(X, y, weights)
        for kind in (Tree, OneByOne)
    )
    assert one.history_ == other.history_
    assert_same_model(one, other, X)


def test_little_room_and_many_blocks_change_nothing(monkeypatch):
    X, y = problem(k=2)
    whole = make(MartiBoostClassifier, n_estimators=12).fit(X, y)
    monkeypatch.setattr("steadyboost.boosters.martiboost.program.MAX_HELD_WEIGHTS", 500)
    assert_same_model(whole, make(MartiBoostClassifier, n_estimators=12).fit(X, y), X)
    monkeypatch.setattr("steadyboost.ensemble.training_state.CHUNK_ROWS", 50)
    blocks = make(MartiBoostClassifier, n_estimators=12).fit(X, y)
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize(
    ("noise", "most"), [(0, 0.02), (0.05, 0.05), (0.1, 0.1), (0.2, 0.12), (0.3, 0.15), (0.4, 0.25)]
)
def test_it_resists_noise_where_adaboost_does_not(noise, most):
    """004, figure 7: its error is below the level of the noise; AdaBoost's is near 30 %."""
    X, y = make_long_servedio(4000, noise=noise, random_state=0)
    X_test, y_test = make_long_servedio(2000, random_state=1)
    assert 1 - make(MartiBoostClassifier, n_layers=120).fit(X, y).score(X_test, y_test) < most
    if noise:
        adaboost = make(SAMMEClassifier, estimator=Stump(), n_estimators=60).fit(X, y)
        assert 1 - adaboost.score(X_test, y_test) > 0.25


# Random paths


def test_a_random_path_ends_as_often_on_the_right_as_its_mass_says():
    X, y = problem(k=2)
    learner = Recording(1)
    make(MartiBoostClassifier, estimator=learner, n_estimators=7).fit(X, y)
    row = X[:1]
    layers = replayed(learner, X, y, 7)
    for layer in layers:
        for node in layer.values():
            if node.hypothesis is not None:
                vote = node.hypothesis(X)[:1]
                node.hypothesis = lambda X, vote=vote: vote
    expected = right_mass(masses(layers, row)[-1], 7)[0]
    rng = np.random.default_rng(0)
    drawn = np.mean([random_path(layers, row[0], rng) for _ in range(4000)])
    assert drawn == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("k", [2, 4])
def test_randomized_predictions_are_drawn_by_the_probabilities(k):
    X, y = problem(n=2000, k=k)
    model = make(MartiBoostClassifier, n_layers=6, randomized=True).fit(X, y)
    proba, drawn = model.predict_proba(X), model.predict(X)
    for c in range(k):
        hits = (drawn == c).mean()
        assert hits == pytest.approx(proba[:, c].mean(), abs=4 * np.sqrt(0.25 / len(X)))
    assert (drawn != proba.argmax(axis=1)).any()


def test_randomized_predictions_are_repeated():
    X, y = problem(k=2)
    model = make(MartiBoostClassifier, n_layers=6, randomized=True).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    other = make(MartiBoostClassifier, n_layers=6, randomized=True, random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    assert (model.predict(X) != other.predict(X)).any()


def test_randomness_concerns_labels_alone():
    X, y = problem(k=2)
    drawn, plain = (make(MartiBoostClassifier, randomized=r).fit(X, y) for r in (True, False))
    assert_same_model(drawn, plain, X)


def test_a_tie_is_of_the_second_class():
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    model = quiet(make(MartiBoostClassifier).fit, X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert (model.predict(X) == 1).all()
    assert (model.decision_function(X) > 0).all()
    assert_usable(model, X)
