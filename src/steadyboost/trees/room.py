"""What growing a tree takes: the tree itself, and room besides, as plain tuples of arrays."""

import numpy as np

from steadyboost.trees.compact import compact_room, few_rows
from steadyboost.trees.crew import Crew
from steadyboost.trees.filling import gather_room
from steadyboost.trees.large import crew_room, solo_rows
from steadyboost.trees.sending import table_of_bins
from steadyboost.trees.splitting import SET_WORDS, search_room
from steadyboost.trees.state import FEW, FRESH, N_FREE, N_NODES, SIZE, SOLO

SLOTS = 4  # histograms to begin with: those of a tree of depth 4


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
        self.span = np.zeros((capacity, 2), dtype=np.int64)
        if crew is not None:
            solo = int(state[SOLO])
            self.shared = crew_room(adding, n_rows, solo, capacity, crew, n_channels)
        self.arrays = nodes, pool, free, beside, state, no_root, self.shared

    def begin(self, root: np.ndarray | None = None) -> None:
        """Begin a tree of all rows: these need not be listed if its root's histogram is known."""
        self.state[N_NODES], self.state[FRESH] = 0, root is not None
        self.span[0, 1] = self.n_rows
        if root is not None:
            nodes, pool, free, beside, state, _, shared = self.arrays
            self.arrays = nodes, pool, free, beside, state, root, shared

    def widen(self) -> None:
        """Twice as many slots; all new ones are free (none was)."""
        nodes, pool, _, beside, state, root, shared = self.arrays
        n_slots = len(pool)
        wider = np.concatenate([pool, np.empty_like(pool)])
        free = np.arange(n_slots, 3 * n_slots)
        state[N_FREE] = n_slots
        self.arrays = nodes, wider, free, beside, state, root, shared
