"""The compiled grower: a tree in one call, on one thread.

The loop of :func:`grow`: build the histograms of the nodes that were added last, search their best
splits, choose the next node to split, and partition its rows. Only the smaller child's
rows are added up; the larger one's histogram is the difference to their parent's.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Bins, column_of
from steadyboost.trees.growth.params import GrowthLimits
from steadyboost.trees.growth.partition import assign_leaves, bin_table, partition
from steadyboost.trees.histograms.build import (
    BuildScratch,
    add_rows,
    build_scratch,
    n_cells,
    subtract,
)
from steadyboost.trees.histograms.row_statistics import RowStatistics
from steadyboost.trees.histograms.small_node import (
    SmallNodeScratch,
    build_small_histogram,
    few_rows,
    restore_bins,
    small_node_scratch,
)
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS
from steadyboost.trees.splits.criteria import EDGE, gain_of
from steadyboost.trees.splits.search import SplitScratch, find_split

MIN_SLOTS = 4  # histograms allocated at first; the pool grows when it needs more
# Cells of histograms (32 MB) that are allocated ahead; the rest only if a tree needs them.
PREALLOCATED_CELLS = 2**22
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
        """Arrays of ``n_trees`` trees, with a leading axis."""
        one = cls.allocate(capacity, n_channels)
        return cls(*(part[None].repeat(n_trees, axis=0) for part in one))

    def first(self, n_nodes: int) -> "TreeArrays":
        """The first nodes, in arrays of their own; the arrays themselves if that is all."""
        if n_nodes == len(self.feature):
            return self
        return TreeArrays(*[part[:n_nodes].copy() for part in self])


class GrowerState(NamedTuple):
    """The state of the compiled grower; the same arrays are used for all trees of a fit.

    Best first keeps a histogram per open leaf; depth first, which grows the same tree where leaves
    are not limited, keeps one per level; nodes of at most ``few`` rows have none.
    """

    span: np.ndarray  # where a node's rows begin and end in the list of rows
    left_sums: np.ndarray  # of its best split
    split_feature: np.ndarray
    slot: np.ndarray  # of the pool, in which its histogram is
    free: np.ndarray  # slots to be used again
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
        n_slots = max(MIN_SLOTS, min(needed, PREALLOCATED_CELLS // size))
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


COMPILE_SECONDS = 15  # of all kernels that a first fit needs, on a common machine
NO_SLOT = -1  # a node without a histogram
ROOT = -2  # in place of a slot: the root's histogram is in the cache, which must not be changed


@kernel
def may_split(total, depth, n_leaves, criterion, limits):
    """Whether a node may be split: not at a limit, and not pure."""
    if depth >= limits.max_depth or n_leaves >= limits.max_leaves:
        return False
    if criterion >= EDGE:
        return True
    n_present = 0
    for c in range(len(total)):
        n_present += total[c] > 0
    return n_present > 1


@kernel
def _pop_next(open_nodes, n_open, gain, best_first):
    """Take the node to split next off the list: the largest gain, or depth first."""
    place = n_open - 1
    if best_first:
        for k in range(n_open):
            better = gain[open_nodes[k]] > gain[open_nodes[place]]
            tie = gain[open_nodes[k]] == gain[open_nodes[place]]
            if better or (tie and open_nodes[k] < open_nodes[place]):
                place = k
    node = open_nodes[place]
    open_nodes[place] = open_nodes[n_open - 1]
    return node


@kernel
def add_children(children, totals, depth, node, left, left_sums):
    """Write the children of a split node at places ``left`` and ``left + 1``."""
    for side in range(2):
        child = left + side
        children[node, side] = child
        depth[child] = depth[node] + 1
        for c in range(totals.shape[1]):
            totals[child, c] = totals[node, c] - left_sums[c] if side else left_sums[c]


@kernel
def _double_pool(pool):
    """A pool with twice as many slots, and the same histograms in the first ones."""
    n, size = pool.shape
    wider = np.empty((2 * n, size), dtype=np.int64)
    # Loops, because numba takes two seconds to compile the assignment of a slice.
    for slot in range(n):
        for cell in range(size):
            wider[slot, cell] = pool[slot, cell]
    return wider


@kernel
def _take_slot(free, n_free, n_taken):
    """A free slot, else the next that was never taken; the numbers of free and of taken slots."""
    if n_free > 0:
        return n_free - 1, n_taken, free[n_free - 1]
    return n_free, n_taken + 1, n_taken


@kernel
def _add_spans(span, slot, node, left, middle, stop):
    """Write the rows of a node's children; their numbers, that of the smaller one first.

    The larger child's histogram takes its parent's slot.
    """
    start = span[node, 0]
    span[left, 0], span[left, 1] = start, middle
    span[left + 1, 0], span[left + 1, 1] = middle, stop
    small = left if 2 * (middle - start) <= span[node, 1] - start else left + 1
    large = 2 * left + 1 - small
    slot[small], slot[large] = NO_SLOT, slot[node]
    return small, large


@kernel
def _list_all(rows):
    for k in range(len(rows)):
        rows[k] = k


@kernel
def _finish_leaves(is_leaf, left_bitset, gain, span, rows, node_of_row):
    """Write the leaves of rows that have not been assigned yet.

    Splits that were found for nodes that stay leaves are deleted.
    """
    for node in range(len(is_leaf)):
        if is_leaf[node, 0] == node:
            gain[node] = 0.0
            for word in range(left_bitset.shape[1]):
                left_bitset[node, word] = 0
            for k in range(span[node, 0], span[node, 1]):
                node_of_row[rows[k]] = node


@kernel
def grow(bins, stats, rows, scratch, split, limits, tree, state):
    """Grow a tree; its number of nodes, and the pool of histograms, which may be a larger one.

    ``rows`` are reordered in place; ``scratch`` is as long. ``tree`` has the root's totals. Where
    ``state.root`` is known, ``rows`` are all and need not be listed.

    One long function: for each kernel that takes these structures, numba compiles the unpacking of
    all of their arrays, which takes half a second.
    """
    span, slot, free, pool, small_node = state.span, state.slot, state.free, state.pool, state.small
    few, criterion, left_sums = state.few, split.criterion, state.left_sums
    fresh = len(state.root) > 0  # the root's histogram is known
    n_nodes, n_leaves, n_open = np.int64(1), np.int64(1), np.int64(0)
    n_free, n_taken = np.int64(0), np.int64(0)  # slots of the pool
    first, small, large = np.int64(0), np.int64(0), np.int64(0)  # nodes that were added last
    span[0, 0], span[0, 1] = 0, len(rows)
    slot[0] = ROOT if fresh else NO_SLOT
    while True:
        # Histograms of the new nodes: the larger child's is its parent's minus the smaller one's.
        useful = False
        for node in range(first, n_nodes):
            useful |= may_split(tree.totals[node], tree.depth[node], n_leaves, criterion, limits)
        # If the larger child is a small node, so is the other, and none needs a slot.
        if useful and span[large, 1] - span[large, 0] > few and slot[small] == NO_SLOT:
            if n_free == 0 and n_taken == len(pool):
                pool = _double_pool(pool)
            n_free, n_taken, slot[small] = _take_slot(free, n_free, n_taken)
            own, hist = rows[span[small, 0] : span[small, 1]], pool[slot[small]]
            hist[:] = 0
            add_rows(bins, bins.sparse, bins.bundles, stats, stats.channels, own, state.build, hist)
            if slot[large] == ROOT:  # no other node has a slot yet, so the pool is large enough
                n_free, n_taken, slot[large] = _take_slot(free, n_free, n_taken)
                subtract(state.root, hist, pool[slot[large]])
            elif large != small:
                subtract(pool[slot[large]], hist, pool[slot[large]])
        # Their best splits; small nodes have histograms of the bins that occur in them.
        for node in range(first, n_nodes):
            tree.gain[node], n_rows = -np.inf, span[node, 1] - span[node, 0]
            if may_split(tree.totals[node], tree.depth[node], n_leaves, criterion, limits):
                hist, layout = state.root, bins.layout
                if n_rows <= few:
                    own = rows[span[node, 0] : span[node, 1]]
                    n_cells = build_small_histogram(bins, stats, own, small_node)
                    hist, layout = small_node.hist[:n_cells], small_node.layout
                elif slot[node] != ROOT:
                    hist = pool[slot[node]]
                total, bitset, left = tree.totals[node], tree.left_bitset[node], left_sums[node]
                score, feature = find_split(
                    hist, bins.features, layout, total, split, state.search, bitset, left
                )
                if feature >= 0 and n_rows <= few:
                    restore_bins(bins.layout, feature, left, total, criterion, small_node, bitset)
                state.split_feature[node] = feature
                if score > -np.inf:
                    tree.gain[node] = gain_of(score, total, split)
            if tree.gain[node] > -np.inf:
                state.open_nodes[n_open] = node
                n_open += 1
            # Leaves need no histogram, nor do small nodes: their children are small, too.
            if slot[node] >= 0 and (tree.gain[node] == -np.inf or n_rows <= few):
                free[n_free] = slot[node]
                n_free += 1
                slot[node] = NO_SLOT
        if n_open == 0 or n_leaves >= limits.max_leaves:
            if fresh:
                _list_all(rows)
            _finish_leaves(
                tree.children[:n_nodes], tree.left_bitset, tree.gain, span, rows, state.node_of_row
            )
            return n_nodes, pool
        # Split the next node. Children at the limit of the depth are leaves, so that their rows
        # need not be partitioned, only assigned.
        node = _pop_next(state.open_nodes, n_open, tree.gain, limits.best_first)
        tree.feature[node] = state.split_feature[node]
        add_children(tree.children, tree.totals, tree.depth, node, n_nodes, left_sums[node])
        packed, place = column_of(bins.packed, bins.sparse, tree.feature[node])
        start, stop, bitset = span[node, 0], span[node, 1], tree.left_bitset[node]
        own, n_left = rows[start:stop], np.int64(0)
        if tree.depth[n_nodes] >= limits.max_depth:
            if fresh:
                _list_all(rows)
            assign_leaves(packed, place, bitset, own, n_nodes, state.goes_left, state.node_of_row)
            stop = start
        else:
            begin = np.int64(0 if fresh else -1)
            n_left = partition(packed, place, bitset, own, scratch, state.goes_left, begin)
        fresh, first = False, n_nodes
        small, large = _add_spans(span, slot, node, first, start + n_left, stop)
        n_open, n_leaves, n_nodes = n_open - 1, n_leaves + 1, n_nodes + 2
