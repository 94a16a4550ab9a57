"""Cross-fitted boosters: folds, early stopping, and what each says of rows that it left out."""

import numpy as np
import pytest
from common import problem
from steady_members import binned, boosters, round_, shared_rows, trained

from steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.booster_member import class_proba, deal_folds, leaves_for


def fitted(k=3, n_rounds=5, y=None, **params):
    X, own = problem(n=150, k=k)
    member = boosters(k, **params)
    _, grown = trained([member], shared_rows(X, own if y is None else y, k), n_rounds)
    return member, grown, X


@pytest.mark.parametrize("k", [2, 3])
def test_rows_are_judged_by_the_booster_that_left_them_out(k):
    member, grown, X = fitted(k, n_rounds=8, patience=3)
    bins, scores = binned(X), np.tile(member.prior, (len(X), 1))
    for t, trees in enumerate(grown):
        for f, fold in enumerate(member.folds):
            if t < fold.best_round:
                for column, tree in enumerate(trees[member.columns_of(f)]):
                    leaves = bins.leaves(tree)[fold.held_out]
                    scores[fold.held_out, column] += tree.value[leaves, 0]
    np.testing.assert_allclose(member.finish(), class_proba(scores), rtol=0, atol=1e-12)


def test_a_rows_label_does_not_change_what_is_said_of_it(monkeypatch):
    """Another label in one row changes the trees that have seen it, and no other."""
    member, _, X = fitted(n_rounds=4)
    _, y = problem(n=150, k=3)
    row, of_row = 5, np.empty(len(X), dtype=np.int64)
    for number, fold in enumerate(member.folds):
        of_row[fold.held_out] = number
    other = y.copy()
    other[row] = (y[row] + 1) % 3
    path = "steadyboost.boosters.steadyboost.booster_member.deal_folds"
    monkeypatch.setattr(path, lambda *_: of_row)
    again, _, _ = fitted(n_rounds=4, y=other)
    one, two = (m.folds[of_row[row]].scores[row] for m in (member, again))
    np.testing.assert_array_equal(one, two)


def test_folds_share_out_each_class():
    y = np.repeat([0, 1, 2], [50, 23, 4])
    folds = deal_folds(y, 5, 0)
    for c in range(3):
        counts = np.bincount(folds[y == c], minlength=5)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(folds, deal_folds(y, 5, 0))
    assert (folds != deal_folds(y, 5, 1)).any()


def test_each_row_is_left_out_once():
    member, _, X = fitted()
    held = np.concatenate([fold.held_out for fold in member.folds])
    np.testing.assert_array_equal(np.sort(held), np.arange(len(X)))
    for fold in member.folds:
        assert not np.isin(fold.rows, fold.held_out).any()
        assert len(fold.rows) + len(fold.held_out) == len(X)


def test_boosters_stop_when_their_fold_does_not_gain():
    member, grown, _ = fitted(n_rounds=30, patience=2)
    for f, fold in enumerate(member.folds):
        n_grown = sum(trees[member.columns_of(f).start] is not None for trees in grown)
        assert n_grown == min(fold.best_round + 2, 30)
    for t, trees in enumerate(grown[1:], 1):
        assert sum(tree is not None for tree in trees[:: member.width]) <= member.n_open(t - 1)
    assert member.n_open(29) < 3


def test_predictions_use_trees_up_to_the_best_round():
    member, grown, _ = fitted(n_rounds=6)
    tree = grown[0][0]
    assert all(member.pruned(j, 5, tree) is tree for j in range(member.n_trees))  # not known yet
    member.rounds = np.array([0, 3, 6])
    used = [[member.pruned(j, t, tree) is tree for t in range(6)] for j in (0, 3, 6)]
    np.testing.assert_array_equal(np.sum(used, axis=1), [0, 3, 6])


@pytest.mark.parametrize("k", [2, 3])
def test_probabilities_are_the_mean_over_the_boosters(k):
    member = boosters(k)
    scores = np.random.default_rng(0).normal(size=(20, member.n_columns))
    found = member.proba(scores)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    alone = [class_proba(scores[:, member.columns_of(f)] + 0.1) for f in range(3)]
    np.testing.assert_allclose(found, np.mean(alone, axis=0))


def test_a_fold_without_rows_does_not_stop_its_booster():
    rows = shared_rows(np.arange(3.0)[:, None], np.array([0, 1, 0]), 2)
    member = boosters(2, n_folds=5, patience=1)
    trained([member], rows, 4)
    assert [fold.best_round for fold in member.folds if not len(fold.held_out)] == [4, 4]
    assert member.grow(4, round_(4))[0] is not None


def test_trees_have_more_leaves_where_there_are_more_rows():
    assert [leaves_for(n) for n in (10, 5_000, 20_000, 10**9)] == [8, 8, 16, 32]
    X, y = problem(n=150)
    for given, expected in (("auto", 8), (3, 3)):
        model = SteadyBoostClassifier(n_estimators=1, max_leaf_nodes=given, random_state=0)
        trees = [answer.tree for answer in model.fit(X, y).stages_[0].answer.answers]
        boosters_trees = trees[: 5 * len(np.unique(y))]
        assert max(int(tree.is_leaf.sum()) for tree in boosters_trees) <= expected
