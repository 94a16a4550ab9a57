"""Choosing how many rows are at the bottom, on held-out rows."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steadyboost.boosters.dmcboost.phases import DirectSearch, best_round
from steadyboost.ensemble.loop import Boosting, Seeds
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import split_off
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Learner


def bottom_mass(bottom: Any, rows: TrainingState) -> float:
    """The weight of the rows at the bottom, from a share (float) or a number (int).

    Where weights are whole numbers they count rows, and so does the result.
    """
    weights = rows.sample_weight
    total = float(len(rows)) if weights is None else float(weights.sum())
    if not isinstance(bottom, float):
        if bottom > total:
            raise ValueError(
                f"bottom={bottom!r} is more than all rows, which weigh {total:g}; pass a share "
                "such as 0.25, or a smaller number."
            )
        return float(bottom)
    counts = weights is None or bool((weights == np.rint(weights)).all())
    return max(float(round(bottom * total)), 1.0) if counts else bottom * total


def compare_bottoms(
    booster: Any, rows: TrainingState, learner: Learner, values: Sequence[float]
) -> list[dict[str, Any]]:
    """Held-out error of each share of rows at the bottom, best first; one phase I serves all.

    Shares whose bottom margin stays negative have degenerated, and come last. ``phase_1`` is the
    held-out error of phase I alone, ``excess`` that of the share beyond it, in standard errors.
    """
    train, test = split_off(rows.y, 0.2, booster._seed)
    if not len(test) or rows.n_classes == 1:
        unknown = dict.fromkeys(("error", "margin", "phase_1", "excess"), np.nan)
        records = [{"value": value, **unknown, "rounds": 0} for value in values]
        return sorted(records, key=lambda record: abs(record["value"] - 0.25))

    def start(value: float, workers: Workers) -> Boosting:
        rival = copy.copy(booster)
        own = rows.take(train, workers)
        rival.bottom_ = bottom_mass(value, own)
        held_out, seeds = rows.take(test, workers), Seeds(booster._seed)
        return Boosting(rival, learner, own, held_out, seeds, booster.n_estimators)

    first = start(values[0], rows.workers)
    first.booster_state = DirectSearch(first, first.booster._direct())
    while len(first.stages) < first.n_rounds and first.booster_state.is_descending():
        first.one_round()

    def finish(value: float) -> dict[str, Any]:
        return _second_phase(start(value, Workers(1)), first, value)

    records = rows.workers.run(finish, list(values))
    return sorted(records, key=lambda record: (record["margin"] < 0, record["error"]))


def _second_phase(run: Boosting, first: Boosting, value: float) -> dict[str, Any]:
    """Go on from the stages of phase I; the held-out error of the best round."""
    run.stages = list(first.stages)
    run.replay()
    run.booster_state = search = DirectSearch(run, run.booster._direct(), phase=2)
    search.margin = search.error_and_margin()[1]  # that of phase I was for another bottom
    extra = {**run.stages[-1].extra, "margin": search.margin}
    run.stages[-1] = replace(run.stages[-1], extra=extra)
    assert run.validation is not None
    errors, over = [run.error_on(run.validation)], False
    while not over and len(run.stages) < run.n_rounds:
        over = run.one_round()
        errors.append(run.error_on(run.validation))
    kept = best_round(run.stages)
    error, before = errors[kept - len(first.stages)], errors[0]
    spread = np.sqrt(max(before * (1 - before), 1 / len(run.validation)) / len(run.validation))
    return {
        "value": value,
        "error": error,
        "margin": run.stages[kept - 1].extra["margin"],
        "rounds": kept,
        "phase_1": before,
        "excess": float((error - before) / spread),
    }
