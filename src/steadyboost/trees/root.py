"""The histogram of all rows, from tree to tree.

A round of AdaBoost multiplies the weights of the rows that it gets right by one number, and those
of the others by another. As integers in units that follow the larger part, most weights stay what
they were, and only the others have to be added up. Sums are of integers: the histogram is the same
to the bit as if all rows were.
"""

from itertools import cycle
from threading import Lock

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.filling import add_rows, gather_room
from steadyboost.trees.histogram import FIXED_ROWS, factors
from steadyboost.trees.jit import standing
from steadyboost.trees.sharded import Run, one_by_one
from steadyboost.trees.sums import Space, Sums, parts, units_of
from steadyboost.trees.together import cells_of, shares_of
from steadyboost.trees.tree import SMALL


@standing
def _change(weights, whole, first, fixed, moved, rows):
    """Bring integers up to the weights; write the rows, from ``first`` on, that moved, and how far.

    Returns how many did. Conversion is a loop of its own as in ``fix_weights``, and no row takes a
    branch: it cannot be foreseen which one moves.
    """
    lift, factor = factors(whole)
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


class RootSums:
    """Sums of labelled weights over all of some rows, which are set again from tree to tree."""

    def __init__(self, binned: BinnedRows) -> None:
        self.binned, self.lock = binned, Lock()
        self.labels = np.empty(0, dtype=np.int32)

    def _start(self, labels: np.ndarray, n_labels: int) -> None:
        """As long as nothing has been set, all weights are zero."""
        self.labels, self.bins = labels, self.binned.bins(None, n_labels)
        self.fixed = np.zeros(len(labels), dtype=np.int64)
        self.moved = np.zeros(len(labels), dtype=np.int64)
        self.hist = np.zeros(int(self.binned.offsets[-1]) * n_labels, dtype=np.int64)

    def set(
        self,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        *,
        total: float,
        whole: float,
        space: Space,
        n_parts: int = 1,
        run: Run = one_by_one,
    ) -> Sums:
        """As :meth:`Sums.of_labels`; other labels than last time start afresh."""
        if labels is not self.labels:
            self._start(labels, n_labels)
        nothing = np.empty(0, dtype=np.int64)
        arrays = labels, self.moved, nothing, nothing.astype(np.int32)
        rows = space.array("rows 0", len(labels), np.int32)

        def change(at: slice) -> np.ndarray:
            n_moved = _change(
                weights[at], whole, at.start, self.fixed[at], self.moved[at], rows[at]
            )
            return rows[at.start : at.start + n_moved]

        def add_up(bins: tuple, own: np.ndarray) -> None:
            hist = all_of = self.hist[cells_of(bins, self.binned.offsets, n_labels)]
            alone = len(shares) > 1 or len(moved) == 1
            if not alone:
                hist = np.zeros_like(all_of)
            room = gather_room(bins, arrays, len(own), n_labels)
            add_rows(bins, arrays, own, n_labels, room, hist)
            if not alone:
                with self.lock:
                    all_of += hist

        if self.binned.n_read(*self.binned.shape) < SMALL:
            n_parts = 1
        shares = space.once("shares", self.bins, (n_parts,), lambda: shares_of(self.bins, n_parts))
        moved = run(change, parts(len(weights), n_parts))
        if len(shares) > 1:
            moved = [np.concatenate(moved)] * len(shares)
        run(lambda task: add_up(*task), list(zip(cycle(shares), moved, strict=False)))
        first = self.hist[: self.binned.offsets[1] * n_labels]
        of_all = first.reshape(-1, n_labels).sum(axis=0)
        nowhere = np.empty((0, n_labels), dtype=np.int64)
        units = units_of(total, whole)
        return Sums(labels, self.fixed, nowhere, units=units, of_all=of_all, hist=self.hist)
