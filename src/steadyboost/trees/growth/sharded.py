"""Growth over shards of rows, level by level, with the kernels of the compiled grower.

Shards are blocks of rows on threads of this process (kernels release the interpreter's lock), or
partitions on Dask's workers. A shard keeps its rows and their order by node; only sums and splits
are exchanged. Sums are integers, so the tree is the one that
:func:`steadyboost.trees.growth.grower.grow` grows on all rows at once, bit for bit, whatever the
shards. There are two parallel steps per level: by shard, partition the rows of each node and build
the histogram of its smaller child; by group of features, add up the shards' histograms and search
splits.

Best-first growth looks ahead: on each level it splits every open node that could still be chosen,
and chooses among them at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Bins, Layout, column_of
from steadyboost.trees.growth.grower import TreeArrays, add_children, may_split
from steadyboost.trees.growth.params import GrowthLimits
from steadyboost.trees.growth.partition import assign_leaves, bin_table, count_left, partition
from steadyboost.trees.histograms.build import build_histogram, build_scratch, n_cells
from steadyboost.trees.histograms.row_statistics import RowStatistics
from steadyboost.trees.parallel import Allreduce, MapFunction, sum_in_order
from steadyboost.trees.splits.bitset import BITSET_WORDS
from steadyboost.trees.splits.criteria import SplitParams, gain_of
from steadyboost.trees.splits.search import SplitScratch, find_split

SAMPLE_ROWS = 256  # of a node in a shard, from which the smaller child is estimated

Column = tuple[np.ndarray, int]  # packed bins of all rows, and the feature's index in them


class SplitInfo(NamedTuple):
    """A split of a node: the score of both sides, the feature, and what goes left."""

    score: float
    feature: int
    left_bitset: np.ndarray
    left_sums: np.ndarray


@dataclass
class Node:
    """A node while the tree grows; ``left`` is its left child, the right one follows it."""

    total: np.ndarray
    depth: int
    gain: float = -np.inf
    feature: int = -1
    left_bitset: np.ndarray = field(default_factory=lambda: np.zeros(BITSET_WORDS, dtype=np.uint32))
    left_sums: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    left: int = -1
    place: int = -1  # in the finished tree


class Shard:
    """Some of the rows of a training set."""

    def __init__(
        self,
        bins: Bins,
        stats: RowStatistics,
        rows: np.ndarray,
        scratch: np.ndarray,
        first: int = -1,
    ):
        """``first``: if not -1, the rows are this one and those after it, and not yet listed.

        The histogram of the root is known then.
        """
        self.bins, self.stats, self.rows, self.scratch = bins, stats, rows, scratch
        self.first = first
        self.n_cells, self.goes_left = n_cells(bins, stats), bin_table()
        self.build = build_scratch(bins, stats, len(rows))
        self.span = {0: (0, len(rows))}
        self.hists: dict[int, np.ndarray] = {}  # of nodes that were added up last
        self.build_histograms([0] if first < 0 else [])

    def rows_of(self, node: int) -> np.ndarray:
        start, stop = self.span[node]
        if self.first >= 0:
            self.rows[:] = np.arange(self.first, self.first + stop)
            self.first = -1
        return self.rows[start:stop]

    def build_histograms(self, nodes: Sequence[int]) -> None:
        """Build the histograms of these nodes, in place of those of the level before."""
        self.hists = {node: np.empty(self.n_cells, dtype=np.int64) for node in nodes}
        for node, hist in self.hists.items():
            build_histogram(self.bins, self.stats, self.rows_of(node), self.build, hist)

    def sample_left(self, at: int, node: Node, column: Column) -> tuple[int, int]:
        """How many of a sample of a node's rows go left, and how many are in it."""
        start, stop = self.span[at]
        step = (stop - start) // SAMPLE_ROWS + 1  # evenly spaced: rows may be sorted by label
        if self.first >= 0:
            rows = np.arange(self.first, self.first + stop, step, dtype=np.int32)
        else:
            rows = self.rows[start:stop:step].copy()  # contiguous, as kernels are compiled for
        return count_left(*column, node.left_bitset, rows), len(rows)

    def split(self, at: int, node: Node, column: Column) -> None:
        """Partition a node's rows among its children."""
        start, stop = self.span.pop(at)
        rows, first, self.first = self.rows[start:stop], self.first, -1
        n_left = partition(*column, node.left_bitset, rows, self.scratch, self.goes_left, first)
        middle = start + n_left
        self.span[node.left], self.span[node.left + 1] = (start, middle), (middle, stop)

    def assign_leaves(self, nodes: Sequence[Node], places: np.ndarray, out: np.ndarray) -> None:
        """Write the leaf of each row; those of the deepest nodes have not been partitioned yet."""
        for at in self.span:
            node, rows = nodes[at], self.rows_of(at)
            if node.left >= 0 and places[node.left] != places[at]:
                packed, place = column_of(self.bins.packed, self.bins.sparse, node.feature)
                left = int(places[node.left])
                assign_leaves(packed, place, node.left_bitset, rows, left, self.goes_left, out)
            else:
                out[rows] = places[at]


