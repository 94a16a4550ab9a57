"""A grown tree, and the call that makes one of binned rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.trees import criteria
from steadyboost.trees.adding import adding_room
from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.crew import Crew
from steadyboost.trees.grower import NARROW, go_on
from steadyboost.trees.nodes import close
from steadyboost.trees.prediction import apply, scratch_for_places
from steadyboost.trees.room import Room, empty_tree
from steadyboost.trees.sharded import Run, Shard, ShardedGrowth, add_up, one_by_one
from steadyboost.trees.spread import Meet, SpreadGrowth
from steadyboost.trees.state import FEW
from steadyboost.trees.sums import Space, Sums, list_rows, parts

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
        value = np.empty(totals.shape)
        deepest = close(totals, gain, depth, units, value)
        return cls(feature, children, left_set, value, gain, int(deepest))

    def apply(self, packed: np.ndarray) -> np.ndarray:
        """Leaf of each binned row."""
        out = np.empty(packed.shape[1], dtype=np.int32)
        tree = self.feature, self.children, self.left_set, self.depth
        apply(packed, tree, np.arange(len(self.feature), dtype=np.int32), scratch_for_places(), out)
        return out


def is_large(binned: BinnedRows, n_rows: int, n_features: int) -> bool:
    """Whether a second thread gains more than it costs."""
    return binned.n_read(n_rows, n_features) >= SMALL


def made_anew(name: str, of: Any, key: tuple, make: Callable[[], Room]) -> Room:
    """As :meth:`Space.once`, for what is of no use again."""
    return make()


def grow_trees(
    binned: BinnedRows, many: Sequence[Sums], growth: Growth, run: Run = one_by_one
) -> list[tuple[GrownTree, np.ndarray]]:
    """Grow a tree for each of many sums over the same rows, side by side."""
    return run(lambda sums: grow_tree(binned, sums, growth), many)


@dataclass(frozen=True)
class Plan:
    """A tree to be grown, as the compiled grower takes it."""

    bins: tuple
    sums: tuple
    rows: np.ndarray | None  # those to be used, None for all
    rule: tuple
    limits: tuple
    tree: tuple[np.ndarray, ...]  # with the root's totals
    node_of_row: np.ndarray
    root: np.ndarray | None = None  # histogram of all rows, if it is known

    @property
    def n_used(self) -> int:
        return len(self.node_of_row) if self.rows is None else len(self.rows)

    def make_room(self, crew: Crew | None) -> Room:
        capacity, n_channels = self.tree[3].shape
        size = self.bins, self.sums, self.n_used, n_channels
        return Room(*size, capacity, crew, () if crew is None else adding_room(*size, crew))

    def grow(self, room: Room, space: Space) -> int:
        """Its number of nodes."""
        n, n_small = self.n_used, 0 if room.shared is None else self.n_used
        rows = space.array("rows", n + n_small, np.int32)
        scratch = space.array("scratch", n, np.int32)
        known = self.root is not None and n > room.state[FEW]
        room.begin(self.root if known else None)
        if not known:
            list_rows(self.rows, slice(0, n), rows)
        n_nodes = NARROW
        while n_nodes == NARROW:
            n_nodes = go_on(
                self.bins, self.sums, rows, scratch, self.rule, self.limits, self.tree, room.span,
                self.node_of_row, room.arrays,
            )  # fmt: skip
            if n_nodes == NARROW:
                room.widen()
        return int(n_nodes)

    def grow_in_shards(
        self, n_shards: int, n_channels: int, space: Space, run: Run, meet: Meet | None
    ) -> int:
        """As ``grow``, where shards of the rows are on other machines, or in other threads."""
        n = self.n_used
        numbers, scratch = (space.array(name, n, np.int32) for name in ("rows", "scratch"))

        def start_shard(at: slice) -> Shard:
            own = self.bins, self.sums, numbers[at], scratch[at], n_channels
            if self.root is not None:
                return Shard(*own, at.start)
            list_rows(self.rows, at, numbers)
            return Shard(*own)

        start = run if self.root is None else one_by_one
        shards = start(start_shard, parts(n, n_shards))
        growth = ShardedGrowth(shards, self.rule, self.limits, run)
        if meet is not None:
            growth = SpreadGrowth(shards, self.rule, self.limits, run, meet)
        return growth.grow(self.tree, self.node_of_row, self.root)


def grow_tree(
    binned: BinnedRows,
    sums: Sums,
    growth: Growth,
    *,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
    crew: Crew | None = None,
    n_shards: int = 1,
    run: Run = one_by_one,
    space: Space | None = None,
    meet: Meet | None = None,
) -> tuple[GrownTree, np.ndarray]:
    """Grow a tree; also the leaf of each binned row, in an array that belongs to ``space``.

    ``rows`` (ascending) and ``features`` restrict what it may learn from. Large data are shared by
    the threads of a ``crew`` or, if there is none or rows are stored sparsely, go to ``n_shards``
    shards, mapped by ``run``; the tree does not depend on that. Where other machines have rows of
    the same whole, ``meet`` is how their growers and this one come together.
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
    bins = binned.bins(features, sums.n_channels)
    n_cells = n_shards * int(binned.offsets[-1]) * (sums.n_channels + counts)
    if not is_large(binned, n_used, len(bins[1])):
        n_shards, crew = 1, None
    elif len(bins) == 5 or meet is not None:
        crew = None
    if len(tree[0]) >= MANY_NODES or n_cells * len(tree[0]) > MANY_CELLS:
        n_shards = 1
    root = sums.hist if rows is None and features is None and meet is None and not counts else None
    leaf = space.array("leaf", binned.n_rows, np.int32)
    plan = Plan(bins, sums.arrays(counts), rows, rule, limits, tree, leaf, root)
    if meet is None and (crew is not None or n_shards == 1):
        size = crew, n_used, len(tree[0]), sums.n_channels, counts, len(sums.channels) > 0
        once = space.once if features is None else made_anew
        n_nodes = plan.grow(once("room", binned, size, lambda: plan.make_room(crew)), space)
    else:
        n_nodes = plan.grow_in_shards(n_shards, sums.n_channels, space, run, meet)
    grown = GrownTree.from_growth(tree, n_nodes, sums.units)
    return grown, leaf if rows is None else binned.leaves(grown)
