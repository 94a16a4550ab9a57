"""One tree by several threads, which have all rows and share the features.

Each thread grows the whole tree, and looks for splits among its own features: it adds up their
histograms only, has nothing to merge, and waits for the others once per split, to agree on it (see
:mod:`steadyboost.trees.agreement`). What it does besides, sending all rows to their nodes and
gathering their labels and weights, is little where its features are many.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.trees.agreement import make_board
from steadyboost.trees.grower import NARROW, go_on
from steadyboost.trees.joint import NOT_JOINED
from steadyboost.trees.room import Room
from steadyboost.trees.sharded import Run
from steadyboost.trees.sums import Space, list_rows

COLUMNS = 16  # of a thread, at the least
PLACES = "rows", "scratch"  # what a thread has of rows


def shares_of(bins: tuple, n_threads: int) -> list[tuple]:
    """The bins of each thread: of some features, four by four, or of all if these are few."""
    if n_threads == 1 or len(bins) == 5 or len(bins[1]) < COLUMNS * n_threads or len(bins[3][1]):
        return [bins]
    packed, features, layout, _ = bins
    words = features >> 2
    shares = []
    for own_words in (own for own in np.array_split(np.unique(words), n_threads) if len(own)):
        own = features[(words >= own_words[0]) & (words <= own_words[-1])]
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
    """What threads that grow a tree have in common; the rest as the compiled grower takes it."""

    sums: tuple
    rows: np.ndarray | None  # those to be used, None for all
    rule: tuple
    limits: tuple
    tree: tuple[np.ndarray, ...]  # with the root's totals
    node_of_row: np.ndarray
    offsets: np.ndarray  # where features begin in a histogram
    root: np.ndarray | None = None  # that of all rows, if it is known


class Share:
    """A thread's part in a tree: all of it, by some of the features."""

    def __init__(self, plan: Plan, number: int, bins: tuple, places: tuple, board: Any):
        self.plan, self.number, self.bins, self.board = plan, number, bins, board
        self.rows, self.scratch = places
        self.room: Room | None = None

    def _begin(self) -> Room:
        plan = self.plan
        list_rows(plan.rows, slice(0, len(self.rows)), self.rows)
        self.tree = plan.tree if self.number == 0 else tuple(part.copy() for part in plan.tree)
        capacity, n_channels = plan.tree[3].shape
        self.span = np.array([[0, len(self.rows)]]).repeat(capacity, axis=0)
        n = len(self.rows)
        room = Room(self.bins, plan.sums, n, n_channels, capacity, self.number, self.board)
        if plan.root is not None:
            room.begin_with(plan.root[cells_of(self.bins, plan.offsets, n_channels)])
        return room

    @property
    def is_done(self) -> bool:
        return self.room is not None and self.room.is_done

    def go_on(self) -> None:
        """As far as it goes without the others."""
        if self.room is None:
            self.room = self._begin()
        plan, found = self.plan, NARROW
        while found == NARROW and not self.is_done:
            found = go_on(
                self.bins, plan.sums, self.rows, self.scratch, plan.rule, plan.limits, self.tree,
                self.span, plan.node_of_row, self.room.arrays,
            )  # fmt: skip
            if found == NARROW:
                self.room.widen()


def grow_together(shares: Sequence[tuple], plan: Plan, space: Space, run: Run) -> int:
    """Grow a tree, with a thread for each share if there are so many; its number of nodes.

    No thread counts on the others: one that has to wait for them takes up what they leave.
    """
    n = len(plan.node_of_row) if plan.rows is None else len(plan.rows)
    board = make_board(len(shares), plan.tree[3].shape[1]) if len(shares) > 1 else None
    team = []
    for number, bins in enumerate(shares):
        places = tuple(space.array(f"{name} {number}", n, np.int32) for name in PLACES)
        team.append(Share(plan, number, bins, places, board))
    waiting = deque(team)

    def drive(_: Share) -> None:
        while waiting:
            try:
                share = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                share.go_on()
            finally:
                if not share.is_done:
                    waiting.append(share)

    run(drive, team)
    assert team[0].room is not None
    return team[0].room.n_nodes
