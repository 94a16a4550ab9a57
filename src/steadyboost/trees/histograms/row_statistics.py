"""What the histograms of a tree add up over rows, in fixed point."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from steadyboost.trees.histograms.fixed_point import (
    LANES,
    absolute_total,
    fix_weights,
    rounded,
    sum_channels,
    sum_labels,
    to_fixed_point,
)

STRETCH = 65_536  # rows that are summed at a time
COUNT = np.arange(STRETCH, dtype=np.int32)

Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
Made = TypeVar("Made")


def one_by_one(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [function(item) for item in items]


def parts(n: int, n_parts: int) -> list[slice]:
    """``n`` rows in so many slices of like length."""
    if n_parts == 1:
        return [slice(0, n)]
    bounds = np.linspace(0, n, n_parts + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]


def list_rows(rows: np.ndarray | None, at: slice, out: np.ndarray) -> None:
    """Write the given rows at their places, or the numbers of all."""
    if rows is not None:
        out[at] = rows[at]
        return
    for start in range(at.start, at.stop, STRETCH):
        stop = min(start + STRETCH, at.stop)
        np.add(COUNT[: stop - start], np.int32(start), out=out[start:stop])


def scaled_total(total: float, whole: float) -> float:
    """What a total becomes where 2**60 stands for ``whole``."""
    return 2.0**60 * (total / whole) if total != whole else 2.0**60


class ScratchArrays(threading.local):
    """Arrays of a row's length that tree after tree needs, allocated once.

    Each thread has its own: trees may be grown side by side.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._made: dict[str, tuple[Any, tuple, Any]] = {}

    def array(self, name: str, n: int, dtype: Any) -> np.ndarray:
        """An array of any content, the one of this name if it is there already."""
        if name not in self._arrays or len(self._arrays[name]) < n:
            self._arrays[name] = np.empty(n, dtype=dtype)
        return self._arrays[name][:n]

    def once(self, name: str, of: Any, key: tuple, make: Callable[[], Made]) -> Made:
        """What was made last under a name, if it was of the same object and for the same key."""
        if name not in self._made or self._made[name][0] is not of or self._made[name][1] != key:
            self._made[name] = of, key, make()
        return cast(Made, self._made[name][2])


class RowStatistics(NamedTuple):
    """What each row adds to a histogram, as kernels take it.

    Its weight to one of ``n_channels`` labels, or a vector of ``channels``; ``counts``, which is
    empty where rows are not counted, to the one label of ``no_labels``.
    """

    labels: np.ndarray
    weights: np.ndarray
    channels: np.ndarray | None  # None for labels and weights
    counts: np.ndarray
    no_labels: np.ndarray
    n_channels: int


NO_LABELS, NO_WEIGHTS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)


def counted(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts, and the one label that they are of."""
    return counts, np.zeros(len(counts), dtype=np.int32)


@dataclass(frozen=True)
class FixedPointSums:
    """Labels with weights, or vectors of channels, as integers, and what they add up to."""

    labels: np.ndarray
    weights: np.ndarray
    channels: np.ndarray | None
    n_channels: int
    whole: float = 1.0  # what 2**60 stands for
    scale: float = 2.0**60  # that all weights together are
    of_all: np.ndarray | None = None  # total of all rows, if it is known
    hist: np.ndarray | None = None  # histogram of all rows, if it is known

    @classmethod
    def of_labels(
        cls,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        rows: np.ndarray | None = None,
        *,
        run: Run = one_by_one,
        scratch: ScratchArrays | None = None,
        total: float | None = None,
        whole: float | None = None,
    ) -> "FixedPointSums":
        """Labels in 0 .. n_labels - 1 with non-negative weights; ``rows``: those to be used.

        The sums are over slices that do not depend on the number of threads. ``total`` is that of
        the weights of the rows, if it is known; 2**60 stands for ``whole``, by default for it.
        """
        labels = labels.astype(np.int32, copy=False)
        fixed = (scratch or ScratchArrays()).array("weights", len(weights), np.int64)
        slices = parts(len(weights), -(-len(weights) // STRETCH) or 1)
        if total is None:
            used = weights if rows is None else weights[rows]
            total = sum(run(lambda at: used[at].sum(), parts(len(used), len(slices))))
            total = float(rounded(total))
        whole = whole or total

        def fix(at: slice) -> np.ndarray:
            lanes = np.zeros((LANES, n_labels), dtype=np.int64)
            fix_weights(weights[at], labels[at], whole, fixed[at], lanes)
            return lanes.sum(axis=0)

        of_all = np.sum(run(fix, slices), axis=0)
        scale = scaled_total(total, whole)
        return cls(labels, fixed, None, n_labels, scale=scale, of_all=of_all)

    @classmethod
    def of_channels(cls, channels: np.ndarray, total: float | None = None) -> "FixedPointSums":
        """One vector per row; signed edges end with the row's mass, Newton sums are (g, h)."""
        values, fixed = channels.ravel(), np.empty(channels.size, dtype=np.int64)
        whole = float(rounded(absolute_total(values) if total is None else total))
        to_fixed_point(values, whole, fixed)
        return cls.of_fixed(fixed.reshape(channels.shape), whole)

    @classmethod
    def of_fixed(cls, channels: np.ndarray, whole: float) -> "FixedPointSums":
        """As ``of_channels``, of integers that are parts of 2**60, which stands for ``whole``."""
        return cls(NO_LABELS, NO_WEIGHTS, channels, channels.shape[1], whole)

    def total(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Total of the listed rows, of all if None."""
        if rows is None and self.of_all is not None:
            return self.of_all
        if self.channels is not None:
            return sum_channels(self.channels if rows is None else self.channels[rows])
        lanes = np.zeros((LANES, self.n_channels), dtype=np.int64)
        sum_labels(self.labels, self.weights, rows, lanes)
        return lanes.sum(axis=0)

    def statistics(self, counting: bool) -> RowStatistics:
        """As kernels take them; rows are counted where they have any mass."""
        counts = NO_WEIGHTS
        if counting:
            mass = self.weights if self.channels is None else self.channels[:, -1]
            counts = (mass > 0).astype(np.int64)
        own = self.labels, self.weights, self.channels
        return RowStatistics(*own, *counted(counts), self.n_channels)
