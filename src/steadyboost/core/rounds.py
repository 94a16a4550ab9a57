"""Rounds and their chance: each can be repeated on its own."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steadyboost.core.draws import draw_counts
from steadyboost.core.rows import Rows

LARGEST = np.iinfo(np.int32).max
AT_ONCE = 64  # seeds; the same as one by one


class Seeds:
    """The t-th draw of scikit-learn's own sequence: round t can be repeated on its own.

    With the same ``random_state`` a scikit-learn tree gets the seed that scikit-learn's
    AdaBoostClassifier would give it.
    """

    def __init__(self, seed: int):
        self._source = np.random.RandomState(seed)
        self._drawn: list[int] = []

    def __getitem__(self, t: int) -> int:
        while len(self._drawn) <= t:
            self._drawn += self._source.randint(LARGEST, size=AT_ONCE).tolist()
        return self._drawn[t]


@dataclass
class Round:
    """The number of a round, from 0, and its source of chance."""

    t: int
    seed: int

    @cached_property
    def rng(self) -> np.random.Generator:
        """Draws of the loop and the booster; the weak learner has the seed to itself."""
        return np.random.Generator(np.random.Philox(key=[self.seed, 1]))

    def of(self, problem: int) -> "Round":
        """The same round of one of several problems."""
        draw = np.random.SeedSequence([self.seed, problem]).generate_state(1)[0]
        return Round(self.t, int(draw >> 1))

    def split(self, n: int) -> list["Round"]:
        """The same round for each of n questions."""
        draws = np.random.SeedSequence(self.seed).generate_state(n) >> 1
        return [Round(self.t, int(draw)) for draw in draws]

    def draw_counts(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        """How often each row is in a bootstrap drawn by the weights."""
        return draw_counts(rows, weights, self.rng)
