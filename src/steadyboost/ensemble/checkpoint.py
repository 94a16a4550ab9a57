"""Checkpoints: files from which an interrupted training run is resumed."""

import os
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steadyboost.ensemble.callbacks import Callback
from steadyboost.ensemble.model_io.encoding import encode
from steadyboost.ensemble.model_io.file import (
    fitted_attributes,
    read_model,
    writable_params,
    write_model,
)
from steadyboost.ensemble.rounds import Seeds

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier
    from steadyboost.ensemble.loop import Boosting
    from steadyboost.ensemble.stages import Stage

FREE = {
    "n_estimators",
    "n_layers",
    "callbacks",
    "verbose",
    "n_jobs",
}  # may differ between the two runs
ROWS = "the training rows"


class Checkpoint(Callback):
    """Save the rounds so far to a file, and resume from it when training starts again.

    A resumed run gives the model and the history of one that was never interrupted, bit for bit:
    the same booster, parameters, rows and seed are required, and checked. ``n_estimators``,
    ``verbose`` and ``n_jobs`` may change. With ``random_state=None`` the seed in the file is used.

    Parameters
    ----------
    path : str or path-like
        The file. It is replaced as a whole, so there is always a complete one, and it can be
        loaded as a model. After early stopping it also holds the rounds beyond the best.
    every : int, default=10
        Rounds between two writes. The file is also written at the end and on an interruption.
    resume : bool, default=True
        Whether to go on from the file where it exists; otherwise it is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = [Checkpoint(f"{folder}/iris.sb", every=5)]
    ...     first = SAMMEClassifier(n_estimators=8, callbacks=kept).fit(X, y)
    ...     second = SAMMEClassifier(n_estimators=12, callbacks=kept).fit(X, y)
    >>> first.n_iter_, second.n_iter_
    (8, 12)
    >>> bool((first.estimator_weights_ == second.estimator_weights_[:8]).all())
    True
    """

    outermost: ClassVar[bool] = True

    def __init__(self, path: str | os.PathLike[str], every: int = 10, resume: bool = True):
        if not isinstance(every, Integral) or every < 1:
            raise ValueError(f"every={every!r} must be a positive integer.")
        self.path: str | os.PathLike[str] = path
        self.every: int = every
        self.resume: bool = resume

    def on_begin(self, run: "Boosting") -> None:
        """Check that the file can be written before any round is run, and resume from it."""
        writable_params(run.booster)
        folder = Path(os.path.abspath(self.path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"the folder of path={os.fspath(self.path)!r} does not exist.")
        self._rows = {
            "rows": run.rows.fingerprint(),
            "validation": run.validation and run.validation.fingerprint(),
        }
        self._kept = 0
        if self.resume and os.path.exists(self.path):
            self._restore(run)
        self._take_note(run)

    def on_round(self, run: "Boosting") -> None:
        self._take_note(run)
        if len(run.stages) % self.every == 0:
            self._write(run)

    def on_end(self, run: "Boosting") -> None:
        self._write(run)

    def _take_note(self, run: "Boosting") -> None:
        """Record the last complete round: an interruption may come between two callbacks."""
        self._done, self._recorded, self._over = len(run.stages), len(run.history), run.over

    def _write(self, run: "Boosting") -> None:
        """Write the file if there are new rounds; a run of fewer rounds does not shorten it."""
        if self._done > self._kept:
            stages, history = run.stages[: self._done], run.history[: self._recorded]
            notes = {**self._rows, "over": self._over}
            write_model(self.path, run.booster, stages, history, notes)
            self._kept = self._done

    def _restore(self, run: "Boosting") -> None:
        """Resume from the rounds of the file, if they are of the same run."""
        saved, notes = read_model(self.path)
        booster = run.booster
        changes = [*differences(saved, booster), *self._other_rows(notes)]
        if not _one_continues_the_other(saved.stages_, run.stages):
            changes.append("the rounds that warm_start=True goes on from")
        if changes:
            raise ValueError(self._complaint(changes, booster))
        self._kept = len(saved.stages_)
        booster._seed, run.seeds = saved._seed, Seeds(saved._seed)
        for name, (tuned, _) in _tuned(saved, booster).items():
            setattr(booster, name, tuned)
        if len(run.stages) < self._kept:
            self._go_on(run, saved, bool(notes.get("over")))

    def _go_on(self, run: "Boosting", saved: "BoostingClassifier", over: bool) -> None:
        too_many = max(0, len(saved.stages_) - run.n_rounds)
        run.stages = saved.stages_[: run.n_rounds]
        run.history = saved.history_[: len(saved.history_) - too_many]
        if over and not too_many:
            run.over, run.n_rounds = True, len(run.stages)

    def _other_rows(self, notes: dict[str, Any]) -> Iterator[str]:
        for name, words in (("rows", ROWS), ("validation", "the validation rows")):
            if notes.get(name, "") != self._rows[name]:
                yield words

    def _complaint(self, changes: list[str], booster: "BoostingClassifier") -> str:
        hint = ""
        if booster.random_state is None and booster.early_stopping and ROWS in changes:
            hint = (
                " With early_stopping=True each fit draws other validation rows unless "
                "random_state is an integer."
            )
        return (
            f"{os.fspath(self.path)} was kept by another run, which differs in: "
            f"{'; '.join(changes)}. Choose another path, remove the file, or pass resume=False "
            f"to replace it.{hint}"
        )


def differences(saved: "BoostingClassifier", booster: "BoostingClassifier") -> Iterator[str]:
    """Descriptions of the differences between a file and a run."""
    if type(saved) is not type(booster):
        yield f"the booster (in the file {type(saved).__name__}, now {type(booster).__name__})"
        return
    before, now = writable_params(saved), writable_params(booster)
    for name in sorted(now.keys() - FREE):
        if before[name] != now[name]:
            yield f"{name} (in the file {before[name]}, now {now[name]})"
    if booster.random_state is not None and saved._seed != booster._seed:
        yield f"the seed (in the file {saved._seed}, now {booster._seed})"
    yield from _unequal(_tables(saved, booster))
    if booster.random_state is not None or saved.n_estimators != booster.n_estimators:
        for name in _unequal(_tuned(saved, booster)):
            yield (
                f"{name}, which was chosen for n_estimators={saved.n_estimators} (to train on "
                "with it, load the file and set warm_start=True)"
            )


def _unequal(pairs: dict[str, list[Any]]) -> Iterator[str]:
    return (name for name, pair in pairs.items() if encode(pair[0], name) != encode(pair[1], name))


def _tuned(*pair: "BoostingClassifier") -> dict[str, list[Any]]:
    """Parameters that both boosters tuned before the first round; they may depend on the seed."""
    old, new = map(fitted_attributes, pair)
    return {name: [old[name], new[name]] for name in old if name in new}


def _tables(*pair: "BoostingClassifier") -> dict[str, list[Any]]:
    """The fitted preprocessing of both boosters."""
    return {
        "the classes": [list(model.classes_.tolist()) for model in pair],
        "cost_matrix": [model.cost_matrix_ for model in pair],
        "the feature names": [list(getattr(model, "feature_names_in_", [])) for model in pair],
        "the categories": [model._encoder.categories for model in pair],
        "the parts of dates": [model._encoder.parts for model in pair],
        "the bins": [None if model._binner is None else model._binner.cuts for model in pair],
    }


def _one_continues_the_other(one: list["Stage"], other: list["Stage"]) -> bool:
    both = list(zip(one, other, strict=False))
    return all(np.array_equal([a.step, a.error], [b.step, b.error]) for a, b in both)
