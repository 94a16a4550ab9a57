"""The work of a cell: split the data, choose parameters, fit and test an estimator."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

import steadyboost
from steadyboost.ensemble.callbacks import Callback
from steadyboost.interruptions import interrupted_fits_raise
from steadyboost.lab import datasets
from steadyboost.lab.experiments.problems import (
    GENERATORS,
    TEST_ROWS,
    TOY_ROWS,
    MissingData,
    Problem,
    load_problem,
    seed_of,
)
from steadyboost.lab.runs import (
    compile_kernels,
    error_rate,
    fit_timed,
    recorded_warnings,
    staged_errors,
)
from steadyboost.noise import corrupt

_PER_CLASS = re.compile(r"^(\d+) per class but one$")


def why_unavailable(*names: str) -> str:
    """Name of the first estimator that this version lacks, as a reason; empty if none."""
    lacking = [name for name in names if name not in steadyboost.__all__]
    return f"{lacking[0]} is not available in this version" if lacking else ""


def build(method: Mapping[str, Any], choice: Mapping[str, Any], n_classes: int, seed: int) -> Any:
    """An estimator in one thread, with the parameters of a choice from the method's grid."""
    parameters = dict(method["parameters"])
    learner = dict(method["learner"] or {})
    for key, value in choice.items():
        place, _, name = key.rpartition(".")
        (learner if place == "learner" else parameters)[name] = value
    if learner:
        parameters["estimator"] = _learner(learner, n_classes)
    parameters[method["rounds_parameter"]] = method["rounds"]
    estimator = getattr(steadyboost, method["estimator"])
    return estimator(**parameters, n_jobs=1, random_state=seed)


def _learner(description: dict[str, Any], n_classes: int) -> Any:
    name = description.pop("name")
    values = {key: _value(value, n_classes) for key, value in description.items()}
    return getattr(steadyboost, name)(**values)


def _value(value: Any, n_classes: int) -> Any:
    """TOML has no null, and a size may depend on the number of classes."""
    if value == "none":
        return None
    match = _PER_CLASS.match(value) if isinstance(value, str) else None
    return int(match[1]) * (n_classes - 1) if match else value


