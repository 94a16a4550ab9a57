"""FindAttrTest against its slow twin: every test tried, every sum over rows."""

import numpy as np
import pytest
from reference import weak_learners as twin
from reference.tree import Column
from reference.tree_cases import assert_identical, bins_in, pack
from reference.weak_cases import (
    Alone,
    answered,
    ask,
    channels_for,
    check_with,
    columns_for,
    each_booster,
    each_kind,
    each_name,
    error_of,
    made_up,
    rows_of,
)
from sklearn.base import clone

from steadyboost import AttributeTest
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.attribute_test import sums_of
from steadyboost.learners.base import Data, Question
from steadyboost.trees.rules import attribute_test
from steadyboost.trees.rules.attribute_test import grow_test


def ask_learner(data, question, counts=None):
    return AttributeTest().answer(data, question, counts, 0, Alone())


def check(data, question, counts=None):
    """The same test and the same answers as the twin."""
    columns = columns_for(data)
    channels, edges = channels_for(question, counts)
    found = twin.attribute_test(columns, channels, edges)
    hypothesis, votes = ask_learner(data, question, counts)
    tree = hypothesis.tree
    assert tree.feature[0] == found.feature
    column = columns[found.feature]
    gaps = len(twin.missing(column, twin.rows_with_mass(channels, edges))) > 0
    assert tree.depth == gaps + (found.yes is not None)
    if found.yes is not None:
        assert bins_in(tree.left_bitset[2 * gaps]) - {column.n_bins} == found.yes
    parts = twin.part_numbers(found, columns, channels, edges)
    assert answered(votes, question) == twin.answers_by_part(parts, channels, edges)
    np.testing.assert_array_equal(votes, hypothesis.votes(data))


@each_kind
@each_name
def test_it_is_the_best_of_all_tests(name, kind, request):
    data, y = rows_of(name, request)
    check(data, ask(y, kind))


@each_kind
def test_it_is_the_best_of_all_tests_on_many_small_problems(kind):
    for seed in range(20):
        data, y = made_up(seed, n_rows=25, n_labels=3)
        check(data, ask(y, kind, seed))


@each_kind
def test_a_bootstrap_counts_rows(kind):
    data, y = made_up()
    counts = np.random.default_rng(0).multinomial(len(y), np.full(len(y), 1 / len(y)))
    check(data, ask(y, kind), counts)


@each_kind
def test_no_test_has_a_smaller_error(kind):
    """The exact minimum, in floating point and from the votes alone."""
    data, y = made_up(n_rows=80)
    question = ask(y, kind)
    _, votes = ask_learner(data, question)
    least = np.inf
    for column in columns_for(data):
        for yes in twin.tests_on(column):
            parts = twin.parts_of(column, yes, np.arange(len(y)))
            least = min(least, least_error(parts, question))
    assert error_of(votes, question) == pytest.approx(least, abs=1e-14)


def least_error(parts, question):
    """The error of the best answers to the parts."""
    if question.edges is not None:
        sums = [question.edges[part, :-1].sum(axis=0) for part in parts]
        return (1 - sum(np.maximum(s, 0).sum() for s in sums)) / 2
    right = [np.bincount(question.targets[p], question.weights[p], 1).max() for p in parts]
    return 1 - sum(right)


def gappy(categorical):
    """A column that predicts three classes only if a gap is an answer of its own."""
    bins = np.repeat([0, 1, 2], 10)
    y = np.repeat([0, 1, 2], 10).astype(np.int32)
    return Data(np.zeros((30, 1)), pack([Column(bins, 2, categorical)])), y


@pytest.mark.parametrize("categorical", [False, True])
def test_a_missing_value_is_a_third_answer(categorical):
    data, y = gappy(categorical)
    for question in (ask(y, "equal weights"), ask(y, "edges")):
        hypothesis, votes = ask_learner(data, question)
        assert hypothesis.tree.depth == 2
        assert answered(votes, question) == [frozenset([label]) for label in y.tolist()]
        assert error_of(votes, question) == pytest.approx(0, abs=1e-15)


