"""A distributed training run as the process that started it sees it."""

import copy
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.distributed import worker
from steadyboost.distributed.coordinator import Coordinator
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.training_state import TrainingState


def labels(run: Boosting, rows: TrainingState) -> np.ndarray:
    return rows.y


def user_weights(run: Boosting, rows: TrainingState) -> np.ndarray:
    return np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight


def round_weights(run: Boosting, rows: TrainingState) -> np.ndarray:
    return run.weights


def running_scores(run: Boosting, rows: TrainingState) -> np.ndarray:
    return rows.scores


def probabilities(run: Boosting, rows: TrainingState) -> np.ndarray:
    return run.proba(rows)


class RemoteRows:
    """Rows that are on the workers; their arrays are fetched when they are asked for."""

    def __init__(self, coordinator: Coordinator, name: str, n_classes: int):
        self.coordinator, self.name, self.n_classes = coordinator, name, n_classes

    def fetch(self, function: Callable[[Boosting, TrainingState], Any]) -> np.ndarray:
        """An array with an entry per row, in the order of the partitions."""
        found = self.coordinator.run_on_all(worker.fetch, self.name, function)
        chunks = sorted((own for part in found for own in part), key=lambda own: own[0])
        return np.concatenate([values for _, values in chunks])

    def __len__(self) -> int:
        return len(self.y)

    y = property(lambda self: self.fetch(labels), doc="Class indices.")
    sample_weight = property(lambda self: self.fetch(user_weights), doc="Weights, as passed.")
    scores = property(lambda self: self.fetch(running_scores), doc="Current scores.")

    def fingerprint(self) -> str:
        """A hash of these rows and their partitions."""
        found = self.coordinator.run_on_all(worker.digests, self.name)
        partitions = sorted(pair for own in found for pair in own)
        return hashlib.blake2b(str(partitions).encode(), digest_size=16).hexdigest()


@dataclass
class RemoteBoosting(Boosting):
    """The run that callbacks see; each of its rounds is a round of all workers."""

    coordinator: Any = None

    def __post_init__(self) -> None:
        self.subproblems = []

    def plan_recovery(self) -> None:
        """Tell the coordinator what brings new workers to the current round."""
        bare, validates = without_run(self.booster), self.validation is not None
        self.coordinator.recovery = [(worker.start_run, bare, list(self.stages), validates)]

    def replay(self) -> None:
        self.plan_recovery()
        for function, *arguments in self.coordinator.recovery:
            self.coordinator.run_on_all(function, *arguments)

    def is_done(self) -> bool:
        return self.coordinator.run_on_all(worker.is_done)[0]

    def one_round(self) -> bool:
        over, stages, records, no_edge = self.coordinator.run_on_all(worker.one_round)[0]
        self.stages += stages
        self.history += records
        self.plan_recovery()
        if no_edge is not None:
            self.warn_of_no_edge(no_edge)
        return over

    def error_on(self, rows: Any) -> float:
        return self.coordinator.run_on_all(worker.error_on, rows.name)[0]

    def proba(self, rows: Any) -> np.ndarray:
        return rows.fetch(probabilities)

    @property
    def weights(self) -> np.ndarray:
        return RemoteRows(self.coordinator, "rows", self.rows.n_classes).fetch(round_weights)


def without_run(booster: Any) -> Any:
    """A copy of the booster to send: without callbacks, stages and history."""
    bare = copy.copy(booster)
    left = ("callbacks", "stages_", "history_", "_skl_callbacks")
    for name in left:
        vars(bare).pop(name, None)
    bare.callbacks = None
    return bare
