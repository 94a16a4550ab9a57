"""The training state: the data with its scores and weights, in chunks of rows for the threads.

The chunks depend only on the number of rows, and partial sums are added chunk by chunk in a fixed
order, so that results do not depend on the number of threads. In distributed training each machine
holds some of the chunks, and a sum is taken over the chunks of all machines, in global order.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.ensemble.scores import PERFECT
from steadyboost.ensemble.validation import held_out
from steadyboost.ensemble.weighting import ExpScoreCache, Weighting
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data, LocalPartitions, first_of, sums_before
from steadyboost.trees.parallel import sum_in_order

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage

CHUNK_ROWS = 65_536  # does not depend on the number of threads, as sums are by chunk

Order = tuple[int, int]  # index of a partition, and of a chunk within it


@dataclass
class RowChunk:
    """A contiguous chunk of rows; its arrays are views, or not shared with other chunks."""

    number: int
    order: Order  # position among the chunks of all machines
    rows: slice
    y: np.ndarray
    base: np.ndarray | None  # log of sample_weight
    scores: np.ndarray
    exp_scores: ExpScoreCache | None = None  # if the booster weights (row, label) pairs
    memory: np.ndarray | None = None  # per-row state of the booster other than the scores

    def __len__(self) -> int:
        return len(self.y)


def chunk_bounds(data: Data | None, n: int) -> list[tuple[Order, slice]]:
    """Bounds of the chunks of ``n`` rows, partition by partition."""
    partitions, chunks = None if data is None else data.partitions, []
    for number, start, stop in (partitions or LocalPartitions.one(n)).spans:
        n_rows = stop - start
        # An even number of chunks, which two or four threads share without one waiting.
        n_chunks = min(n_rows, 1) if n_rows <= CHUNK_ROWS else 2 * -(-n_rows // (2 * CHUNK_ROWS))
        bounds = np.linspace(start, stop, n_chunks + 1).astype(int)
        for k, (a, b) in enumerate(pairwise(bounds.tolist())):
            chunks.append(((number, k), slice(a, b)))
    return chunks


def scale_of(sums: Sequence[tuple[float, float]] | np.ndarray) -> tuple[float, float]:
    """The largest exponent ``top`` of all chunks, and the sum of ``exp(exponent - top)``.

    Each chunk contributes its own largest exponent and its own sum of shifted exponentials.
    """
    if len(sums) == 1:
        return sums[0]
    tops, own = np.transpose(sums)
    return float(tops.max()), float(np.exp(tops - tops.max()) @ own)


def range_of(sums: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """As ``scale_of``, and the smallest exponent of all chunks."""
    return *scale_of([own[:2] for own in sums]), min(own[2] for own in sums)


class TrainingState:
    """Data and labels, with the current scores and weights of boosting."""

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
    ):
        """``n_outputs`` columns of scores, one per class by default; or ``scores``, by chunk.

        ``costs`` are the costs of each label in each row, if the booster takes any.
        """
        y = y.astype(np.int32, copy=False)  # as trees want it
        self.data, self.y, self.n_classes, self.workers = data, y, n_classes, workers
        spans = chunk_bounds(data, len(y))
        if weights is not None and self._are_ones(weights, spans):
            weights = None  # without weights, a booster may draw rows by another method
        self.n_outputs = n_classes if n_outputs is None else n_outputs
        self.sample_weight, self.costs = weights, costs
        self.numbers: Any = slice(None)  # indices of these rows in the X that was passed to ``fit``
        self.n_passed = len(y)  # rows of that X
        self.verified: np.ndarray | None = None  # rows whose label is known to be right
        self.given: np.ndarray | None = None  # labels before they were corrected, if known
        self.weighting = Weighting()
        self.weights = np.empty(len(y))
        with np.errstate(divide="ignore"):  # rows whose stake is 0 have weight 0
            base = None if weights is None else np.log(weights)
        self.chunks = [
            RowChunk(
                number,
                order,
                at,
                y[at],
                None if base is None else base[at],
                # Column order: a round mostly adds to one class, or to a column at a time.
                np.zeros((at.stop - at.start, self.n_outputs), order="F")
                if scores is None
                else scores[number],
            )
            for number, (order, at) in enumerate(spans)
        ]
        self.order = [chunk.order for chunk in self.chunks]
        self._count()

    def _are_ones(self, weights: np.ndarray, spans: Sequence[tuple[Order, slice]]) -> bool:
        """Whether the weights of the rows of all machines are one."""
        ones = [bool((weights[at] == 1).all()) for _, at in spans]
        return bool(self.workers.allreduce(ones, all, [order for order, _ in spans]))

    def _count(self) -> None:
        """Count the rows and sum their weights, over all machines."""
        sizes = [len(chunk) for chunk in self.chunks]
        self.starts, self.n_all = sums_before(self.workers, sizes, self.order)
        self.total_weight = float(self.n_all)
        if self.sample_weight is not None:
            self.total_weight = self.sum(self.sample_weight)
        self.mass = max(self.n_all, self.total_weight)  # the larger of row count and total weight

    def __len__(self) -> int:
        return len(self.y)

    def each(self, function: Callable[[RowChunk], Any]) -> list[Any]:
        """Apply a function to each chunk on the thread pool; results in order."""
        if len(self.chunks) == 1:  # nothing to share among threads
            return [function(self.chunks[0])]
        return self.workers.run(function, self.chunks)

    def allreduce(self, results: Sequence[Any], reduce: Callable[[list[Any]], Any]) -> Any:
        """Reduce the results of the chunks of all machines."""
        return self.workers.allreduce(results, reduce, self.order)

    def total(self, function: Callable[[RowChunk], Any]) -> Any:
        """Sum of a function over all chunks."""
        return self.allreduce(self.each(function), sum_in_order)

    def sum(self, values: np.ndarray) -> float:
        """Sum of a number per row."""
        sums = [values[chunk.rows].sum() for chunk in self.chunks]
        return float(self.allreduce(sums, sum_in_order))

    def take(self, rows: np.ndarray, workers: Workers) -> "TrainingState":
        """A subset of the rows with scores of zero, binned with the same thresholds."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        costs = None if self.costs is None else self.costs[rows]
        data, y = self.data.take(rows), self.y[rows]
        return TrainingState(data, y, self.n_classes, weights, workers, self.n_outputs, costs=costs)

    def split_off(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
        """Rows for training and for validation, and whether any machine has one of the latter."""
        labels = [chunk.y for chunk in self.chunks]
        held = self.allreduce(labels, partial(held_out, fraction=fraction, seed=seed))
        own = np.zeros(len(self), dtype=bool)
        for chunk, start in zip(self.chunks, self.starts, strict=True):
            own[chunk.rows] = held[start : start + len(chunk)]
        return np.flatnonzero(~own), np.flatnonzero(own), bool(held.any())

    def in_turn(self, function: Callable[[RowChunk, Any], Any], state: Any) -> None:
        """Call a function on the chunks of all machines sequentially, in global order.

        Each call receives the state that the previous call returned.
        """
        own = {chunk.order: chunk for chunk in self.chunks}
        for order in self.allreduce(self.order, list):
            mine = [function(own[order], state)] if order in own else []
            state = self.workers.allreduce(mine, first_of)

    def subproblem(self, p: int, y: np.ndarray) -> "TrainingState":
        """A binary subproblem on the same rows, which updates the p-th column of the scores."""
        scores = [chunk.scores[:, p : p + 1] for chunk in self.chunks]
        alone = self.workers.alone()  # subproblems run in parallel, each on one thread
        return TrainingState(self.data, y, 2, self.sample_weight, alone, scores=scores)

    def fingerprint(self) -> str:
        """A hash of the data, labels, weights and costs."""
        return digest((*self.data.arrays, self.y, self.sample_weight, self.costs))

    def floored(self, error: float) -> float:
        """The error; for a perfect answer, that of half a misclassified row."""
        return max(PERFECT, 1 / (2 * self.mass)) if error <= PERFECT else error

    def normalise(self) -> float:
        """Normalise the weights and return the exact logarithm of the smallest."""
        total = self.sum(self.weights)

        def normalise(chunk: RowChunk) -> float:
            self.weights[chunk.rows] /= total
            return float(self.weights[chunk.rows].min())

        return float(np.log(self.allreduce(self.each(normalise), min)))

    def start(self, weighting: Weighting) -> None:
        """Set the weighting, which owns the weights and the pending stages; once, before a run."""
        self.weighting = weighting
        weighting.start(self)

    def add(self, stage: "Stage", votes: np.ndarray | None) -> None:
        """Add a stage to the scores, now or on first use."""
        self.weighting.add(self, stage, votes)

    def flush(self) -> None:
        """Add the pending stages to the scores."""
        self.weighting.flush(self)

    @property
    def scores(self) -> np.ndarray:
        self.flush()
        return np.concatenate([chunk.scores for chunk in self.chunks])

    def weigh(self, log_weights: Callable[[RowChunk], np.ndarray]) -> float:
        """Set the weights to exp(log_weights(chunk)) * sample_weight, normalised to sum to one.

        Returns a lower bound of the logarithms of the weights.

        Exponents are shifted by their maximum first, so that the weights do not overflow even
        after thousands of rounds.
        """

        def exponentiate(chunk: RowChunk) -> tuple[float, float, float]:
            logs = log_weights(chunk)
            if chunk.base is not None:
                logs = logs + chunk.base
            top = float(logs.max())
            weights = self.weights[chunk.rows]
            np.exp(np.subtract(logs, top, out=weights), out=weights)
            return top, float(weights.sum()), float(logs.min())

        sums = self.each(exponentiate)
        top, total, bottom = self.allreduce(sums, range_of)

        def normalise(chunk: RowChunk) -> None:
            self.weights[chunk.rows] *= np.exp(sums[chunk.number][0] - top) / total

        self.each(normalise)
        return float(bottom - top - np.log(total))


def digest(arrays: Iterable[np.ndarray | None]) -> str:
    """A fingerprint of arrays."""
    known = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            known.update(f"{array.dtype}{array.shape}".encode())
            known.update(np.ascontiguousarray(array).data)  # hashlib takes contiguous memory
    return known.hexdigest()
