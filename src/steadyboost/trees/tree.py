"""A grown tree, and the call that makes one of binned rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyboost.trees import criteria
from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.prediction import apply, scratch_for_places
from steadyboost.trees.room import empty_tree
from steadyboost.trees.sharded import Run, Shard, ShardedGrowth, add_up, one_by_one
from steadyboost.trees.spread import Meet, SpreadGrowth
from steadyboost.trees.sums import Space, Sums, list_rows, parts
from steadyboost.trees.together import PLACES, Plan, Team

CRITERIA = {
    "gini": criteria.GINI,
    "entropy": criteria.ENTROPY,
    "error": criteria.ERROR,
    "edge": criteria.EDGE,
    "newton": criteria.NEWTON,
    "max_edge": criteria.MAX_EDGE,
    "norm": criteria.NORM,
}
SMALL = 1_000_000  # cells below which a second thread costs more than it gains
MANY_NODES = 4096  # above which a call per node costs more than threads gain
MANY_CELLS = 2**30  # of the histograms of all nodes, above which threads take too much memory


@dataclass(frozen=True)
class Growth:
    """How far and by which criterion a tree grows; ``None`` is no limit."""

    criterion: str = "gini"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    l2: float = 0.0

    def capacity(self, n_rows: int) -> int:
        """Nodes that the tree can have at the most."""
        leaves = max(n_rows, 1)
        if self.max_leaf_nodes is not None:
            leaves = min(leaves, self.max_leaf_nodes)
        if self.max_depth is not None and self.max_depth < 31:
            leaves = min(leaves, 2**self.max_depth)
        return 2 * leaves - 1

    def limits(self, n_rows: int) -> tuple[int, int, bool]:
        depth = n_rows if self.max_depth is None else self.max_depth
        leaves = n_rows if self.max_leaf_nodes is None else self.max_leaf_nodes
        return depth, leaves, self.max_leaf_nodes is not None

    def rule(self, total: np.ndarray, whole: float) -> tuple[float, ...]:
        """Limits in the units of :class:`Sums`; weights are enough if only rounding is missing.

        ``total`` is the sum of all rows, by channel.
        """
        min_mass = 1
        if self.min_weight_leaf > 0:
            mass = total.sum() if CRITERIA[self.criterion] < criteria.EDGE else total[-1]
            min_mass = max(1, int(self.min_weight_leaf * mass * (1 - 1e-9)))
        min_count = self.min_samples_leaf if self.min_samples_leaf > 1 else 0
        rule = CRITERIA[self.criterion], min_mass, min_count
        if rule[0] < criteria.EDGE:
            return rule
        return *rule, self.l2 / whole * 2.0**60 if self.l2 else 0.0


@dataclass(frozen=True)
class GrownTree:
    """A tree as flat arrays, one entry per node; leaves point to themselves."""

    feature: np.ndarray  # 0 at leaves
    children: np.ndarray  # (n, 2): left, right
    left_set: np.ndarray  # (n, 8) uint32: bit b is set if bin b goes left
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
    def from_growth(
        cls, tree: tuple[np.ndarray, ...], n_nodes: int, units: float = 2.0**60
    ) -> "GrownTree":
        """The first nodes of the arrays that it was grown in; all weights are so many units."""
        if n_nodes < len(tree[0]):
            tree = tuple(part[:n_nodes].copy() for part in tree)
        feature, children, left_set, totals, gain, depth = tree
        gain = np.maximum(gain, 0.0) / units
        return cls(feature, children, left_set, totals / units, gain, int(depth.max()))

    def apply(self, packed: np.ndarray) -> np.ndarray:
        """Leaf of each binned row."""
        out = np.empty(packed.shape[1], dtype=np.int32)
        tree = self.feature, self.children, self.left_set, self.depth
        apply(packed, tree, np.arange(len(self.feature), dtype=np.int32), scratch_for_places(), out)
        return out


def grow_trees(
    binned: BinnedRows, many: Sequence[Sums], growth: Growth, run: Run = one_by_one
) -> list[tuple[GrownTree, np.ndarray]]:
    """Grow a tree for each of many sums over the same rows, side by side."""
    return run(lambda sums: grow_tree(binned, sums, growth), many)


def grow_tree(
    binned: BinnedRows,
    sums: Sums,
    growth: Growth,
    *,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
    n_shards: int = 1,
    run: Run = one_by_one,
    space: Space | None = None,
    meet: Meet | None = None,
) -> tuple[GrownTree, np.ndarray]:
    """Grow a tree; also the leaf of each binned row, in an array that belongs to ``space``.

    ``rows`` (ascending) and ``features`` restrict what it may learn from. Large data go to
    ``n_shards`` shards, mapped by ``run``; the tree does not depend on that. Where other machines
    have rows of the same whole, ``meet`` is how their growers and this one come together.
    """
    space = space or Space()
    n_used = binned.n_rows if rows is None else len(rows)
    total, n_all = sums.total(None if rows is None else rows.astype(np.int32)), n_used
    if meet is not None:
        counted = meet([np.append(total, n_used)], add_up)
        total, n_all = counted[:-1], int(counted[-1])
    tree = empty_tree(growth.capacity(n_all), sums.n_channels)
    tree[3][0] = total
    rule, limits = growth.rule(total, sums.whole), growth.limits(n_all)
    counts = growth.min_samples_leaf > 1
    n_features = binned.n_features if features is None else len(features)
    n_cells = int(binned.offsets[-1]) * (sums.n_channels + counts)
    if not _threads_pay(binned.n_read(n_used, n_features), len(tree[0]), n_shards * n_cells):
        n_shards = 1

    def gather() -> Team:
        return Team(binned.bins(features, sums.n_channels), n_shards)

    size = n_shards, n_used, len(tree[0]), sums.n_channels, counts, len(sums.channels) > 0
    team = space.once("team", binned, size, gather) if features is None else gather()
    arrays, leaf = sums.arrays(counts), space.array("leaf", binned.n_rows, np.int32)
    root = sums.hist if rows is None and features is None and meet is None and not counts else None
    if meet is None and len(team) == n_shards:
        n_nodes = team.grow(Plan(arrays, rows, rule, limits, tree, leaf, root), space, run)
    else:
        numbers, scratch = (space.array(f"{name} 0", n_used, np.int32) for name in PLACES)

        def start_shard(at: slice) -> Shard:
            own = team.bins, arrays, numbers[at], scratch[at], sums.n_channels
            if root is not None:
                return Shard(*own, at.start)
            list_rows(rows, at, numbers)
            return Shard(*own)

        start = run if root is None else one_by_one
        shards = start(start_shard, parts(n_used, n_shards))
        if meet is None:
            n_nodes = ShardedGrowth(shards, rule, limits, run).grow(tree, leaf, root)
        else:
            n_nodes = SpreadGrowth(shards, rule, limits, run, meet).grow(tree, leaf)
    grown = GrownTree.from_growth(tree, n_nodes, sums.units)
    return grown, leaf if rows is None else binned.leaves(grown)


def _threads_pay(n_read: int, capacity: int, n_cells: int) -> bool:
    """Whether shards for several threads, with so many cells per node, are worth their cost."""
    return n_read >= SMALL and capacity < MANY_NODES and n_cells * capacity <= MANY_CELLS
