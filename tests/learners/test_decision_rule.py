"""FindDecRule against its slow twin: every test tried, every sum over rows."""

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
    made_up,
    rows_of,
)
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

from steadyboost import AdaBoostOCClassifier, DecisionRule
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.attribute_test import sums_of
from steadyboost.learners.base import Data, Question
from steadyboost.trees.rules import attribute_test
from steadyboost.trees.rules.decision_rule import RuleStatistics, grow_rule


def ask_learner(data, question, learner=None, counts=None, seed=0):
    return (learner or DecisionRule()).answer(data, question, counts, seed, Alone())


def rows_to_grow_and_prune_on(channels, edges, fraction, seed):
    rows = twin.rows_with_mass(channels, edges).astype(np.int32)
    drawn = np.random.default_rng(seed).permutation(rows)
    n = max(1, round(fraction * len(rows)))
    return np.sort(drawn[:n]), np.sort(drawn[n:])


def chain_of(tree):
    """The chain of a rule as (feature, passing bins)."""
    return [
        (int(tree.feature[at]), bins_in(tree.left_bitset[at])) for at in range(0, 2 * tree.depth, 2)
    ]


def check(data, question, learner=None, counts=None, seed=0):
    """The same tests and the same answers as the twin; how many tests there are."""
    learner = learner or DecisionRule()
    columns = columns_for(data)
    channels, edges = channels_for(question, counts)
    parts = rows_to_grow_and_prune_on(channels, edges, learner.grow_fraction, seed)
    tests = twin.decision_rule(columns, channels, edges, *parts, learner.max_tests)
    hypothesis, votes = ask_learner(data, question, learner, counts, seed)
    assert chain_of(hypothesis.tree) == tests
    numbers = twin.rule_parts(tests, columns)
    assert answered(votes, question) == twin.answers_by_part(numbers, channels, edges)
    np.testing.assert_array_equal(votes, hypothesis.votes(data))
    return len(tests)


@each_kind
@each_name
def test_it_is_the_rule_of_the_twin(name, kind, request):
    data, y = rows_of(name, request)
    check(data, ask(y, kind))


@each_kind
def test_it_is_the_rule_of_the_twin_on_many_small_problems(kind):
    lengths = set()
    for seed in range(12):
        data, y = made_up(seed, n_rows=40, n_labels=3)
        lengths.add(check(data, ask(y, kind, seed), seed=seed))
    assert len(lengths) > 1


@each_kind
def test_a_bootstrap_counts_rows(kind):
    data, y = made_up(n_rows=60)
    counts = np.random.default_rng(0).multinomial(len(y), np.full(len(y), 1 / len(y)))
    check(data, ask(y, kind), counts=counts)


@each_kind
@pytest.mark.parametrize("learner", [DecisionRule(grow_fraction=1), DecisionRule(max_tests=2)])
def test_parameters_are_those_of_the_twin(learner, kind):
    data, y = made_up(n_rows=60)
    check(data, ask(y, kind), learner)


def test_without_held_out_rows_it_is_not_pruned():
    data, y = rows_of("wine", None)
    question = ask(y, "classes")
    lengths = [
        ask_learner(data, question, DecisionRule(grow_fraction=1, max_tests=n))[0].tree.depth
        for n in (1, 2, 3)
    ]
    assert lengths == [1, 2, 3]


def conjunction():
    """Two classes, told apart by a numeric and a categorical test together."""
    rng = np.random.default_rng(0)
    columns = [Column(rng.integers(8, size=300), 8), Column(rng.integers(4, size=300), 4, True)]
    y = ((columns[0].bins <= 3) & (columns[1].bins == 2)).astype(np.int32)
    return Data(np.zeros((300, 2)), pack(columns)), y


def test_it_finds_a_conjunction():
    data, y = conjunction()
    question = Question(y, np.full(300, 1 / 300), 2, np.ones(2))
    hypothesis, votes = ask_learner(data, question)
    np.testing.assert_array_equal(votes, y)
    assert sorted(chain_of(hypothesis.tree)) == [(0, {0, 1, 2, 3}), (1, {2})]


