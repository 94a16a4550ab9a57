"""Trees as weak learners: what they are asked, what they answer, what they draw."""

import numpy as np
import pytest
from reference.tree_cases import assert_identical, unpack
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.utils._param_validation import InvalidParameterError

from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data, Question
from steadyboost.learners.tree import Stump, Tree
from steadyboost.preprocessing.binner import Binner
from steadyboost.trees.growth import tree as trees
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums


def prepared(X):
    return Data(X, Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X))


@pytest.fixture(scope="module", params=[load_iris, load_wine, load_digits])
def task(request):
    X, y = request.param(return_X_y=True)
    weights = np.random.default_rng(0).exponential(size=len(y))
    n_answers = int(y.max()) + 1
    question = Question(y.astype(np.int32), weights / weights.sum(), n_answers, np.ones(n_answers))
    return prepared(X), question


def answer(learner, task, counts=None, seed=0, threads=None):
    return learner.answer(*task, counts, seed, threads or Workers(1))


def grown(task, growth, **restrict):
    data, question = task
    rows = restrict.get("rows")
    sums = FixedPointSums.of_labels(question.targets, question.weights, question.n_answers, rows)
    return grow_tree(data.binned, sums, growth, **restrict)[0]


LEARNERS = [
    Tree(),
    Tree(max_depth=None),
    Tree(max_depth=None, max_leaf_nodes=5),
    Tree(2, criterion="entropy", min_samples_leaf=5),
    Tree(4, criterion="error", min_weight_leaf=0.05),
    Stump(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_answer_is_the_grown_tree(learner, task):
    hypothesis, _ = answer(learner, task)
    assert_identical(hypothesis.tree, grown(task, learner.params()))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_votes_are_the_heaviest_labels_of_the_leaves(learner, task):
    data, question = task
    hypothesis, votes = answer(learner, task)
    assert votes.dtype == np.int32
    np.testing.assert_array_equal(votes, hypothesis.votes(data))
    leaves = hypothesis.tree.apply(data.binned.packed)
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        sums = np.bincount(question.targets[inside], question.weights[inside])
        assert (votes[inside] == sums.argmax()).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_importances_are_shares_of_the_gain(learner, task):
    n_features = task[0].X.shape[1]
    hypothesis, _ = answer(learner, task)
    importances = hypothesis.importances(n_features)
    assert importances.shape == (n_features,)
    assert importances.sum() == pytest.approx(1)
    split = ~hypothesis.tree.is_leaf
    used = np.zeros(n_features, dtype=bool)
    used[hypothesis.tree.feature[split & (hypothesis.tree.gain > 0)]] = True
    np.testing.assert_array_equal(importances > 0, used)


@pytest.mark.parametrize("seed", range(10))
def test_importances_are_shares_or_nothing_where_nothing_is_gained(seed):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    a, b = np.random.default_rng(seed).random(2)
    question = Question(np.array([0, 1, 1, 0], np.int32), np.array([a, b, b, a]), 2, np.ones(2))
    hypothesis, _ = answer(Stump(), (prepared(X), question))
    importances = hypothesis.importances(2)
    assert importances.min() >= 0
    assert importances.sum() in (0, 1)


def test_a_bootstrap_replaces_the_weights(task):
    data, question = task
    counts = np.random.default_rng(1).multinomial(len(data), question.weights)
    hypothesis, votes = answer(Tree(), task, counts)
    drawn = Question(question.targets, counts.astype(float), question.n_answers, question.code)
    expected, _ = answer(Tree(), (data, drawn))
    assert_identical(hypothesis.tree, expected.tree)
    np.testing.assert_array_equal(votes, hypothesis.votes(data))


def test_a_bootstrap_is_the_rows_drawn(task):
    data, question = task
    counts = np.zeros(len(data), dtype=int)
    counts[np.random.default_rng(2).choice(len(data), 64, replace=False)] = 1
    rows = np.flatnonzero(counts)
    hypothesis, _ = answer(Tree(), task, counts)
    own = Question(question.targets[rows], np.ones(64), question.n_answers, question.code)
    expected, _ = answer(Tree(), (data.take(rows), own))
    assert_identical(hypothesis.tree, expected.tree)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_rows_are_drawn_without_replacement(share, task):
    learner, n = Tree(max_samples=share), len(task[0])
    rows, features = learner._draw(task[0], None, 3, Workers(1))
    assert features is None
    if share == 1:
        assert rows is None
        return
    assert len(np.unique(rows)) == len(rows) == max(1, round(share * n))
    assert (np.diff(rows) > 0).all()
    hypothesis, votes = answer(learner, task, seed=3)
    assert_identical(hypothesis.tree, grown(task, learner.params(), rows=rows))
    np.testing.assert_array_equal(votes, hypothesis.votes(task[0]))


def test_rows_of_a_bootstrap_are_drawn_from_it(task):
    counts = np.random.default_rng(4).multinomial(len(task[0]), task[1].weights)
    rows, _ = Tree(max_samples=0.5)._draw(task[0], counts, 4, Workers(1))
    assert (counts[rows] > 0).all()
    assert len(rows) == round(0.5 * np.count_nonzero(counts))


@pytest.mark.parametrize(
    ("wanted", "n_features", "drawn"),
    [
        (None, 10, 10),
        (3, 10, 3),
        (30, 10, 10),
        (1, 10, 1),
        (1.0, 10, 10),
        (0.25, 10, 2),
        (0.01, 10, 1),
        ("sqrt", 10, 3),
        ("sqrt", 1, 1),
        ("log2", 10, 3),
        ("log2", 1, 1),
    ],
)
def test_features_are_drawn_by_number_share_or_name(wanted, n_features, drawn):
    assert Tree(max_features=wanted)._n_features(n_features) == drawn
    _, features = Tree(max_features=wanted)._draw(
        prepared(np.ones((3, n_features))), None, 5, Workers(1)
    )
    if drawn == n_features:
        assert features is None
    else:
        assert len(np.unique(features)) == len(features) == drawn


def test_only_drawn_features_are_split(task):
    learner = Tree(max_depth=5, max_features="sqrt")
    for seed in range(5):
        _, features = learner._draw(task[0], None, seed, Workers(1))
        tree = answer(learner, task, seed=seed)[0].tree
        assert set(tree.feature[~tree.is_leaf]) <= set(features)
        assert_identical(tree, grown(task, learner.params(), features=features))


def test_chance_depends_on_the_seed_alone(task):
    learner = Tree(max_samples=0.5, max_features=0.5)
    first, again, other = (answer(learner, task, seed=seed)[1] for seed in (6, 6, 7))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_draw_of_rows_without_weight_gives_a_leaf():
    data = prepared(np.arange(20.0)[:, None])
    weights = np.zeros(20)
    weights[0] = 1.0
    question = Question(np.arange(20, dtype=np.int32) % 2, weights, 2, np.ones(2))
    draw = Tree(max_samples=0.2)._draw
    seed = next(s for s in range(99) if 0 not in draw(data, None, s, Workers(1))[0])
    hypothesis, votes = answer(Tree(max_samples=0.2), (data, question), seed=seed)
    assert (hypothesis.tree.value >= 0).all()
    assert np.isin(votes, [0, 1]).all()


@pytest.mark.parametrize("learner", [Tree(), Tree(max_leaf_nodes=6, max_depth=None), Stump()])
def test_threads_do_not_change_the_answer(learner, task, monkeypatch):
    expected, expected_votes = answer(learner, task)
    monkeypatch.setattr(trees, "SHARDING_PAYS", 0)
    with Workers(3) as workers:
        hypothesis, votes = answer(learner, task, threads=workers)
    assert_identical(hypothesis.tree, expected.tree)
    np.testing.assert_array_equal(votes, expected_votes)


def set_question(task, seed=8):
    """What naming each label is worth: more where it is the target."""
    data, question = task
    worth = np.random.default_rng(seed).uniform(0, 1, (len(data), question.n_answers))
    own = np.arange(question.n_answers) == question.targets[:, None]
    edges = np.where(own, worth, -worth / question.n_answers)
    channels = np.column_stack([edges, np.abs(edges).sum(axis=1)])
    return Question(
        question.targets, question.weights, question.n_answers, question.code, edges=channels
    )


@pytest.mark.parametrize("learner", [Tree(), Tree(max_depth=None, max_leaf_nodes=6), Stump()])
def test_a_set_of_labels_is_named_by_the_leaf_and_its_worth(learner, task):
    data, question = task[0], set_question(task)
    hypothesis, votes = answer(learner, (data, question))
    tree = hypothesis.tree
    assert tree.is_leaf[votes].all()
    np.testing.assert_array_equal(votes, tree.apply(data.binned.packed))
    for leaf in np.unique(votes):
        worth = question.edges[votes == leaf, :-1].sum(axis=0)
        np.testing.assert_array_equal(question.code[leaf], worth > 0)


def test_a_set_of_labels_is_worth_more_than_that_of_the_root(task):
    data, question = task[0], set_question(task)
    _, votes = answer(Tree(), (data, question))
    worth = question.edges[:, :-1]
    named = (worth * question.code[votes]).sum()
    assert named > np.maximum(worth.sum(axis=0), 0).sum()


def test_a_bootstrap_counts_the_worth_of_sets(task):
    data, question = task[0], set_question(task)
    counts = np.random.default_rng(9).integers(0, 3, len(data))
    hypothesis, _ = answer(Tree(), (data, question), counts)
    repeated = np.arange(len(data)).repeat(counts)
    own = Question(
        question.targets[repeated],
        question.weights[repeated],
        question.n_answers,
        question.code,
        edges=question.edges[repeated],
    )
    expected, _ = answer(Tree(), (data.take(repeated), own))
    np.testing.assert_allclose(hypothesis.tree.value, expected.tree.value, atol=1e-10)
    np.testing.assert_array_equal(hypothesis.tree.feature, expected.tree.feature)


def test_some_rows_of_data_are_rows_of_both_tables(task):
    data = task[0]
    rows = np.array([5, 2, 2, 9])
    some = data.take(rows)
    np.testing.assert_array_equal(some.X, data.X[rows])
    np.testing.assert_array_equal(unpack(some.binned), unpack(data.binned)[rows])
    assert len(some) == 4
    assert Data(data.X).take(rows).binned is None


def test_a_stump_is_a_tree_of_depth_one():
    assert Stump(min_samples_leaf=3).params() == TreeParams(max_depth=1, min_samples_leaf=3)
    assert "max_depth" not in Stump().get_params()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_learners_can_be_cloned(learner):
    assert clone(learner).get_params() == learner.get_params()


@pytest.mark.parametrize(
    "learner",
    [
        Tree(max_depth=0),
        Tree(max_depth=2.5),
        Tree(max_leaf_nodes=1),
        Tree(min_samples_leaf=0),
        Tree(min_weight_leaf=0.6),
        Tree(criterion="mse"),
        Tree(max_features=0),
        Tree(max_features=1.5),
        Tree(max_features="all"),
        Tree(max_samples=0),
        Stump(criterion="edge"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_refused(learner):
    with pytest.raises(InvalidParameterError, match=f"parameter of {type(learner).__name__} must"):
        learner._validate_params()


def test_a_tree_that_answers_in_its_own_way_says_so():
    with pytest.raises(TypeError, match="answers_in_batches"):

        class Own(Tree):
            def answer(self, data, question, counts, seed, threads):
                raise NotImplementedError
