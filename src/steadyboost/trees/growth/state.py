"""What growing a tree writes to: the tree itself, and the state of its growth."""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Bins
from steadyboost.trees.growth.partition import bin_table
from steadyboost.trees.histograms.build import build_scratch, n_cells
from steadyboost.trees.histograms.dense import BuildScratch
from steadyboost.trees.histograms.row_statistics import RowStatistics
from steadyboost.trees.histograms.small_node import (
    SmallNodeScratch,
    few_rows,
    small_node_scratch,
)
from steadyboost.trees.splits.bitset import BITSET_WORDS
from steadyboost.trees.splits.search import SplitScratch

MIN_SLOTS = 4  # histograms to begin with, where it is not known how many there will be
MANY_CELLS = 2**22  # of these histograms, that are not allocated before they are needed
UNKNOWN = np.empty(0, dtype=np.int64)  # in place of the root's histogram


class TreeArrays(NamedTuple):
    """A tree that is growing, an entry per node; a leaf is its own child."""

    feature: np.ndarray
    children: np.ndarray
    left_bitset: np.ndarray
    totals: np.ndarray
    gain: np.ndarray
    depth: np.ndarray

    @classmethod
    def allocate(cls, capacity: int, n_channels: int) -> "TreeArrays":
        """Up to ``capacity`` nodes: all of them are leaves, which point to themselves."""
        return cls(
            np.zeros(capacity, dtype=np.int32),
            np.arange(capacity, dtype=np.int32).repeat(2).reshape(-1, 2),
            np.zeros((capacity, BITSET_WORDS), dtype=np.uint32),
            np.zeros((capacity, n_channels), dtype=np.int64),
            np.zeros(capacity),
            np.zeros(capacity, dtype=np.int64),
        )

    @classmethod
    def allocate_many(cls, n_trees: int, capacity: int, n_channels: int) -> "TreeArrays":
        """So many trees, with a leading axis."""
        one = cls.allocate(capacity, n_channels)
        return cls(*(part[None].repeat(n_trees, axis=0) for part in one))

    def first(self, n_nodes: int) -> "TreeArrays":
        """The first nodes, in arrays of their own; the arrays themselves if that is all."""
        if n_nodes == len(self.feature):
            return self
        return TreeArrays(*(part[:n_nodes].copy() for part in self))


class GrowthLimits(NamedTuple):
    """How far a tree grows, and whether the node of the largest gain is split next."""

    max_depth: int
    max_leaves: int
    best_first: bool


class GrowerState(NamedTuple):
    """What the grower keeps of the nodes of a tree; the same arrays serve tree after tree.

    Best first keeps a histogram per open leaf; depth first, which grows the same tree where leaves
    are not limited, keeps one per level; nodes of at most ``few`` rows have none.
    """

    span: np.ndarray  # where a node's rows begin and end in the list of rows
    left_sums: np.ndarray  # of its best split
    split_feature: np.ndarray
    slot: np.ndarray  # where in the pool its histogram is
    free: np.ndarray  # slots that were given back
    open_nodes: np.ndarray
    pool: np.ndarray  # histograms
    root: np.ndarray  # histogram of all rows, empty if it is not known
    few: int
    node_of_row: np.ndarray
    goes_left: np.ndarray
    search: SplitScratch
    build: BuildScratch
    small: SmallNodeScratch

    @classmethod
    def allocate(
        cls,
        bins: Bins,
        stats: RowStatistics,
        n_rows: int,
        capacity: int,
        limits: GrowthLimits,
        node_of_row: np.ndarray,
    ) -> "GrowerState":
        few, n_channels, size = few_rows(bins), stats.n_channels, n_cells(bins, stats)
        needed = limits.max_leaves if limits.best_first else limits.max_depth + 1
        n_slots = max(MIN_SLOTS, min(needed, MANY_CELLS // size))
        split_feature, slot, free, open_nodes = np.empty((4, capacity), dtype=np.int64)
        return cls(
            np.empty((capacity, 2), dtype=np.int64),
            np.empty((capacity, n_channels), dtype=np.int64),
            split_feature,
            slot,
            free,
            open_nodes,
            np.empty((n_slots, size), dtype=np.int64),
            UNKNOWN,
            few,
            node_of_row,
            bin_table(),
            SplitScratch.allocate(n_channels),
            build_scratch(bins, stats, n_rows),
            small_node_scratch(bins, n_channels, few),
        )
