"""What may be named where labels have a worth: a set of them, one of them, or a vector."""

import numpy as np
import pytest
from reference import tree as twin
from reference.tree_cases import columns_of
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from steadyboost import C45, AttributeTest, DecisionRule, Tree
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data, Question
from steadyboost.learners.foreign import ForeignLearner
from steadyboost.preprocessing.binner import Binner

OURS = [Tree(max_depth=2), AttributeTest(), DecisionRule()]
OTHERS = [C45(), ForeignLearner(GaussianNB())]
each_of_ours = pytest.mark.parametrize("learner", OURS, ids=lambda learner: type(learner).__name__)
each_other = pytest.mark.parametrize("learner", OTHERS, ids=lambda learner: type(learner).__name__)


@pytest.fixture(scope="module")
def data():
    X = load_iris().data
    return Data(X, Binner.learn(X, np.zeros(X.shape[1], dtype=bool)).bin(X))


def question(form):
    """Weights of pairs of a row and a wrong label, as AdaBoost.M2 has them."""
    y = load_iris().target.astype(np.int32)
    edges = -np.random.default_rng(0).exponential(size=(len(y), 4))
    edges[np.arange(len(y)), y] = 0
    edges[:, 3] = edges[np.arange(len(y)), y] = -edges[:, :3].sum(axis=1)
    edges /= edges[:, 3].sum()
    return Question(y, edges[:, 3].copy(), 3, np.full(3, 0.5), edges=edges, form=form)


def ask(learner, data, form):
    asked = question(form)
    with Workers(1) as workers:
        answer, votes = learner.answer(data, asked, None, 0, workers)
    np.testing.assert_array_equal(votes, answer.votes(data))
    return asked, answer, votes


def leaf_sums(answer, asked, data):
    leaves = answer.tree.apply(data.binned.packed)
    return {leaf: asked.edges[leaves == leaf, :3].sum(axis=0) for leaf in np.unique(leaves)}, leaves


@each_of_ours
def test_one_label_is_the_one_of_most_worth(learner, data):
    asked, answer, votes = ask(learner, data, "label")
    sums, leaves = leaf_sums(answer, asked, data)
    assert votes.tolist() == [int(sums[leaf].argmax()) for leaf in leaves]
    np.testing.assert_array_equal(asked.code, np.full(3, 0.5))


@each_of_ours
def test_a_vector_points_where_the_worth_is(learner, data):
    asked, answer, votes = ask(learner, data, "vector")
    sums, leaves = leaf_sums(answer, asked, data)
    expected = [0.5 * sums[leaf] / np.linalg.norm(sums[leaf]) for leaf in leaves]
    np.testing.assert_allclose(asked.code[votes], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", ["set", "label", "vector"])
def test_a_tree_splits_by_what_its_leaves_may_name(form, data):
    asked, answer, _ = ask(Tree(max_depth=2), data, form)
    criterion = {"set": "edge", "label": "max_edge", "vector": "norm"}[form]
    rules = twin.Rules(criterion, max_depth=2)
    root = twin.grow(columns_of(data.binned), asked.edges / np.abs(asked.edges).sum(), rules)
    leaves = [leaf.value for leaf in root.leaves()]
    own = answer.tree.value[answer.tree.is_leaf]
    np.testing.assert_allclose(sorted(map(tuple, leaves)), sorted(map(tuple, own)), atol=1e-12)


@each_other
def test_others_name_a_target_or_give_probabilities(learner, data):
    y = question("label").targets
    _, _, votes = ask(learner, data, "label")
    assert votes.dtype == np.int32
    assert (votes == y).mean() > 0.9
    _, _, shares = ask(learner, data, "vector")
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), votes)


def test_a_vector_of_nothing_is_nothing(data):
    asked = question("vector")
    asked.edges[:, :3] = 0
    with Workers(1) as workers:
        Tree().answer(data, asked, None, 0, workers)
    np.testing.assert_array_equal(asked.code, np.zeros_like(asked.code))
