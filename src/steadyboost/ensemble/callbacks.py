"""Callbacks: they read and write the history, and stop training by returning True."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as ProgressBar

    from steadyboost.ensemble.loop import Boosting

Metric = Callable[[np.ndarray, np.ndarray], float]
try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Without the protocol there is no ``set_callbacks``."""

    def with_callbacks(method: Any) -> Any:
        return method


class Callback:
    """Base of all callbacks; override what you need.

    The argument is the training run: ``history`` (one record per round), ``stages``, ``rows`` and
    ``validation`` with their running scores, ``error_on(rows)`` and ``proba(rows)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> class StopAtThree(Callback):
    ...     def on_round(self, run):
    ...         return len(run.stages) == 3
    >>> model = SAMMEClassifier(callbacks=[StopAtThree()]).fit(*load_iris(return_X_y=True))
    >>> model.n_iter_
    3
    """

    def on_begin(self, run: "Boosting") -> None:
        """Called before the first round."""

    def on_round(self, run: "Boosting") -> bool | None:
        """Called after each round; return True to stop."""

    def on_end(self, run: "Boosting") -> None:
        """Called once at the end, also when training was interrupted."""


class Monitor(Callback):
    """Record metrics of each round in the history.

    Parameters
    ----------
    metrics : dict of str to callable, default=None
        Functions of (true class indices, class probabilities). By default the error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> model = SAMMEClassifier(n_estimators=2, callbacks=[Monitor()])
    >>> len(model.fit(*load_iris(return_X_y=True)).history_["train_error"])
    2
    """

    def __init__(self, metrics: Mapping[str, Metric] | None = None):
        self.metrics = metrics

    def on_round(self, run: "Boosting") -> None:
        for name, rows in (("train", run.rows), ("val", run.validation)):
            if rows is None:
                continue
            if self.metrics is None:
                run.history[-1][f"{name}_error"] = run.error_on(rows)
                continue
            proba = run.proba(rows)
            for metric, function in self.metrics.items():
                run.history[-1][f"{name}_{metric}"] = function(rows.y, proba)


class EarlyStopping(Callback):
    """Stop when the validation error has not improved for a while; keep the best round.

    Parameters
    ----------
    n_iter_no_change : int, default=10
        Rounds without improvement after which to stop.
    tol : float, default=1e-7
        Smallest decrease that counts as improvement.
    """

    def __init__(self, n_iter_no_change: int = 10, tol: float = 1e-7):
        self.n_iter_no_change, self.tol = n_iter_no_change, tol

    def on_begin(self, run: "Boosting") -> None:
        """Find the best round so far (warm start, resume)."""
        if run.validation is None:
            raise ValueError("EarlyStopping needs validation rows; pass X_val and y_val to fit.")
        self.best_, self.best_round_ = np.inf, 0
        done = len(run.stages)
        errors: dict[int, Any] = {r["round"]: r.get("val_error") for r in run.history}
        for t in range(1, done + 1):
            if errors.get(t) is None:  # not watched: what came before cannot be compared
                self.best_, self.best_round_ = np.inf, 0
            elif errors[t] < self.best_ - self.tol:
                self.best_, self.best_round_ = errors[t], t
        if self.best_round_ and done - self.best_round_ >= self.n_iter_no_change:
            run.n_rounds = done

    def on_round(self, run: "Boosting") -> bool:
        assert run.validation is not None
        error = run.history[-1]["val_error"] = run.error_on(run.validation)
        if error < self.best_ - self.tol:
            self.best_, self.best_round_ = error, len(run.stages)
        return len(run.stages) - self.best_round_ >= self.n_iter_no_change

    def on_end(self, run: "Boosting") -> None:
        if self.best_round_:
            run.keep = self.best_round_


class TimeLimit(Callback):
    """Stop at the end of the round in which a time limit has passed.

    Parameters
    ----------
    seconds : float
        The limit.
    """

    def __init__(self, seconds: float):
        if not seconds > 0:
            raise ValueError(f"seconds={seconds!r} must be a positive number.")
        self.seconds = seconds

    def on_begin(self, run: "Boosting") -> None:
        self._end = time.monotonic() + self.seconds

    def on_round(self, run: "Boosting") -> bool:
        return time.monotonic() >= self._end


