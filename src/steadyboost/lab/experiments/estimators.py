"""From a method's description to an estimator that can be fitted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import steadyboost

_PER_CLASS = re.compile(r"^(\d+) per class but one$")


def why_unavailable(*names: str) -> str:
    """Which of the public names does not exist; nothing if all do."""
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
