"""C4.5 as a weak learner: what it is asked, what it answers, how it is printed."""

import numpy as np
import pytest
from common import table
from reference.c45_data import GOLF, GOLF_FEATURES
from reference.weak_cases import Alone, ask, check_with, each_booster, prepared
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.utils._param_validation import InvalidParameterError

from steadyboost import C45, AdaBoostM1Classifier, AdaBoostM2Classifier, SAMMEClassifier
from steadyboost.ensemble.model_io.file import load, save_model
from steadyboost.learners import c45
from steadyboost.learners.base import Data
from steadyboost.learners.c45 import C45Answer
from steadyboost.trees.c45.fit import C45Options, grow_c45

pd = pytest.importorskip("pandas")
GOLF_TREE = """\
outlook = 0: yes (4.0)
outlook = 1:
|   windy = 0: yes (3.0)
|   windy = 1: no (2.0)
outlook = 2:
|   humidity <= 75 : yes (2.0)
|   humidity > 75 : no (3.0)"""

OPTIONS = [
    {},
    {"prune": False},
    {"confidence": 0.05, "min_cases": 5.0},
    {"subtree_raising": False, "mdl_correction": False, "gain_ratio": False},
]


def mixed():
    """A table of numbers and categories with gaps, as a learner gets it, and its labels."""
    columns, y = table()
    return prepared(pd.DataFrame(columns)), y.astype(np.int32)


def golf():
    rows = [line.split() for line in GOLF.split("\n") if line]
    frame = pd.DataFrame(rows, columns=[*GOLF_FEATURES, "target"])
    y = frame.pop("target")
    return frame.astype({"temperature": float, "humidity": float}), y


def ask_learner(data, question, learner=None, counts=None):
    return (learner or C45()).answer(data, question, counts, 0, Alone())


def assert_same_tree(one, other):
    for name in ("attribute", "threshold", "first_child", "class_weights", "majority", "errors"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# What it grows


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["classes", "equal weights", "colours"])
def test_the_answer_is_the_tree_of_rescaled_weights(kind, options):
    data, y = mixed()
    question = ask(y, kind)
    hypothesis, votes = ask_learner(data, question, C45(**options))
    weights = question.weights * len(y)
    expected = grow_c45(
        data.X, [0, 4, 0], question.targets, weights, question.n_answers, C45Options(**options)
    )
    assert_same_tree(hypothesis.tree, expected)
    assert votes.dtype == np.int32
    np.testing.assert_array_equal(votes, expected.predict(data.X))
    np.testing.assert_array_equal(votes, hypothesis.votes(data))


def test_a_bootstrap_is_rows_as_often_as_drawn():
    data, y = mixed()
    counts = np.random.default_rng(0).multinomial(len(y), np.full(len(y), 1 / len(y)))
    hypothesis, _ = ask_learner(data, ask(y, "classes"), counts=counts)
    drawn = np.repeat(np.arange(len(y)), counts)
    copied = data.take(drawn)
    repeated, _ = ask_learner(copied, ask(y[drawn], "equal weights"))
    np.testing.assert_array_equal(hypothesis.tree.attribute, repeated.tree.attribute)
    np.testing.assert_array_equal(hypothesis.tree.threshold, repeated.tree.threshold)
    np.testing.assert_array_equal(hypothesis.votes(data), repeated.votes(data))


def test_label_sets_are_answered_by_shares():
    data, y = mixed()
    hypothesis, votes = ask_learner(data, ask(y, "edges"))
    assert votes.shape == (len(y), 3)
    np.testing.assert_allclose(votes.sum(axis=1), 1)
    np.testing.assert_array_equal(votes, hypothesis.tree.distribution(data.X))