def best_split(
    hist: np.ndarray, features: np.ndarray, layout: Layout, total: np.ndarray, split: SplitParams
) -> SplitInfo:
    """The best split of a node."""
    left_bitset, left_sums = np.zeros(BITSET_WORDS, dtype=np.uint32), np.zeros_like(total)
    scratch = SplitScratch.allocate(len(total))
    score, feature = find_split(
        hist, features, layout, total, split, scratch, left_bitset, left_sums
    )
    return SplitInfo(score, feature, left_bitset, left_sums)


class Siblings(NamedTuple):
    """The children of a node, by their numbers of rows, and the node itself."""

    parent: int
    small: int
    large: int


class ShardedGrower:
    """One tree over ``shards``; ``run(function, items)`` maps in parallel."""

    def __init__(
        self, shards: Sequence[Shard], split: SplitParams, limits: GrowthLimits, run: MapFunction
    ):
        self.shards, self.params, self.limits, self.run = shards, split, limits, run
        self.layout = shards[0].bins.layout
        features = shards[0].bins.features
        self.feature_shares = [s for s in np.array_split(features, len(shards)) if len(s)]
        self.hists: dict[int, np.ndarray] = {}  # over all shards, of nodes that may be split
        self.nodes: list[Node] = []

    def grow(
        self, tree: TreeArrays, node_of_row: np.ndarray, root: np.ndarray | None = None
    ) -> int:
        """Grow the tree; its number of nodes. ``root``: the histogram of all rows, if known."""
        self.nodes = [Node(tree.totals[0].copy(), 0)]
        if self.may_split(0):
            if root is not None:
                self.hists[0] = root.copy()  # the larger child will take over the array
            self.search([0], [Siblings(-1, 0, -1)] if root is None else [])
            while chosen := self.nodes_to_split():
                self.search(*self.split(chosen))
        return self.assemble(tree, node_of_row)

    def may_split(self, at: int) -> bool:
        node = self.nodes[at]
        return may_split(node.total, node.depth, 1, self.params.criterion, self.limits)

    def search(self, level: Sequence[int], siblings: Sequence[Siblings]) -> None:
        """Best split of each node of a level, whose histograms are those of these siblings."""
        if not level:
            return
        # Before the threads write to them: the larger child's histogram takes its parent's array.
        for parent, small, large in siblings:
            self.hists[small] = self.shards[0].hists[small]
            if large >= 0:
                self.hists[large] = self.hists.pop(parent)
        for at, found in zip(level, self.best_splits(level, siblings), strict=True):
            node = self.nodes[at]
            node.gain = gain_of(found.score, node.total, self.params)
            if found.feature >= 0 and node.gain > -np.inf:
                _, node.feature, node.left_bitset, node.left_sums = found

    def best_splits(self, level: Sequence[int], siblings: Sequence[Siblings]) -> list[SplitInfo]:
        """The best split of each node: each thread searches its own share of the features."""

        def in_share(share: np.ndarray) -> list[SplitInfo]:
            self.merge(siblings, share)
            return [
                best_split(self.hists[at], share, self.layout, self.nodes[at].total, self.params)
                for at in level
            ]

        shares = self.run(in_share, self.feature_shares)
        # The first of equal scores, and so the lowest feature, as in the compiled grower.
        return [max(own, key=lambda found: found.score) for own in zip(*shares, strict=True)]

    def merge(self, siblings: Sequence[Siblings], share: np.ndarray) -> None:
        """Add up the histograms of some features over all shards.

        The smaller child's is written to the first shard's array, and the larger one's, which is
        the difference, to its parent's.
        """
        first, *others = self.shards
        for _, small, large in siblings:
            for cells in self.cells(share):
                own = first.hists[small][cells]
                for shard in others:
                    own += shard.hists[small][cells]
                if large >= 0:
                    self.hists[large][cells] -= own

    def cells(self, share: np.ndarray) -> list[slice]:
        """Those of some features: of their sums and, where rows are counted, of the counts."""
        offsets, n_channels = self.layout.offsets, len(self.nodes[0].total)
        first, end, tail = offsets[share[0]], offsets[share[-1] + 1], offsets[-1] * n_channels
        sums, counts = slice(first * n_channels, end * n_channels), slice(tail + first, tail + end)
        return [sums, counts] if self.shards[0].n_cells > tail else [sums]

    def replay(self) -> tuple[list[int], list[int]]:
        """Splits in the compiled grower's order, up to the first with unknown children.

        Also the nodes that are open then: none if the tree is complete.
        """
        nodes = self.nodes
        order: list[int] = []
        open_nodes = [0] if nodes[0].feature >= 0 else []
        nodes[0].place = 0
        while open_nodes and len(order) + 1 < self.limits.max_leaves:
            at = open_nodes[-1]
            if self.limits.best_first:
                at = min(open_nodes, key=lambda k: (-nodes[k].gain, nodes[k].place))
            if nodes[at].left < 0:
                return order, open_nodes
            open_nodes.remove(at)
            order.append(at)
            for side in range(2):
                child = nodes[at].left + side
                nodes[child].place = 2 * len(order) - 1 + side
                if nodes[child].feature >= 0:
                    open_nodes.append(child)
        return order, []

    def nodes_to_split(self) -> list[int]:
        """Nodes to split next: all, or those that best-first growth may still choose."""
        if not self.limits.best_first:
            return [at for at, n in enumerate(self.nodes) if n.feature >= 0 and n.left < 0]
        order, open_nodes = self.replay()
        open_nodes.sort(key=lambda k: (-self.nodes[k].gain, self.nodes[k].place))
        reachable = open_nodes[: self.limits.max_leaves - 1 - len(order)]
        return [at for at in reachable if self.nodes[at].left < 0]

    def split(self, chosen: Sequence[int]) -> tuple[list[int], list[Siblings]]:
        """Split nodes on every shard; the children that may be split in turn, and the siblings."""
        splittable = {}
        for at in chosen:
            node = self.nodes[at]
            node.left = len(self.nodes)
            self.nodes.append(Node(node.left_sums, node.depth + 1))
            self.nodes.append(Node(node.total - node.left_sums, node.depth + 1))
            splittable[at] = [c for c in (node.left, node.left + 1) if self.may_split(c)]

        # Rows of nodes whose children are at the limit of the depth are assigned at the end.
        inner = [at for at in chosen if self.nodes[at].depth + 1 < self.limits.max_depth]
        bins = self.shards[0].bins
        columns = {at: column_of(bins.packed, bins.sparse, self.nodes[at].feature) for at in inner}
        siblings = [self.siblings_of(at, columns[at]) for at in inner if splittable[at]]

        def on_shard(shard: Shard) -> None:
            for at in inner:
                shard.split(at, self.nodes[at], columns[at])
            shard.build_histograms([pair.small for pair in siblings])

        if inner:
            self.run(on_shard, self.shards)
        return [child for at in chosen for child in splittable[at]], siblings

    def siblings_of(self, at: int, column: Column) -> Siblings:
        """The children of a node; which is smaller is estimated, as no result depends on it."""
        left = self.nodes[at].left
        samples = [shard.sample_left(at, self.nodes[at], column) for shard in self.shards]
        n_left, n = np.sum(samples, axis=0)
        small = left + int(2 * n_left > n)
        return Siblings(at, small, 2 * left + 1 - small)

    def assemble(self, tree: TreeArrays, node_of_row: np.ndarray) -> int:
        """Write the chosen splits as the compiled grower would; returns the number of nodes."""
        order, _ = self.replay()
        for k, at in enumerate(order):
            node = self.nodes[at]
            tree.feature[node.place], tree.gain[node.place] = node.feature, node.gain
            tree.left_bitset[node.place] = node.left_bitset
            add_children(
                tree.children, tree.totals, tree.depth, node.place, 2 * k + 1, node.left_sums
            )
        places = self.places(set(order))
        self.run(lambda shard: shard.assign_leaves(self.nodes, places, node_of_row), self.shards)
        return 2 * len(order) + 1

    def places(self, chosen: set[int]) -> np.ndarray:
        """Index of each node in the finished tree; below its leaves, that of the leaf."""
        places = np.empty(len(self.nodes), dtype=np.int32)
        places[0] = 0
        for at, node in enumerate(self.nodes):
            if node.left >= 0:
                for child in (node.left, node.left + 1):
                    places[child] = self.nodes[child].place if at in chosen else places[at]
        return places


