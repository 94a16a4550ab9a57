"""Members judge rows that they have not seen, and only those."""

import numpy as np
import pytest
from common import problem, table
from pandas import DataFrame
from reference.random_tree import shares_with_size
from scipy.sparse import csr_array

from steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.crossfit import (
    N_FORESTS,
    Shape,
    _varied,
    deal_folds,
    trees_of,
)
from steadyboost.ensemble.packed_forest import PackedLeafValues, pack_stages
from steadyboost.ensemble.rounds import Draw
from steadyboost.preprocessing.binner import Binner


class Keeping(SteadyBoostClassifier):
    """Keeps its members, which a model has no need of."""

    def finish(self, run):
        super().finish(run)
        self.members, self.round = run.booster_state, run.round
        self.unseen, _ = run.booster_state.unseen_proba(run)


def fitted(k=3, n_estimators=5, y=None, **params):
    X, own = problem(n=150, k=k)
    model = Keeping(n_estimators=n_estimators, n_folds=3, random_state=0, **params)
    return model.fit(X, own if y is None else y), X, own


def unseen_by_hand(model, X, y):
    """Out-of-sample probabilities by adding up trees row by row: boosters, then forests."""
    cross, shape = model.members, model._shape
    binned = model._binner.bin(X)
    boosters = np.tile(model._start, (len(y), 1)).astype(float)
    votes = np.zeros((N_FORESTS, len(y), shape.n_classes))
    for t, stage in enumerate(model.stages_):
        trees = trees_of(stage)
        for fold in cross.folds:
            if t < fold.best_round:
                for column, tree in enumerate(trees[shape.booster(fold.number)]):
                    held = fold.held_out
                    boosters[held, column] += tree.value[binned.leaves(tree)[held], 0]
        for number in range(N_FORESTS):
            tree = trees[shape.n_folds * shape.width + number]
            rng = model.round(t).of(shape.n_folds + number).rng(Draw.ROWS)
            missed = ~np.isin(np.arange(len(y)), rng.integers(len(y), size=len(y)))
            sized = shares_with_size(tree, model.leaf_sizes_[number])
            votes[number, missed] += sized[binned.leaves(tree)[missed]]
    total = votes.sum(axis=2, keepdims=True)
    forests = np.where(total > 0, votes / np.maximum(total, 1e-9), 1 / shape.n_classes)
    return np.stack([shape.class_proba(boosters), *forests])


@pytest.mark.parametrize("k", [2, 3])
def test_rows_are_judged_by_trees_that_have_not_seen_them(k):
    model, X, y = fitted(k, n_estimators=8, patience=3)
    found = model.unseen
    np.testing.assert_allclose(found, unseen_by_hand(model, X, y), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=2), 1)


def test_a_rows_label_does_not_change_what_is_said_of_it():
    """Another label in one row changes the trees that have seen it, and no other."""
    model, _, y = fitted(n_estimators=4, robustness=0.1)
    row = 5
    other = y.copy()
    other[row] = (y[row] + 1) % 3
    folds = [fold.held_out for fold in model.members.folds]
    keep = next(number for number, held in enumerate(folds) if row in held)
    with pytest.MonkeyPatch.context() as patch:
        of_row = np.empty(len(y), dtype=np.int64)
        for number, held in enumerate(folds):
            of_row[held] = number
        patch.setattr("steadyboost.boosters.steadyboost.crossfit.deal_folds", lambda *_: of_row)
        patch.setattr(Keeping, "tune", lambda self, *_: setattr(self, "_start", model._start))
        again, _, _ = fitted(n_estimators=4, robustness=0.1, y=other)
    one, two = (m.members.folds[keep].scores[row] for m in (model, again))
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
    model, _, y = fitted()
    held = np.concatenate([fold.held_out for fold in model.members.folds])
    np.testing.assert_array_equal(np.sort(held), np.arange(len(y)))
    for fold in model.members.folds:
        assert not np.isin(fold.rows, fold.held_out).any()
        assert len(fold.rows) + len(fold.held_out) == len(y)


@pytest.mark.parametrize("k", [2, 3])
def test_scores_have_a_column_for_every_member_and_class(k):
    shape = Shape(k, 4)
    columns = [shape.booster(f) for f in range(4)]
    columns += [shape.forest(f) for f in range(N_FORESTS)]
    together = np.concatenate([np.arange(s.start, s.stop) for s in columns])
    np.testing.assert_array_equal(together, np.arange(shape.n_columns))
    assert len(shape.first_columns()) == shape.n_parts


@pytest.mark.parametrize("k", [2, 3])
def test_all_stages_at_once_are_the_stages_one_by_one(k):
    model, X, _ = fitted(k, n_estimators=8, patience=2)
    assert isinstance(pack_stages(model, model.stages_), PackedLeafValues)
    *_, last = model._staged_scores(X)
    np.testing.assert_array_equal(model._scores(X), last)


def test_sparse_and_dense_tables_give_the_same_model():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (150, 8)).astype(float)
    y = (X[:, 0] + X[:, 1] > X[:, 2]).astype(int)
    one, other = (
        SteadyBoostClassifier(n_estimators=4, n_folds=2, random_state=0).fit(rows, y)
        for rows in (X, csr_array(X))
    )
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(csr_array(X)))
    np.testing.assert_array_equal(one.label_scores_, other.label_scores_)


def test_categories_and_gaps_are_learnt():
    columns, y = table(300)
    X = DataFrame(columns)
    model = SteadyBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    strange = X.assign(colour="unheard of", size=np.nan)
    np.testing.assert_allclose(model.predict_proba(strange).sum(axis=1), 1)


def test_features_of_one_value_take_no_draws():
    X = np.column_stack([np.arange(20), np.zeros(20), np.where(np.arange(20) < 5, np.nan, 1.0)])
    X = np.column_stack([X, np.full(20, np.nan)])
    binned = Binner.learn(X, np.zeros(4, dtype=bool)).bin(X)
    np.testing.assert_array_equal(_varied(binned), [0, 2])
    constant = np.zeros((5, 2))
    binned = Binner.learn(constant, np.zeros(2, dtype=bool)).bin(constant)
    np.testing.assert_array_equal(_varied(binned), [0, 1])


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_few_rows_are_enough(n):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = SteadyBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.label_scores_).all()


def test_large_trees_have_larger_leaves(monkeypatch):
    """Beyond a number of leaves, sizes count in multiples of the least one."""
    monkeypatch.setattr("steadyboost.boosters.steadyboost.forests.MOST_LEAVES", 30)
    model, X, y = fitted(n_estimators=3)
    np.testing.assert_array_equal(model.leaf_sizes_ % 5, 0)
    np.testing.assert_allclose(model.unseen, unseen_by_hand(model, X, y), rtol=0, atol=1e-12)
    forests = [tree for stage in model.stages_ for tree in trees_of(stage)[-N_FORESTS:]]
    assert max(tree.is_leaf.sum() for tree in forests) <= 30


def test_every_member_has_a_weight():
    model, _, _ = fitted(n_estimators=2)
    assert model.member_weights_.shape == (1 + N_FORESTS,)