def test_plain_arrays_have_numeric_columns_only():
    X, y = load_iris(return_X_y=True)
    question = ask(y.astype(np.int32), "classes")
    hypotheses = [ask_learner(Data(X, None, n), question)[0] for n in (None, np.zeros(4, int))]
    assert_same_tree(hypotheses[0].tree, hypotheses[1].tree)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_numbers_of_other_types(kind):
    X, y = load_iris(return_X_y=True)
    X = (10 * X).round().astype(kind)
    model, twin = (AdaBoostM1Classifier(C45(), n_estimators=3) for _ in range(2))
    np.testing.assert_array_equal(
        model.fit(X, y).predict_proba(X), twin.fit(X.astype(float), y).predict_proba(X)
    )


# What is made once


def test_rows_are_sorted_once_for_all_rounds(monkeypatch):
    calls = []

    def counting(X, n_values):
        calls.append(len(X))
        return presort(X, n_values)

    presort = c45.presort
    monkeypatch.setattr(c45, "presort", counting)
    X, y = load_wine(return_X_y=True)
    model = SAMMEClassifier(C45(), n_estimators=5).fit(X, y)
    assert model.n_iter_ == 5
    assert calls == [len(X)]


def test_a_part_of_the_rows_sorts_for_itself():
    data, y = mixed()
    order = data.once(c45.order_of)
    assert data.once(c45.order_of) is order
    part = data.take(np.arange(30))
    assert part.once(c45.order_of).shape == (2, 30)
    np.testing.assert_array_equal(part.n_values, [0, 4, 0])
    ask_learner(part, ask(y[:30], "classes"))


# Printing and importances


def test_text():
    X, y = golf()
    model = AdaBoostM1Classifier(C45(prune=False), n_estimators=1).fit(X, y)
    assert model.estimators_[0].to_text(GOLF_FEATURES, model.classes_) == GOLF_TREE


def test_importances_are_shares_of_the_decrease_of_entropy():
    X, y = golf()
    model = AdaBoostM1Classifier(C45(prune=False), n_estimators=1).fit(X, y)

    def entropy(*counts):
        n = sum(counts)
        return sum(c * np.log(n / c) for c in counts)

    outlook = entropy(9, 5) - 2 * entropy(2, 3)
    below = np.array([outlook, 0, entropy(2, 3), entropy(2, 3)])
    np.testing.assert_allclose(model.feature_importances_, below / below.sum())


def test_a_leaf_has_no_importances():
    data = Data(np.zeros((4, 2)))
    hypothesis, votes = ask_learner(data, ask(np.array([0, 1, 1, 1]), "equal weights"))
    assert hypothesis.importances(2).tolist() == [0, 0]
    assert votes.tolist() == [1, 1, 1, 1]


# Parameters


@pytest.mark.parametrize("params", [{"confidence": 0}, {"min_cases": 0}, {"prune": "no"}])
def test_wrong_parameters_are_refused(params):
    with pytest.raises(InvalidParameterError):
        AdaBoostM1Classifier(C45(**params)).fit([[0.0], [1.0]], [0, 1])


def test_it_can_be_cloned():
    params = {"confidence": 0.1, "min_cases": 3.0, "gain_ratio": False}
    assert clone(C45(**params)).get_params().items() >= params.items()


# Boosters


@each_booster
def test_it_works_with(booster):
    check_with(booster, C45())


def test_a_model_of_categories_and_gaps_can_be_saved(tmp_path):
    columns, y = table()
    X = pd.DataFrame(columns)
    for booster in (SAMMEClassifier, AdaBoostM2Classifier):
        model = booster(C45(), n_estimators=3).fit(X, y)
        save_model(model, tmp_path / "model.sb")
        again = load(tmp_path / "model.sb")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert isinstance(again.estimators_[0], C45Answer)


def test_a_hundred_rounds_on_spambase(from_folder):
    X, y = from_folder("spambase")
    model = SAMMEClassifier(C45(), n_estimators=100).fit(X, y)
    assert 1 <= model.n_iter_ <= 100
    assert model.score(X, y) > 0.99


@pytest.mark.parametrize("name", ["soybean_large", "audiology"])
def test_real_tables_of_categories_with_gaps(name, from_folder):
    X, y = from_folder(name)
    model = AdaBoostM1Classifier(C45(), n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.85
