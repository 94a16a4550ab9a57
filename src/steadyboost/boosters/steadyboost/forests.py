"""Two forests that know rows they have not seen, and how large their leaves should be.

A tree is judged by the rows that its bootstrap missed. Trees grow to the end; where labels are
wrong, larger leaves average more of them away, so each forest takes the leaf size for which its
out-of-bag shares fit the given labels best, by the Brier score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyboost.boosters.steadyboost.noise_model import some_rows
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.leaf_sizes import add_votes, shares

RANDOM_CUTS = (False, True)  # of each forest
LEAF_SIZES = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0])  # in terms of the least
USUAL_SIZES = np.array([5.0, 3.0])  # until it is known which are best
MOST_LEAVES = 20_000  # of a tree: more take memory, and rows that many can spare some


@dataclass
class Forests:
    """Random trees of training rows, whose weights are ``mass``."""

    rows: TrainingState
    binned: BinnedRows
    features: np.ndarray
    mass: np.ndarray
    n_classes: int

    @property
    def least(self) -> int:
        """Rows that each leaf must have."""
        return max(1, len(self.mass) // MOST_LEAVES)

    def grow(self, number: int, round_: Round) -> GrownTree:
        growth = RandomGrowth(self.least, RANDOM_CUTS[number])
        weights = self._bag(round_) * self.mass
        return grow_random_tree(
            self.binned, self.rows.y, weights, self.n_classes, growth, round_.seed, self.features
        )

    def _bag(self, round_: Round) -> np.ndarray:
        """How often each row is in a bootstrap."""
        n = len(self.mass)
        return np.bincount(round_.rng(Draw.ROWS).integers(n, size=n), minlength=n)

    def unseen(
        self, trees: Sequence[GrownTree], rounds: Sequence[Round]
    ) -> tuple[np.ndarray, float]:
        """Out-of-bag predictions of a forest, and its best leaf size."""
        some, sizes = some_rows(len(self.mass)), self.least * LEAF_SIZES
        votes = self._votes(trees, rounds, sizes, some)
        best = int(np.argmin([self._brier_score(own, some) for own in votes]))
        if len(some) < len(self.mass):
            every = np.arange(len(self.mass))
            return self._votes(trees, rounds, sizes[[best]], every)[0], sizes[best]
        return votes[best], sizes[best]

    def _votes(
        self,
        trees: Sequence[GrownTree],
        rounds: Sequence[Round],
        sizes: np.ndarray,
        some: np.ndarray,
    ) -> np.ndarray:
        """(sizes, some rows, classes): mean shares by trees that have not seen a row."""
        binned = self.binned if len(some) == len(self.mass) else self.binned.take(some)
        votes = np.zeros((len(sizes), len(some), self.n_classes))
        for tree, round_ in zip(trees, rounds, strict=True):
            add_votes(tree, sizes, binned, self._bag(round_)[some] == 0, votes)
        return shares(votes)

    def _brier_score(self, proba: np.ndarray, some: np.ndarray) -> float:
        """Mean squared distance from the given labels, less a constant."""
        own = proba[np.arange(len(some)), self.rows.y[some]]
        squares = np.einsum("nk,nk->n", proba, proba)
        return float(np.average(squares - 2 * own, weights=self.mass[some]))
