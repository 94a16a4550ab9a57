"""Statistics of rows that histograms add up, in fixed point.

Weights become integers, of which sums are exact in any order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import (
    MapFunction,
    ScratchArrays,
    serial_map,
    split_evenly,
)

LANES = 8  # running sums of a label: an addition need not wait for the one before
FIXED_ROWS = 4096  # rows whose integers stay in the first-level cache until they are summed


@kernel
def scale_factors(total):
    """Two factors that scale ``total`` to 2**60: one alone might overflow."""
    # Below 1e-200 the quotient would exceed the largest float; 2**600 is exact.
    lift = 2.0**600 if total < 1e-200 else 1.0
    return lift, 2.0**60 / (total * lift) if total > 0 else 0.0


def round_to_40_bits(total):
    """Round a total, so that it does not depend on the order in which it was summed.

    Otherwise splits that tie on one machine might not tie on several.
    """
    mantissa, exponent = np.frexp(total)
    return np.ldexp(np.rint(mantissa * 2.0**40), exponent - 40)


@kernel
def to_fixed_point(values, total, out):
    """Integers proportional to ``values``, scaled so that ``total`` becomes 2**60."""
    lift, factor = scale_factors(total)
    for i in range(len(values)):
        out[i] = np.int64(np.rint(values[i] * lift * factor))


@kernel
def fix_weights(weights, labels, total, out, lanes):
    """As to_fixed_point; also adds each label's weight to one of the ``lanes``.

    Neighbouring rows often have the same label, and an addition to a cell must wait for the one
    before: with eight cells per label it seldom has to. Conversion is a loop of its own so that it
    is vectorised.
    """
    lift, factor = scale_factors(total)
    for start in range(0, len(weights), FIXED_ROWS):
        at = slice(start, start + FIXED_ROWS)
        values, fixed, own = weights[at], out[at], labels[at]
        for i in range(len(own)):
            fixed[i] = np.int64(np.rint(values[i] * lift * factor))
        n_even = len(own) - len(own) % LANES
        for i in range(0, n_even, LANES):
            for lane in range(LANES):
                lanes[np.uint64(lane), np.uint64(own[i + lane])] += fixed[i + lane]
        for i in range(n_even, len(own)):
            lanes[np.uint64(0), np.uint64(own[i])] += fixed[i]


@kernel
def sum_labels(labels, weights, rows, lanes):
    """Add the weight of each label among the listed rows to one of the ``lanes``."""
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        lanes[np.uint64(k & (LANES - 1)), np.uint64(labels[row])] += weights[row]


@kernel
def sum_channels(channels):
    """The sum of all rows."""
    total = np.zeros(channels.shape[1], dtype=channels.dtype)
    for i in range(len(channels)):
        for c in range(len(total)):
            total[c] += channels[np.uint64(i), np.uint64(c)]
    return total


@kernel
def absolute_total(values):
    """Sum of the absolute values, in four running sums: additions need not wait for each other."""
    lanes = np.zeros(4)
    for i in range(len(values)):
        lanes[np.uint64(i & 3)] += abs(values[i])
    return lanes[0] + lanes[1] + lanes[2] + lanes[3]


# Rows that are summed at a time: a fixed number, so that sums of floats do not depend on threads.
SUM_ROWS = 65_536


def scaled_total(total: float, fixed_point_scale: float) -> float:
    """A total in fixed point, where 2**60 stands for ``fixed_point_scale``."""
    return 2.0**60 * (total / fixed_point_scale) if total != fixed_point_scale else 2.0**60


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
    """Counts, with labels that are all 0: counts are added up as weights of a single label."""
    return counts, np.zeros(len(counts), dtype=np.int32)


@dataclass(frozen=True)
class FixedPointSums:
    """Labels with weights, or vectors of channels, as integers, and what they add up to."""

    labels: np.ndarray
    weights: np.ndarray
    channels: np.ndarray | None
    n_channels: int
    fixed_point_scale: float = 1.0  # the weight that 2**60 stands for
    scale: float = 2.0**60  # total of the weights in fixed point
    known_total: np.ndarray | None = None  # total of all rows, if it is known
    hist: np.ndarray | None = None  # histogram of all rows, if it is known

    @classmethod
    def of_labels(
        cls,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        rows: np.ndarray | None = None,
        *,
        run: MapFunction = serial_map,
        scratch: ScratchArrays | None = None,
        total: float | None = None,
        fixed_point_scale: float | None = None,
    ) -> "FixedPointSums":
        """Labels in 0 .. n_labels - 1 with non-negative weights; ``rows``: those to be used.

        The sums are over slices that do not depend on the number of threads. ``total`` is that of
        the weights of the rows, if it is known, and the default of ``fixed_point_scale``.
        """
        # Half the memory of the default integers, which histograms read once per word of bins.
        labels = labels.astype(np.int32, copy=False)
        fixed = (scratch or ScratchArrays()).array("weights", len(weights), np.int64)
        slices = split_evenly(len(weights), -(-len(weights) // SUM_ROWS) or 1)
        if total is None:
            used = weights if rows is None else weights[rows]
            total = sum(run(lambda at: used[at].sum(), split_evenly(len(used), len(slices))))
            total = float(round_to_40_bits(total))
        fixed_point_scale = fixed_point_scale or total

        def fix(at: slice) -> np.ndarray:
            lanes = np.zeros((LANES, n_labels), dtype=np.int64)
            fix_weights(weights[at], labels[at], fixed_point_scale, fixed[at], lanes)
            return lanes.sum(axis=0)

        known_total = np.sum(run(fix, slices), axis=0)
        scale = scaled_total(total, fixed_point_scale)
        return cls(labels, fixed, None, n_labels, scale=scale, known_total=known_total)

    @classmethod
    def of_channels(cls, channels: np.ndarray, total: float | None = None) -> "FixedPointSums":
        """One vector per row; signed edges end with the row's mass, Newton sums are (g, h)."""
        values, fixed = channels.ravel(), np.empty(channels.size, dtype=np.int64)
        fixed_point_scale = float(
            round_to_40_bits(absolute_total(values) if total is None else total)
        )
        to_fixed_point(values, fixed_point_scale, fixed)
        return cls.of_fixed(fixed.reshape(channels.shape), fixed_point_scale)

    @classmethod
    def of_fixed(cls, channels: np.ndarray, fixed_point_scale: float) -> "FixedPointSums":
        """As ``of_channels``, of integers in fixed point."""
        return cls(NO_LABELS, NO_WEIGHTS, channels, channels.shape[1], fixed_point_scale)

    def total(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Total of the listed rows, of all if None."""
        if rows is None and self.known_total is not None:
            return self.known_total
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
