"""Cells and their results: one method on one data set at one noise rate in one run.

A cell is the unit of work. Its result is stored under a hash of its full configuration: in the
cache of this machine, one file per cell, or in an archive that can be committed with a project, one
file per experiment.
"""

import json
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from steadyboost.files import write_whole
from steadyboost.lab.experiments.plan import DataChoice, Experiment, Method, Protocol

# The last version in which an algorithm's results changed: a later one makes all cells run again.
LAST_CHANGE = "0.1.0"
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
        "version": LAST_CHANGE,
        "data": {"set": data.set, "change": dict(data.change)},
        "protocol": _protocol_config(experiment.protocol_of(data)),
        "noise": {"kind": kind, "rate": rate},
        "method": _method_config(experiment, method, rounds),
        "record": recorded_rounds(experiment, rounds),
        "parts": list(experiment.parts),
        "measure": experiment.measure,
        "clock": "cpu" if experiment.clock else False,
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


CACHE_VARIABLE = "STEADYBOOST_CACHE"


def default_folder() -> Path:
    """The folder named in ``STEADYBOOST_CACHE``, or one in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "steadyboost" / "cells"


class Cache:
    """Cell results in a folder, one file each."""

    def __init__(self, folder: Path):
        self.folder = folder

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of a cell; None where there is none, or where its file is damaged."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))["result"]
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def put(self, key: str, config: dict[str, Any], result: dict[str, Any]) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"cell": config, "made": made, "result": result}
        write_whole(path, json.dumps(record, ensure_ascii=False))

    def __contains__(self, key: str) -> bool:
        return self._path(key).is_file()


class Archive:
    """Files of results in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def _file(self, experiment: Experiment) -> Path:
        return self.folder / f"{experiment.name.replace('/', '-')}.jsonl"

    def restore(self, experiment: Experiment, cache: Cache) -> None:
        """Add what the cache lacks."""
        file = self._file(experiment)
        if not file.exists():
            return
        lines = file.read_text(encoding="utf-8").splitlines()
        kept = {line["key"]: line["result"] for line in map(json.loads, lines)}
        for cell in cells_of(experiment):
            if cell.key in kept and cell.key not in cache:
                cache.put(cell.key, cell.config, kept[cell.key])

    def store(self, experiment: Experiment, cache: Cache) -> None:
        """Write all results of an experiment; nothing where there are none."""
        results = {cell.key: cache.get(cell.key) for cell in cells_of(experiment)}
        lines = [
            json.dumps({"key": key, "result": result}, ensure_ascii=False)
            for key, result in results.items()
            if result is not None
        ]
        if lines:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._file(experiment), "\n".join(lines) + "\n")
