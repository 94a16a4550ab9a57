"""Rows of a data set with their scores and weights, in blocks that threads can share.

Blocks depend on the number of rows alone, and sums are added block by block in a fixed order, so
that results do not depend on the number of threads. Where rows are spread over machines, each has
some of the blocks, and sums are over those of all machines, in the order of the whole.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.exp_score_cache import RaisedScores
from steadyboost.ensemble.scores import PERFECT, multiply_weights
from steadyboost.ensemble.validation import held_out
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data, Pieces, first_of, sums_before
from steadyboost.trees.growth.sharded import add_up

BLOCK_ROWS = 65_536
LOWEST = -600.0  # logarithm of numbers well above the least, which is exp(-708)
MIDDLE = 16.0  # weights may become so many times as small before they are counted anew

Order = tuple[int, int]  # the number of a piece, and that of a block in it


@dataclass
class Block:
    """A stretch of rows; all arrays are views or owned by it alone."""

    number: int
    order: Order  # among the blocks of all machines
    rows: slice
    y: np.ndarray
    base: np.ndarray | None  # log of the user's weights
    scores: np.ndarray
    raised: RaisedScores | None = None  # where a booster weighs (row, label) pairs
    memory: np.ndarray | None = None  # where a booster keeps more of a row than its scores

    def __len__(self) -> int:
        return len(self.y)


class Late(NamedTuple):
    """A stage that weights do not know of yet, where answers count alike."""

    step: float
    error: float
    votes: np.ndarray


def stretches(data: Data | None, n: int) -> Iterator[tuple[Order, slice]]:
    """The blocks of so many rows, piece by piece."""
    pieces = None if data is None else data.pieces
    for number, start, stop in (pieces or Pieces.one(n)).spans:
        n_rows = stop - start
        n_blocks = min(n_rows, 1) if n_rows <= BLOCK_ROWS else 2 * -(-n_rows // (2 * BLOCK_ROWS))
        bounds = np.linspace(start, stop, n_blocks + 1).astype(int)
        for k, (a, b) in enumerate(pairwise(bounds.tolist())):
            yield (number, k), slice(a, b)


def scale_of(raised: Sequence[tuple[float, float]] | np.ndarray) -> tuple[float, float]:
    """The largest exponent of all blocks, and the sum of what is raised by less than it.

    A block says its own largest exponent, and the sum of what it raised.
    """
    if len(raised) == 1:
        return raised[0]
    tops, sums = np.transpose(raised)
    return float(tops.max()), float(np.exp(tops - tops.max()) @ sums)


def range_of(raised: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """As that, and the smallest exponent, which each block says as well."""
    return *scale_of([block[:2] for block in raised]), min(block[2] for block in raised)


def near(whole: float) -> float:
    """What 2**60 may stand for as trees count weights that sum to one: a number, or another."""
    return whole if 1 <= whole <= MIDDLE**2 else MIDDLE


def nothing_waits() -> None:
    """The scores of most rows are always up to date."""


class Rows:
    """Data, labels and the running state of boosting on them."""

    def __init__(
        self,
        data: Data,
        y: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None,
        workers: Workers,
        n_outputs: int | None = None,
        scores: Sequence[np.ndarray] | None = None,
        costs: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
    ):
        """``n_outputs`` columns of scores, one per class by default; or ``scores``, by block.

        ``costs``, where a booster is given any: what each label costs in each row. ``numbers``:
        the rows' places among the ``n_passed`` that the user passed, None if these are all.
        """
        y = y.astype(np.int32, copy=False)  # as trees want it
        self.data, self.y, self.n_classes, self.workers = data, y, n_classes, workers
        self.n_outputs = n_classes if n_outputs is None else n_outputs
        self.sample_weight, self.costs = weights, costs
        self.numbers, self.n_passed = slice(None) if numbers is None else numbers, len(y)
        self.catch_up: Callable[[], None] = nothing_waits
        self.late: Late | None = None
        self.lowest = -np.inf  # no weight has a logarithm below this
        self.whole: float | None = None  # a weight that follows most others from round to round
        self.weights = np.empty(len(y))
        base = None if weights is None else np.log(weights)
        self.blocks = [
            Block(
                number,
                order,
                at,
                y[at],
                None if base is None else base[at],
                np.zeros((at.stop - at.start, self.n_outputs), order="F")
                if scores is None
                else scores[number],
            )
            for number, (order, at) in enumerate(stretches(data, len(y)))
        ]
        self.order = [block.order for block in self.blocks]
        self._count()

    def _count(self) -> None:
        """Rows and their weight, also those of other machines."""
        sizes = [len(block) for block in self.blocks]
        self.starts, self.n_all = sums_before(self.workers, sizes, self.order)
        self.total_weight = float(self.n_all)
        if self.sample_weight is not None:
            self.total_weight = self.sum(self.sample_weight)
        self.mass = max(self.n_all, self.total_weight)  # rows by their weight

    def __len__(self) -> int:
        return len(self.y)

    def each(self, function: Callable[[Block], Any]) -> list[Any]:
        """Results of a function of each block, in order."""
        return self.workers.run(function, self.blocks)

    def meet(self, results: Sequence[Any], conclude: Callable[[list[Any]], Any]) -> Any:
        """``conclude`` of the results of the blocks of all machines."""
        return self.workers.meet(results, conclude, self.order)

    def total(self, function: Callable[[Block], Any]) -> Any:
        """Sum over the blocks."""
        return self.meet(self.each(function), add_up)

    def sum(self, values: np.ndarray) -> float:
        """Sum of a number per row."""
        return float(self.meet([values[block.rows].sum() for block in self.blocks], add_up))

    def take(self, rows: np.ndarray, workers: Workers) -> "Rows":
        """Some of the rows, with fresh scores; they share the bins' cuts."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        costs = None if self.costs is None else self.costs[rows]
        data, y = self.data.take(rows), self.y[rows]
        return Rows(data, y, self.n_classes, weights, workers, self.n_outputs, costs=costs)

    def split_off(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
        """Rows for training and for validation, and whether any machine has one of the latter."""
        labels = [block.y for block in self.blocks]
        held = self.meet(labels, partial(held_out, fraction=fraction, seed=seed))
        own = np.zeros(len(self), dtype=bool)
        for block, start in zip(self.blocks, self.starts, strict=True):
            own[block.rows] = held[start : start + len(block)]
        return np.flatnonzero(~own), np.flatnonzero(own), bool(held.any())

    def in_turn(self, function: Callable[[Block, Any], Any], state: Any) -> None:
        """Call a function of each block of all machines, one after the other.

        It is given what the call before it returned.
        """
        own = {block.order: block for block in self.blocks}
        for order in self.meet(self.order, list):
            mine = [function(own[order], state)] if order in own else []
            state = self.workers.meet(mine, first_of)

    def problem(self, p: int, y: np.ndarray) -> "Rows":
        """The same rows with two classes, and the p-th column of the scores as theirs."""
        scores = [block.scores[:, p : p + 1] for block in self.blocks]
        alone = self.workers.alone()
        return Rows(self.data, y, 2, self.sample_weight, alone, scores=scores)

    def fingerprint(self) -> str:
        """What tells these rows, labels, weights and costs from others."""
        return digest((*self.data.arrays, self.y, self.sample_weight, self.costs))

    def floored(self, error: float) -> float:
        """The error, or that of half a row if it is none."""
        return max(PERFECT, 1 / (2 * self.mass)) if error <= PERFECT else error

    def start_following(self) -> None:
        """Have weights follow from round to round, from here on."""
        self.whole = MIDDLE

    def follow(self) -> bool:
        """Have the weights know of the stage that is late; whether they do.

        They need no exponential per row: a stage multiplies them by one of two factors, and its
        error tells by how much all must be multiplied for a sum of one. Not so if any is too small
        for a number that can grow again.
        """
        late, self.late = self.late, None
        if late is None or self.whole is None or self.lowest <= LOWEST:
            return False
        fall = exp(-late.step)
        scale = 1 / (late.error + (1 - late.error) * fall)
        factors = (fall * scale, scale)
        self.lowest += log(scale) - max(late.step, 0.0)
        self.whole = near(self.whole * factors[int(late.error >= 0.5)])

        def multiply(block: Block) -> None:
            votes, weights = late.votes[block.rows], self.weights[block.rows]
            multiply_weights(*factors, votes, block.y, weights)

        self.each(multiply)
        if self.lowest <= LOWEST:
            self.lowest = self._lowest_now()
        return bool(self.lowest > LOWEST)

    def _lowest_now(self) -> float:
        """Logarithm of the smallest weight, where a bound is not enough; their sum is one again."""
        total = self.sum(self.weights)

        def normalise(block: Block) -> float:
            self.weights[block.rows] /= total
            return float(self.weights[block.rows].min())

        return float(np.log(self.meet(self.each(normalise), min)))

    def keep_raised(self) -> None:
        """Keep the exponentials of the scores up to date from here on."""
        for block in self.blocks:
            block.raised = RaisedScores(block.scores, block.y)

    @property
    def scores(self) -> np.ndarray:
        self.catch_up()
        return np.concatenate([block.scores for block in self.blocks])

    def weigh(self, log_weights: Callable[[Block], np.ndarray]) -> None:
        """Set the weights to exp(log_weights(block)) times the user's, summing to one.

        Everything is shifted by the largest exponent before it is raised, so that thousands of
        rounds neither overflow nor underflow.
        """

        def raise_block(block: Block) -> tuple[float, float, float]:
            logs = log_weights(block)
            if block.base is not None:
                logs = logs + block.base
            top = float(logs.max())
            raised = self.weights[block.rows]
            np.exp(np.subtract(logs, top, out=raised), out=raised)
            return top, float(raised.sum()), float(logs.min())

        raised = self.each(raise_block)
        top, total, bottom = self.meet(raised, range_of)
        self.whole = None if self.whole is None else MIDDLE
        self.lowest = bottom - top - np.log(total)

        def normalise(block: Block) -> None:
            self.weights[block.rows] *= np.exp(raised[block.number][0] - top) / total

        self.each(normalise)


def digest(arrays: Iterable[np.ndarray | None]) -> str:
    """A fingerprint of arrays."""
    known = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            known.update(f"{array.dtype}{array.shape}".encode())
            known.update(np.ascontiguousarray(array).data)
    return known.hexdigest()
