"""Every booster, and the small problems and comparisons that their tests share."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import steadyboost
from steadyboost import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
    Tree,
)
from steadyboost.ensemble.estimator import BoostingClassifier


def is_booster(item):
    """Whether a public name is a booster to be tested."""
    concrete = isinstance(item, type) and item is not BoostingClassifier
    return concrete and issubclass(item, BoostingClassifier)


PUBLIC = [getattr(steadyboost, name) for name in steadyboost.__all__]
BOOSTERS = [item for item in PUBLIC if is_booster(item)]
# One of each kind: subproblems of two classes, weights that are multiplied, weights of pairs,
# output codes, an answer per label, and members.
FAMILIES = [
    AdaBoostClassifier,
    SAMMEClassifier,
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
]
LEARNERS = {"default": None, "sklearn": DecisionTreeClassifier(max_depth=2)}


def frame_maker(package, name):
    """A function that makes a frame of columns; it skips the test where the package is missing."""
    return lambda columns: getattr(pytest.importorskip(package), name)(columns)


FRAMES = {
    "pandas": frame_maker("pandas", "DataFrame"),
    "polars": frame_maker("polars", "DataFrame"),
    "pyarrow": frame_maker("pyarrow", "table"),
}

each_booster = pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: booster.__name__)
each_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


def each_booster_with(**values):
    """Every booster with the first of each parameter's values; one of each family with all.

    Values are a list, or a dictionary by their names in the name of the test.
    """
    named = [of if isinstance(of, dict) else {str(v): v for v in of} for of in values.values()]
    combinations = list(product(*(of.items() for of in named)))
    cases = []
    for booster in BOOSTERS:
        for pairs in combinations if booster in FAMILIES else combinations[:1]:
            ids, chosen = zip(*pairs, strict=True)
            given = dict(zip(values, chosen, strict=True))
            if takes(booster, given.get("learner"), given.get("resample", False)):
                name = "-".join([booster.__name__, *ids])
                cases.append(pytest.param(booster, *chosen, id=name))
    return pytest.mark.parametrize(("booster", *values), cases)


def takes(booster, learner, resample):
    """Whether a booster can be given a weak learner, and draw rows."""
    own = booster.does_without
    return not ("estimator" in own and learner is not None) and not ("resample" in own and resample)


CHOSEN = {
    "max_leaf_nodes": 8,
    "smoothing": 0.3,
    "bottom": 0.25,
    "robustness": 0.1,
}  # in place of parameters that a booster chooses by held-out rows


FIXED_ROUNDS = {
    "ECOCClassifier": "its code is drawn for a number of rounds, and says what they ask",
    "SteadyBoostClassifier": "its members are weighed after the last round",
}


def needs_free_rounds(booster):
    """Skip a test of boosters whose rounds depend on how many there are to be."""
    if booster.__name__ in FIXED_ROUNDS:
        pytest.skip(FIXED_ROUNDS[booster.__name__])


def needs_final_scores(booster):
    """Skip a test that takes what callbacks see of a round for what the model says."""
    if booster is SteadyBoostClassifier:
        pytest.skip("its members are weighed after the last round")


def draws(model):
    """Whether a booster draws rows or pairs by their weights instead of weighing them."""
    own = "resample" in model.does_without  # bootstraps in any case
    return own or model.resample or getattr(model, "n_samples", "all") != "all"


def needs_weights(booster):
    """Skip a test of boosters that draw rows by the weights instead of weighing them."""
    if draws(booster()):
        pytest.skip("it draws rows, and more of them where there are more")


def automatic(booster):
    """The parameters that a booster chooses for itself unless told, as they are by default.

    What is chosen may depend on the number of rounds and rows, so tests of exact equalities that
    change these replace it.
    """
    defaults = booster().get_params(deep=False)
    return {name: value for name, value in defaults.items() if str(value) == "auto"}


def make(booster, **params):
    """A small, reproducible instance that leaves nothing to be chosen.

    A booster without weak learners of the user's choice is tested with its own.
    """
    if "estimator" in booster.does_without:
        if params.pop("estimator", None) is not None:
            pytest.skip("its trees are its own")
        if params.pop("resample", False):
            pytest.skip("it draws bootstraps of its own")
    chosen = {name: CHOSEN[name] for name in automatic(booster)}
    return booster(**{"n_estimators": 5, "random_state": 0, **chosen, **params})


def problem(n=240, k=3, n_features=6, noise=0.1, seed=0):
    """Overlapping classes with wrong labels, so that no shallow tree is perfect."""
    return make_classification(
        n_samples=n,
        n_features=n_features,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        flip_y=noise,
        random_state=seed,
    )


def table(n=120, seed=0):
    """Columns of a mixed table with gaps, as lists, and labels that need all of them."""
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=n), rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue", "grey"], size=n)
    missing = rng.random(n) < 0.2
    y = (size > 0).astype(int) + np.isin(colour, ["green", "grey"]) * (weight > 0)
    columns = {
        "size": [None if gap else float(v) for v, gap in zip(size, missing, strict=True)],
        "colour": [None if i % 17 == 0 else str(c) for i, c in enumerate(colour)],
        "weight": weight.tolist(),
    }
    return columns, y


def numeric_columns(X):
    """The columns of an array by name."""
    return {f"x{j}": X[:, j].tolist() for j in range(X.shape[1])}


def quiet(call, *args, **options):
    """The result of a call whose warnings do not matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **options)


