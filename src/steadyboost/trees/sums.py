"""What growth adds up, as integers."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np

from steadyboost.trees.fixed_point import (
    LANES,
    absolute_total,
    fix_weights,
    rounded,
    sum_channels,
    sum_labels,
    to_fixed_point,
)
from steadyboost.trees.sharded import Run, one_by_one

STRETCH = 65_536  # rows that are summed at a time
COUNT = np.arange(STRETCH, dtype=np.int32)

Made = TypeVar("Made")


def parts(n: int, n_parts: int) -> list[slice]:
    """``n`` rows in so many stretches of like length."""
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


def units_of(total: float, whole: float) -> float:
    """What a total becomes where 2**60 stands for ``whole``."""
    return 2.0**60 * (total / whole) if total != whole else 2.0**60


class Space(threading.local):
    """Room for arrays of a row's length that tree after tree needs, taken from the system once.

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


@dataclass(frozen=True)
class Sums:
    """Labels with weights, or dense channels."""

    labels: np.ndarray
    weights: np.ndarray
    channels: np.ndarray
    whole: float = 1.0  # what 2**60 stands for
    units: float = 2.0**60  # that all weights are
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
        space: Space | None = None,
        total: float | None = None,
        whole: float | None = None,
    ) -> "Sums":
        """Labels in 0 .. n_labels - 1 with non-negative weights; ``rows``: those to be used.

        The sums are over stretches that do not depend on the number of threads. ``total`` is that
        of the weights of the rows, if it is known; 2**60 stands for ``whole``, by default for it.
        """
        labels = labels.astype(np.int32, copy=False)
        fixed = (space or Space()).array("weights", len(weights), np.int64)
        stretches = parts(len(weights), -(-len(weights) // STRETCH) or 1)
        if total is None:
            used = weights if rows is None else weights[rows]
            total = sum(run(lambda at: used[at].sum(), parts(len(used), len(stretches))))
            total = float(rounded(total))
        whole = whole or total

        def fix(at: slice) -> np.ndarray:
            lanes = np.zeros((LANES, n_labels), dtype=np.int64)
            fix_weights(weights[at], labels[at], whole, fixed[at], lanes)
            return lanes.sum(axis=0)

        of_all = np.sum(run(fix, stretches), axis=0)
        nowhere = np.empty((0, n_labels), np.int64)
        return cls(labels, fixed, nowhere, units=units_of(total, whole), of_all=of_all)

    @classmethod
    def of_channels(cls, channels: np.ndarray, total: float | None = None) -> "Sums":
        """One vector per row; signed edges end with the row's mass, Newton sums are (g, h)."""
        values, fixed = channels.ravel(), np.empty(channels.size, dtype=np.int64)
        whole = float(rounded(absolute_total(values) if total is None else total))
        to_fixed_point(values, whole, fixed)
        return cls.of_fixed(fixed.reshape(channels.shape), whole)

    @classmethod
    def of_fixed(cls, channels: np.ndarray, whole: float) -> "Sums":
        """As ``of_channels``, of integers that are parts of 2**60, which stands for ``whole``."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing.astype(np.int32), nothing, channels, whole)

    @property
    def n_channels(self) -> int:
        return self.channels.shape[1]

    def total(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Total of the listed rows, of all if None."""
        if rows is None and self.of_all is not None:
            return self.of_all
        if len(self.channels):
            return sum_channels(self.channels if rows is None else self.channels[rows])
        lanes = np.zeros((LANES, self.n_channels), dtype=np.int64)
        sum_labels(self.labels, self.weights, rows, lanes)
        return lanes.sum(axis=0)

    def arrays(self, counting: bool) -> tuple[np.ndarray, ...]:
        """As kernels take them: labels and weights, or channels; counts, and their one label."""
        counted = np.empty(0, dtype=np.int64)
        if counting:
            mass = self.channels[:, -1] if len(self.channels) else self.weights
            counted = (mass > 0).astype(np.int64)
        own = (self.channels,) if len(self.channels) else (self.labels, self.weights)
        return *own, counted, np.zeros(len(counted), dtype=np.int32)