def test_gaps_without_weight_go_with_the_heavier_side():
    data, y = gappy(False)
    weights = np.where(y == 2, 0.0, np.where(y == 1, 0.08, 0.02))
    for heavier in (0, 1):
        own = weights if heavier else np.where(y == 2, 0.0, 0.1 - weights)
        hypothesis, votes = ask_learner(data, Question(y, own, 3, np.ones(3)))
        assert hypothesis.tree.depth == 1
        assert (votes[y == 2] == heavier).all()


def test_gaps_to_come_go_with_the_heavier_side():
    binned = pack([Column(np.array([0, 1, 1]), 2)])
    question = Question(np.array([0, 1, 1], dtype=np.int32), np.full(3, 1 / 3), 2, np.ones(2))
    hypothesis, _ = ask_learner(Data(np.zeros((3, 1)), binned), question)
    new = pack([Column(np.array([0, 1, 2]), 2)])
    assert hypothesis.votes(Data(np.zeros((3, 1)), new)).tolist() == [0, 1, 1]


def test_a_column_that_is_constant_can_be_asked_whether_it_is_missing():
    data = Data(np.zeros((4, 1)), pack([Column(np.array([0, 0, 1, 1]), 1)]))
    question = Question(np.array([0, 0, 1, 1], dtype=np.int32), np.full(4, 0.25), 2, np.ones(2))
    hypothesis, votes = ask_learner(data, question)
    assert hypothesis.tree.depth == 1
    assert votes.tolist() == [0, 0, 1, 1]


def test_constant_columns_give_a_constant():
    data = Data(np.zeros((3, 2)), pack([Column(np.zeros(3, dtype=int), 1)] * 2))
    question = Question(np.array([0, 1, 1], dtype=np.int32), np.full(3, 1 / 3), 2, np.ones(2))
    hypothesis, votes = ask_learner(data, question)
    assert hypothesis.tree.depth == 0
    assert votes.tolist() == [1, 1, 1]
    assert hypothesis.importances(2).tolist() == [0, 0]


def test_equality_with_one_value_is_tested_not_a_set_of_values():
    bins = np.arange(4).repeat(5)
    data = Data(np.zeros((20, 1)), pack([Column(bins, 4, categorical=True)]))
    question = Question((bins % 2).astype(np.int32), np.full(20, 0.05), 2, np.ones(2))
    hypothesis, votes = ask_learner(data, question)
    assert bins_in(hypothesis.tree.left_bitset[0]) == {0}
    assert error_of(votes, question) == pytest.approx(0.25)


def test_ties_go_to_the_lowest_feature_and_bin():
    column = Column(np.array([0, 2, 4]), 6)
    data = Data(np.zeros((3, 2)), pack([column, column]))
    question = Question(np.array([0, 1, 1], dtype=np.int32), np.full(3, 1 / 3), 2, np.ones(2))
    tree = ask_learner(data, question)[0].tree
    assert tree.feature[0] == 0
    assert bins_in(tree.left_bitset[0]) - {6} == {0}


@each_kind
def test_it_does_not_depend_on_the_number_of_threads(kind, monkeypatch):
    data, y = made_up()
    sums = sums_of(ask(y, kind), None)
    alone = grow_test(data.binned, sums)
    monkeypatch.setattr(attribute_test, "SHARDING_PAYS", 0)
    with Workers(3) as workers:
        assert_identical(alone, grow_test(data.binned, sums, 3, workers.run))


def test_importances_are_those_of_the_tested_feature():
    data, y = made_up()
    hypothesis, _ = ask_learner(data, ask(y, "classes"))
    importances = hypothesis.importances(data.binned.n_features)
    assert importances[hypothesis.tree.feature[0]] == 1
    assert importances.sum() == 1


def test_it_has_no_parameters():
    assert clone(AttributeTest()).get_params() == {}


@each_booster
def test_it_works_with(booster):
    check_with(booster, AttributeTest())
