"""A training run, seen from where it was started: the members do the work."""

import copy
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.distributed import worker as member
from steadyboost.distributed.coordinator import Team
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.training_state import Rows


def labels(run: Boosting, rows: Rows) -> np.ndarray:
    return rows.y


def user_weights(run: Boosting, rows: Rows) -> np.ndarray:
    return np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight


def round_weights(run: Boosting, rows: Rows) -> np.ndarray:
    return run.weights


def running_scores(run: Boosting, rows: Rows) -> np.ndarray:
    return rows.scores


def probabilities(run: Boosting, rows: Rows) -> np.ndarray:
    return run.proba(rows)


class FarRows:
    """Rows that members have; what is asked of them is fetched, row by row."""

    def __init__(self, team: Team, name: str, n_classes: int):
        self.team, self.name, self.n_classes = team, name, n_classes

    def fetch(self, function: Callable[[Boosting, Rows], Any]) -> np.ndarray:
        """An array with an entry per row, in the order of the partitions."""
        found = self.team.everywhere(member.fetch, self.name, function)
        blocks = sorted((own for part in found for own in part), key=lambda own: own[0])
        return np.concatenate([values for _, values in blocks])

    def __len__(self) -> int:
        return len(self.y)

    y = property(lambda self: self.fetch(labels), doc="Class indices.")
    sample_weight = property(lambda self: self.fetch(user_weights), doc="Weights, as passed.")
    scores = property(lambda self: self.fetch(running_scores), doc="Scores, as they stand.")

    def fingerprint(self) -> str:
        """What tells these rows, and their partitions, from others."""
        found = self.team.everywhere(member.digests, self.name)
        pieces = sorted(pair for own in found for pair in own)
        return hashlib.blake2b(str(pieces).encode(), digest_size=16).hexdigest()


@dataclass
class FarBoosting(Boosting):
    """What callbacks see; a round is one of all members."""

    team: Any = None

    def __post_init__(self) -> None:
        self.problems = []
        self.team.restore = self.restoration

    def restoration(self) -> list[tuple]:
        """What brings members to where the run is."""
        bare = for_travel(self.booster)
        return [(member.start, bare, list(self.stages), self.validation is not None)]

    def replay(self) -> None:
        for function, *arguments in self.restoration():
            self.team.everywhere(function, *arguments)

    def is_done(self) -> bool:
        return self.team.everywhere(member.is_done)[0]

    def one_round(self) -> bool:
        over, stages, records, no_edge = self.team.everywhere(member.one_round)[0]
        self.stages += stages
        self.history += records
        if no_edge is not None:
            self.warn_of_no_edge(no_edge)
        return over

    def error_on(self, rows: Any) -> float:
        return self.team.everywhere(member.error_on, rows.name)[0]

    def proba(self, rows: Any) -> np.ndarray:
        return rows.fetch(probabilities)

    @property
    def weights(self) -> np.ndarray:
        return FarRows(self.team, "rows", self.rows.n_classes).fetch(round_weights)


def for_travel(booster: Any) -> Any:
    """The booster without what concerns the one who trains it."""
    bare = copy.copy(booster)
    left = ("callbacks", "stages_", "history_", "_skl_callbacks")
    for name in left:
        vars(bare).pop(name, None)
    bare.callbacks = None
    return bare
