"""Training, validation and test rows of one run, with the labels that the training sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from steadyboost.noise import corrupt

HELD_OUT = 0.2  # of the training rows, to choose by where a protocol has no validation rows


@dataclass(frozen=True)
class Rows:
    """Rows and their class numbers."""

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class DataSplit:
    """What one run trains on, chooses by and is tested on; test labels are always clean."""

    train: Rows
    validation: Rows | None
    test: Rows


def draw(
    data: Mapping[str, Any], protocol: Mapping[str, Any], noise: Mapping[str, Any], repeat: int
) -> DataSplit:
    """The rows of a run; they do not depend on the method, so that methods can be compared."""
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
    held = Rows(*noisy.take(rest)) if len(rest) else None
    return DataSplit(Rows(*noisy.take(first)), held, Rows(*problem.take(test)))


def split_rows(
    problem: Problem, data: Mapping[str, Any], protocol: Mapping[str, Any], repeat: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the rows to train on, to choose by (perhaps none) and to test on."""
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
    """One fold to test on and, where asked, the next one to choose by."""
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
        train = Rows(problem.X_train, problem.y_train)
        return DataSplit(train, None, Rows(problem.X_test, problem.y_test))
    rng = np.random.default_rng(seed)
    train = Rows(*datasets.make_long_servedio(TOY_ROWS, noise=rate, random_state=rng))
    return DataSplit(train, None, Rows(*datasets.make_long_servedio(TEST_ROWS, random_state=rng)))


def hold_out(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Part a fifth of the rows off, to choose by."""
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = round((1 - HELD_OUT) * len(rows))
    whole = Problem(rows.X, rows.y)
    return Rows(*whole.take(order[:cut])), Rows(*whole.take(order[cut:]))
