"""A grown tree, and the call that makes one of binned rows."""

from dataclasses import dataclass

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.grower import COMPILE_SECONDS, UNKNOWN, GrowerState, TreeArrays, grow
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.sharded import DistributedGrower, Shard, ShardedGrower
from steadyboost.trees.histograms.build import n_cells
from steadyboost.trees.histograms.row_statistics import SUM_ROWS, FixedPointSums
from steadyboost.trees.jit import announce_compilation, kernel
from steadyboost.trees.parallel import (
    Parallelism,
    ScratchArrays,
    serial_map,
    split_evenly,
    sum_in_order,
)
from steadyboost.trees.prediction.apply import LeafScratch, TreeNodes, apply

# Bins to be read (rows times features) from which on a second thread gains more time than two
# tasks per thread and level cost.
SHARDING_PAYS = 1_000_000
MAX_SHARDED_NODES = 4096  # from which on the Python calls per node cost more than threads gain
MAX_SHARDED_CELLS = 2**30  # of the histograms of all nodes and threads: 8 GB, too much memory
COUNT = np.arange(SUM_ROWS, dtype=np.int32)


@kernel
def _finish(totals, gain, depth, scale, value):
    """Write sums and gains as shares of the total weight, ``scale``; the largest depth."""
    deepest = depth[0]
    for node in range(len(depth)):
        gain[node] = gain[node] / scale if gain[node] > 0 else 0.0
        for c in range(totals.shape[1]):
            value[node, c] = totals[node, c] / scale
        if depth[node] > deepest:
            deepest = depth[node]
    return deepest


@dataclass(frozen=True)
class GrownTree:
    """A tree as flat arrays, one entry per node; leaves point to themselves."""

    feature: np.ndarray  # 0 at leaves
    children: np.ndarray  # (n, 2): left, right
    left_bitset: np.ndarray  # (n, 8) uint32: bit b is set if bin b goes left
    value: np.ndarray  # (n, channels): share of the total weight
    gain: np.ndarray  # decrease of the criterion, 0 at leaves
    depth: int

    @property
    def is_leaf(self) -> np.ndarray:
        return self.children[:, 0] == np.arange(len(self.children))

    @property
    def label(self) -> np.ndarray:
        """Heaviest class of each node, the first of equals."""
        return self.value.argmax(axis=1)

    @classmethod
    def from_growth(cls, tree: TreeArrays, n_nodes: int, scale: float = 2.0**60) -> "GrownTree":
        """The first nodes of growth's arrays; the total weight is ``scale``."""
        tree = tree.first(n_nodes)
        value = np.empty(tree.totals.shape)
        deepest = _finish(tree.totals, tree.gain, tree.depth, scale, value)
        return cls(tree.feature, tree.children, tree.left_bitset, value, tree.gain, int(deepest))

    @property
    def nodes(self) -> TreeNodes:
        """As kernels of prediction take it."""
        return TreeNodes(self.feature, self.children, self.left_bitset, self.depth)

    def apply(self, packed: np.ndarray) -> np.ndarray:
        """Leaf of each binned row."""
        out = np.empty(packed.shape[1], dtype=np.int32)
        numbers = np.arange(len(self.feature), dtype=np.int32)
        apply(packed, self.nodes, numbers, LeafScratch.allocate(), out)
        return out


def sharding_pays(binned: BinnedRows, n_rows: int, n_features: int) -> bool:
    """Whether a second thread gains more than it costs."""
    return binned.n_read(n_rows, n_features) >= SHARDING_PAYS


def grow_tree(
    binned: BinnedRows,
    sums: FixedPointSums,
    params: TreeParams,
    *,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
    parallel: Parallelism | None = None,
    scratch: ScratchArrays | None = None,
) -> tuple[GrownTree, np.ndarray]:
    """Grow a tree from the rows and features given (None: all); the tree, and each row's leaf.

    Where rows are many they go to one shard per thread; the tree does not depend on that.
    """
    announce_compilation(grow, COMPILE_SECONDS)
    parallel, scratch = parallel or Parallelism(), scratch or ScratchArrays()
    plan = GrowthPlan(binned, sums, params, rows, features, parallel, scratch)
    n_nodes = plan.grow_in_shards() if plan.is_sharded else plan.grow()
    grown = GrownTree.from_growth(plan.tree, n_nodes, sums.scale)
    return grown, plan.node_of_row if rows is None else binned.leaves(grown)


