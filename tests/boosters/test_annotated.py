"""SteadyBoost learns from several annotators: classes, annotators and model together."""

import numpy as np
import pandas as pd
import pytest
from common import assert_same_model, problem
from made_crowds import listed, made_crowd

from steadyboost import SteadyBoostClassifier
from steadyboost.noise import consensus

X, Y = problem(n=900, noise=0)
N = 600


@pytest.fixture(scope="module")
def answers():
    """A long table of answers to the training rows."""
    found, made, _ = made_crowd(n=N, n_annotators=10, per_item=2, low=0.5, high=0.9)
    label = (found.label - made[found.item] + Y[found.item]) % 3  # errors as they were made
    frame = pd.DataFrame(listed(found), columns=["item", "annotator", "label"])
    return frame.assign(label=label, annotator="w" + frame.annotator.astype(str))


def model(**params):
    return SteadyBoostClassifier(n_estimators=25, random_state=0, **params)


@pytest.fixture(scope="module")
def fitted(answers):
    return model().fit(X[:N], annotations=answers)


def test_the_consensus_is_better_than_that_of_the_answers_alone(answers, fitted):
    alone = np.mean(consensus(answers).labels != Y[:N])
    together = np.mean(fitted.consensus_.label != Y[:N])
    assert together < 0.7 * alone
    assert fitted.consensus_.n_answers.tolist() == [2] * N


def test_the_model_is_better_than_one_of_the_majority(answers, fitted):
    wide = answers.pivot(index="item", columns="annotator", values="label")
    majority = wide.mode(axis=1)[0].astype(int).to_numpy()
    usual = model().fit(X[:N], majority)
    assert fitted.score(X[N:], Y[N:]) >= usual.score(X[N:], Y[N:])


def test_annotators_are_judged(answers, fitted):
    right = answers.label == Y[answers.item]
    actual = right.groupby(answers.annotator).mean()
    by = fitted.annotators_
    assert by.annotator.tolist() == actual.index.tolist()
    assert np.abs(by.accuracy - actual.to_numpy()).max() < 0.1
    assert by.confusion.shape == (10, 3, 3)


def test_the_table_of_suspects_is_there_as_always(fitted):
    assert len(fitted.labels_) == N
    np.testing.assert_array_equal(np.sort(fitted.labels_.row), np.arange(N))


def test_wide_and_long_tables_give_the_same_model(answers, fitted):
    wide = answers.pivot(index="item", columns="annotator", values="label")
    other = model(n_jobs=2).fit(X[:N], annotations=wide)
    assert_same_model(fitted, other, X)
    np.testing.assert_array_equal(fitted.consensus_.probability, other.consensus_.probability)


@pytest.mark.parametrize("form", ["flat", "column", "frame"])
def test_one_answer_for_each_row_is_the_ordinary_fit(form):
    answers = {"flat": Y[:N], "column": Y[:N, None], "frame": pd.DataFrame({"ann": Y[:N]})}[form]
    one = model().fit(X[:N], annotations=answers)
    other = model().fit(X[:N], Y[:N])
    assert_same_model(one, other, X)
    np.testing.assert_array_equal(one.label_scores_, other.label_scores_)
    assert one.annotators_.accuracy[0] == 1 - other.noise_rate_
    np.testing.assert_array_equal(one.consensus_.label, Y[:N])


def test_rows_of_weight_zero_and_class_names(answers):
    names = np.array(["x", "y", "z"])
    named = answers.assign(label=names[answers.label])
    weights = np.ones(N)
    weights[:50] = 0
    found = model().fit(X[:N], sample_weight=weights, annotations=named)
    assert found.classes_.tolist() == ["x", "y", "z"]
    assert np.isnan(found.out_of_sample_proba_[:50]).all()
    assert len(found.consensus_) == N


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_distribution": np.eye(3)[Y[:N]]}, "annotations cannot be used"),
        ({"y": Y[:5]}, "y has 5 labels"),
    ],
)
def test_what_does_not_fit_together(answers, options, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X[:N], annotations=answers, **options)


def test_bad_answers_are_named(answers):
    twice = pd.DataFrame({"item": [3, 3], "annotator": ["w0", "w0"], "label": [0, 1]})
    twice = pd.concat([answers[answers.item != 3], twice])
    with pytest.raises(ValueError, match="two answers of annotator 'w0' for item 3"):
        model().fit(X[:N], annotations=twice)
    with pytest.raises(ValueError, match="no answer for 1 items"):
        model().fit(X[:N], annotations=answers[answers.item != 3])