def assert_same_model(one, other, X):
    """The same steps and scores, bit for bit."""
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def assert_prefix(model, whole, X):
    """The first rounds of another model, bit for bit."""
    if isinstance(model, SteadyBoostClassifier):  # members are weighed after the last round
        for one, other in zip(model.stages_, whole.stages_, strict=False):
            assert_same_trees(one.answer.answers, other.answer.answers)
        return
    stages = list(whole.staged_decision_function(X))
    np.testing.assert_array_equal(model.decision_function(X), stages[model.n_iter_ - 1])
    steps = whole.estimator_weights_[: model.n_iter_]
    np.testing.assert_array_equal(model.estimator_weights_, steps)


def assert_same_trees(ones, others):
    for one, other in zip(ones, others, strict=True):
        np.testing.assert_array_equal(one.tree.feature, other.tree.feature)
        np.testing.assert_array_equal(one.tree.value, other.tree.value)


def assert_usable(model, X):
    """At least one round, and sound probabilities that agree with the predictions."""
    proba = model.predict_proba(X)
    assert model.n_iter_ >= 1
    assert proba.shape == (len(X), len(model.classes_))
    assert np.isfinite(model.decision_function(X)).all()
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


class Recording(Tree):
    """A tree that notes the weights it was given and the votes it gave, round by round."""

    answers_in_batches = False

    def __init__(self, max_depth=3):
        super().__init__(max_depth)
        self.weights, self.votes = [], []

    def answer(self, data, question, counts, seed, threads):
        answer, votes = super().answer(data, question, counts, seed, threads)
        self.weights.append(question.weights.copy())
        self.votes.append(votes.copy())
        return answer, votes


def assert_equal_to_twin(model, learner, twin, X):
    """The weights, errors, steps and scores of a slow twin, in every round."""
    scores = [s.copy() for s in model._staged_scores(X)]
    assert model.n_iter_ == len(twin.steps)
    np.testing.assert_allclose(learner.weights[: model.n_iter_], twin.weights, rtol=1e-10)
    np.testing.assert_allclose(model.estimator_errors_, twin.errors, rtol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, twin.steps, rtol=1e-10)
    np.testing.assert_allclose(scores, twin.scores, rtol=1e-10)


def redraw_rate(noise):
    """The rate at which labels are drawn anew, if they are wrong as often as by the matrix."""
    k = len(noise.transition)
    return (1 - np.trace(noise.transition) / k) * k / (k - 1)