@dataclass(frozen=True)
class SplitScorer:
    """Chooses the splits of nodes from their histograms, of which each machine has a part."""

    features: np.ndarray
    layout: Layout
    totals: list[np.ndarray]
    params: SplitParams

    def __call__(self, parts: list[np.ndarray]) -> list[SplitInfo]:
        hists = sum_in_order(parts)
        return [
            best_split(hist, self.features, self.layout, total, self.params)
            for hist, total in zip(hists, self.totals, strict=True)
        ]


class DistributedGrower(ShardedGrower):
    """A sharded grower whose shards are on several machines, each with a grower of its own.

    There is one allreduce per level, of the histograms; it returns the splits.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        split: SplitParams,
        limits: GrowthLimits,
        run: MapFunction,
        allreduce: Allreduce,
    ):
        super().__init__(shards, split, limits, run)
        self.allreduce, self.features = allreduce, shards[0].bins.features

    def best_splits(self, level: Sequence[int], siblings: Sequence[Siblings]) -> list[SplitInfo]:
        """One reduction for all nodes of a level."""
        self.merge(siblings, self.features)
        hists = np.stack([self.hists[at] for at in level])
        totals = [self.nodes[at].total for at in level]
        return self.allreduce([hists], SplitScorer(self.features, self.layout, totals, self.params))