def choices(method: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of the grid; one empty choice where there is none."""
    grid = method["grid"]
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


HELD_OUT = 0.2  # of the training rows, for validation if the protocol has no such rows


@dataclass(frozen=True)
class SplitRows:
    """Rows and their class numbers."""

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class DataSplit:
    """Training, validation and test rows of one run; test labels are always clean."""

    train: SplitRows
    validation: SplitRows | None
    test: SplitRows


def draw(
    data: Mapping[str, Any], protocol: Mapping[str, Any], noise: Mapping[str, Any], repeat: int
) -> DataSplit:
    """The split of a run; it does not depend on the method, so that runs are paired."""
    seed = seed_of(data, repeat, "noise")
    if data["set"] in GENERATORS:
        return _generated(data["set"], noise["rate"], seed_of(data, repeat))
    problem = load_problem(data)
    train, validation, test = split_rows(problem, data, protocol, repeat)
    learning = np.concatenate([train, validation])
    X, y = problem.take(learning)
    if noise["rate"] > 0:
        y, _ = corrupt(y, noise["rate"], noise["kind"], random_state=seed)
    noisy = Problem(X, y)
    first, rest = np.split(np.arange(len(learning)), [len(train)])
    held = SplitRows(*noisy.take(rest)) if len(rest) else None
    return DataSplit(SplitRows(*noisy.take(first)), held, SplitRows(*problem.take(test)))


def split_rows(
    problem: Problem, data: Mapping[str, Any], protocol: Mapping[str, Any], repeat: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the training, validation (perhaps none) and test rows."""
    n, none = len(problem.y), np.empty(0, dtype=int)
    kind = protocol["kind"]
    if kind in ("split", "reshuffle") and problem.n_train is None:
        raise MissingData(f"data set {data['set']!r} has no pre-specified split here")
    if kind == "split":
        rows = np.arange(n)
        return rows[: problem.n_train], none, rows[problem.n_train :]
    if kind == "folds":
        return _folds(n, data, protocol, repeat)
    size = problem.n_train if kind == "reshuffle" else round(protocol["train"] * n)
    rows = np.random.default_rng(seed_of(data, repeat)).permutation(n)
    return rows[:size], none, rows[size:]


def _folds(
    n: int, data: Mapping[str, Any], protocol: Mapping[str, Any], repeat: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One fold as test set and, if asked for, the next one as validation set."""
    turn, fold = divmod(repeat, protocol["folds"])
    rows = np.random.default_rng(seed_of(data, turn)).permutation(n)
    parts = np.array_split(rows, protocol["folds"])
    test = parts.pop(fold)
    validation = np.empty(0, dtype=int)
    if protocol["validation"]:
        validation = parts.pop(fold % len(parts))
    return np.concatenate(parts), validation, test


def _generated(generator: str, rate: float, seed: int) -> DataSplit:
    if generator == "make_madelon_like":
        problem = datasets.make_madelon_like(TEST_ROWS, random_state=seed)
        train = SplitRows(problem.X_train, problem.y_train)
        return DataSplit(train, None, SplitRows(problem.X_test, problem.y_test))
    rng = np.random.default_rng(seed)
    train = SplitRows(*datasets.make_long_servedio(TOY_ROWS, noise=rate, random_state=rng))
    return DataSplit(
        train, None, SplitRows(*datasets.make_long_servedio(TEST_ROWS, random_state=rng))
    )


def hold_out(rows: SplitRows, seed: int) -> tuple[SplitRows, SplitRows]:
    """Hold out a fifth of the rows for validation."""
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = round((1 - HELD_OUT) * len(rows))
    whole = Problem(rows.X, rows.y)
    return SplitRows(*whole.take(order[:cut])), SplitRows(*whole.take(order[cut:]))


MOST_WARNINGS = 3


class Fitted(NamedTuple):
    """A fitted model, what was chosen for it, and how it was trained."""

    model: Any
    chosen: dict[str, Any]
    seconds: float
    clock: list[float]


class Clock(Callback):
    """Seconds of the processor from the start of training to the end of each round.

    Models are trained on one thread, so that these are the seconds of a machine with nothing else
    to do, whatever else it does.
    """

    def __init__(self) -> None:
        self.start, self.times = time.process_time(), []  # type: float, list[float]

    def on_round(self, run: Any) -> None:
        self.times.append(time.process_time() - self.start)


@interrupted_fits_raise()
def run_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a cell: errors by part at the recorded rounds, times, choices, warnings."""
    run = draw(cell["data"], cell["protocol"], cell["noise"], cell["repeat"])
    with recorded_warnings() as messages:
        fitted = choose_and_fit(cell, run)
        errors = {part: _measured(cell, fitted, run, part) for part in cell["parts"]}
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
    """The model of the best parameters on the validation rows, the first in case of ties."""
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
    cell: Mapping[str, Any], choice: dict[str, Any], train: SplitRows, held: SplitRows
) -> tuple[float, int | None]:
    return _validated(cell, fit(cell, choice, train).model, held)


def fit(cell: Mapping[str, Any], choice: dict[str, Any], train: SplitRows) -> Fitted:
    """Fit one model and measure the time."""
    seed = seed_of(cell["data"], cell["repeat"], "fit")
    n_classes = len(np.unique(train.y))
    model = build(cell["method"], choice, n_classes, seed)
    watch = Clock()
    if cell["clock"]:
        compile_kernels(build(cell["method"], {}, n_classes, seed=0), train.X, train.y)
        model.set_params(callbacks=[watch])
    watch.start = time.process_time()
    return Fitted(model, dict(choice), fit_timed(model, train.X, train.y), watch.times)


def _validated(cell: Mapping[str, Any], model: Any, rows: SplitRows) -> tuple[float, int | None]:
    """The error on validation rows: of the best round where rounds are chosen, else at the end."""
    if not cell["method"]["best_round"]:
        return error_rate(model.predict(rows.X), rows.y), None
    errors = staged_errors(model.staged_predict(rows.X), rows.y)
    best = int(np.argmin(errors))
    return float(errors[best]), best + 1


def _measured(cell: Mapping[str, Any], fitted: Fitted, run: DataSplit, part: str) -> list[float]:
    """The measure on a part of the rows at the recorded rounds."""
    rows = run.train if part == "train" else run.test
    if cell["measure"] == "f1":
        return [float(f1_score(rows.y, fitted.model.predict(rows.X)))]
    if "round" in fitted.chosen:
        errors = staged_errors(fitted.model.staged_predict(rows.X), rows.y)
        return [float(errors[fitted.chosen["round"] - 1])]
    if len(cell["record"]) == 1:
        return [error_rate(fitted.model.predict(rows.X), rows.y)]
    return at_rounds(staged_errors(fitted.model.staged_predict(rows.X), rows.y), cell["record"])


def at_rounds(values: Any, record: list[int]) -> list[float]:
    """Values at the recorded rounds; after an early stop, the last value."""
    return [float(values[min(round_, len(values)) - 1]) for round_ in record]


def _chosen_by(model: Any) -> dict[str, Any]:
    """Values that the estimator has chosen for parameters set to "auto"."""
    left = [name for name, value in model.get_params(deep=False).items() if str(value) == "auto"]
    chosen = {name: getattr(model, f"{name}_", None) for name in left}
    return {name: float(v) for name, v in chosen.items() if isinstance(v, (int, float))}
