"""Members of SteadyBoost: the interface of one, and several side by side.

A member is a model of its own, which gives class probabilities from columns of the scores. Members
share the binned training rows. They do not know of each other, nor of the loop: they are told the
rounds. Most grow trees in every round; a member may also be fitted once, when training starts, and
have no trees: it then gives the scores of rows before the first round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.soft_labels import rows_of_copies
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Answers, Data
from steadyboost.learners.tree import LeafAnswer
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree

# Training rows, and numbers in them, that are kept for explanations
MOST_BACKGROUND, MOST_NUMBERS = 100, 1_000_000
Trees = Sequence[GrownTree | None]  # of a round; None for a model that has stopped


@dataclass(frozen=True)
class SharedRows:
    """Training rows as all members see them."""

    state: TrainingState
    weights: np.ndarray  # of the rows, one on average
    features: np.ndarray  # features that trees may split on
    seed: int
    row_of: np.ndarray | None = None  # number of the row that each is a copy of, if labels are soft

    @classmethod
    def of(cls, rows: TrainingState, seed: int) -> "SharedRows":
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        assert rows.data.binned is not None
        features, row_of = varying_features(rows.data.binned), rows_of_copies(rows.numbers)
        return cls(rows, weights / weights.mean(), features, seed, row_of)

    @property
    def y(self) -> np.ndarray:
        return self.state.y

    @property
    def data(self) -> Data:
        """The encoded table, and its bins."""
        return self.state.data

    @property
    def binned(self) -> BinnedRows:
        assert self.state.data.binned is not None
        return self.state.data.binned

    @property
    def n_drawn(self) -> int:
        """Rows to draw from: copies of one are always together."""
        return len(self) if self.row_of is None else int(self.row_of[-1]) + 1

    def of_copies(self, values: np.ndarray) -> np.ndarray:
        """A value for each row from one for each that was drawn from."""
        return values if self.row_of is None else values[self.row_of]

    def __len__(self) -> int:
        return len(self.state)


class Member:
    """One of the models that are pooled.

    A member is made anew for each fit, and for predictions from the fitted attributes of the
    classifier. In training, :meth:`start` comes first; then, for each round, :meth:`grow` and
    :meth:`update` of each task (or :meth:`update` alone, where the rounds were grown before: after
    a warm start or a checkpoint); :meth:`finish` comes last.

    A member that grows trees overrides :meth:`grow`, :meth:`update` and the numbers of tasks and
    trees; one without trees overrides :attr:`n_columns` and :meth:`initial_scores`.
    """

    n_classes: int  # two at least

    @property
    def name(self) -> str:
        """What it is called where its opinion is shown."""
        return type(self).__name__.removesuffix("Member").lower()

    @property
    def n_tasks(self) -> int:
        """Tasks of a round that can run in parallel, each with random numbers of its own."""
        return 0

    @property
    def n_trees(self) -> int:
        """Trees of a round, the same number for each task; 0 for a member that is fitted once."""
        return 0

    @property
    def n_values(self) -> int:
        """Values of a leaf; the j-th tree adds them to columns from j * n_values on."""
        return 1

    @property
    def n_columns(self) -> int:
        """Columns of the scores."""
        return self.n_trees * self.n_values

    # In prediction

    def proba(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities, (n, n_classes), from the member's columns of the scores."""
        raise NotImplementedError

    def initial_scores(self, data: Data) -> np.ndarray | None:
        """Its columns of the scores before the first round, (n, n_columns); None for zeros.

        Those of training and validation rows, which callbacks see, begin with zeros in any case.
        """
        return None

    def pruned(self, j: int, t: int, tree: GrownTree) -> GrownTree | None:
        """The j-th tree of round t as predictions use it; None where they do without."""
        return tree

    # In training

    def start(self, rows: SharedRows) -> None:
        """Begin training on rows; a member without trees is fitted here."""
        raise NotImplementedError

    def grow(self, task: int, round_: Round) -> Trees:
        """The trees of a task in a round, whose seed is the task's own."""
        raise NotImplementedError

    def update(self, task: int, trees: Trees, round_: Round) -> None:
        """Take in the trees of a task that were grown in a round."""
        raise NotImplementedError

    def n_open(self, t: int) -> int:
        """Tasks that still grow in round t: none, for a member without trees."""
        return 0

    def check(self, tree: GrownTree) -> None:
        """Raise an error for a tree with another number of values: others' columns would change."""
        if tree.value.shape[1] != self.n_values:
            raise ValueError(f"a tree of this member must have {self.n_values} values per leaf.")

    def finish(self) -> np.ndarray:
        """Out-of-sample probabilities of the training rows, (n, n_classes), after the last round.

        Each row by models that have not seen it. What predictions need and only such rows can
        tell, such as a number of rounds, is chosen here.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Place:
    """A member, its trees among those of a stage, and its columns of the scores."""

    member: Member
    trees: slice
    columns: slice

    def trees_of(self, task: int) -> slice:
        """Trees of one of its tasks, among those of all members."""
        each = self.member.n_trees // self.member.n_tasks
        start = self.trees.start + task * each
        return slice(start, start + each)

    def pruned(self, trees: Trees, t: int) -> Iterator[tuple[int, GrownTree, int]]:
        """Its trees of round t as predictions use them, with their parts and first columns."""
        member, n_values = self.member, self.member.n_values
        for j, tree in enumerate(trees[self.trees]):
            if tree is None:
                continue
            part = self.trees.start + j
            used = member.pruned(j, t, tree)
            if used is not None:
                yield part, used, self.columns.start + j * n_values


def places_of(members: Sequence[Member]) -> list[Place]:
    """Members one after the other."""
    trees = list(accumulate((member.n_trees for member in members), initial=0))
    columns = list(accumulate((member.n_columns for member in members), initial=0))
    bounds = zip(members, pairwise(trees), pairwise(columns), strict=True)
    return [Place(member, slice(*own), slice(*adds_to)) for member, own, adds_to in bounds]


class Members:
    """Members side by side: their trees make a stage, and their columns the scores."""

    def __init__(self, members: Sequence[Member]):
        self.places = places_of(members)

    def __iter__(self) -> Iterator[Member]:
        return (place.member for place in self.places)

    @property
    def n_trees(self) -> int:
        return self.places[-1].trees.stop

    @property
    def n_columns(self) -> int:
        return self.places[-1].columns.stop

    def place_of_tree(self, part: int) -> Place:
        """The member that the part of a stage belongs to."""
        return next(place for place in self.places if part < place.trees.stop)

    # In prediction

    def proba(self, scores: np.ndarray) -> np.ndarray:
        """(members, n, classes): what each member says."""
        return np.stack([place.member.proba(scores[:, place.columns]) for place in self.places])

    def add_initial_scores(self, data: Data, scores: np.ndarray) -> None:
        """Add the scores that members have before the first round."""
        for place in self.places:
            initial = place.member.initial_scores(data)
            if initial is not None:
                scores[:, place.columns] += initial

    def check(self, trees: Trees) -> None:
        """Raise an error for trees, of a damaged file, that are not those of these members."""
        for place in self.places:
            for tree in filter(None, trees[place.trees]):
                place.member.check(tree)

    def pruned(self, trees: Trees, t: int) -> list[tuple[int, GrownTree, int]]:
        """Trees of round t as predictions use them, with their parts and first columns."""
        return [entry for place in self.places for entry in place.pruned(trees, t)]


class MemberTraining:
    """Members on training rows, round by round."""

    def __init__(self, members: Sequence[Member], rows: SharedRows):
        self.members, self.rows = Members(members), rows
        self._tasks = [
            (place, task) for place in self.members.places for task in range(place.member.n_tasks)
        ]
        # Matrices are small here. Further threads of BLAS would gain little, and where processors
        # are busy or shared they wait for each other: a fit took 25 times as long.
        with threadpool_limits(1, user_api="blas"):
            for member in members:
                member.start(rows)

    def grow(self, round_: Round) -> tuple[GrownTree | None, ...]:
        """The trees of a round."""

        def grow_task(number: int) -> Trees:
            place, task = self._tasks[number]
            return place.member.grow(task, round_.of(number))

        grown = self.rows.state.workers.run(grow_task, range(len(self._tasks)))
        return tuple(tree for trees in grown for tree in trees)

    def update(self, trees: Trees, round_: Round) -> None:
        """Take in the trees of a round, grown now or in an earlier run."""

        def update_task(number: int) -> None:
            place, task = self._tasks[number]
            place.member.update(task, trees[place.trees_of(task)], round_.of(number))

        self.rows.state.workers.run(update_task, range(len(self._tasks)))

    def is_done(self, t: int) -> bool:
        """Whether no member grows any more in round t."""
        return not any(member.n_open(t) for member in self.members)

    def finish(self) -> np.ndarray:
        """(members, n, classes): out-of-sample probabilities of the rows, by each member."""
        every = list(self.members)
        return np.stack(self.rows.state.workers.run(lambda member: member.finish(), every))


def varying_features(binned: BinnedRows) -> np.ndarray:
    """Features that have more than one value, or all if there is none.

    A tree that draws some of the features would waste draws on the others.
    """

    def differs(feature: int) -> bool:
        packed, place = binned.column(feature)
        bins = packed.view(np.uint8)[place >> 2, place & 3 :: 4]
        return bool((bins != bins[0]).any())

    varies = binned.n_bins > 1
    gaps = np.flatnonzero((binned.n_bins == 1) & (binned.has_missing > 0))
    varies[[f for f in gaps.tolist() if differs(f)]] = True
    return np.flatnonzero(varies) if varies.any() else np.arange(binned.n_features)


def some_rows(X: Any) -> np.ndarray | None:
    """A sample of rows as a dense array, whatever the ``random_state``; None if there are none."""
    size = 0 if X is None else min(MOST_BACKGROUND, X.shape[0], MOST_NUMBERS // max(X.shape[1], 1))
    if not size:
        return None
    chosen = X[np.sort(np.random.default_rng(0).choice(X.shape[0], size, replace=False))]
    dense = chosen.toarray() if issparse(chosen) else chosen
    return np.array(dense, dtype=np.float64)


# Stages: a tree of each task and class, where it still grows


def round_of(stage: Stage) -> int:
    """The round that a stage was grown in."""
    return int(stage.extra["round"])


def trees_of(stage: Stage) -> Trees:
    """The trees of all members."""
    assert isinstance(stage.answer, Answers)
    answers: tuple = stage.answer.answers
    return tuple(None if answer is None else answer.tree for answer in answers)


def as_answers(trees: Trees) -> Answers:
    """Trees whose votes are their leaves."""
    return Answers(tuple(None if tree is None else LeafAnswer.of(tree) for tree in trees))
