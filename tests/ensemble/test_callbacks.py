"""Callbacks: what they see, record and show, and how they stop a run."""

import io
import pickle
import time

import numpy as np
import pytest
from common import assert_same_model, make, problem
from rich.console import Console
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss

from steadyboost import SAMMEClassifier
from steadyboost.ensemble.callbacks import (
    Callback,
    EarlyStopping,
    Monitor,
    Progress,
    TimeLimit,
    default_callbacks,
)

X, y = problem(noise=0.3)
TRAIN, TEST = slice(0, 120), slice(120, None)


def fit(*callbacks, validate=False, **params):
    held_out = {"X_val": X[TEST], "y_val": y[TEST]} if validate else {}
    model = make(SAMMEClassifier, callbacks=list(callbacks), **params)
    return model.fit(X[TRAIN], y[TRAIN], **held_out)


class Diary(Callback):
    def __init__(self):
        self.entries = []

    def on_begin(self, run):
        self.entries.append("begin")

    def on_round(self, run):
        self.entries.append(len(run.stages))

    def on_end(self, run):
        self.entries.append("end")


class StopAt(Callback):
    def __init__(self, round_, sign=True):
        self.round_, self.sign = round_, sign

    def on_round(self, run):
        return self.sign if len(run.stages) == self.round_ else None


def test_the_base_does_nothing():
    assert_same_model(fit(Callback()), fit(), X)


def test_they_are_called_in_turn():
    diary = Diary()
    fit(diary, n_estimators=3)
    assert diary.entries == ["begin", 1, 2, 3, "end"]


@pytest.mark.parametrize("sign", [True, np.True_, 1])
def test_true_stops_the_run_and_the_others_still_see_the_round(sign):
    before, after = Diary(), Diary()
    model = fit(before, StopAt(2, sign), after)
    assert model.n_iter_ == 2
    assert before.entries == after.entries == ["begin", 1, 2, "end"]


def test_the_end_is_told_after_an_error_too():
    class Fail(Callback):
        def on_round(self, run):
            raise RuntimeError("no more")

    diary = Diary()
    with pytest.raises(RuntimeError, match="no more"):
        fit(diary, Fail())
    assert diary.entries == ["begin", 1, "end"]


def test_the_run_shows_scores_probabilities_and_errors():
    seen = {}

    class Look(Callback):
        def on_round(self, run):
            seen["train"] = run.error_on(run.rows), run.proba(run.rows)
            seen["val"] = run.error_on(run.validation), run.proba(run.validation)

    model = fit(Look(), validate=True)
    for name, part in (("train", TRAIN), ("val", TEST)):
        error, proba = seen[name]
        assert error == pytest.approx(1 - model.score(X[part], y[part]))
        np.testing.assert_array_equal(proba, model.predict_proba(X[part]))


# Monitor


def test_a_monitor_records_errors():
    history = fit(Monitor(), validate=True).history_
    model = fit()
    for name, part in (("train_error", TRAIN), ("val_error", TEST)):
        errors = [1 - accuracy_score(y[part], p) for p in model.staged_predict(X[part])]
        np.testing.assert_allclose(history[name], errors, atol=1e-12)


def test_a_monitor_records_metrics_of_probabilities():
    metrics = {"loss": log_loss, "hits": lambda y, proba: int((proba.argmax(axis=1) == y).sum())}
    model = fit(Monitor(metrics))
    losses = [log_loss(y[TRAIN], p) for p in model.staged_predict_proba(X[TRAIN])]
    np.testing.assert_allclose(model.history_["train_loss"], losses)
    assert model.history_["train_hits"][-1] == round(120 * model.score(X[TRAIN], y[TRAIN]))
    assert "val_loss" not in model.history_.columns


def test_a_monitor_is_given_class_indices():
    seen = []
    names = np.array(["a", "b", "c"])[y]
    model = make(SAMMEClassifier, callbacks=[Monitor({"m": lambda y, _: seen.append(y)})])
    model.fit(X, names)
    np.testing.assert_array_equal(seen[-1], y)


def test_a_monitor_weighs_its_errors():
    weights = np.random.default_rng(0).exponential(size=len(y))
    model = make(SAMMEClassifier, callbacks=[Monitor()]).fit(X, y, sample_weight=weights)
    expected = 1 - accuracy_score(y, model.predict(X), sample_weight=weights)
    assert model.history_["train_error"][-1] == pytest.approx(expected)


# Early stopping


@pytest.mark.parametrize("patience", [1, 3, 10])
def test_early_stopping_waits_and_then_keeps_the_best(patience):
    model = fit(EarlyStopping(patience), validate=True, n_estimators=60)
    errors = model.history_["val_error"]
    best = int(np.argmin(errors)) + 1
    assert model.n_iter_ == best
    assert len(errors) == min(best + patience, 60)
    assert_same_model(model, fit(n_estimators=best), X)


def test_a_large_tolerance_keeps_the_first_round():
    model = fit(EarlyStopping(3, tol=1.0), validate=True, n_estimators=60)
    assert len(model.history_) <= 4


def test_the_parameters_of_the_estimator_are_those_of_early_stopping():
    options = {"validate": True, "n_estimators": 40}
    by_callback = fit(EarlyStopping(2, 0.01), **options)
    by_parameter = fit(early_stopping=True, n_iter_no_change=2, tol=0.01, **options)
    assert_same_model(by_callback, by_parameter, X)
    assert by_callback.history_ == by_parameter.history_