class Progress(Callback):
    """A progress bar with rounds, errors and the time left.

    In a terminal it is a bar, in a notebook one line that is updated, elsewhere plain lines.

    Parameters
    ----------
    every : float, default=0.1
        Seconds between updates; ten times as many between plain lines.
    console : rich.console.Console, default=None
        Where to draw; by default the standard error.
    """

    def __init__(self, every: float = 0.1, console: "Console | None" = None):
        self.every, self.console = every, console

    def on_begin(self, run: "Boosting") -> None:
        from rich.console import Console  # loaded by a fit that shows something, and by no other

        self._name, self._last, self._shown = type(run.booster).__name__, -np.inf, 0
        self._console = self.console or Console(file=sys.stderr)
        self._bar = progress_bar(self._console) if self._console.is_terminal else None
        if self._bar is not None:
            self._task = self._bar.add_task(self._name, total=run.n_rounds, errors="")
            self._bar.start()

    def on_round(self, run: "Boosting") -> None:
        is_updated = self._bar is not None or self._console.is_jupyter
        pause = self.every if is_updated else 10 * self.every
        if time.monotonic() - self._last >= pause:
            self._show(run)
            self._last = time.monotonic()

    def on_end(self, run: "Boosting") -> None:
        if len(run.stages) > self._shown:
            self._show(run)
        if self._bar is not None:
            self._bar.stop()
        elif self._console.is_jupyter:
            print(file=self._console.file, flush=True)

    def __getstate__(self) -> dict[str, Any]:
        """A console cannot be copied: copies draw on the standard error."""
        return {"every": self.every, "console": None}

    def _show(self, run: "Boosting") -> None:
        errors = f"train error {run.error_on(run.rows):.4f}"
        if run.validation is not None:
            errors += f", validation error {run.error_on(run.validation):.4f}"
        done = self._shown = len(run.stages)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, errors=errors)
        else:
            line = f"{self._name}: round {done}/{run.n_rounds}, {errors}"
            # A notebook begins a line again after a carriage return.
            start, end = ("\r", "") if self._console.is_jupyter else ("", "\n")
            print(start + line, file=self._console.file, end=end, flush=True)


def progress_bar(console: "Console") -> "ProgressBar":
    """A bar with the number of rounds, their errors and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as ProgressBar

    return ProgressBar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[errors]}"),
        TimeRemainingColumn(),
        console=console,
    )


def default_callbacks(params: Mapping[str, Any]) -> list[Callback]:
    """Callbacks for ``early_stopping`` and ``verbose``, then the user's."""
    wanted: list[Callback] = []
    if params["early_stopping"]:
        wanted.append(EarlyStopping(params["n_iter_no_change"], params["tol"]))
    if params["verbose"]:
        wanted.append(Progress())
    for callback in params["callbacks"] or []:
        if not isinstance(callback, Callback):
            raise TypeError(
                f"callbacks has {callback!r}, which is not a Callback; pass objects such as "
                "steadyboost.callbacks.Monitor()."
            )
        wanted.append(callback)
    return wanted


class SklearnCallbacks(Callback):
    """Call the callbacks that were passed to the estimator's ``set_callbacks``."""

    def __init__(self, X: Any, y: Any):
        self.X, self.y = X, y

    def on_begin(self, run: "Boosting") -> None:
        booster = run.booster
        self._fit = booster._init_callback_context(max_subtasks=run.n_rounds)
        self._fit.call_on_fit_task_begin(estimator=booster, X=self.X, y=self.y)
        self._next_round(run)

    def _next_round(self, run: "Boosting") -> None:
        if len(run.stages) < run.n_rounds:
            self._round = self._fit.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(estimator=run.booster, X=self.X, y=self.y)

    def on_round(self, run: "Boosting") -> bool:
        stop = self._round.call_on_fit_task_end(
            estimator=run.booster,
            X=self.X,
            y=self.y,
            reconstruction_attributes=lambda: {
                "stages_": list(run.stages),
                "history_": run.history[:],
            },
        )
        if not stop:
            self._next_round(run)
        return bool(stop)

    def on_end(self, run: "Boosting") -> None:
        self._fit.call_on_fit_task_end(estimator=run.booster, X=self.X, y=self.y)
