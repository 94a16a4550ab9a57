"""A random forest, or extremely randomised trees, judged out of bag.

A row is judged by the trees whose bootstraps missed it. Trees grow to the end; where labels are
wrong, larger leaves average more of them away, so a forest takes the leaf size for which its
out-of-bag class shares fit the given labels best, by the Brier score.
"""

from dataclasses import dataclass

import numpy as np

from steadyboost.boosters.steadyboost.members import Member, SharedRows, Trees
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.noise.noise_model import SMALLEST, some_rows
from steadyboost.trees.growth.random_tree import RandomGrowth, grow_random_tree
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.leaf_sizes import add_votes, shares, with_leaf_size

# Candidates, as multiples of the size that trees were grown with: few, as each takes a pass over
# the out-of-bag rows of every tree, and at like ratios, as a mean's variance is one over the size.
LEAF_SIZES = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0])
# Leaves of a tree: more take memory, and so many rows can spare some.
MOST_LEAVES = 20_000
# A forest of T trees has the Brier score of a very large one and V / T more, where V is the mean
# variance of a row's votes. The first trees tell V; then so many grow that this excess is a small
# share of the score.
TRIAL_TREES = 10
TRIAL_ROWS = 2000
EXCESS = 0.02


@dataclass
class ForestMember(Member):
    """A forest of deep trees on bootstraps, one tree a round.

    Parameters
    ----------
    n_classes : int
        Classes.
    random_cuts : bool
        Whether cuts are drawn at random, as in extremely randomised trees, or are the best of
        some features, as in a random forest.
    leaf_size : float
        Least weight of the leaves that predictions use, where a row weighs 1 on average.
    """

    n_classes: int
    random_cuts: bool
    leaf_size: float

    n_tasks = n_trees = 1

    @property
    def n_values(self) -> int:
        return self.n_classes

    @property
    def name(self) -> str:
        return "extremely randomised trees" if self.random_cuts else "random forest"

    def proba(self, scores: np.ndarray) -> np.ndarray:
        """Shares of the votes, or equal ones where there are none."""
        return shares(scores)

    def pruned(self, j: int, t: int, tree: GrownTree) -> GrownTree:
        """The tree with leaves of the chosen size, whose values are class shares."""
        return with_leaf_size(tree, self.leaf_size)

    def check(self, tree: GrownTree) -> None:
        """Weights of classes are not negative."""
        super().check(tree)
        if (tree.value < 0).any():
            raise ValueError("the leaves of a forest's tree hold weights of classes, from 0 on.")

    # In training

    def start(self, rows: SharedRows) -> None:
        self.train = rows
        self.grown: list[tuple[GrownTree, Round]] = []
        self.enough: float = np.inf  # trees, until it is known how many

    def n_open(self, t: int) -> int:
        """Whether it still grows."""
        return int(len(self.grown) < self.enough)

    @property
    def least_size(self) -> int:
        """Rows that each leaf must have."""
        return max(1, len(self.train) // MOST_LEAVES)

    def grow(self, task: int, round_: Round) -> Trees:
        """A tree on a bootstrap; none if there are enough."""
        if not self.n_open(round_.t):
            return [None]
        rows = self.train
        growth = RandomGrowth(self.least_size, self.random_cuts, weighs_categories=True)
        weights = self._bootstrap(round_) * rows.weights
        tree = grow_random_tree(
            rows.binned, rows.y, weights, self.n_classes, growth, round_.seed, rows.features
        )
        return [tree]

    def _bootstrap(self, round_: Round) -> np.ndarray:
        return self.train.of_copies(bootstrap_counts(self.train.n_drawn, round_))

    def update(self, task: int, trees: Trees, round_: Round) -> None:
        self.grown += [(tree, round_) for tree in trees if tree is not None]
        if len(self.grown) == TRIAL_TREES and self.enough == np.inf:
            self.enough = self._trees_needed()

    def _trees_needed(self) -> float:
        """Trees that are enough, by some of the rows."""
        some = some_rows(len(self.train), TRIAL_ROWS)
        binned, sizes = self.train.binned.take(some), self.least_size * LEAF_SIZES
        sums = np.zeros((len(sizes), len(some), self.n_classes))
        squares, n_votes = np.zeros_like(sums), np.zeros(len(some))
        for tree, round_ in self.grown:
            missed, votes = self._bootstrap(round_)[some] == 0, np.zeros_like(sums)
            add_votes(tree, sizes, binned, missed, votes)
            sums += votes
            squares += votes * votes
            n_votes += missed
        judged = n_votes > 1
        if not judged.any():
            return np.inf
        mean, square = sums[:, judged] / n_votes[judged, None], squares[:, judged]
        own = some[judged]
        return enough_trees(
            mean, square, n_votes[judged], self.train.y[own], self.train.weights[own]
        )

    def finish(self) -> np.ndarray:
        """Out-of-bag class shares, with leaves of the best size, which predictions then use."""
        n, sizes = len(self.train), self.least_size * LEAF_SIZES
        some = some_rows(n)
        by_size = self._out_of_bag(sizes, some)
        best = int(np.argmin([self._brier_score(proba, some) for proba in by_size]))
        self.leaf_size = float(sizes[best])
        if len(some) == n:
            return by_size[best]
        return self._out_of_bag(sizes[[best]], np.arange(n))[0]

    def _out_of_bag(self, sizes: np.ndarray, some: np.ndarray) -> np.ndarray:
        """(sizes, some rows, classes): mean class shares by trees that have not seen a row."""
        binned = self.train.binned if len(some) == len(self.train) else self.train.binned.take(some)
        votes = np.zeros((len(sizes), len(some), self.n_classes))
        for tree, round_ in self.grown:
            add_votes(tree, sizes, binned, self._bootstrap(round_)[some] == 0, votes)
        return shares(votes)

    def _brier_score(self, proba: np.ndarray, some: np.ndarray) -> float:
        """Mean squared distance from the given labels, less a constant."""
        own = proba[np.arange(len(some)), self.train.y[some]]
        squares = np.einsum("nk,nk->n", proba, proba)
        return float(np.average(squares - 2 * own, weights=self.train.weights[some]))


def bootstrap_counts(n: int, round_: Round) -> np.ndarray:
    """How often each of n rows is in the bootstrap of a round: drawn anew when it is needed."""
    return np.bincount(round_.rng(Draw.ROWS).integers(n, size=n), minlength=n)


def enough_trees(
    mean: np.ndarray, squares: np.ndarray, n_votes: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> float:
    """Trees with which the Brier score exceeds that of a very large forest by a share.

    ``mean`` (sizes, n, k) are the mean votes of rows by leaf size, ``squares`` the sums of their
    squares. The leaf size is the one that would be the best in a very large forest.
    """
    variance = (squares - n_votes[:, None] * mean**2).sum(axis=2) / (n_votes - 1)
    own = mean[:, np.arange(len(y)), y]
    score = 1 - 2 * own + (mean**2).sum(axis=2) - variance / n_votes
    large, excess = (np.average(part, axis=1, weights=weights) for part in (score, variance))
    best = int(np.argmin(large))
    return max(TRIAL_TREES, float(excess[best] / (EXCESS * max(large[best], SMALLEST))))
