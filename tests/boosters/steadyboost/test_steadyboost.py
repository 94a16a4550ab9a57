"""SteadyBoost under label noise: how good it is, and what it says of labels."""

import numpy as np
import pytest
from common import problem, redraw_rate
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from steadyboost import SteadyBoostClassifier, load
from steadyboost.ensemble.callbacks import Callback
from steadyboost.noise import corrupt

ROUNDS = 40


class Noisy:
    """Digits with wrong labels, and models that have learnt them."""

    def __init__(self, kind, rate, **params):
        X, y = load_digits(return_X_y=True)
        X_train, self.X_test, y_train, self.y_test = train_test_split(
            X, y, train_size=700, random_state=0, stratify=y
        )
        self.X, self.truth = X_train, y_train
        self.y, self.is_wrong = corrupt(y_train, rate, kind, random_state=0)
        model = SteadyBoostClassifier(n_estimators=ROUNDS, random_state=0, **params)
        self.model = model.fit(self.X, self.y)

    def score(self, model):
        return model.score(self.X_test, self.y_test)


@pytest.fixture(scope="module")
def symmetric():
    return Noisy("symmetric", 0.3)


@pytest.fixture(scope="module")
def paired():
    return Noisy("pair", 0.35)


def small(n_estimators=6, **params):
    options = {"n_folds": 2, "random_state": 0, **params}
    return SteadyBoostClassifier(n_estimators=n_estimators, **options)


# How good it is


def test_it_beats_rivals_where_labels_are_wrong(symmetric):
    ours = symmetric.score(symmetric.model)
    assert ours > 0.9
    for rival in (
        RandomForestClassifier(ROUNDS, random_state=0),
        AdaBoostClassifier(n_estimators=ROUNDS, random_state=0),
    ):
        assert ours > symmetric.score(rival.fit(symmetric.X, symmetric.y))


def test_it_finds_out_that_classes_are_taken_for_others(paired):
    assert paired.score(paired.model) > 0.8
    matrix = paired.model.transition_matrix_
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    off = matrix - np.diag(np.diag(matrix))
    assert (off.argmax(axis=1) == (np.arange(10) + 1) % 10).mean() >= 0.8
    forest = RandomForestClassifier(ROUNDS, random_state=0).fit(paired.X, paired.y)
    assert paired.score(paired.model) > paired.score(forest)


def test_leaves_of_forests_are_larger_where_labels_are_wrong(symmetric):
    clean = SteadyBoostClassifier(n_estimators=ROUNDS, random_state=0)
    clean.fit(symmetric.X, symmetric.truth)
    np.testing.assert_array_equal(clean.leaf_sizes_, 1)
    assert (symmetric.model.leaf_sizes_ > 1).all()


# What it says of labels


def test_it_knows_how_many_labels_are_wrong(symmetric, paired):
    for case in (symmetric, paired):
        assert abs(case.model.noise_rate_ - case.is_wrong.mean()) < 0.08
        matrix = case.model.transition_matrix_
        np.testing.assert_allclose(matrix.sum(axis=1), 1)
        assert (matrix >= 0).all()


def test_suspects_are_wrong_labels(symmetric):
    model, is_wrong = symmetric.model, symmetric.is_wrong
    suspects = model.suspects_
    assert is_wrong[suspects.row].mean() > 0.85
    assert is_wrong[suspects.row].sum() > 0.85 * is_wrong.sum()
    assert (suspects.suggested != suspects.given).all()
    assert (suspects.score <= 0.5).all()
    fixed = suspects.suggested == symmetric.truth[suspects.row]
    assert fixed[is_wrong[suspects.row]].mean() > 0.85
    np.testing.assert_array_equal(suspects.given, symmetric.y[suspects.row])


def test_tables_are_the_scores(symmetric):
    model = symmetric.model
    assert model.label_scores_.shape == symmetric.y.shape
    assert ((model.label_scores_ >= 0) & (model.label_scores_ <= 1)).all()
    np.testing.assert_array_equal(model.labels_.score, np.sort(model.label_scores_))
    disputed = model.labels_.given != model.labels_.suggested
    np.testing.assert_array_equal(model.suspects_.row, model.labels_.row[disputed])
    np.testing.assert_allclose(model.noise_rate_, 1 - model.label_scores_.mean())


def test_clean_labels_look_clean():
    X, y = problem(noise=0.0)
    model = small(20).fit(X, y)
    assert model.noise_rate_ < 0.12
    assert len(model.suspects_) < 0.1 * len(y)


@pytest.mark.parametrize("robustness", [0.0, 0.3])
def test_the_share_of_wrong_labels_can_be_told(robustness):
    X, y = problem(noise=0.3)
    model = small(robustness=robustness).fit(X, y)
    np.testing.assert_allclose(redraw_rate(model._noise), robustness * 3 / 2)
    assert np.isfinite(model.predict_proba(X)).all()


def test_more_robustness_finds_more_suspects():
    X, y = problem(noise=0.2)
    found = [small(robustness=share).fit(X, y).noise_rate_ for share in (0.0, 0.2, 0.4)]
    assert found == sorted(found)


def test_rows_that_were_not_trained_on_have_no_score():
    X, y = problem()
    weights = np.ones(len(y))
    weights[[0, 7, -1]] = 0
    model = small().fit(X, y, sample_weight=weights)
    assert model.label_scores_.shape == y.shape
    np.testing.assert_array_equal(np.isnan(model.label_scores_), weights == 0)
    assert not np.isin([0, 7, len(y) - 1], model.labels_.row).any()
    np.testing.assert_array_equal(model.labels_.given, y[model.labels_.row])


