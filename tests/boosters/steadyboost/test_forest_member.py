"""Forests: bootstraps, leaf sizes, and what trees say of rows that they have not seen."""

import numpy as np
import pytest
from common import problem
from reference.random_tree import shares_with_size
from steady_members import binned, forests, round_, shared_rows, trained

from steadyboost.boosters.steadyboost import forest_member
from steadyboost.boosters.steadyboost.forest_member import enough_trees
from steadyboost.ensemble.rounds import Draw


def fitted(k=3, n_rounds=5):
    X, y = problem(n=150, k=k)
    members = forests(k)
    _, grown = trained(members, shared_rows(X, y, k), n_rounds)
    return members, grown, X


def out_of_bag_by_hand(number, leaf_size, k, grown, X):
    """Mean class shares by adding up trees row by row."""
    bins, votes = binned(X), np.zeros((len(X), k))
    for t, trees in enumerate(grown):
        rng = round_(t).of(number).rng(Draw.ROWS)
        missed = ~np.isin(np.arange(len(X)), rng.integers(len(X), size=len(X)))
        sized = shares_with_size(trees[number], leaf_size)
        votes[missed] += sized[bins.leaves(trees[number])[missed]]
    total = votes.sum(axis=1, keepdims=True)
    return np.where(total > 0, votes / np.maximum(total, 1e-9), 1 / k)


@pytest.mark.parametrize("k", [2, 3])
def test_rows_are_judged_by_trees_that_have_not_seen_them(k):
    members, grown, X = fitted(k)
    for number, member in enumerate(members):
        found = member.finish()
        expected = out_of_bag_by_hand(number, member.leaf_size, k, grown, X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_large_trees_have_larger_leaves(monkeypatch):
    """Beyond a number of leaves, sizes count in multiples of the least one."""
    monkeypatch.setattr("steadyboost.boosters.steadyboost.forest_member.MOST_LEAVES", 30)
    members, grown, X = fitted(n_rounds=3)
    for number, member in enumerate(members):
        found = member.finish()
        assert member.leaf_size % 5 == 0
        expected = out_of_bag_by_hand(number, member.leaf_size, 3, grown, X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert max(tree.is_leaf.sum() for trees in grown for tree in trees) <= 30


def test_predictions_use_leaves_of_the_chosen_size():
    (member, _), grown, _ = fitted(n_rounds=1)
    tree = grown[0][0]
    for size in (1.0, 8.0):
        member.leaf_size = size
        expected = shares_with_size(tree, size)
        np.testing.assert_allclose(
            member.pruned(0, 0, tree).value[tree.is_leaf], expected[tree.is_leaf]
        )


def test_rows_without_votes_have_equal_shares():
    member, _ = forests(4)
    np.testing.assert_array_equal(member.proba(np.zeros((2, 4))), 0.25)


def test_enough_trees_are_those_whose_excess_is_a_small_share(monkeypatch):
    """Votes that are drawn around a known distribution: their variance and score are known."""
    rng, n, n_trees = np.random.default_rng(0), 4000, 10
    y = rng.integers(2, size=n)
    votes = np.where(rng.random((n_trees, n)) < 0.8, y, 1 - y)  # 0.8 of the trees are right
    votes = np.eye(2)[votes]
    known = votes.mean(axis=0), (votes**2).sum(axis=0)
    by_size = [np.stack([part, part]) for part in known]
    found = enough_trees(*by_size, np.full(n, n_trees), y, np.ones(n))
    variance, score = 2 * 0.8 * 0.2, 2 * 0.2**2
    expected = variance / score / forest_member.EXCESS
    np.testing.assert_allclose(found, expected, rtol=0.05)


def test_a_forest_stops_when_it_has_enough_trees(monkeypatch):
    monkeypatch.setattr(forest_member, "TRIAL_TREES", 4)
    monkeypatch.setattr(forest_member, "TRIAL_ROWS", 100)
    monkeypatch.setattr(forest_member, "EXCESS", 10.0)
    members, grown, _ = fitted(n_rounds=6)
    assert [[tree is not None for tree in trees] for trees in grown] == [
        [t < 4] * 2 for t in range(6)
    ]
    assert [member.n_open(6) for member in members] == [0, 0]
    monkeypatch.setattr(forest_member, "EXCESS", 1e-9)
    members, _, _ = fitted(n_rounds=6)
    assert [member.n_open(6) for member in members] == [1, 1]
