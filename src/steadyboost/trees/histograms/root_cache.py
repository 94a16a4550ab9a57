"""The histogram of all rows, updated from tree to tree.

A round of AdaBoost multiplies the weights of the rows that it gets right by one number, and those
of the others by another. If the fixed-point scale is multiplied by the number of the larger part,
the integers of most rows do not change, and only the others have to be added up. Sums are of
integers: the histogram is the same, bit for bit, as one of all rows.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.histograms.build import BuildScratch, add_rows, build_scratch
from steadyboost.trees.histograms.row_statistics import (
    FIXED_ROWS,
    NO_LABELS,
    NO_WEIGHTS,
    FixedPointSums,
    RowStatistics,
    scale_factors,
    scaled_total,
)
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction, ScratchArrays, serial_map, split_evenly


@kernel
def _update_weights(weights, fixed_point_scale, first, fixed, moved, rows):
    """Update integers to the weights; list the rows that changed, and by how much. How many did.

    Conversion is a loop of its own, as in ``fix_weights``, and listing takes no branch: which row
    changes cannot be predicted.
    """
    lift, factor = scale_factors(fixed_point_scale)
    n_moved = np.uint64(0)
    for start in range(0, len(weights), FIXED_ROWS):
        at = slice(start, start + FIXED_ROWS)
        values, before, by = weights[at], fixed[at], moved[at]
        for i in range(len(values)):
            after = np.int64(np.rint(values[i] * lift * factor))
            by[i] = after - before[i]
            before[i] = after
        for i in range(len(values)):
            rows[n_moved] = first + start + i
            n_moved += np.uint64(by[i] != 0)
    return np.int64(n_moved)


@kernel
def _sum_first_feature(hist, n_bins, totals):
    """The totals of the labels: those of the bins of any one feature."""
    totals[:] = 0
    for cell in range(n_bins * len(totals)):
        totals[cell % len(totals)] += hist[cell]


class Segment(NamedTuple):
    """The rows of one thread, and what it writes to."""

    at: slice
    scratch: BuildScratch
    hist: np.ndarray


class RootHistogramCache:
    """The histogram of the labelled weights of all rows, updated from tree to tree."""

    def __init__(self, binned: BinnedRows) -> None:
        self.binned = binned
        self.labels = NO_LABELS
        self.segments: list[Segment] = []

    def _start(self, labels: np.ndarray, n_labels: int) -> None:
        """Start with weights of zero."""
        self.labels, self.bins = labels, self.binned.bins(None, n_labels)
        self.fixed, moved = np.zeros((2, len(labels)), dtype=np.int64)
        self.hist = np.zeros(int(self.binned.offsets[-1]) * n_labels, dtype=np.int64)
        self.known_total, self.segments = np.empty(n_labels, np.int64), []
        self.stats = RowStatistics(labels, moved, None, NO_WEIGHTS, NO_LABELS, n_labels)

    def _divide(self, n_threads: int) -> None:
        """One segment per thread; a single one is added to the histogram itself."""
        if len(self.segments) == n_threads:
            return
        self.segments = []
        for at in split_evenly(len(self.labels), n_threads):
            scratch = build_scratch(self.bins, self.stats, at.stop - at.start)
            hist = self.hist if n_threads == 1 else np.empty_like(self.hist)
            self.segments.append(Segment(at, scratch, hist))

    def set(
        self,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        *,
        total: float,
        fixed_point_scale: float,
        scratch: ScratchArrays,
        n_threads: int = 1,
        run: MapFunction = serial_map,
    ) -> FixedPointSums:
        """As :meth:`FixedPointSums.of_labels`; other labels than last time start anew."""
        if labels is not self.labels:
            self._start(labels, n_labels)
        self._divide(n_threads)
        rows, moved = scratch.array("rows", len(labels), np.int32), self.stats.weights

        def update(segment: Segment) -> None:
            at, hist = segment.at, segment.hist
            own = rows[at]
            n = _update_weights(
                weights[at], fixed_point_scale, at.start, self.fixed[at], moved[at], own
            )
            if n_threads > 1:
                hist[:] = 0
            parts = None, self.bins.bundles, self.stats, None
            add_rows(self.bins, *parts, own[:n], segment.scratch, hist)

        run(update, self.segments)
        if n_threads > 1:
            for segment in self.segments:
                self.hist += segment.hist
        _sum_first_feature(self.hist, int(self.binned.offsets[1]), self.known_total)
        return FixedPointSums(
            labels,
            self.fixed,
            None,
            n_labels,
            scale=scaled_total(total, fixed_point_scale),
            known_total=self.known_total,
            hist=self.hist,
        )
