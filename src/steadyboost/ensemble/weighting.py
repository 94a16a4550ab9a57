"""Weightings: how the weights of the rows are computed from the stages. Each booster names one.

A weighting owns the stages that have not been added to the scores yet. It is chosen once for a
training run; the training state is passed to its methods.
"""

from math import exp, log
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from steadyboost.ensemble.scores import multiply_weights, own_score
from steadyboost.trees.jit import kernel

if TYPE_CHECKING:
    from steadyboost.ensemble.hooks import Hooks
    from steadyboost.ensemble.stages import Stage
    from steadyboost.ensemble.training_state import RowChunk, TrainingState

MIN_LOG_WEIGHT = -600.0  # well above -708, the logarithm of the smallest normal float
INITIAL_SCALE = 16.0  # weights may shrink by this factor before their fixed-point unit is reset
MAX_DRIFT = 300.0  # largest total change of an exponent between two recomputations
MAX_PRODUCTS = 256  # largest number of multiplications between two recomputations
SUMMED_ROWS = 256  # rows whose sums fit into the L1 cache


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
        state.weigh(self.booster.weigh_chunk)

    def add(self, state: "TrainingState", stage: "Stage", votes: np.ndarray | None) -> None:
        """Add a stage; without votes it is pending until the scores are needed."""
        if votes is None:
            self.postpone(stage, None)
        else:
            self.add_to_scores(state, stage, votes)

    def replay(self, state: "TrainingState", stage: "Stage", votes: np.ndarray) -> None:
        """Add a stage of an earlier run, with the same rounding as in that run."""
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
        for chunk in state.chunks:
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
    answers add to the score of their own class only. The scores are updated when they are needed.
    """

    assumes = ("log_weights", "question", "add")

    def __init__(self, booster: "Hooks | None" = None):
        super().__init__(booster)
        self.fixed_point_scale = INITIAL_SCALE
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
            self.lowest = state.weigh(self.booster.weigh_chunk)
            self.fixed_point_scale = INITIAL_SCALE
        self.last_votes = None  # frees the memory: callbacks that needed scores have run

    def update_in_place(self, state: "TrainingState") -> bool:
        """Multiply the weights by the factors of the last stage; whether that was possible.

        No exponential per row is needed: the normalising constant follows from the stage's error.
        It is not possible if some weight could underflow, as it could not grow again; then the
        weights are recomputed from the scores.
        """
        pending, self.pending_update = self.pending_update, None
        if pending is None or self.lowest <= MIN_LOG_WEIGHT:
            return False
        assert self.fixed_point_scale is not None
        fall = exp(-pending.step)
        # Weights sum to one, and those of wrong rows to the error: the new sum needs no pass.
        scale = 1 / (pending.error + (1 - pending.error) * fall)
        factors = (fall * scale, scale)
        self.lowest += log(scale) - max(pending.step, 0.0)
        most = factors[int(pending.error >= 0.5)]  # the factor of most of the weight
        self.fixed_point_scale = _nearby(self.fixed_point_scale * most)

        def multiply(chunk: "RowChunk") -> None:
            votes, weights = pending.votes[chunk.rows], state.weights[chunk.rows]
            multiply_weights(*factors, votes, chunk.y, weights)

        state.each(multiply)
        if self.lowest <= MIN_LOG_WEIGHT:  # the bound is pessimistic, so compute it anew
            self.lowest = state.normalise()
        return bool(self.lowest > MIN_LOG_WEIGHT)


def _nearby(scale: float) -> float:
    """The fixed-point scale, or the initial one if it has drifted too far."""
    return scale if 1 <= scale <= INITIAL_SCALE**2 else INITIAL_SCALE


@kernel
def _hide_own(values, y, hidden):
    for i in range(len(y)):
        values[np.uint64(i), np.uint64(y[i])] = hidden


@kernel
def _multiply_and_sum(factors, votes, values, y, colors, total, other):
    """Multiply each row by the factors of its vote; sum it, and the labels of the other colour.

    There is one sum per colour, so that the inner loop has no branch.
    """
    sums = np.empty((2, SUMMED_ROWS))
    for start in range(0, len(y), SUMMED_ROWS):
        m = min(SUMMED_ROWS, len(y) - start)
        own_votes = votes[start : start + m]
        for j in range(m):
            sums[0, j] = 0.0
            sums[1, j] = 0.0
        for c in range(values.shape[1]):
            column = values[start : start + m, c]
            side = sums[colors[c]]
            zero, one = factors[0, c], factors[1, c]
            for j in range(m):
                value = column[j] * (one if own_votes[j] else zero)
                column[j] = value
                side[j] += value
        for j in range(m):
            total[start + j] = sums[0, j] + sums[1, j]
            other[start + j] = sums[1 - colors[y[start + j]], j]


@kernel
def _multiply_named(factors, votes, values):
    for i in range(len(votes)):
        vote = np.uint64(votes[i])
        values[np.uint64(i), vote] *= factors[vote]


@kernel
def _add_own_votes(points, votes, y, own):
    for i in range(len(y)):
        own[i] += points[np.uint64(y[i])] * np.float64(votes[i] == y[i])


@kernel
def _add_own(table, votes, y, own):
    for i in range(len(y)):
        own[i] += table[np.uint64(votes[i]), np.uint64(y[i])]


class ExpScoreCache:
    """``values[i, l] = exp(S(l) - shift[i])``, and 0 for the row's own label, scored ``own[i]``.

    A round multiplies each exponential by one of two factors, which is much faster than computing
    it again. The multiplication is deferred until the values are summed, as both need a pass over
    them. Before overflow or rounding errors can accumulate, the exponentials are recomputed from
    the scores; a replayed run recomputes them in the same rounds.
    """

    def __init__(self, scores: np.ndarray, y: np.ndarray):
        self.scores, self.y = scores, y
        self.values = np.empty_like(scores)
        self.refresh()

    def refresh(self) -> None:
        """Recompute the exponentials, shifted by the largest score of a wrong label in each row."""
        self.own = own_score(self.scores, self.y)
        np.copyto(self.values, self.scores)
        _hide_own(self.values, self.y, -np.inf)
        self.shift = self.values.max(axis=1)
        self.values -= self.shift[:, None]
        np.exp(self.values, out=self.values)
        self.drift, self.age, self._pending = 0.0, 0, False
        self._votes = np.zeros(len(self.y), dtype=np.int32)
        self._factors = np.ones((2, self.scores.shape[1]))

    def update(self, code: np.ndarray, step: float, votes: np.ndarray) -> None:
        """Update the exponentials for votes that have been added to the scores."""
        self.age += 1
        self.drift += abs(step) * float(np.abs(code).max())
        multiplies = votes.ndim == 1 and (code.ndim == 1 or len(code) == 2)
        # Votes that are vectors or have more than two answers change each value by its own factor.
        if not multiplies or self.drift > MAX_DRIFT or self.age > MAX_PRODUCTS:
            self.refresh()
            return
        if code.ndim == 1:  # one label per row: cheap enough to do now
            _multiply_named(np.exp(step * code), votes, self.values)
            _add_own_votes(step * code, votes, self.y, self.own)
            return
        if self._pending:  # a replay does not sum
            self.sum_colors(np.zeros(code.shape[1], dtype=np.int8))
        table = step * code
        _add_own(table, votes, self.y, self.own)
        self._factors, self._votes, self._pending = np.exp(table), votes, True

    def sum_colors(self, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum of each row, and of its labels of another colour than its own."""
        total, other = np.empty(len(self.y)), np.empty(len(self.y))
        _multiply_and_sum(self._factors, self._votes, self.values, self.y, colors, total, other)
        self._factors, self._pending = np.ones_like(self._factors), False
        return total, other
