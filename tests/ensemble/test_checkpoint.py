"""Checkpoints: a run that was cut off and resumed is the run that was never cut off."""

import numpy as np
import pytest
from common import assert_same_model, each_booster, make, problem, quiet
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    AdaBoostM1Classifier,
    ECOCClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
)
from steadyboost.ensemble.callbacks import Callback, EarlyStopping, Monitor
from steadyboost.ensemble.checkpoint import Checkpoint
from steadyboost.ensemble.model_io.file import ModelFileError, load, save_model


class Crash(Exception):
    """What cuts a run off."""


class CrashAfter(Callback):
    def __init__(self, n_rounds, error=Crash):
        self.n_rounds, self.error = n_rounds, error

    def on_round(self, run):
        if len(run.stages) == self.n_rounds:
            raise self.error


class CountRounds(Callback):
    n_rounds = 0

    def on_round(self, run):
        self.n_rounds += 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sb"


def assert_same_run(one, other, X):
    assert_same_model(one, other, X)
    assert one.history_ == other.history_


def cut_off(model, n_rounds, path, X, y, every=4, **fit_params):
    """Start training and crash after some rounds."""
    callbacks = [*(model.callbacks or []), CrashAfter(n_rounds), Checkpoint(path, every)]
    with pytest.raises(Crash):
        model.set_params(callbacks=callbacks).fit(X, y, **fit_params)


@each_booster
@pytest.mark.parametrize("early_stopping", [False, True])
def test_resumed_is_uninterrupted(booster, early_stopping, path):
    X, y = problem()
    params = {"n_estimators": 12, "early_stopping": early_stopping, "n_iter_no_change": 3}
    whole = make(booster, callbacks=[Monitor()], **params).fit(X, y)
    rounds = len(whole.history_)
    for n_rounds in {min(2, rounds), min(5, rounds)}:
        cut_off(make(booster, callbacks=[Monitor()], **params), n_rounds, path, X, y)
    counter = CountRounds()
    callbacks = [Checkpoint(path), Monitor(), counter]
    assert_same_run(make(booster, callbacks=callbacks, **params).fit(X, y), whole, X)
    assert counter.n_rounds <= rounds - min(4, rounds - 1)


@each_booster
def test_a_finished_run_is_not_trained_again(booster, path):
    X, y = problem()
    params = {"early_stopping": True, "n_iter_no_change": 2, "n_estimators": 20}
    whole = make(booster, callbacks=[Checkpoint(path)], **params).fit(X, y)
    before, counter = path.read_bytes(), CountRounds()
    again = make(booster, callbacks=[Checkpoint(path), counter], **params).fit(X, y)
    assert_same_run(again, whole, X)
    assert path.read_bytes() == before
    assert counter.n_rounds <= 1  # where no edge was left, that is found out again


@pytest.mark.parametrize(
    "labels",
    [lambda X, y: X[:, 0] > 0, lambda X, y: y % 1, lambda X, y: np.arange(len(y)) % 2],
    ids=["perfect", "one class", "no edge"],
)
def test_a_run_that_ended_by_itself_stays_ended(labels, path):
    X, y = problem()
    y = labels(X, y)
    X = X if y.any() and y[0] != 0 else np.round(X * 0)
    params = {"estimator": Stump(), "n_estimators": 6}
    whole = quiet(make(AdaBoostM1Classifier, **params).fit, X, y)
    for _ in range(2):
        model = make(AdaBoostM1Classifier, callbacks=[Checkpoint(path, every=1)], **params)
        assert_same_run(quiet(model.fit, X, y), whole, X)


def test_interruption_by_the_user(path):
    X, y = problem()
    callbacks = [Monitor(), CrashAfter(3, KeyboardInterrupt), Checkpoint(path)]
    with pytest.warns(UserWarning, match="Interrupted"):
        make(SAMMEClassifier, callbacks=callbacks).fit(X, y)
    callbacks = [Monitor(), Checkpoint(path)]
    resumed = make(SAMMEClassifier, callbacks=callbacks).fit(X, y)
    assert_same_run(resumed, make(SAMMEClassifier, callbacks=[Monitor()]).fit(X, y), X)


def test_a_round_that_a_callback_left_halfway_is_done_again(path):
    X, y = problem()
    with pytest.raises(Crash):
        make(SAMMEClassifier, callbacks=[Checkpoint(path), CrashAfter(3), Monitor()]).fit(X, y)
    assert load(path).n_iter_ == 2
    resumed = make(SAMMEClassifier, callbacks=[Checkpoint(path), Monitor()]).fit(X, y)
    assert None not in resumed.history_["train_error"]


