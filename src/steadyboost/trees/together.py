"""One tree by several threads, which have all rows and share the features.

Each thread grows the whole tree, and looks for splits among its own features: it adds up their
histograms only, has nothing to merge, and waits for the others once per split, to agree on it (see
:mod:`steadyboost.trees.agreement`). What it does besides, sending all rows to their nodes and
gathering their labels and weights, is little where its features are many.
"""

from collections import deque
from dataclasses import dataclass
from time import sleep
from typing import Any

import numpy as np

from steadyboost.trees.agreement import make_board
from steadyboost.trees.grower import NARROW, go_on
from steadyboost.trees.joint import NOT_JOINED
from steadyboost.trees.room import Room
from steadyboost.trees.sharded import Run
from steadyboost.trees.state import FEW
from steadyboost.trees.sums import Space, list_rows

COLUMNS = 16  # of a thread, at the least
PAUSE = 5e-5  # seconds, after it has looked in vain for what the others have found
PLACES = "rows", "scratch"  # what a thread has of rows


def _cuts(features: np.ndarray, n_threads: int) -> np.ndarray:
    """Where the features of one thread end: between words of four, and as equal as can be."""
    between = np.flatnonzero(np.diff(features >> 2)) + 1
    equal = len(features) * np.arange(1, n_threads) / n_threads
    nearest = np.abs(between - equal[:, None]).argmin(axis=1) if len(between) else []
    return np.unique(between[nearest])


def shares_of(bins: tuple, n_threads: int) -> list[tuple]:
    """The bins of each thread: of some features, four by four, or of all if these are few."""
    if n_threads == 1 or len(bins) == 5 or len(bins[1]) < COLUMNS * n_threads or len(bins[3][1]):
        return [bins]
    packed, features, layout, _ = bins
    shares = []
    for own in np.split(features, _cuts(features, n_threads)):
        end = own[-1] + 1
        offsets = layout[0][: end + 1] - layout[0][own[0]]
        by_feature = (None if part is None else part[:end] for part in layout[1:])
        shares.append((packed, own, (offsets, *by_feature), NOT_JOINED))
    return shares


def cells_of(share: tuple, offsets: np.ndarray, n_channels: int) -> slice:
    """Where the sums of a share are in a histogram of all features."""
    first = int(offsets[share[1][0]])
    return slice(first * n_channels, (first + int(share[2][0][-1])) * n_channels)


@dataclass(frozen=True)
class Plan:
    """A tree to be grown, as the compiled grower takes it."""

    sums: tuple
    rows: np.ndarray | None  # those to be used, None for all
    rule: tuple
    limits: tuple
    tree: tuple[np.ndarray, ...]  # with the root's totals
    node_of_row: np.ndarray
    root: np.ndarray | None = None  # histogram of all rows, if it is known


def first_of(waiting: "deque[Share]") -> "Share | None":
    """Take the first share, if any is left; no two threads can take the same."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


class Share:
    """A thread's part in a tree: all of it, by some of the features."""

    def __init__(self, number: int, bins: tuple, cells: slice, places: tuple, room: Room):
        self.number, self.bins, self.cells, self.room = number, bins, cells, room
        self.rows, self.scratch = places
        self.span = np.array([[0, len(self.rows)]]).repeat(room.capacity, axis=0)

    def plan_for(self, plan: Plan) -> None:
        """What to grow next; whatever was left of the last tree is forgotten."""
        self.plan = plan
        self.tree: tuple[np.ndarray, ...] = ()
        self.room.forget()

    def _begin(self) -> tuple[np.ndarray, ...]:
        plan = self.plan
        if plan.root is None or len(self.rows) <= self.room.state[FEW]:
            list_rows(plan.rows, slice(0, len(self.rows)), self.rows)
        else:
            self.room.begin_with(plan.root[self.cells])
        return plan.tree if self.number == 0 else tuple(part.copy() for part in plan.tree)

    def go_on(self) -> None:
        """As far as it goes without the others."""
        self.tree = self.tree or self._begin()
        plan, found = self.plan, NARROW
        while found == NARROW and not self.room.is_done:
            found = go_on(
                self.bins, plan.sums, self.rows, self.scratch, plan.rule, plan.limits, self.tree,
                self.span, plan.node_of_row, self.room.arrays,
            )  # fmt: skip
            if found == NARROW:
                self.room.widen()


class Team:
    """Threads that grow tree after tree over the same bins; one thread, where features are few."""

    def __init__(self, bins: tuple, n_threads: int):
        self.bins, self.bins_of_shares = bins, shares_of(bins, n_threads)
        self.board: Any = None
        self.shares: list[Share] = []

    def __len__(self) -> int:
        return len(self.bins_of_shares)

    def _form(self, plan: Plan, space: Space) -> None:
        """The shares, for this tree and for others of its size."""
        n = len(plan.node_of_row) if plan.rows is None else len(plan.rows)
        capacity, n_channels = plan.tree[3].shape
        self.board = make_board(len(self), n_channels) if len(self) > 1 else None
        for number, bins in enumerate(self.bins_of_shares):
            cells = cells_of(bins, self.bins[2][0], n_channels)
            places = tuple(space.array(f"{name} {number}", n, np.int32) for name in PLACES)
            room = Room(bins, plan.sums, n, n_channels, capacity, number, self.board)
            self.shares.append(Share(number, bins, cells, places, room))

    def grow(self, plan: Plan, space: Space, run: Run) -> int:
        """Grow a tree, with a thread for each share if there are so many; its number of nodes.

        No thread counts on the others: one that has to wait takes up what is left, and where one
        fails, the others give up.
        """
        if not self.shares:
            self._form(plan, space)
        elif self.board is not None:
            self.board[0][:] = 0
        for share in self.shares:
            share.plan_for(plan)
        waiting = deque(self.shares)
        failed: list[bool] = []

        def drive(_: Share) -> None:
            try:
                while not failed and (share := first_of(waiting)) is not None:
                    share.go_on()
                    if not share.room.is_done:
                        waiting.append(share)
                    if list(waiting) == [share]:
                        sleep(PAUSE)  # the others may need this processor
            except BaseException:
                failed.append(True)  # what this thread was at will never be done
                raise

        run(drive, self.shares)
        return self.shares[0].room.n_nodes
