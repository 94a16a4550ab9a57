"""Forests: bootstraps, leaf sizes, and what trees say of rows that they have not seen."""

import numpy as np
import pytest
from common import problem
from reference.random_tree import shares_with_size
from steady_members import binned, forests, round_, shared_rows, trained

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