def list_rows(rows: np.ndarray | None, at: slice, out: np.ndarray) -> None:
    """Write the given rows, or the numbers of all rows, to a slice of ``out``."""
    if rows is not None:
        out[at] = rows[at]
        return
    for start in range(at.start, at.stop, SUM_ROWS):
        stop = min(start + SUM_ROWS, at.stop)
        np.add(COUNT[: stop - start], np.int32(start), out=out[start:stop])


class GrowthPlan:
    """A tree to be grown, as the compiled grower and the sharded one take it."""

    def __init__(
        self,
        binned: BinnedRows,
        sums: FixedPointSums,
        params: TreeParams,
        rows: np.ndarray | None,
        features: np.ndarray | None,
        parallel: Parallelism,
        scratch: ScratchArrays,
    ):
        self.binned, self.rows, self.parallel, self.scratch = binned, rows, parallel, scratch
        self.draws_features, counts_rows = features is not None, params.counts_rows
        self.bins, self.n_rows = binned.bins(features, sums.n_channels), binned.n_rows
        self.n_used = self.n_rows if rows is None else len(rows)
        self.stats = sums.statistics(counts_rows)
        # Indices of one type, so that kernels are compiled once.
        total, n_all = sums.total(None if rows is None else rows.astype(np.int32)), self.n_used
        if parallel.allreduce is not None:
            counted = parallel.allreduce([np.append(total, self.n_used)], sum_in_order)
            total, n_all = counted[:-1], int(counted[-1])
        self.split, self.limits = params.split(total, sums.fixed_point_scale), params.limits(n_all)
        self.tree = TreeArrays.allocate(params.capacity(n_all), sums.n_channels)
        self.tree.totals[0] = total
        self.node_of_row = scratch.array("leaf", self.n_rows, np.int32)
        self.numbers = scratch.array("rows", self.n_used, np.int32)  # of the rows, in node order
        self.other = scratch.array("scratch", self.n_used, np.int32)
        # The cached histogram is of all rows and features of this machine, without counts.
        every = rows is None and features is None and parallel.allreduce is None
        self.root = sums.hist if every and not counts_rows else None

    @property
    def is_sharded(self) -> bool:
        return self.parallel.allreduce is not None or self.n_shards > 1

    @property
    def n_shards(self) -> int:
        n_threads, n_nodes = self.parallel.n_threads, len(self.tree.feature)
        if n_threads == 1 or n_nodes >= MAX_SHARDED_NODES:
            return 1
        if not sharding_pays(self.binned, self.n_used, len(self.bins.features)):
            return 1
        fits = n_threads * n_cells(self.bins, self.stats) * n_nodes <= MAX_SHARDED_CELLS
        return n_threads if fits else 1

    def make_state(self) -> GrowerState:
        capacity = len(self.tree.feature)
        size = self.n_used, capacity, self.limits
        return GrowerState.allocate(self.bins, self.stats, *size, self.node_of_row)

    def grow(self) -> int:
        """Grow it in one compiled call; its number of nodes."""
        n, stats = self.n_used, self.stats
        size = n, len(self.tree.feature), stats.n_channels, len(stats.counts) > 0
        key = (*size, stats.channels is None)
        # Features that are drawn differ from tree to tree, and so do the sizes of the state.
        scratch = ScratchArrays() if self.draws_features else self.scratch
        kept = scratch.once("state", self.binned, key, lambda: [self.make_state()])
        root = UNKNOWN if self.root is None or n <= kept[0].few else self.root
        state = kept[0]._replace(root=root, node_of_row=self.node_of_row)
        if root is UNKNOWN:
            list_rows(self.rows, slice(0, n), self.numbers)
        rows = self.numbers, self.other
        n_nodes, pool = grow(self.bins, stats, *rows, self.split, self.limits, self.tree, state)
        kept[0] = state._replace(pool=pool)  # a larger one, if this tree needed it
        return int(n_nodes)

    def grow_in_shards(self) -> int:
        """As ``grow``, over shards of the rows, some of which may be on other machines."""
        n, parallel, root = self.n_used, self.parallel, self.root

        def start_shard(at: slice) -> Shard:
            own = self.bins, self.stats, self.numbers[at], self.other[at]
            if root is not None:
                return Shard(*own, at.start)
            list_rows(self.rows, at, self.numbers)
            return Shard(*own)

        # With the root's histogram there is nothing to do in parallel yet.
        start = parallel.run if root is None else serial_map
        shards = start(start_shard, split_evenly(n, self.n_shards))
        params = shards, self.split, self.limits, parallel.run
        grower = ShardedGrower(*params)
        if parallel.allreduce is not None:
            grower = DistributedGrower(*params, parallel.allreduce)
        return grower.grow(self.tree, self.node_of_row, root)
