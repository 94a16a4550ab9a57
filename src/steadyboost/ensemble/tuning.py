"""Successive halving: choosing a parameter on held-out rows, cheaper than a full fit per value.

All values share the binned rows and the random draws. At an eighth, a quarter and a half of the
rounds, the worse half of the values is dropped.
"""

import copy
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Learner

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier

RUNGS = (0.125, 0.25, 0.5, 1.0)  # shares of the rounds: successive halving


def race(
    booster: "BoostingClassifier",
    rows: TrainingState,
    learner: Learner,
    attribute: str,
    values: Sequence[Any],
    held_out: float = 0.2,
) -> list[dict[str, Any]]:
    """Held-out error of each value of an attribute; the best first, ties in the given order.

    A record has the value, its error and the rounds that it ran, out of ``n_estimators``.
    """
    train, test, any_held = rows.split_off(held_out, booster._seed)
    if not any_held:  # too few rows to compare the values
        return [{"value": value, "error": np.nan, "rounds": 0} for value in values]

    def start(value: Any) -> Boosting:
        rival = copy.copy(booster)
        setattr(rival, attribute, value)
        alone = rows.workers.alone()  # values are compared in parallel, each on one thread
        return Boosting(
            rival,
            learner,
            rows.take(train, alone),
            rows.take(test, alone),
            Seeds(booster._seed),
            booster.n_estimators,
        )

    running = [(start(value), value) for value in values]
    records: list[dict[str, Any]] = []
    for rung in RUNGS:
        goal = max(1, round(rung * booster.n_estimators))
        errors = rows.workers.parallel_map(partial(_advance, goal), running)
        order = np.argsort(errors, kind="stable")
        kept = -(-len(running) // 2) if rung < 1 else 0
        for k in reversed(order[kept:]):  # inserted at the front: the best ends up first
            run, value = running[k]
            records.insert(0, {"value": value, "error": errors[k], "rounds": len(run.stages)})
        running = [running[k] for k in sorted(order[:kept])]
    return records


def _advance(goal: int, entry: tuple[Boosting, Any]) -> float:
    """Boost up to ``goal`` rounds; the held-out error then."""
    run, _ = entry
    while not run.over and len(run.stages) < goal:
        run.over = run.one_round()
    assert run.validation is not None
    return run.error_on(run.validation)