def test_the_file_is_written_every_so_many_rounds(path):
    X, y = problem()
    seen = []

    class Watch(Callback):
        outermost = True

        def on_round(self, run):
            seen.append(load(path).n_iter_ if path.exists() else 0)

    make(SAMMEClassifier, callbacks=[Checkpoint(path, every=2), Watch()]).fit(X, y)
    assert seen == [0, 2, 2, 4, 4]
    assert load(path).n_iter_ == 5


def test_more_and_fewer_rounds(path):
    X, y = problem()
    for n, in_file in ((5, 5), (9, 9), (3, 9), (12, 12)):
        callbacks = [Monitor(), Checkpoint(path)]
        model = make(SAMMEClassifier, n_estimators=n, callbacks=callbacks, n_jobs=1).fit(X, y)
        whole = make(SAMMEClassifier, n_estimators=n, callbacks=[Monitor()]).fit(X, y)
        assert_same_run(model, whole, X)
        assert load(path).n_iter_ == in_file


@pytest.mark.parametrize("params", [{"resample": True}, {"estimator": Tree(max_samples=0.5)}])
def test_the_seed_of_the_file(params, path):
    X, y = problem()
    params = {"random_state": None, "n_estimators": 8, **params}
    cut_off(make(MSmoothBoostClassifier, smoothing="auto", **params), 4, path, X, y)
    model = make(MSmoothBoostClassifier, smoothing="auto", callbacks=[Checkpoint(path)], **params)
    params["random_state"] = model.fit(X, y)._seed
    assert load(path)._seed == model._seed
    whole = make(MSmoothBoostClassifier, smoothing="auto", **params).fit(X, y)
    assert_same_run(model, whole, X)
    assert model.smoothing_path_ == whole.smoothing_path_


def test_a_generator_in_the_same_state(path):
    X, y = problem()
    cut_off(make(SAMMEClassifier, random_state=np.random.RandomState(1)), 2, path, X, y)
    seeded = {"random_state": np.random.RandomState(1), "callbacks": [Checkpoint(path)]}
    assert make(SAMMEClassifier, **seeded).fit(X, y).n_iter_ == 5
    with pytest.raises(ValueError, match="random_state"):
        make(SAMMEClassifier, **seeded).fit(X, y)


def test_validation_rows_of_the_user(path):
    X, y = problem()
    val = {"X_val": X[:50], "y_val": y[:50]}
    params = {"n_estimators": 20, "random_state": None, "early_stopping": True}
    cut_off(make(SAMMEClassifier, **params), 5, path, X, y, **val)
    model = make(SAMMEClassifier, callbacks=[Checkpoint(path)], **params).fit(X, y, **val)
    params["random_state"] = model._seed
    assert_same_run(model, make(SAMMEClassifier, **params).fit(X, y, **val), X)
    with pytest.raises(ValueError, match="the validation rows"):
        model.set_params(random_state=None).fit(X, y, X_val=X[:40], y_val=y[:40])


DIFFERENT = {
    "learning_rate": {"learning_rate": 0.5},
    "estimator": {"estimator": Stump()},
    "random_state": {"random_state": 1},
    "class_weight": {"class_weight": {0: 2.0, 1: 1.0, 2: 1.0}},
    "max_bins": {"max_bins": 9},
}


@pytest.mark.parametrize(("name", "params"), DIFFERENT.items(), ids=DIFFERENT.keys())
def test_another_parameter(name, params, path):
    X, y = problem()
    make(SAMMEClassifier, callbacks=[Checkpoint(path)]).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"another run, which differs in: .*\b{name}\b.*resume"):
        make(SAMMEClassifier, callbacks=[Checkpoint(path)], **params).fit(X, y)
    assert path.read_bytes() == before
    fresh = [Checkpoint(path, resume=False)]
    assert make(SAMMEClassifier, callbacks=fresh, **params).fit(X, y).n_iter_ == 5
    assert path.read_bytes() != before


def test_other_data(path):
    X, y = problem()
    make(SAMMEClassifier, callbacks=[Checkpoint(path)]).fit(X, y)
    names = np.array(["a", "b", "c"])
    for words, X_now, y_now, weights in (
        ("the training rows", X, np.roll(y, 1), None),
        ("the training rows", X, y, np.linspace(1, 2, len(y))),
        ("the bins", X + 1, y, None),
        ("the classes", X, names[y], None),
    ):
        with pytest.raises(ValueError, match=words):
            make(SAMMEClassifier, callbacks=[Checkpoint(path)]).fit(X_now, y_now, weights)
    with pytest.raises(ValueError, match="in the file SAMMEClassifier, now ECOCClassifier"):
        make(ECOCClassifier, callbacks=[Checkpoint(path)]).fit(X, y)


