"""Rounds and their random draws.

A draw is a function of (seed, round, purpose): the same whenever it is asked for, in training, in a
replay after a warm start or a checkpoint, and when out-of-bag rows are looked for. No generator
is kept, so that earlier draws do not change later ones.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.training_state import RowChunk, TrainingState

LARGEST = np.iinfo(np.int32).max
SEEDS_AT_ONCE = 64  # seeds; the same as one by one


class Draw(IntEnum):
    """What is drawn at random in a round; each purpose has a stream of its own."""

    ROWS = 1  # a bootstrap or a subsample
    COLORING = 2  # which classes a two-class question puts together
    FEATURES = 3
    LABELS = 4  # of drawn rows, in soft-max boosting


@dataclass(frozen=True)
class Round:
    """The number of a round, from 0, and the seed of its random draws."""

    t: int
    seed: int

    def rng(self, purpose: Draw) -> np.random.Generator:
        """A new generator for one purpose; the weak learner has the seed to itself."""
        return np.random.Generator(np.random.Philox(key=[self.seed, int(purpose)]))

    def of(self, problem: int) -> "Round":
        """The same round of one of several subproblems, with a seed of its own."""
        draw = np.random.SeedSequence([self.seed, problem]).generate_state(1)[0]
        return Round(self.t, int(draw >> 1))

    def split(self, n: int) -> list["Round"]:
        """The same round for each of n questions, with a seed for each."""
        # 31 bits, as the seeds that scikit-learn draws for its own ensembles.
        draws = np.random.SeedSequence(self.seed).generate_state(n) >> 1
        return [Round(self.t, int(draw)) for draw in draws]

    def draw_counts(self, rows: TrainingState, weights: np.ndarray) -> np.ndarray:
        """How often each row is in a bootstrap drawn by the weights."""
        return draw_counts(rows, weights, self.rng(Draw.ROWS))


class Seeds:
    """Seeds of the rounds: scikit-learn's sequence, from which round t is found without the others.

    With the same ``random_state`` a scikit-learn tree gets the seed that scikit-learn's
    AdaBoostClassifier would give it.
    """

    def __init__(self, seed: int):
        self._seed = seed
        self._drawn: list[int] = []

    def __getitem__(self, t: int) -> int:
        drawn = self._drawn
        if len(drawn) <= t:
            # Drawn again from the start, twice as many: the sequence has no other entry point.
            n = max(2 * len(drawn), SEEDS_AT_ONCE * (t // SEEDS_AT_ONCE + 1))
            drawn = np.random.RandomState(self._seed).randint(LARGEST, size=n).tolist()
            self._drawn = drawn
        return drawn[t]

    def round(self, t: int) -> Round:
        """The t-th round, with its seed."""
        return Round(t, self[t])


class Left(NamedTuple):
    """State passed from chunk to chunk: the generator, and the remaining draws, mass and rows."""

    state: Any
    draws: int
    share: float
    rows: int


def draw_counts(rows: TrainingState, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How often each row is in a bootstrap drawn by the weights.

    Counts of one multinomial draw: NumPy draws a binomial count for one row after another, and the
    last row takes the rest. The chunks do the same in turn, on whichever machine they are, with the
    mass of the later chunks as one more row at the end.
    """
    counts = np.zeros(len(weights), dtype=np.int64)
    shares = weights / rows.sum(weights)

    def draw(chunk: RowChunk, left: Left) -> Left:
        rng.bit_generator.state = left.state
        own = shares[chunk.rows]
        # Rounding may leave a share below what is still to come, or zero.
        parts = own / max(left.share, own.sum(), np.finfo(float).tiny)
        if left.rows > len(chunk):
            parts = np.append(parts, max(0.0, 1.0 - parts.sum()))
        drawn = rng.multinomial(left.draws, parts)[: len(chunk)]
        counts[chunk.rows] = drawn
        return Left(
            rng.bit_generator.state,
            left.draws - int(drawn.sum()),
            left.share - float(own.sum()),
            left.rows - len(chunk),
        )

    rows.in_turn(draw, Left(rng.bit_generator.state, rows.n_all, 1.0, rows.n_all))
    return counts