def test_a_warm_start_of_early_stopping_is_one_long_fit():
    options = {"early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
    held_out = {"X_val": X[TEST], "y_val": y[TEST]}
    parts = SAMMEClassifier(n_estimators=4, warm_start=True, **options)
    parts.fit(X[TRAIN], y[TRAIN], **held_out)
    for n in (7, 30):
        parts.set_params(n_estimators=n).fit(X[TRAIN], y[TRAIN], **held_out)
    whole = SAMMEClassifier(n_estimators=30, **options).fit(X[TRAIN], y[TRAIN], **held_out)
    assert_same_model(parts, whole, X)


def test_after_early_stopping_a_warm_start_records_each_round_once():
    model = fit(early_stopping=True, validate=True, warm_start=True, n_estimators=20)
    model.set_params(n_estimators=25, early_stopping=False).fit(X[TRAIN], y[TRAIN])
    assert model.history_["round"] == list(range(1, 26))


# Time limit


def test_a_time_limit_ends_after_its_round(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert fit(TimeLimit(3)).n_iter_ == 3


def test_an_ample_time_limit_changes_nothing():
    assert fit(TimeLimit(1000)).n_iter_ == 5


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_must_be_positive(seconds):
    with pytest.raises(ValueError, match=f"seconds={seconds} must be a positive number"):
        TimeLimit(seconds)


# Progress


def shown(terminal=False, validate=False, **options):
    screen = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    fit(Progress(console=screen, **options), validate=validate)
    return screen.file.getvalue()


def test_progress_without_a_terminal_is_plain_lines():
    lines = shown(every=0).splitlines()
    errors = fit(Monitor()).history_["train_error"]
    assert lines == [
        f"SAMMEClassifier: round {t}/5, train error {error:.4f}"
        for t, error in enumerate(errors, 1)
    ]


def test_plain_lines_are_rare_but_the_last_round_has_one():
    lines = shown(every=1000).splitlines()
    assert [line.split(",")[0].split()[-1] for line in lines] == ["1/5", "5/5"]


def test_progress_on_a_terminal_is_a_bar():
    text = shown(terminal=True, validate=True)
    assert "\x1b[" in text
    assert "━" in text
    for word in ("SAMMEClassifier", "5/5", "train error 0.", "validation error 0."):
        assert word in text


def test_the_bar_ends_after_an_interrupt():
    class Interrupt(Callback):
        def on_round(self, run):
            raise KeyboardInterrupt

    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    with pytest.warns(UserWarning, match="Interrupted"):
        fit(Progress(console=screen), Interrupt())
    screen.print("done")
    assert screen.file.getvalue().endswith("done\n")
    assert "\x1b[?25h" in screen.file.getvalue()


def test_verbose_shows_progress_on_the_standard_error(capsys):
    fit(verbose=1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "SAMMEClassifier: round 5/5, train error" in printed.err


def test_quiet_by_default(capsys):
    fit()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "callback",
    [
        Monitor(),
        EarlyStopping(),
        TimeLimit(100),
        Progress(),
        Progress(console=Console(stderr=True)),
    ],
    ids=["monitor", "early stopping", "time limit", "progress", "progress on a console"],
)
def test_a_fitted_model_with_callbacks_can_be_pickled_and_cloned(callback):
    model = fit(callback, validate=True)
    assert_same_model(pickle.loads(pickle.dumps(model)), model, X)
    again = clone(model).fit(X[TRAIN], y[TRAIN], X_val=X[TEST], y_val=y[TEST])
    assert_same_model(again, model, X)


# What parameters ask for


def test_parameters_ask_for_callbacks_before_the_users():
    mine = Callback()
    params = make(SAMMEClassifier, early_stopping=True, verbose=1, callbacks=[mine])
    wanted = default_callbacks(params.get_params(deep=False))
    assert [type(callback) for callback in wanted] == [EarlyStopping, Progress, Callback]
    assert wanted[-1] is mine
    assert default_callbacks(SAMMEClassifier().get_params(deep=False)) == []


def test_callbacks_may_be_a_tuple():
    diary = Diary()
    make(SAMMEClassifier, callbacks=(diary,)).fit(X, y)
    assert diary.entries[-1] == "end"


def test_callbacks_must_be_callbacks():
    with pytest.raises((TypeError, ValueError), match="callbacks"):
        fit("progress")
    with pytest.raises(ValueError, match="'callbacks' parameter"):
        make(SAMMEClassifier, callbacks=Callback()).fit(X, y)


def test_early_stopping_without_validation_rows_says_what_to_pass():
    with pytest.raises(ValueError, match="X_val"):
        fit(EarlyStopping())


# scikit-learn's own protocol


class Watcher:
    """A callback of scikit-learn's protocol, which may stop the rounds."""

    def __init__(self, stop_at=None):
        self.stop_at, self.rounds = stop_at, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.rounds.append("teardown")

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **_):
        if context.task_name == "round":
            self.rounds.append(fitted_estimator.predict(X[TEST]))
            return len(self.rounds) == self.stop_at
        return False


@pytest.mark.skipif(
    not hasattr(SAMMEClassifier, "set_callbacks"), reason="needs sklearn.callback (1.9)"
)
@pytest.mark.parametrize("stop_at", [None, 3])
def test_callbacks_of_scikit_learn_see_each_round_and_may_stop(stop_at):
    watcher = Watcher(stop_at)
    model = make(SAMMEClassifier).set_callbacks(watcher).fit(X[TRAIN], y[TRAIN])
    *rounds, last = watcher.rounds
    assert last == "teardown"
    assert len(rounds) == model.n_iter_ == (stop_at or 5)
    for seen, predicted in zip(rounds, model.staged_predict(X[TEST]), strict=True):
        np.testing.assert_array_equal(seen, predicted)
