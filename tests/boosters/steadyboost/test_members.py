"""Members side by side: shared rows, columns, rounds, and one of another kind."""

import dataclasses

import numpy as np
import pytest
from common import problem, table
from pandas import DataFrame
from scipy.sparse import csr_array
from steady_members import binned, boosters, forests, round_, shared_rows, trained

from steadyboost import ModelFileError, SteadyBoostClassifier, load
from steadyboost.boosters.steadyboost.booster_member import deal_folds
from steadyboost.boosters.steadyboost.members import (
    Member,
    Members,
    MemberTraining,
    varying_features,
)
from steadyboost.ensemble.model_io import file
from steadyboost.ensemble.packed_forest import PackedLeafValues, pack_stages
from steadyboost.ensemble.scores import softmax
from steadyboost.learners.base import Answers, Data
from steadyboost.noise.noise_model import fit_noise_models


def fitted(k=3, n_estimators=5, **params):
    X, y = problem(n=150, k=k)
    model = SteadyBoostClassifier(n_estimators=n_estimators, n_folds=3, random_state=0, **params)
    return model.fit(X, y), X, y


@pytest.mark.parametrize("k", [2, 3])
def test_scores_have_a_column_for_every_member_and_class(k):
    members = Members([boosters(k, n_folds=4), *forests(k)])
    columns = [np.arange(members.n_columns)[place.columns] for place in members.places]
    np.testing.assert_array_equal(np.concatenate(columns), np.arange(members.n_columns))
    trees = [np.arange(members.n_trees)[place.trees] for place in members.places]
    np.testing.assert_array_equal(np.concatenate(trees), np.arange(members.n_trees))
    for place, own in zip(members.places, trees, strict=True):
        assert all(members.place_of_tree(part) is place for part in own)


def test_trees_add_to_columns_of_their_own():
    X, y = problem(n=150)
    members = [boosters(3), *forests(3)]
    training, grown = trained(members, shared_rows(X, y, 3), 1)
    used = training.members.pruned(grown[0], 0)
    assert [part for part, _, _ in used] == list(range(training.members.n_trees))
    widths = [tree.value.shape[1] for _, tree, _ in used]
    assert [column for _, _, column in used] == [0, *np.cumsum(widths)[:-1]]


def test_trees_of_another_width_are_refused():
    X, y = problem(n=150)
    training, [trees] = trained([boosters(3), *forests(3)], shared_rows(X, y, 3), 1)
    training.members.check(trees)
    with pytest.raises(ValueError, match="must have 1 values per leaf"):
        training.members.check([*trees[:8], *trees[-1:], *trees[9:]])


def test_files_with_trees_of_another_width_are_refused(tmp_path, monkeypatch):
    model, _, _ = fitted()
    stage = model.stages_[1]
    trees = stage.answer.answers
    last = next(tree for tree in reversed(trees) if tree is not None)
    model.stages_[1] = dataclasses.replace(stage, answer=Answers((last, *trees[1:])))
    with pytest.raises(ValueError, match="must have 1 values per leaf"):
        model.save(tmp_path / "model.sb")
    with monkeypatch.context() as unchecked:
        unchecked.setattr(file, "check_stages", lambda stages, model: None)
        model.save(tmp_path / "model.sb")
    with pytest.raises(ModelFileError, match="must have 1 values per leaf"):
        load(tmp_path / "model.sb")


def test_taking_in_trees_again_gives_the_same_members():
    X, y = problem(n=150)
    rows = shared_rows(X, y, 3)
    whole, grown = trained([boosters(3), *forests(3)], rows, 6)
    again = MemberTraining([boosters(3), *forests(3)], rows)
    for t, trees in enumerate(grown):
        again.update(trees, round_(t))
    np.testing.assert_array_equal(again.finish(), whole.finish())


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
    np.testing.assert_array_equal(varying_features(binned(X)), [0, 2])
    np.testing.assert_array_equal(varying_features(binned(np.zeros((5, 2)))), [0, 1])


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_few_rows_are_enough(n):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = SteadyBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.label_scores_).all()


def test_every_member_has_a_weight():
    model, _, _ = fitted(n_estimators=2)
    assert model.member_weights_.shape == (5,)


# A member of another kind: no trees, fitted once, to the numbers instead of the bins


@dataclasses.dataclass
class NearestMeanMember(Member):
    """Minus the squared distances to the classes' means, which are cross-fitted."""

    n_classes: int
    means: np.ndarray | None = None

    @property
    def n_columns(self):
        return self.n_classes

    def initial_scores(self, data):
        return self.scores(data.X, self.means)

    @staticmethod
    def scores(X, means):
        return -((X[:, None, :] - means) ** 2).sum(axis=2)

    def means_of(self, X, y):
        return np.stack([X[y == c].mean(axis=0) for c in range(self.n_classes)])

    def proba(self, scores):
        return softmax(scores)

    def start(self, rows):
        X, y, folds = rows.data.X, rows.y, deal_folds(rows.y, 3, rows.seed)
        self.means = self.means_of(X, y)
        self.unseen = np.empty((len(y), self.n_classes))
        for fold in range(3):
            held = folds == fold
            means = self.means_of(X[~held], y[~held])
            self.unseen[held] = self.proba(self.scores(X[held], means))

    def finish(self):
        return self.unseen


class WithNearestMeans(SteadyBoostClassifier):
    """SteadyBoost with a member more."""

    means = None

    def members(self):
        return [*super().members(), NearestMeanMember(self.n_classes_, self.means)]

    def _keep_members(self, members):
        super()._keep_members(members)
        self.means = members[-1].means


def test_a_member_of_another_kind_is_one_class():
    X, y = problem(n=150)
    plain = SteadyBoostClassifier(n_estimators=4, n_folds=3, random_state=0).fit(X, y)
    model = WithNearestMeans(n_estimators=4, n_folds=3, random_state=0).fit(X, y)
    assert model.member_weights_.shape == (6,)
    alone = NearestMeanMember(3, model.means)
    np.testing.assert_allclose(model.means, alone.means_of(X, y))
    scores = model._scores(X)
    np.testing.assert_array_equal(scores[:, :-3], plain._scores(X))  # others know nothing of it
    np.testing.assert_array_equal(scores[:, -3:], alone.initial_scores(Data(X)))


def test_a_member_of_another_kind_is_pooled_by_what_it_says_of_unseen_rows():
    X, y = problem(n=150)
    members = [boosters(3), *forests(3), NearestMeanMember(3)]
    training, _ = trained(members, shared_rows(X, y, 3), 4)
    unseen = training.finish()
    np.testing.assert_array_equal(unseen[3], members[3].unseen)
    noise = fit_noise_models(unseen, y, np.ones(len(y)))[0]
    assert noise.weights.shape == (4,)
    np.testing.assert_allclose(noise.true_proba(unseen).sum(axis=1), 1)


def test_a_member_of_another_kind_is_there_from_the_first_round_on():
    X, y = problem(n=150)
    model = WithNearestMeans(n_estimators=4, n_folds=3, random_state=0).fit(X, y)
    staged = list(model.staged_predict_proba(X))
    np.testing.assert_array_equal(staged[-1], model.predict_proba(X))
    for scores in model._staged_scores(X):
        np.testing.assert_array_equal(scores[:, -3:], model._scores(X)[:, -3:])
