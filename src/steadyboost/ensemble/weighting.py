"""How the weights of rows follow from the stages: a strategy that each booster names.

A weighting owns the stages that the scores do not contain yet. It is chosen once for a training
run; the state that it works on is passed to its methods.
"""

from math import exp, log
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from steadyboost.ensemble.exp_score_cache import ExpScoreCache
from steadyboost.ensemble.scores import multiply_weights

if TYPE_CHECKING:
    from steadyboost.ensemble.hooks import Hooks
    from steadyboost.ensemble.stages import Stage
    from steadyboost.ensemble.training_state import RowChunk, TrainingState

LOWEST = -600.0  # logarithm of numbers well above the least, which is exp(-708)
MIDDLE = 16.0  # weights may shrink by this factor before their fixed-point unit is reset


class Weighting:
    """Weights from the scores, ``exp(log_weights) * sample_weight``, anew in each round."""

    # What 2**60 stands for as trees add up weights in fixed point; None for the sum of the weights.
    fixed_point_scale: float | None = None
    assumes: ClassVar[tuple[str, ...]] = ()  # hooks that must be those of the booster that named it

    def __init__(self, booster: "Hooks | None" = None):
        self.booster = booster
        self.pending_stages: list[Stage] = []  # not yet added to the scores
        self.last_votes: np.ndarray | None = None  # of the last of them, if they are known

    def start(self, state: "TrainingState") -> None:
        """Prepare the state, before the first round."""

    def weigh(self, state: "TrainingState") -> None:
        """Set the weights of the next round."""
        self.flush(state)
        assert self.booster is not None
        state.weigh(self.booster.weigh_block)

    def add(self, state: "TrainingState", stage: "Stage", votes: np.ndarray | None) -> None:
        """Add a stage; without votes it is pending until somebody needs the scores."""
        if votes is None:
            self.postpone(stage, None)
        else:
            self.add_to_scores(state, stage, votes)

    def replay(self, state: "TrainingState", stage: "Stage", votes: np.ndarray) -> None:
        """Add a stage of an earlier run, as it was added then."""
        self.add_to_scores(state, stage, votes)

    def postpone(self, stage: "Stage", votes: np.ndarray | None) -> None:
        self.pending_stages.append(stage)
        self.last_votes = votes

    def flush(self, state: "TrainingState") -> None:
        """Add the pending stages to the scores."""
        pending, self.pending_stages = self.pending_stages, []
        for stage in pending:
            known = self.last_votes if stage is pending[-1] else None
            votes = stage.answer.votes(state.data) if known is None else known
            self.add_to_scores(state, stage, votes)
        self.last_votes = None

    def add_to_scores(self, state: "TrainingState", stage: "Stage", votes: np.ndarray) -> None:
        state.each(lambda chunk: self.add_to_chunk(chunk, stage, votes[chunk.rows]))

    def add_to_chunk(self, chunk: "RowChunk", stage: "Stage", votes: np.ndarray) -> None:
        assert self.booster is not None
        self.booster.add(chunk.scores, stage, votes)


class PairWeighting(Weighting):
    """Weights of (row, label) pairs, from exponentials of the scores that are kept up to date."""

    def start(self, state: "TrainingState") -> None:
        for chunk in state.blocks:
            chunk.exp_scores = ExpScoreCache(chunk.scores, chunk.y)

    def add_to_chunk(self, chunk: "RowChunk", stage: "Stage", votes: np.ndarray) -> None:
        super().add_to_chunk(chunk, stage, votes)
        assert chunk.exp_scores is not None
        chunk.exp_scores.update(stage.code, stage.step, votes)


class PendingUpdate(NamedTuple):
    """The last stage, while the weights have not been multiplied by its factors yet."""

    step: float
    error: float
    votes: np.ndarray


class MultiplicativeWeighting(Weighting):
    """Weights that a round multiplies by one of two factors, in place, without the scores.

    For boosters whose ``log_weights`` are minus each row's score of its own label, and whose
    answers add to the score of their own class only. The scores are brought up to date when
    somebody asks for them.
    """

    assumes = ("log_weights", "question", "add")

    def __init__(self, booster: "Hooks | None" = None):
        super().__init__(booster)
        self.fixed_point_scale = MIDDLE
        self.pending_update: PendingUpdate | None = None
        self.lowest = -np.inf  # lower bound of the logarithms of the weights

    def add(self, state: "TrainingState", stage: "Stage", votes: np.ndarray | None) -> None:
        assert votes is not None
        self.pending_update = PendingUpdate(stage.step, stage.error, votes)
        self.postpone(stage, votes)

    def replay(self, state: "TrainingState", stage: "Stage", votes: np.ndarray) -> None:
        self.weigh(state)
        self.pending_update = PendingUpdate(stage.step, stage.error, votes)
        self.add_to_scores(state, stage, votes)

    def weigh(self, state: "TrainingState") -> None:
        if not self.update_in_place(state):
            self.flush(state)
            assert self.booster is not None
            self.lowest = state.weigh(self.booster.weigh_block)
            self.fixed_point_scale = MIDDLE
        self.last_votes = None  # free the memory: callbacks that needed scores have run

    def update_in_place(self, state: "TrainingState") -> bool:
        """Multiply the weights by the factors of the last stage; whether that was possible.

        No exponential per row is needed: the normalising constant follows from the stage's error.
        It is not possible if some weight could underflow, as it could not grow again; then the
        weights are recomputed from the scores.
        """
        pending, self.pending_update = self.pending_update, None
        if pending is None or self.lowest <= LOWEST:
            return False
        assert self.fixed_point_scale is not None
        fall = exp(-pending.step)
        scale = 1 / (pending.error + (1 - pending.error) * fall)
        factors = (fall * scale, scale)
        self.lowest += log(scale) - max(pending.step, 0.0)
        most = factors[int(pending.error >= 0.5)]
        self.fixed_point_scale = _nearby(self.fixed_point_scale * most)

        def multiply(chunk: "RowChunk") -> None:
            votes, weights = pending.votes[chunk.rows], state.weights[chunk.rows]
            multiply_weights(*factors, votes, chunk.y, weights)

        state.each(multiply)
        if self.lowest <= LOWEST:
            self.lowest = state.normalise()
        return bool(self.lowest > LOWEST)


def _nearby(scale: float) -> float:
    """A fixed-point scale, or the usual one if it has drifted too far."""
    return scale if 1 <= scale <= MIDDLE**2 else MIDDLE
