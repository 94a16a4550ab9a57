"""Boosters that leave out a fold each, and forests: members that know rows they have not seen.

Every round adds a tree per class to each booster that its fold has not stopped, and a tree to each
forest. A row is judged out of sample by the booster that left it out and by the trees of the
forests whose bootstraps missed it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from steadyboost.boosters.steadyboost.forests import RANDOM_CUTS, Forests
from steadyboost.boosters.steadyboost.noise_model import SMALLEST
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.scores import softmax
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.many import Answers
from steadyboost.learners.tree_answer import LeafAnswer
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.batched import grow_newton_trees
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.leaf_sizes import shares, with_leaf_size
from steadyboost.trees.prediction.leaf_sums import LeafSums

N_FORESTS = len(RANDOM_CUTS)
FOLD_SEED = 1_000_003  # a stream of chance that no round has


@dataclass(frozen=True)
class Shape:
    """Where each member's scores are."""

    n_classes: int
    n_folds: int

    @property
    def width(self) -> int:
        """Columns of a booster: one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_parts(self) -> int:
        return self.n_folds * self.width + N_FORESTS

    @property
    def n_columns(self) -> int:
        return self.n_folds * self.width + N_FORESTS * self.n_classes

    def booster(self, fold: int) -> slice:
        return slice(fold * self.width, (fold + 1) * self.width)

    def forest(self, number: int) -> slice:
        start = self.n_folds * self.width + number * self.n_classes
        return slice(start, start + self.n_classes)

    def first_columns(self) -> list[int]:
        """The first column that each part of a stage adds to."""
        scalars = list(range(self.n_folds * self.width))
        return scalars + [self.forest(number).start for number in range(N_FORESTS)]

    def sized(
        self, trees: Sequence[GrownTree | None], leaf_sizes: np.ndarray
    ) -> list[GrownTree | None]:
        """The trees of a stage, those of forests with leaves of these sizes."""
        n_scalars = self.n_folds * self.width
        forests = zip(trees[n_scalars:], leaf_sizes, strict=True)
        sized = [None if tree is None else with_leaf_size(tree, size) for tree, size in forests]
        return [*trees[:n_scalars], *sized]

    def check_widths(self, trees: Sequence[GrownTree | None]) -> None:
        """Whether each tree has a value for each of its columns; it may come from a file."""
        n_scalars = self.n_folds * self.width
        for part, tree in enumerate(trees):
            wanted = 1 if part < n_scalars else self.n_classes
            if tree is not None and tree.value.shape[1] != wanted:
                raise ValueError(f"part {part} of a stage must have {wanted} values per leaf.")

    def class_proba(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities of one booster."""
        if self.n_classes > 2:
            return softmax(np.ascontiguousarray(scores))  # summed in the same order for one row
        right = expit(scores[:, 0])
        return np.column_stack([1 - right, right])

    def member_proba(self, scores: np.ndarray, base: np.ndarray) -> np.ndarray:
        """(members, n, k): the boosters on average, and each forest."""
        folds = [self.class_proba(scores[:, self.booster(f)] + base) for f in range(self.n_folds)]
        return np.stack([np.mean(folds, axis=0), *self.forest_proba(scores)])

    def forest_proba(self, scores: np.ndarray) -> list[np.ndarray]:
        """Shares of the votes, or equal ones where there are none."""
        return [shares(scores[:, self.forest(number)]) for number in range(N_FORESTS)]


@dataclass
class Sampling:
    """How the boosters' trees grow."""

    growth: TreeParams
    learning_rate: float
    rows: float
    features: float
    patience: int