def test_pruning_leaves_nothing_where_there_is_nothing_to_learn():
    data, _ = conjunction()
    rng = np.random.default_rng(0)
    lengths = []
    for seed in range(20):
        y = (rng.random(300) < 0.2).astype(np.int32)
        question = Question(y, np.full(300, 1 / 300), 2, np.ones(2))
        lengths.append(ask_learner(data, question, seed=seed)[0].tree.depth)
    assert np.mean(np.array(lengths) == 0) > 0.5


def test_an_empty_rule_is_a_constant():
    data = Data(np.zeros((3, 1)), pack([Column(np.zeros(3, dtype=int), 1)]))
    question = Question(np.array([0, 1, 1], dtype=np.int32), np.full(3, 1 / 3), 2, np.ones(2))
    hypothesis, votes = ask_learner(data, question)
    assert hypothesis.tree.depth == 0
    assert votes.tolist() == [1, 1, 1]
    assert hypothesis.importances(1).tolist() == [0]


def test_one_row_is_enough():
    data = Data(np.zeros((1, 1)), pack([Column(np.zeros(1, dtype=int), 1)]))
    _, votes = ask_learner(data, Question(np.zeros(1, dtype=np.int32), np.ones(1), 2, np.ones(2)))
    assert votes.tolist() == [0]


@pytest.mark.parametrize("kind", ["classes", "edges"])
def test_a_missing_value_fails_every_test(kind):
    for seed in range(5):
        data, y = made_up(seed)
        tree = ask_learner(data, ask(y, kind), DecisionRule(grow_fraction=1))[0].tree
        for feature, bins in chain_of(tree):
            assert data.binned.n_bins[feature] not in bins


@each_kind
def test_all_leaves_outside_say_the_same(kind):
    data, y = rows_of("wine", None)
    question = ask(y, kind)
    hypothesis, _ = ask_learner(data, question, DecisionRule(grow_fraction=1))
    outside = hypothesis.tree.value[1::2]
    assert len(outside) > 1
    assert (outside == outside[0]).all()
    assert len(set(answered(hypothesis.label[1::2], question))) == 1


def test_rows_without_weight_have_no_influence():
    data, y = made_up()
    question = ask(y, "classes")
    silent = question.weights == 0
    assert silent.any()
    changed = Question(
        np.where(silent, 0, y).astype(np.int32), question.weights, question.n_answers, question.code
    )
    one, other = (ask_learner(data, q)[0].tree for q in (question, changed))
    assert_identical(one, other)


def test_the_seed_decides_which_rows_it_grows_on():
    data, y = made_up()
    question = ask(y, "classes")
    rules = [chain_of(ask_learner(data, question, seed=s)[0].tree) for s in (0, 0, 1, 2, 3)]
    assert rules[0] == rules[1]
    assert any(rule != rules[0] for rule in rules[2:])


@each_kind
def test_it_does_not_depend_on_the_number_of_threads(kind, monkeypatch):
    data, y = made_up()
    sums = sums_of(ask(y, kind), None)
    parts = np.split(np.arange(len(y), dtype=np.int32), [100])
    alone = grow_rule(RuleStatistics(data.binned, sums), *parts)
    monkeypatch.setattr(attribute_test, "SHARDING_PAYS", 0)
    with Workers(3) as workers:
        evidence = RuleStatistics(data.binned, sums, 3, workers.run)
        assert_identical(alone, grow_rule(evidence, *parts))


def test_importances_are_shares_of_the_gain():
    data, y = made_up()
    hypothesis, _ = ask_learner(data, ask(y, "classes"), DecisionRule(grow_fraction=1))
    importances = hypothesis.importances(data.binned.n_features)
    assert importances.sum() == pytest.approx(1)
    used = {feature for feature, _ in chain_of(hypothesis.tree)}
    assert set(np.flatnonzero(importances)) == used


@pytest.mark.parametrize("params", [{"grow_fraction": 0}, {"grow_fraction": 1.5}, {"max_tests": 0}])
def test_wrong_parameters_are_refused(params):
    with pytest.raises(InvalidParameterError):
        AdaBoostOCClassifier(DecisionRule(**params)).fit([[0.0], [1.0]], [0, 1])


def test_it_can_be_cloned():
    params = {"grow_fraction": 0.5, "max_tests": 3}
    assert clone(DecisionRule(**params)).get_params() == params


@each_booster
def test_it_works_with(booster):
    check_with(booster, DecisionRule())
