"""What growing a tree takes: the tree itself, and room besides, as plain tuples of arrays."""

import numpy as np

from steadyboost.trees.compact import compact_room, few_rows
from steadyboost.trees.crew import Crew
from steadyboost.trees.filling import gather_room
from steadyboost.trees.large import bounds_of, crew_room, solo_rows
from steadyboost.trees.sending import table_of_bins
from steadyboost.trees.splitting import SET_WORDS, search_room
from steadyboost.trees.state import (
    FEW,
    FIRST,
    FRESH,
    LARGE,
    LISTED,
    N_FREE,
    N_LEAVES,
    N_NODES,
    N_OPEN,
    N_SLOTS,
    SHARED,
    SIZE,
    SMALL,
    SOLO,
)

SLOTS = 4  # histograms to begin with: those of a tree of depth 4
ROOT = -2  # in place of a slot: the histogram of a root that is known, and is not to be changed


def empty_tree(capacity: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """Room for ``capacity`` nodes: all of them are leaves, which point to themselves."""
    return (
        np.zeros(capacity, dtype=np.int32),
        np.arange(capacity, dtype=np.int32).repeat(2).reshape(-1, 2),
        np.zeros((capacity, SET_WORDS), dtype=np.uint32),
        np.zeros((capacity, n_channels), dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
    )


def empty_forest(n_trees: int, capacity: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """Room for so many trees, with a leading axis."""
    return tuple(part[None].repeat(n_trees, axis=0) for part in empty_tree(capacity, n_channels))


def begin(slot, free, state):
    """The root is its own smaller child."""
    slot[:] = -1
    for k in range(len(free)):
        free[k] = k
    state[N_NODES], state[N_LEAVES], state[N_OPEN], state[N_FREE] = 1, 1, 0, len(free)
    state[FIRST], state[SMALL], state[LARGE] = 0, 0, 0


class Room:
    """What growing a tree takes besides the tree: the same again for the next one.

    Best first keeps a histogram per open leaf; depth first, which grows the same tree where leaves
    are not limited, keeps one per level; nodes of few rows have none.
    """

    def __init__(
        self,
        bins: tuple,
        sums: tuple,
        n_rows: int,
        n_channels: int,
        capacity: int,
        crew: Crew | None = None,
        adding: tuple = (),
    ) -> None:
        """``crew``: threads that share large nodes, and the room that they are added up in."""
        few, counting = few_rows(bins), len(sums[-1]) > 0
        state = np.zeros(SIZE, dtype=np.int64)
        state[FEW], state[SOLO] = few, solo_rows(bins, few)
        nodes = (
            np.empty((capacity, n_channels), dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
        )
        pool = np.empty((SLOTS, int(bins[2][0][-1]) * (n_channels + counting)), dtype=np.int64)
        beside = (
            compact_room(bins, n_channels, few),
            search_room(n_channels),
            table_of_bins(),
            gather_room(bins, sums, n_rows, n_channels),
        )
        free, no_root = np.empty(SLOTS, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.n_rows, self.state, self.shared = n_rows, state, None
        self.span = np.empty((capacity, 2), dtype=np.int64)
        if crew is not None:
            solo = int(state[SOLO])
            self.shared = crew_room(adding, n_rows, solo, capacity, crew, n_channels)
            self.bounds = bounds_of(n_rows, crew)
        self.arrays = nodes, pool, free, beside, state, no_root, self.shared
        self.forget()

    def forget(self) -> None:
        """Whatever is left of a tree: the next one begins with all rows."""
        self.state[[N_NODES, FRESH]] = 0
        self.span[0] = 0, self.n_rows
        if self.shared is not None:
            slot, spans, _ = self.shared[1]
            slot[0], spans[0] = 0, self.bounds
            self.state[[SHARED, N_SLOTS, LISTED]] = 1, 1, self.n_rows

    def begin_with(self, root: np.ndarray) -> None:
        """Begin a tree of all rows, which need not be listed; its root's histogram is known."""
        nodes, pool, free, beside, state, _, shared = self.arrays
        begin(nodes[2], free, state)
        nodes[2][0], state[FRESH] = ROOT, 1
        self.arrays = nodes, pool, free, beside, state, root, shared

    def widen(self) -> None:
        """Twice as many slots; all new ones are free (none was)."""
        nodes, pool, _, beside, state, root, shared = self.arrays
        n_slots = len(pool)
        wider = np.concatenate([pool, np.empty_like(pool)])
        free = np.arange(n_slots, 3 * n_slots)
        state[N_FREE] = n_slots
        self.arrays = nodes, wider, free, beside, state, root, shared
