"""Rounds and their random draws.

A draw is a function of (seed, round, purpose): the same whenever it is asked for, in training, in a
replay after a warm start or a checkpoint, and when out-of-bag rows are looked for. No generator is
kept: what has been drawn before cannot change what is drawn next.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from steadyboost.ensemble.draws import draw_counts
from steadyboost.ensemble.training_state import TrainingState

LARGEST = np.iinfo(np.int32).max
AT_ONCE = 64  # seeds; the same as one by one


class Draw(IntEnum):
    """What is drawn at random in a round; each purpose has a stream of its own."""

    ROWS = 1  # a bootstrap or a subsample
    COLORING = 2  # which classes a two-class question puts together
    FEATURES = 3
    LABELS = 4  # of drawn rows, in soft-max boosting


class Seeds:
    """The t-th draw of scikit-learn's own sequence: round t can be repeated on its own.

    With the same ``random_state`` a scikit-learn tree gets the seed that scikit-learn's
    AdaBoostClassifier would give it.
    """

    def __init__(self, seed: int):
        self._seed = seed
        self._drawn: list[int] = []

    def __getitem__(self, t: int) -> int:
        drawn = self._drawn
        if len(drawn) <= t:
            n = max(2 * len(drawn), AT_ONCE * (t // AT_ONCE + 1))
            drawn = np.random.RandomState(self._seed).randint(LARGEST, size=n).tolist()
            self._drawn = drawn
        return drawn[t]


@dataclass(frozen=True)
class Round:
    """The number of a round, from 0, and the seed of its random draws."""

    t: int
    seed: int

    def rng(self, purpose: Draw) -> np.random.Generator:
        """A new generator for one purpose; the weak learner has the seed to itself."""
        return np.random.Generator(np.random.Philox(key=[self.seed, int(purpose)]))

    def of(self, problem: int) -> "Round":
        """The same round of one of several problems."""
        draw = np.random.SeedSequence([self.seed, problem]).generate_state(1)[0]
        return Round(self.t, int(draw >> 1))

    def split(self, n: int) -> list["Round"]:
        """The same round for each of n questions."""
        draws = np.random.SeedSequence(self.seed).generate_state(n) >> 1
        return [Round(self.t, int(draw)) for draw in draws]

    def draw_counts(self, rows: TrainingState, weights: np.ndarray) -> np.ndarray:
        """How often each row is in a bootstrap drawn by the weights."""
        return draw_counts(rows, weights, self.rng(Draw.ROWS))
