"""Cells: one method on one data set at one rate of noise in one run, the unit of all work."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

import steadyboost
from steadyboost.lab.experiments.plan import DataChoice, Experiment, Method, Protocol

GENERATED_ROWS = 4000
LANDMARKS = (50, 100, 200, 500, 1000, 2000, 5000)  # rounds that every curve has, if it is so long


@dataclass(frozen=True)
class Condition:
    """Where a cell's result belongs in its experiment."""

    method: str
    data: str
    noise: float


@dataclass(frozen=True)
class Cell:
    """A unit of work; ``config`` is all that its result depends on."""

    condition: Condition
    repeat: int
    label: str
    cost: float
    config: dict[str, Any] = field(hash=False, compare=False)

    @cached_property
    def key(self) -> str:
        """The name of its result in the cache."""
        text = json.dumps(self.config, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()


def cells_of(experiment: Experiment) -> Iterator[Cell]:
    """All cells of an experiment, those of one data set together."""
    for method, data, rate in experiment.conditions():
        if data.missing:
            continue
        config = _config(experiment, method, data, rate)
        cost = _cost(data, config)
        for repeat in range(experiment.protocol_of(data).n_runs):
            label = f"{experiment.name}: {method.label} on {data.label}"
            condition = Condition(method.id, data.id, rate)
            yield Cell(condition, repeat, label, cost, {**config, "repeat": repeat})


def _config(
    experiment: Experiment, method: Method, data: DataChoice, rate: float
) -> dict[str, Any]:
    rounds = experiment.rounds if method.rounds is None else method.rounds
    kind = experiment.noise_kind if rate > 0 else "none"
    return {
        "version": steadyboost.__version__,
        "data": {"set": data.set, "change": dict(data.change)},
        "protocol": _protocol_config(experiment.protocol_of(data)),
        "noise": {"kind": kind, "rate": rate},
        "method": _method_config(experiment, method, rounds),
        "record": recorded_rounds(experiment, rounds),
        "parts": list(experiment.parts),
        "measure": experiment.measure,
        "clock": experiment.clock,
    }


def _protocol_config(protocol: Protocol) -> dict[str, Any]:
    """How rows are parted: not how often, so that more runs go on from fewer."""
    entries = asdict(protocol)
    return {key: entries[key] for key in ("kind", "train", "folds", "validation")}


def _method_config(experiment: Experiment, method: Method, rounds: int) -> dict[str, Any]:
    learner = None if method.own_learner else (method.learner or experiment.learner)
    shared = {} if method.own_learner else experiment.parameters
    return {
        "estimator": method.estimator,
        "learner": None if learner is None else dict(learner),
        "parameters": {**shared, **method.parameters},
        "rounds": rounds,
        "rounds_parameter": method.rounds_parameter,
        "grid": {key: list(values) for key, values in method.grid.items()},
        "best_round": method.best_round,
    }


def recorded_rounds(experiment: Experiment, rounds: int) -> list[int]:
    """Rounds whose errors are kept: those of the table, or enough of them to draw a curve."""
    if not experiment.curve:
        return list(experiment.record or (rounds,))
    spaced = (math.ceil(20 * 1.06**step) for step in range(1, 120))
    return sorted({t for t in (*range(1, 21), *spaced, *LANDMARKS, rounds) if t <= rounds})


def _cost(data: DataChoice, config: dict[str, Any]) -> float:
    """A guess at the work, for the time that is left: rows times columns times rounds."""
    from steadyboost.lab.datasets.catalog import CATALOG

    known = CATALOG.get(data.set)
    size = known.rows * known.columns**0.5 if known else GENERATED_ROWS
    method = config["method"]
    return size * method["rounds"] * math.prod(len(v) for v in method["grid"].values())
