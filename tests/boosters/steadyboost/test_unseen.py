"""Members judge rows that they have not seen, on both sides of where some rows stand for all."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import steadyboost
from steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.boosters.steadyboost.members import MemberTraining
from steadyboost.callbacks import Checkpoint
from steadyboost.noise import audit, corrupt
from steadyboost.noise.noise_model import MOST_ROWS

MEMBERS = ("boosters", "forest", "extremely randomised trees", "linear", "kernel")
BELOW, ABOVE, FAR = MOST_ROWS - 10, MOST_ROWS + 10, 3 * MOST_ROWS
ROUNDS = 6


def table(n):
    """Three columns, and labels that have nothing to do with them."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.integers(2, size=n)


def classifier(n_estimators=ROUNDS, **params):
    return SteadyBoostClassifier(
        n_estimators=n_estimators, n_folds=2, random_state=0, n_jobs=1, **params
    )


@pytest.fixture
def unseen(monkeypatch):
    """What members say of rows that they have not seen, asked for twice in each fit."""
    said, ask = [], MemberTraining.finish

    def asked(training):
        said.append((ask(training), ask(training)))
        return said[-1][0]

    monkeypatch.setattr(MemberTraining, "finish", asked)
    return said


@pytest.mark.parametrize("n", [BELOW, ABOVE, FAR])
def test_no_member_knows_labels_that_have_nothing_to_do_with_the_features(n, unseen):
    X, y = table(n)
    model = classifier().fit(X, y)
    for name, proba in zip(MEMBERS, unseen[0][0], strict=True):
        assert abs(roc_auc_score(y, proba[:, 1]) - 0.5) < 0.03, name
    assert not model.label_errors_.learnt
    assert len(model.suspects_) == 0


@pytest.mark.parametrize("n", [BELOW, ABOVE])
def test_members_say_the_same_when_they_are_asked_again(n, unseen, monkeypatch):
    said, ask = [], ForestMember.finish

    def asked(forest):
        said.append([(ask(forest), forest.leaf_size) for _ in range(2)])
        return said[-1][0][0]

    monkeypatch.setattr(ForestMember, "finish", asked)
    classifier(n_estimators=3).fit(*table(n))
    np.testing.assert_array_equal(*unseen[0])
    for (first, leaf_size), (again, same_size) in said:
        np.testing.assert_array_equal(first, again)
        assert leaf_size == same_size


@pytest.mark.parametrize("way", ["warm start", "checkpoint", "file"])
def test_going_on_with_many_rows_judges_as_the_uninterrupted_run(way, unseen, tmp_path):
    (X, y), path = table(ABOVE), tmp_path / "half.sb"
    whole = classifier().fit(X, y)
    if way == "checkpoint":
        kept = [Checkpoint(path)]
        classifier(ROUNDS // 2, callbacks=kept).fit(X, y)
        model = classifier(callbacks=kept).fit(X, y)
    else:
        model = classifier(ROUNDS // 2, warm_start=True).fit(X, y)
        if way == "file":
            model.save(path)
            model = steadyboost.load(path)
        model.set_params(n_estimators=ROUNDS).fit(X, y)
    np.testing.assert_array_equal(unseen[-1], unseen[0])
    assert abs(roc_auc_score(y, unseen[-1][0][1][:, 1]) - 0.5) < 0.03
    np.testing.assert_array_equal(model.label_scores_, whole.label_scores_)
    np.testing.assert_array_equal(model.member_weights_, whole.member_weights_)
    assert model.noise_rate_ == whole.noise_rate_


@pytest.fixture(scope="module")
def flipped():
    """A table of which a fifth of the labels is wrong."""
    X = np.random.default_rng(1).normal(size=(ABOVE, 3))
    y, is_wrong = corrupt((X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int), 0.2, random_state=0)
    return X, y, is_wrong


def test_audits_do_not_jump_where_some_rows_stand_for_all(flipped):
    X, y, is_wrong = flipped
    below, above = (audit(X[:n], y[:n], random_state=0, n_jobs=1) for n in (BELOW, ABOVE))
    assert abs(below.noise_rate - 0.2) < 0.02
    assert abs(above.noise_rate - below.noise_rate) < 0.01
    both = np.intersect1d(below.suspects, above.suspects)
    either = np.union1d(below.suspects, above.suspects)
    assert len(both) > 0.85 * len(either)
    assert is_wrong[above.suspects].mean() > 0.9


def test_models_do_not_jump_where_some_rows_stand_for_all(flipped, tmp_path):
    """Nor do they when they come from a file."""
    X, y, _ = flipped
    found = []
    for n in (BELOW, ABOVE):
        model, path = classifier(20).fit(X[:n], y[:n]), tmp_path / "model.sb"
        model.save(path)
        read = steadyboost.load(path)
        assert read.noise_rate_ == model.noise_rate_
        np.testing.assert_array_equal(read.suspects_.row, model.suspects_.row)
        np.testing.assert_array_equal(read.label_scores_, model.label_scores_)
        found.append(read)
    below, above = found
    assert abs(above.noise_rate_ - below.noise_rate_) < 0.01
    assert 0.9 < len(above.suspects_) / len(below.suspects_) < 1.1
    both = np.intersect1d(below.suspects_.row, above.suspects_.row)
    assert len(both) > 0.75 * len(np.union1d(below.suspects_.row, above.suspects_.row))
    np.testing.assert_allclose(above.member_weights_.sum(), below.member_weights_.sum(), rtol=0.3)
