"""The interface of weak learners: the question of a round, and its answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.sparse import issparse

from steadyboost.trees.data.binned import BinnedRows

Made = TypeVar("Made")


class LocalPartitions(NamedTuple):
    """The partitions of distributed rows that are on this machine.

    ``numbers`` are their indices among all partitions; partition k holds the rows from
    ``bounds[k]`` to ``bounds[k + 1]``.
    """

    numbers: Sequence[int]
    bounds: Sequence[int]

    @classmethod
    def one(cls, n: int) -> "LocalPartitions":
        """All rows, on one machine."""
        return cls([0], [0, n])

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """Index, first row and end of each partition."""
        return [(k, a, b) for k, (a, b) in zip(self.numbers, pairwise(self.bounds), strict=True)]

    def take(self, rows: np.ndarray) -> "LocalPartitions":
        return LocalPartitions(self.numbers, np.searchsorted(rows, self.bounds).tolist())


@dataclass
class Data:
    """Encoded rows (an array, or sparse), and their bins where the learner works on bins.

    ``n_values[f]`` is the number of values of a categorical column, 0 for a numeric one; None
    stands for numeric columns only. Rows that are spread over machines are bins alone.
    """

    X: Any
    binned: BinnedRows | None = None
    n_values: np.ndarray | None = None
    partitions: LocalPartitions | None = None
    _made: dict[Callable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return (self.X if self.binned is None else self.binned).shape[0]

    @property
    def n_features(self) -> int:
        return (self.X if self.binned is None else self.binned).shape[1]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays that a learner reads."""
        if self.binned is not None:
            return self.binned.arrays
        return (self.X.indptr, self.X.indices, self.X.data) if issparse(self.X) else (self.X,)

    def take(self, rows: np.ndarray) -> "Data":
        binned = None if self.binned is None else self.binned.take(rows)
        X = None if self.X is None else self.X[rows]
        return Data(X, binned, self.n_values, self.partitions and self.partitions.take(rows))

    def once(self, make: Callable[["Data"], Made]) -> Made:
        """``make(self)``, computed on first use and kept for all rounds on these rows."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]


@dataclass
class Question:
    """What a weak learner is asked: each row's target in 0 .. n_answers - 1, and its weight.

    ``code[a]`` is what answer a adds to each class's score; a 1-D code counts for the answered
    class alone. ``total`` is the sum of the weights, if it is known. ``fixed_point_scale`` is the
    weight that 2**60 stands for in sums of integers; it is given where the targets are those of the
    last round and most weights were multiplied by the factor by which it has changed.
    ``info`` goes to the history of the round, ``extra`` to its stage, for ``add``.

    Where ``edges`` is given, ``edges[i, l]`` is what is gained by naming label l in row i, and the
    last column is the row's mass. ``form`` says what may be named, and what a learner answers
    that can maximise the sum of the edges:

    ``"set"``     any set of labels; the learner writes its sets to ``code``, one per answer, with 1
                  for labels in the set and ``absent`` for the others
    ``"label"``   one label, which is the answer
    ``"vector"``  a vector of length one over the labels, in place of zeros and ones; the learner
                  writes its vectors, times the ``code`` that was given, to ``code``

    Other learners name a target, or give the probabilities of the targets.
    """

    targets: np.ndarray
    weights: np.ndarray
    n_answers: int
    code: np.ndarray
    info: dict[str, Any] = field(default_factory=dict)
    edges: np.ndarray | None = None
    form: str = "set"
    absent: float = 0.0
    total: float | None = None
    fixed_point_scale: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def labels(self, votes: np.ndarray) -> np.ndarray:
        """The label with the largest share of each vote; votes for sets are left as they are."""
        if self.edges is None or self.form == "label":
            return votes
        if votes.ndim == 2:
            return votes.argmax(axis=1).astype(np.int32)
        return self.code.argmax(axis=1).astype(np.int32)[votes]


class Threads(Protocol):
    """The thread pool of a learner, with an allreduce for distributed rows."""

    n_threads: int

    def run(self, function: Any, items: Any) -> list[Any]: ...

    def allreduce(
        self, values: Any, reduce: Callable[[list[Any]], Any], order: Sequence[Any] | None = None
    ) -> Any:
        """``reduce`` of the values of all machines, sorted by ``order``."""
        ...


def first_of(values: list[Any]) -> Any:
    return values[0]


def running_sums(values: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Exclusive prefix sum for each key, and the total for None."""
    before, total = {}, 0
    for key, value in values:
        before[key] = total
        total = total + value
    before[None] = total
    return before


def sums_before(threads: Threads, values: Sequence[Any], order: Sequence[Any]) -> tuple[list, Any]:
    """Exclusive prefix sums of the values over all machines, and their total."""
    before = threads.allreduce(list(zip(order, values, strict=True)), running_sums, order)
    return [before[key] for key in order], before[None]


class Answer(Protocol):
    """A fitted weak hypothesis."""

    def votes(self, data: Data) -> np.ndarray:
        """The answer of each row, an integer; or (n, k): the share of each label in the answer."""
        ...

    def importances(self, n_features: int) -> np.ndarray:
        """How much each feature contributed; sums to one, or all zero."""
        ...


class Learner(Protocol):
    """A weak learner: fits a weak hypothesis to a question."""

    uses_bins: bool

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[Answer, np.ndarray]:
        """A weak hypothesis and its votes on ``data``.

        ``counts`` is given where the round trains on a bootstrap: how often each row was drawn.
        """
        ...


@dataclass(frozen=True)
class Answers:
    """One answer per question; None where a question was not asked any more."""

    answers: tuple[Answer | None, ...]

    def votes(self, data: Data) -> np.ndarray:
        """Votes of shape (n, questions), zeros where there is no answer."""
        return stacked([None if a is None else a.votes(data) for a in self.answers], len(data))

    def importances(self, n_features: int) -> np.ndarray:
        given = [a.importances(n_features) for a in self.answers if a is not None]
        return np.mean(given, axis=0) if given else np.zeros(n_features)


def single(answer: Answer) -> list[Answer]:
    """The parts of a joint answer; otherwise the answer itself."""
    if isinstance(answer, Answers):
        return [one for one in answer.answers if one is not None]
    return [answer]


def stacked(columns: list[np.ndarray | None], n: int) -> np.ndarray:
    """Votes as columns of a matrix, zeros where there are none."""
    out = np.zeros((n, len(columns)), dtype=np.int32, order="F")  # written column by column
    for p, votes in enumerate(columns):
        if votes is not None:
            out[:, p] = votes
    return out