def test_rows_held_out_for_early_stopping_have_no_score():
    X, y = problem()
    model = small(early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert model.label_scores_.shape == y.shape
    assert np.isnan(model.label_scores_).sum() == 60


def test_a_single_class_is_right():
    model = small().fit(np.arange(10.0)[:, None], np.full(10, "a"))
    np.testing.assert_array_equal(model.label_scores_, 1)
    assert model.noise_rate_ == 0
    assert len(model.suspects_) == 0


def test_labels_of_any_type_keep_it():
    X, y = problem(k=2)
    names = np.array(["no", "yes"])[y]
    model = small().fit(X, names)
    assert set(model.labels_.suggested.tolist()) <= {"no", "yes"}
    np.testing.assert_array_equal(model.labels_.given, names[model.labels_.row])


# Rounds


def test_history_counts_open_boosters():
    for k in (2, 3):
        X, y = problem(k=k)
        model = small(30, n_folds=3, patience=2).fit(X, y)
        n_open = model.history_["open_boosters"]
        assert n_open[0] == 3
        assert list(n_open) == sorted(n_open, reverse=True)
        assert n_open[-1] < 3


def test_boosters_count_up_to_their_best_round():
    X, y = problem()
    model = small(25, patience=3).fit(X, y)
    for fold, last in enumerate(model.rounds_):
        grown = [stage.answer.answers[fold * 3] is not None for stage in model.stages_]
        assert sum(grown) == min(last + 3, 25)
        assert all(grown[: sum(grown)])


class Look(Callback):
    """What the loop knows of training rows once it has been asked."""

    def on_round(self, run):
        waited, self.weights = len(run.rows.weighting.pending_stages), run.weights
        run.error_on(run.rows)
        self.waited, self.left, self.scores = (
            waited,
            len(run.rows.weighting.pending_stages),
            run.rows.scores,
        )


def test_training_scores_are_added_when_they_are_asked_for():
    X, y = problem()
    look = Look()
    model = small(callbacks=[look]).fit(X, y)
    assert (look.waited, look.left) == (1, 0)
    model.begin()  # rounds, leaf sizes and smooth members as they are in training
    np.testing.assert_array_equal(model._scores(X), look.scores)


def test_callbacks_see_what_they_would_have_seen_in_one_run():
    """A fit that goes on forgets which rounds and leaf sizes the one before it chose."""
    X, y = problem()
    seen = []
    for rounds in ((8,), (3, 8)):
        look, model = Look(), small(warm_start=True, patience=2)
        for n_estimators in rounds:
            model.set_params(n_estimators=n_estimators, callbacks=[look]).fit(X, y)
        seen.append(look.scores)
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize("weights", [None, np.arange(240) % 4 + 1.0], ids=["equal", "own"])
def test_rows_weigh_what_the_user_says_in_every_round(weights):
    X, y = problem()
    look = Look()
    small(callbacks=[look]).fit(X, y, sample_weight=weights)
    expected = np.ones(len(y)) if weights is None else weights / weights.mean()
    np.testing.assert_allclose(look.weights, expected)


# Continuing, saving, tables


def assert_same(one, other, X):
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.label_scores_, other.label_scores_)
    np.testing.assert_array_equal(one.rounds_, other.rounds_)
    np.testing.assert_array_equal(one.member_weights_, other.member_weights_)
    np.testing.assert_array_equal(one.leaf_sizes_, other.leaf_sizes_)
    assert one.noise_rate_ == other.noise_rate_
    assert one.suspects_.to_csv() == other.suspects_.to_csv()


def test_threads_do_not_matter():
    X, y = problem()
    assert_same(small(n_jobs=1).fit(X, y), small(n_jobs=2).fit(X, y), X)


def test_going_on_is_the_uninterrupted_run():
    X, y = problem()
    model = small(3, warm_start=True, patience=2).fit(X, y)
    model.set_params(n_estimators=8).fit(X, y)
    assert_same(model, small(8, patience=2).fit(X, y), X)


@pytest.mark.parametrize(
    "given", [{"class_weight": {0: 1, 1: 8}}, {"cost_matrix": [[0, 1], [8, 0]]}]
)
def test_a_saved_model_knows_the_weights_of_its_classes(given, tmp_path):
    X, y = problem(200, 2, noise=0.2)
    fitted = {name: value for name, value in given.items() if name == "cost_matrix"}
    model = small(**{name: value for name, value in given.items() if name not in fitted})
    model.fit(X, y, **fitted).save(tmp_path / "model.sb")
    np.testing.assert_array_equal(
        load(tmp_path / "model.sb").predict_proba(X), model.predict_proba(X)
    )


def test_a_saved_model_knows_its_suspects(tmp_path):
    X, y = problem()
    weights = np.arange(len(y)) % 5
    model = small().fit(X, y, sample_weight=weights)
    model.save(tmp_path / "model.sb")
    read = load(tmp_path / "model.sb")
    assert_same(read, model, X)
    np.testing.assert_array_equal(read.transition_matrix_, model.transition_matrix_)
    np.testing.assert_array_equal(
        np.isnan(model.out_of_sample_proba_).any(axis=1), np.isnan(model.label_scores_)
    )
    assert not hasattr(read, "out_of_sample_proba_")  # a number per row and class


def test_costs_are_weighed_by_its_probabilities():
    X, y = problem()
    model = small().fit(X, y)
    costs = np.array([[0, 1, 9.0], [1, 0, 1], [1, 5, 0]])
    cheapest = (model.predict_proba(X) @ costs).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X, cost_matrix=costs), cheapest)
