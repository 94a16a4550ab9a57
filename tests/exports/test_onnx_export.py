"""ONNX models say what the boosters say."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from common import BOOSTERS, each_frame, make, problem, quiet
from mixed_rows import mixed_frame, on_the_edges, unseen_frame
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    C45,
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AttributeTest,
    BaggingClassifier,
    DecisionRule,
    EpsilonBoostClassifier,
    GDMCBoostClassifier,
    MartiBoostClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    SteadyBoostClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
)
from steadyboost.exports import onnx_inputs, to_onnx

ADDITIVE = [booster for booster in BOOSTERS if booster is not MartiBoostClassifier]
NAMES = np.array(["no", "yes", "vielleicht ö"])


def run(model, X, **options):
    made = to_onnx(model, **options)
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, onnx_inputs(model, X, **options))


def assert_same(model, X, **options):
    label, probabilities, scores = run(model, X, **options)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12)
    if hasattr(model, "decision_function"):
        decision = model.decision_function(X)
        np.testing.assert_allclose(scores, decision, rtol=1e-12, atol=1e-12)
        assert scores.shape == decision.shape


@pytest.mark.parametrize("booster", ADDITIVE, ids=lambda booster: booster.__name__)
@pytest.mark.parametrize("k", [2, 3])
def test_every_booster_on_ten_thousand_mixed_rows(booster, k):
    X, y = mixed_frame(400)
    y = NAMES[np.minimum(y, k - 1)]
    model = make(booster, n_estimators=8, categorical_features=["colour", "month"])
    quiet(model.fit, X, y)
    assert_same(model, unseen_frame(10_000))


@pytest.mark.parametrize(
    "booster", [SAMMEClassifier, SteadyBoostClassifier, SoftmaxBoostClassifier]
)
def test_answers_mind_the_costs_of_fit(booster):
    X, y = problem(300, noise=0.3)
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.5, 1.0], [9.0, 3.0, 0.0]])
    model = make(booster, n_estimators=8).fit(X, y, cost_matrix=costs)
    assert_same(model, X)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_on_the_thresholds_fall_on_the_same_side(dtype, k):
    X, y = problem(300, k)
    model = SAMMEClassifier(n_estimators=20).fit(X, y)
    assert_same(model, on_the_edges(model, X).astype(dtype), dtype=dtype)


@pytest.mark.parametrize("learner", [Stump(), AttributeTest(), DecisionRule(), Tree(None)], ids=str)
@pytest.mark.parametrize("booster", [MSmoothBoostClassifier, AdaBoostM2Classifier])
def test_every_learner_of_trees(learner, booster):
    X, y = mixed_frame(300)
    model = quiet(make(booster, estimator=learner, n_estimators=8).fit, X, y)
    assert_same(model, unseen_frame(2000))


@pytest.mark.parametrize("strategy", ["exhaustive", "dense"])
def test_output_codes_of_binary_boosters(strategy):
    X, y = problem(300, 4)
    assert_same(AdaBoostClassifier(strategy=strategy, n_estimators=5, random_state=0).fit(X, y), X)


@pytest.mark.parametrize(
    "model",
    [
        GDMCBoostClassifier(leaves="vector", n_estimators=5),
        AdaBoostMHClassifier(tree="shared", n_estimators=5),
        SoftmaxBoostClassifier(n_estimators=5, random_state=0),
        WeightBoostClassifier(beta=0.0, n_estimators=5),
        WeightBoostClassifier(regularizer="inverse_polynomial", power=2.5, n_estimators=5),
        WeightBoostClassifier(strategy="exhaustive", normalize=None, n_estimators=5),
    ],
    ids=["vector", "shared", "soft-max", "beta-0", "polynomial", "exhaustive"],
)
def test_variants(model):
    X, y = problem(300, 4)
    assert_same(model.fit(X, y), X)


@pytest.mark.parametrize("k", [2, 3])
def test_steadyboost_that_frees_its_pool_from_a_mixture(k):
    X, y = problem(200, k)
    model = SteadyBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    model._mixture = np.roll(np.eye(k), 1, axis=1) * 0.3 + np.eye(k) * 0.7
    model._mixes = True
    assert_same(model, X)


@pytest.mark.parametrize("k", [2, 3])
def test_steadyboost_with_class_weights(k):
    X, y = problem(200, k, noise=0.2)
    model = SteadyBoostClassifier(class_weight={0: 1, 1: 7}, n_estimators=5, random_state=0)
    assert_same(model.fit(X, y), X)
    assert_same(model.fit(X, y, cost_matrix=np.arange(k * k).reshape(k, k) + 1.0), X)


@pytest.mark.parametrize("booster", [AdaBoostMHClassifier, SoftmaxBoostClassifier])
def test_sets_of_labels(booster):
    X, y = problem(300, 3)
    several = np.column_stack([y == 0, y > 0, X[:, 0] > 0]).astype(int)
    assert_same(booster(n_estimators=5, random_state=0).fit(X, several), X)


@pytest.mark.parametrize("n_estimators", [20, 50])
@pytest.mark.parametrize(
    "booster", [EpsilonBoostClassifier, BaggingClassifier, SoftmaxBoostClassifier]
)
def test_ties_of_recurring_steps_are_decided_alike(booster, n_estimators):
    X, y = problem(2000, 2, noise=0.3)
    options = {"step": 0.1} if booster is SoftmaxBoostClassifier else {"learning_rate": 0.1}
    model = booster(Stump(), n_estimators=n_estimators, random_state=0, **options).fit(X, y)
    assert_same(model, np.vstack([X] * 5))


@pytest.mark.parametrize(
    "classes",
    [np.array([-3, 7]), np.array([-1.0, 2.0]), np.array([False, True]), np.array(["a", "b"], "O")],
    ids=lambda classes: classes.dtype.name,
)
def test_labels_keep_their_type(classes):
    X, y = problem(200, 2)
    model = SAMMEClassifier(n_estimators=3).fit(X, classes[y])
    label = run(model, X)[0]
    assert label.dtype.kind == classes.dtype.kind
    np.testing.assert_array_equal(label, model.predict(X))


def test_one_class():
    X = np.arange(6.0)[:, None]
    assert_same(quiet(SAMMEClassifier(n_estimators=2).fit, X, np.zeros(6)), X)
    assert_same(quiet(AdaBoostClassifier(n_estimators=2).fit, X, np.zeros(6)), X)


@each_frame
def test_frames_of_all_kinds(frame):
    X, y = mixed_frame(200)
    X = X[["size", "colour"]].astype({"colour": object}).where(X.notna(), None)
    columns = frame({name: X[name].tolist() for name in X})
    model = SAMMEClassifier(n_estimators=5).fit(columns, y)
    assert_same(model, columns)


def test_names_and_types_of_inputs():
    X, y = mixed_frame(100)
    made = to_onnx(SAMMEClassifier(n_estimators=2).fit(X, y))
    assert [one.name for one in made.graph.input] == list(X)
    matrix = to_onnx(SAMMEClassifier(n_estimators=2).fit(X[["size", "weight"]], y))
    assert [one.name for one in matrix.graph.input] == ["X"]
    columns = to_onnx(SAMMEClassifier(n_estimators=2).fit(X[["size"]], y), columns=True)
    assert [one.name for one in columns.graph.input] == ["size"]


def test_columns_that_are_called_as_an_output_is():
    X, y = mixed_frame(100)
    X = X.rename(columns={"colour": "label", "size": "scores"})
    model = SAMMEClassifier(n_estimators=3).fit(X, y)
    assert [one.name for one in to_onnx(model).graph.output] == [
        "label_",
        "probabilities",
        "scores_",
    ]
    assert_same(model, X)


def test_empty_text_as_a_category_is_no_gap():
    X = pd.DataFrame({"word": ["", "a", None, "b"] * 20})
    model = SAMMEClassifier(Tree(max_depth=3), n_estimators=3).fit(X, [0, 1, 2, 1] * 20)
    assert_same(model, X)


def test_trees_that_look_at_no_column():
    X = pd.DataFrame({"word": ["a"] * 10})
    assert_same(quiet(BaggingClassifier(n_estimators=3).fit, X, [0, 1] * 5), X)


@pytest.mark.parametrize("steps", [[StandardScaler()], [StandardScaler(), PCA(3)]], ids=len)
@pytest.mark.parametrize("booster", [SAMMEClassifier, WeightBoostClassifier])
def test_pipelines(steps, booster):
    X, y = problem(300, 3)
    assert_same(make_pipeline(*steps, booster(n_estimators=5)).fit(X, y), X)


def test_a_step_that_gives_single_precision():
    X, y = problem(300, 2)
    pipeline = make_pipeline(OrdinalEncoder(), SAMMEClassifier(n_estimators=5))
    X = np.round(X)
    assert_same(pipeline.fit(X, y), X, dtype="float32")


def test_what_cannot_be_exported_says_so():
    X, y = problem(100, 2)
    cases = {
        "branching program": MartiBoostClassifier(n_estimators=2),
        "DecisionTreeClassifier is not from steadyboost": SAMMEClassifier(
            DecisionTreeClassifier(max_depth=1), n_estimators=2
        ),
        "C45 sends a row": SAMMEClassifier(C45(), n_estimators=2),
        "is a Python function": WeightBoostClassifier(regularizer=np.exp, beta=0.0),
    }
    cases["is a Python function"].set_params(regularizer=lambda u: np.exp(-u), beta=0.5)
    for message, model in cases.items():
        with pytest.raises(ValueError, match=message):
            to_onnx(model.fit(X, y))
    with pytest.raises(ValueError, match="DecisionTreeClassifier is not a booster"):
        to_onnx(DecisionTreeClassifier())
    with pytest.raises(NotFittedError):
        to_onnx(SAMMEClassifier())


def test_options_that_do_not_fit():
    X, y = mixed_frame(50)
    model = SAMMEClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="columns=False asks for one matrix"):
        to_onnx(model, columns=False)
    with pytest.raises(ValueError, match="dtype='float16' is not known"):
        to_onnx(model, dtype="float16")


def test_unknown_probabilities_are_refused():
    class Own(SAMMEClassifier):
        def probabilities(self, scores):
            return np.full(scores.shape, 0.5)

    X, y = problem(100, 2)
    with pytest.raises(ValueError, match=r"Own.probabilities is not known"):
        to_onnx(Own(n_estimators=2).fit(X, y))
