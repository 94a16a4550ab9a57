"""Cross-fitted gradient boosters: each leaves out a fold of the rows, and is stopped by it."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from steadyboost.boosters.steadyboost.members import Member, SharedRows, Trees
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.scores import softmax
from steadyboost.noise.noise_model import SMALLEST
from steadyboost.trees.growth.batched import grow_newton_trees
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.prediction.forest import LeafSums

FOLD_SEED = 1_000_003  # second entry of the folds' seed, which makes it no round's
ALL_ROUNDS = -1  # rounds of a booster, until its best number is known
# Leaves of boosters' trees: with few rows, larger trees made no difference beyond chance.
FEWEST_LEAVES, MOST_LEAVES = 8, 32
ROWS_OF_FEWEST = 5_000


@dataclass(frozen=True)
class BoosterParams:
    """How boosters grow their trees, and when they stop."""

    growth: TreeParams
    learning_rate: float
    max_samples: float
    max_features: float
    patience: int


@dataclass
class BoosterFold:
    """One of the boosters in training: its fold, its scores, and its best round so far."""

    rows: np.ndarray
    held_out: np.ndarray
    scores: np.ndarray  # of all rows
    best_loss: float = np.inf
    best_round: int = 0
    wrong: float = 0.0  # weight of held-out rows that are wrong at best
    proba: np.ndarray = field(default_factory=lambda: np.empty(0))  # of held-out rows, at best

    @classmethod
    def start(cls, held: np.ndarray, width: int) -> "BoosterFold":
        """A booster that leaves out the rows of a mask; if these are all or none, it has all."""
        train = ~held if 0 < held.sum() < len(held) else np.ones(len(held), dtype=bool)
        scores = np.zeros((len(held), width), order="F")
        return cls(np.flatnonzero(train), np.flatnonzero(held), scores)


@kernel
def _derive_two(scores, prior, y, weights, rows, gradients, curvatures):
    """First and second derivatives of the logistic loss of two classes, by the log-odds."""
    for k in range(len(rows)):
        i = rows[k]
        second = 1 / (1 + np.exp(-(scores[i, 0] + prior[0])))
        gradients[0, k] = (second - (y[i] == 1)) * weights[i]
        curvatures[0, k] = second * (1 - second) * weights[i]


@kernel
def _derive_many(scores, prior, y, weights, rows, gradients, curvatures):
    """The same of more classes, by the score of each.

    As the scores have one degree of freedom too many, second derivatives are enlarged by
    k / (k - 1) (Friedman, 2001).
    """
    width = len(prior)
    own, factor = np.empty(width), width / (width - 1)
    for k in range(len(rows)):
        i = rows[k]
        highest, total = -np.inf, 0.0
        for c in range(width):
            own[c] = scores[i, c] + prior[c]
            highest = max(highest, own[c])
        for c in range(width):
            own[c] = np.exp(own[c] - highest)
            total += own[c]
        for c in range(width):
            proba = own[c] / total
            gradients[c, k] = (proba - (y[i] == c)) * weights[i]
            curvatures[c, k] = proba * (1 - proba) * weights[i] * factor


@dataclass
class BoosterMember(Member):
    """Gradient boosters for the logistic loss, one per fold, whose probabilities are averaged.

    Parameters
    ----------
    n_classes, n_folds : int
        Classes, and boosters.
    prior : ndarray of shape (width,)
        Scores before the first round: logarithms of the classes' shares, or their log-odds.
    rounds : ndarray of shape (n_folds,)
        Rounds of each booster that predictions use; -1 for all.
    params : BoosterParams
        How trees grow.
    """

    n_classes: int
    n_folds: int
    prior: np.ndarray
    rounds: np.ndarray
    params: BoosterParams

    @property
    def name(self) -> str:
        return "gradient boosters"

    @property
    def width(self) -> int:
        """Columns of a booster, and its trees of a round: one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_tasks(self) -> int:
        return self.n_folds

    @property
    def n_trees(self) -> int:
        return self.n_folds * self.width

    def columns_of(self, fold: int) -> slice:
        """Columns of one booster."""
        return slice(fold * self.width, (fold + 1) * self.width)

    def proba(self, scores: np.ndarray) -> np.ndarray:
        """The mean over the boosters."""
        columns = (scores[:, self.columns_of(fold)] for fold in range(self.n_folds))
        return np.mean([class_proba(own + self.prior) for own in columns], axis=0)

    def pruned(self, j: int, t: int, tree: GrownTree) -> GrownTree | None:
        """No tree after the best round of its booster."""
        last = self.rounds[j // self.width]
        return tree if last == ALL_ROUNDS or t < last else None

    # In training

    def start(self, rows: SharedRows) -> None:
        self.train = rows
        of_row = deal_folds(rows.y, self.n_folds, rows.seed, rows.row_of)
        self.folds = [BoosterFold.start(of_row == f, self.width) for f in range(self.n_folds)]

    def is_open(self, fold: int, t: int) -> bool:
        """Whether a booster still grows in round t."""
        return t - self.folds[fold].best_round < self.params.patience

    def n_open(self, t: int) -> int:
        """Boosters that grow in round t."""
        return sum(self.is_open(fold, t) for fold in range(self.n_folds))

    def grow(self, task: int, round_: Round) -> Trees:
        """A Newton step of a booster, on some rows and features."""
        if not self.is_open(task, round_.t):
            return [None] * self.width
        fold, params = self.folds[task], self.params
        rows = _some(fold.rows, params.max_samples, round_.rng(Draw.ROWS)).astype(np.int32)
        features = _some(self.train.features, params.max_features, round_.rng(Draw.FEATURES))
        gradients, curvatures = self._derivatives(fold.scores, rows)
        trees = grow_newton_trees(
            self.train.binned, gradients, curvatures, rows, features, params.growth
        )
        return [replace(tree, value=params.learning_rate * tree.value) for tree in trees]

    def _derivatives(self, scores: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(width, rows): derivatives of the logistic loss by the scores of the listed rows."""
        gradients, curvatures = np.empty((2, self.width, len(rows)))
        train, derive = self.train, _derive_two if self.n_classes == 2 else _derive_many
        derive(scores, self.prior, train.y, train.weights, rows, gradients, curvatures)
        return gradients, curvatures

    def update(self, task: int, trees: Trees, round_: Round) -> None:
        """Add the trees to the scores of a booster, and look at its held-out rows."""
        grown = [tree for tree in trees if tree is not None]
        if not grown:
            return
        fold, y, weights = self.folds[task], self.train.y, self.train.weights
        LeafSums(grown, range(len(grown))).add(self.train.binned, fold.scores)
        held = fold.held_out
        proba = class_proba(fold.scores[held] + self.prior)
        own = np.maximum(proba[np.arange(len(held)), y[held]], SMALLEST)
        # A fold without rows (there are fewer rows than folds) never stops its booster.
        loss = -float(np.average(np.log(own), weights=weights[held])) if len(held) else -round_.t
        if loss < fold.best_loss:
            fold.best_loss, fold.best_round, fold.proba = loss, round_.t + 1, proba
            fold.wrong = float(weights[held][proba.argmax(axis=1) != y[held]].sum())

    def held_out_proba(self) -> np.ndarray:
        """(n, k): each row by the booster that left it out, at its best round so far."""
        proba = np.empty((len(self.train), self.n_classes))
        for fold in self.folds:
            proba[fold.held_out] = fold.proba
        return proba

    def error(self) -> float:
        """Share of the rows that are wrong out of sample, by given labels."""
        return sum(fold.wrong for fold in self.folds) / float(self.train.weights.sum())

    def finish(self) -> np.ndarray:
        """Each row by the booster that left it out; predictions use as many rounds as were best."""
        self.rounds = np.array([fold.best_round for fold in self.folds])
        return self.held_out_proba()


def class_proba(scores: np.ndarray) -> np.ndarray:
    """Class probabilities from log-odds, one column, or from a score per class."""
    if scores.shape[1] > 1:
        return softmax(np.ascontiguousarray(scores))  # summed in the same order for one row
    second = expit(scores[:, 0])
    return np.column_stack([1 - second, second])


def deal_folds(
    y: np.ndarray, n_folds: int, seed: int, row_of: np.ndarray | None = None
) -> np.ndarray:
    """A fold for each row, at random, each class as evenly as can be.

    With ``row_of``, copies of one row are in one fold; dealt by the label of the first.
    """
    if row_of is not None:
        first = np.unique(row_of, return_index=True)[1]
        return deal_folds(y[first], n_folds, seed)[row_of]
    order = np.random.default_rng([seed, FOLD_SEED]).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def _some(items: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """A share of the items, drawn without replacement, in order; one at least."""
    n_drawn = max(1, round(share * len(items)))
    return np.sort(rng.choice(items, n_drawn, replace=False, shuffle=False))


def leaves_for(n_rows: int) -> int:
    """Leaves of a booster's tree for so many rows."""
    growing = FEWEST_LEAVES * (n_rows / ROWS_OF_FEWEST) ** 0.5
    return min(max(FEWEST_LEAVES, round(growing)), MOST_LEAVES)