def test_validation_rows_that_chance_draws(path):
    X, y = problem()
    params = {"random_state": None, "early_stopping": True}
    make(SAMMEClassifier, callbacks=[Checkpoint(path)], **params).fit(X, y)
    with pytest.raises(ValueError, match="random_state is an integer"):
        make(SAMMEClassifier, callbacks=[Checkpoint(path)], **params).fit(X, y)


def test_what_was_chosen_for_the_number_of_rounds(path):
    X, y = problem()
    make(ECOCClassifier, callbacks=[Checkpoint(path)]).fit(X, y)
    with pytest.raises(ValueError, match="code_, which was chosen for n_estimators=5"):
        make(ECOCClassifier, n_estimators=6, callbacks=[Checkpoint(path)]).fit(X, y)


def test_warm_start(path):
    X, y = problem()
    whole = make(SAMMEClassifier, n_estimators=9).fit(X, y)
    half = make(SAMMEClassifier, warm_start=True).fit(X, y)
    save_model(half, path.with_name("half.sb"))
    cut_off(half.set_params(n_estimators=9), 7, path, X, y)
    for start in (load(path.with_name("half.sb")), half):
        start.set_params(n_estimators=9, callbacks=[Checkpoint(path)])
        assert_same_run(start.fit(X, y), whole, X)
    other = make(SAMMEClassifier, warm_start=True).fit(X, y, sample_weight=y + 1.0)
    with pytest.raises(ValueError, match="the rounds that warm_start=True goes on from"):
        other.set_params(n_estimators=9, callbacks=[Checkpoint(path)]).fit(X, y)


def test_early_stopping_as_a_callback(path):
    X, y = problem()
    val = {"X_val": X[:50], "y_val": y[:50]}

    def callbacks(*more):
        return [*more, EarlyStopping(n_iter_no_change=3)]

    whole = make(SAMMEClassifier, n_estimators=30, callbacks=callbacks()).fit(X, y, **val)
    model = make(SAMMEClassifier, n_estimators=30, callbacks=callbacks())
    cut_off(model, len(whole.history_) - 1, path, X, y, **val)
    model.set_params(callbacks=callbacks(Checkpoint(path))).fit(X, y, **val)
    assert_same_run(model, whole, X)
    assert len(whole.history_) == whole.n_iter_ + 3


def test_early_stopping_counts_only_rounds_that_were_watched():
    X, y = problem()
    val = {"X_val": X[:50], "y_val": y[:50]}
    model = make(SAMMEClassifier, n_estimators=3, warm_start=True)
    model.set_params(callbacks=[EarlyStopping(2)]).fit(X, y, **val)
    model.set_params(callbacks=None, n_estimators=9).fit(X, y)
    model.set_params(callbacks=[EarlyStopping(2)], n_estimators=20).fit(X, y, **val)
    assert model.n_iter_ > 9


def test_what_cannot_be_written_is_known_at_the_start(path):
    X, y = problem()
    counter = CountRounds()
    callbacks = [Checkpoint(path), counter]
    with pytest.raises(ModelFileError, match="skops or joblib"):
        make(SAMMEClassifier, estimator=DecisionTreeClassifier(), callbacks=callbacks).fit(X, y)
    nowhere = Checkpoint(path.parent / "none" / "run.sb")
    with pytest.raises(FileNotFoundError, match="folder"):
        make(SAMMEClassifier, callbacks=[nowhere, counter]).fit(X, y)
    assert counter.n_rounds == 0


def test_files_that_are_no_checkpoint(path):
    X, y = problem()
    save_model(make(SAMMEClassifier).fit(X, y), path)
    with pytest.raises(ValueError, match="the training rows"):
        make(SAMMEClassifier, callbacks=[Checkpoint(path)]).fit(X, y)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match="not a SteadyBoost model file"):
        make(SAMMEClassifier, callbacks=[Checkpoint(path)]).fit(X, y)


@pytest.mark.parametrize("every", [0, -1, 1.5, "10"])
def test_every_is_a_positive_integer(every):
    with pytest.raises(ValueError, match="every"):
        Checkpoint("run.sb", every=every)
