"""The histogram of all rows, from tree to tree.

A round of AdaBoost multiplies the weights of the rows that it gets right by one number, and those
of the others by another. As integers in units that follow the larger part, most weights stay what
they were, and only the others have to be added up. Sums are of integers: the histogram is the same
to the bit as if all rows were.
"""

import numpy as np

from steadyboost.trees.adding import add_shared, adding_room
from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.crew import Crew, shared_loop
from steadyboost.trees.filling import add_rows, gather_room
from steadyboost.trees.fixed_point import FIXED_ROWS, factors
from steadyboost.trees.jit import standing
from steadyboost.trees.sums import Space, Sums, units_of


@shared_loop
def _change(segment, who, args):
    """Bring integers up to the weights; list the rows that moved, and how far they did.

    Conversion is a loop of its own as in ``fix_weights``, and no row takes a branch: it cannot be
    foreseen which one moves.
    """
    weights, whole, fixed, moved, rows, bounds, spans = args
    lift, factor = factors(whole)
    first, end = bounds[segment, 0], bounds[segment, 1]
    at = np.uint64(first)
    for start in range(first, end, FIXED_ROWS):
        part = slice(start, start + FIXED_ROWS if start + FIXED_ROWS < end else end)
        values, before, by = weights[part], fixed[part], moved[part]
        for i in range(len(values)):
            after = np.int64(np.rint(values[i] * lift * factor))
            by[i] = after - before[i]
            before[i] = after
        for i in range(len(values)):
            rows[at] = start + i
            at += np.uint64(by[i] != 0)
    spans[segment, 0], spans[segment, 1] = first, at


@standing
def _bring_up(weights, whole, fixed, rows, bounds, spans, bins, sums, room, adding, hist, of_all):
    """Bring the sums up to the weights of rows, segment by segment."""
    n_labels = len(of_all)
    changing = (weights, whole, fixed, sums[1], rows, bounds, spans)
    of_all[:] = 0
    if adding is None:
        _change(None, 1, changing)
        n_moved = spans[0, 1] - spans[0, 0]
        add_rows(bins, sums, rows, spans, n_moved, None, n_labels, room, hist)
    else:
        _change(adding[0], len(spans), changing)
        n_moved = np.int64(0)
        for segment in range(len(spans)):
            n_moved += spans[segment, 1] - spans[segment, 0]
        add_shared(adding, bins, sums, rows, spans, n_moved, np.int64(0), n_labels, hist)
    for cell in range(bins[2][0][1] * n_labels):
        of_all[cell % n_labels] += hist[cell]


class RootSums:
    """Sums of labelled weights over all of some rows, which are set again from tree to tree."""

    def __init__(self, binned: BinnedRows) -> None:
        self.binned = binned
        self.labels = np.empty(0, dtype=np.int32)

    def _start(self, labels: np.ndarray, n_labels: int) -> None:
        """As long as nothing has been set, all weights are zero."""
        self.labels, self.bins = labels, self.binned.bins(None, n_labels)
        self.fixed, moved = np.zeros((2, len(labels)), dtype=np.int64)
        self.hist = np.zeros(int(self.binned.offsets[-1]) * n_labels, dtype=np.int64)
        self.of_all, self.nowhere = np.empty(n_labels, np.int64), np.empty((0, n_labels), np.int64)
        nothing = np.empty(0, dtype=np.int64)
        self.arrays = labels, moved, nothing, nothing.astype(np.int32)

    def _make_room(self, crew: Crew | None) -> tuple:
        """Segments of the rows, and of those that moved; what adding up takes, by one or more."""
        size = self.bins, self.arrays, len(self.labels), len(self.hist) // self.binned.offsets[-1]
        if crew is None:
            bounds = np.array([[0, len(self.labels)]])
            return bounds, np.empty_like(bounds), gather_room(*size), None
        adding = adding_room(*size, crew)
        return adding[1], np.empty_like(adding[1]), tuple(part[0] for part in adding[3]), adding

    def set(
        self,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        *,
        total: float,
        whole: float,
        space: Space,
        crew: Crew | None = None,
    ) -> Sums:
        """As :meth:`Sums.of_labels`; other labels than last time start afresh."""
        if labels is not self.labels:
            self._start(labels, n_labels)
        bounds, spans, room, adding = space.once(
            "adding", self, (crew, n_labels), lambda: self._make_room(crew)
        )
        rows = space.array("rows", len(labels), np.int32)
        _bring_up(
            weights, whole, self.fixed, rows, bounds, spans, self.bins, self.arrays, room, adding,
            self.hist, self.of_all,
        )  # fmt: skip
        units, parts = units_of(total, whole), (labels, self.fixed, self.nowhere)
        return Sums(*parts, units=units, of_all=self.of_all, hist=self.hist)