def deal_folds(y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """A fold for each row, at random, each class as evenly as can be."""
    order = np.random.default_rng([seed, FOLD_SEED]).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


@dataclass
class BoosterFold:
    """A booster, and its held-out rows for early stopping."""

    number: int
    rows: np.ndarray
    held_out: np.ndarray
    scores: np.ndarray  # of all rows
    best_loss: float = np.inf
    best_round: int = 0
    proba: np.ndarray = field(default_factory=lambda: np.empty(0))  # of held-out rows, at best

    def is_open(self, t: int, patience: int) -> bool:
        return t - self.best_round < patience


class CrossFit:
    """The members on training rows."""

    def __init__(
        self, rows: TrainingState, shape: Shape, base: np.ndarray, sampling: Sampling, seed: int
    ):
        self.rows, self.shape, self.base, self.sampling = rows, shape, base, sampling
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        self.mass = weights / weights.mean()
        of_row = deal_folds(rows.y, shape.n_folds, seed)
        self.folds = [self._fold(number, of_row) for number in range(shape.n_folds)]
        self.n_rounds = 0
        assert rows.data.binned is not None
        self.binned = rows.data.binned
        self.features = _varied(self.binned)
        self.forests = Forests(rows, self.binned, self.features, self.mass, shape.n_classes)
        self.targets = np.eye(shape.n_classes)[rows.y][:, -shape.width :]

    def _fold(self, number: int, of_row: np.ndarray) -> BoosterFold:
        held = of_row == number
        train = ~held if 0 < held.sum() < len(held) else np.ones(len(held), dtype=bool)
        scores = np.zeros((len(held), self.shape.width), order="F")
        return BoosterFold(number, np.flatnonzero(train), np.flatnonzero(held), scores)

    def grow(self, round_: Round) -> tuple[GrownTree | None, ...]:
        """The trees of a round; None for boosters that have been stopped."""
        n_folds, width = self.shape.n_folds, self.shape.width
        jobs = [(number, round_.of(number)) for number in range(n_folds + N_FORESTS)]

        def grow_member(job: tuple[int, Round]) -> list[GrownTree] | list[None]:
            number, own = job
            if number >= n_folds:
                return [self.forests.grow(number - n_folds, own)]
            is_open = self.folds[number].is_open(round_.t, self.sampling.patience)
            return self._steps(self.folds[number], own) if is_open else [None] * width

        grown = self.rows.workers.run(grow_member, jobs)
        return tuple(tree for trees in grown for tree in trees)

    def _steps(self, fold: BoosterFold, round_: Round) -> list[GrownTree]:
        """Newton's steps of a booster, on some rows and features."""
        proba = self.shape.class_proba(fold.scores + self.base)[:, -self.shape.width :]
        mass = self.mass[:, None]
        gradients = np.asfortranarray((proba - self.targets) * mass)
        k = self.shape.n_classes
        curvatures = np.asfortranarray(proba * (1 - proba) * mass * (k / (k - 1) if k > 2 else 1))
        rows = _some(fold.rows, self.sampling.rows, round_.rng(Draw.ROWS)).astype(np.int32)
        features = _some(self.features, self.sampling.features, round_.rng(Draw.FEATURES))
        trees = grow_newton_trees(
            self.binned, gradients, curvatures, rows, features, self.sampling.growth
        )
        return [replace(tree, value=self.sampling.learning_rate * tree.value) for tree in trees]

    def update_scores(self, trees: tuple[GrownTree | None, ...], t: int) -> None:
        """Add the trees of a round to the scores of the boosters."""

        def update_booster(fold: BoosterFold) -> None:
            self._update_fold(fold, trees[self.shape.booster(fold.number)], t)

        self.rows.workers.run(update_booster, self.folds)
        self.n_rounds = t + 1

    def _update_fold(self, fold: BoosterFold, trees: tuple[GrownTree | None, ...], t: int) -> None:
        grown = [tree for tree in trees if tree is not None]
        if not grown:
            return
        LeafSums(grown, range(len(grown))).add(self.binned, fold.scores)
        held = fold.held_out
        proba = self.shape.class_proba(fold.scores[held] + self.base)
        own = np.maximum(proba[np.arange(len(held)), self.rows.y[held]], SMALLEST)
        loss = -float(np.average(np.log(own), weights=self.mass[held])) if len(held) else -t
        if loss < fold.best_loss:
            fold.best_loss, fold.best_round, fold.proba = loss, t + 1, proba

    def unseen_proba(self, run: Boosting) -> tuple[np.ndarray, np.ndarray]:
        """(members, n, k), each row by members that have not seen it; the forests' leaf sizes."""
        stages = [trees_of(stage) for stage in run.stages]
        first = self.shape.n_folds * self.shape.width

        def of_forest(number: int) -> tuple[np.ndarray, float]:
            trees = [tree for parts in stages if (tree := parts[first + number]) is not None]
            rounds = [run.round(t).of(self.shape.n_folds + number) for t in range(len(stages))]
            return self.forests.unseen(trees, rounds)

        found = self.rows.workers.run(of_forest, range(N_FORESTS))
        proba, sizes = zip(*found, strict=True)
        return np.stack([self._boosters_proba(), *proba]), np.array(sizes)

    def _boosters_proba(self) -> np.ndarray:
        proba = np.empty((len(self.rows), self.shape.n_classes))
        for fold in self.folds:
            proba[fold.held_out] = fold.proba
        return proba

    def error(self) -> float:
        """Share of the rows that the boosters get wrong out of sample, by given labels."""
        wrong = self._boosters_proba().argmax(axis=1) != self.rows.y
        return float(np.average(wrong, weights=self.mass))

    def rounds(self) -> np.ndarray:
        """Rounds of each booster that count."""
        return np.array([fold.best_round for fold in self.folds])


def _varied(binned: BinnedRows) -> np.ndarray:
    """Features that have more than one value, or all if there is none: others only take draws."""

    def differs(feature: int) -> bool:
        packed, place = binned.column(feature)
        bins = packed.view(np.uint8)[place >> 2, place & 3 :: 4]
        return bool((bins != bins[0]).any())

    varied = binned.n_bins > 1
    gaps = np.flatnonzero((binned.n_bins == 1) & (binned.has_missing > 0))
    varied[[f for f in gaps.tolist() if differs(f)]] = True
    return np.flatnonzero(varied) if varied.any() else np.arange(binned.n_features)


def _some(items: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    n_drawn = max(1, round(share * len(items)))
    return np.sort(rng.choice(items, n_drawn, replace=False, shuffle=False))


def replayed(cross: CrossFit, run: Boosting) -> CrossFit:
    """Members as they were after the stages of a run."""
    for t, stage in enumerate(run.stages):
        cross.update_scores(trees_of(stage), t)
    return cross


def trees_of(stage: Stage) -> tuple[GrownTree | None, ...]:
    assert isinstance(stage.answer, Answers)
    answers: tuple = stage.answer.answers
    return tuple(None if answer is None else answer.tree for answer in answers)


def as_answers(trees: tuple[GrownTree | None, ...]) -> Answers:
    """Trees whose votes are their leaves."""
    return Answers(tuple(None if tree is None else LeafAnswer.of(tree) for tree in trees))
