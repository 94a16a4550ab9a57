"""What a cell does: draw the rows, choose, train and test; a plain record comes out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from steadyboost.ensemble.callbacks import Callback
from steadyboost.lab.experiments.estimators import build, choices
from steadyboost.lab.experiments.problems import seed_of
from steadyboost.lab.experiments.splits import DataSplit, Rows, draw, hold_out

MOST_WARNINGS = 3


class Fitted(NamedTuple):
    """A fitted model, what was chosen for it, and how it was trained."""

    model: Any
    chosen: dict[str, Any]
    seconds: float
    clock: list[float]


class Clock(Callback):
    """Seconds from the start of training to the end of each round."""

    def __init__(self) -> None:
        self.start, self.times = time.perf_counter(), []  # type: float, list[float]

    def on_round(self, run: Any) -> None:
        self.times.append(time.perf_counter() - self.start)


def run_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a cell: errors by part at the recorded rounds, times, choices, warnings."""
    run = draw(cell["data"], cell["protocol"], cell["noise"], cell["repeat"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = choose_and_fit(cell, run)
        errors = {part: _measured(cell, fitted, run, part) for part in cell["parts"]}
    messages = list(dict.fromkeys(str(warning.message) for warning in caught))
    return {
        "errors": errors,
        "recorded": cell["record"],
        "rounds": int(getattr(fitted.model, "n_iter_", cell["method"]["rounds"])),
        "chosen": {**fitted.chosen, **_chosen_by(fitted.model)},
        "seconds": fitted.seconds,
        "clock": at_rounds(fitted.clock, cell["record"]) if fitted.clock else [],
        "n_train": len(run.train),
        "n_test": len(run.test),
        "warnings": messages[:MOST_WARNINGS],
    }


def choose_and_fit(cell: Mapping[str, Any], run: DataSplit) -> Fitted:
    """The model of the best choice on the validation rows, the first of equals."""
    options = list(choices(cell["method"]))
    if run.validation is None and len(options) > 1:
        train, held = hold_out(run.train, seed_of(cell["data"], cell["repeat"], "held out"))
        best = min(options, key=lambda choice: _tried(cell, choice, train, held)[0])
        return fit(cell, best, run.train)
    fits = []
    for choice in options:
        fitted = fit(cell, choice, run.train)
        error, round_ = 0.0, None
        if run.validation is not None:
            error, round_ = _validated(cell, fitted.model, run.validation)
        fits.append((error, fitted, round_))
    _, fitted, round_ = min(fits, key=lambda entry: entry[0])
    return fitted if round_ is None else fitted._replace(chosen={**fitted.chosen, "round": round_})


def _tried(
    cell: Mapping[str, Any], choice: dict[str, Any], train: Rows, held: Rows
) -> tuple[float, int | None]:
    return _validated(cell, fit(cell, choice, train).model, held)


def fit(cell: Mapping[str, Any], choice: dict[str, Any], train: Rows) -> Fitted:
    """Train one model, and time it."""
    seed = seed_of(cell["data"], cell["repeat"], "fit")
    model = build(cell["method"], choice, len(np.unique(train.y)), seed)
    watch = Clock()
    if cell["clock"]:
        _warm_up(cell["method"], train)
        model.set_params(callbacks=[watch])
    start = watch.start = time.perf_counter()
    model.fit(train.X, train.y)
    return Fitted(model, dict(choice), time.perf_counter() - start, watch.times)


def _warm_up(method: Mapping[str, Any], train: Rows) -> None:
    """Load compiled code, so that its time is not counted."""
    from steadyboost.lab.demo import StopAtTwo

    model = build(method, {}, len(np.unique(train.y)), seed=0)
    model.set_params(callbacks=[StopAtTwo()]).fit(train.X, train.y)


def _validated(cell: Mapping[str, Any], model: Any, rows: Rows) -> tuple[float, int | None]:
    """The error on validation rows: of the best round where rounds are chosen, else at the end."""
    if not cell["method"]["best_round"]:
        return _error(model.predict(rows.X), rows.y), None
    errors = staged_errors(model, rows)
    best = int(np.argmin(errors))
    return float(errors[best]), best + 1


def _measured(cell: Mapping[str, Any], fitted: Fitted, run: DataSplit, part: str) -> list[float]:
    """The measure on a part of the rows at the recorded rounds."""
    rows = run.train if part == "train" else run.test
    if cell["measure"] == "f1":
        return [float(f1_score(rows.y, fitted.model.predict(rows.X)))]
    if "round" in fitted.chosen:
        return [float(staged_errors(fitted.model, rows)[fitted.chosen["round"] - 1])]
    if len(cell["record"]) == 1:
        return [_error(fitted.model.predict(rows.X), rows.y)]
    return at_rounds(staged_errors(fitted.model, rows), cell["record"])


def staged_errors(model: Any, rows: Rows) -> np.ndarray:
    """The error after each round."""
    return np.array([_error(labels, rows.y) for labels in model.staged_predict(rows.X)])


def at_rounds(values: Any, record: list[int]) -> list[float]:
    """Values at the recorded rounds; a model that stopped early stays as it was."""
    return [float(values[min(round_, len(values)) - 1]) for round_ in record]


def _error(labels: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(labels != y))


def _chosen_by(model: Any) -> dict[str, Any]:
    """What the estimator itself has chosen for parameters that were left to it."""
    left = [name for name, value in model.get_params(deep=False).items() if str(value) == "auto"]
    chosen = {name: getattr(model, f"{name}_", None) for name in left}
    return {name: float(v) for name, v in chosen.items() if isinstance(v, (int, float))}
