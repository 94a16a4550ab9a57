"""Binned rows, a grown tree, and the call that turns one into the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from steadyboost.trees import criteria
from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.grower import empty_tree, grow
from steadyboost.trees.histogram import sum_labels, to_fixed_point
from steadyboost.trees.prediction import apply
from steadyboost.trees.sharded import Run, Shard, ShardedGrowth

CRITERIA = {
    "gini": criteria.GINI,
    "entropy": criteria.ENTROPY,
    "error": criteria.ERROR,
    "edge": criteria.EDGE,
    "newton": criteria.NEWTON,
}
SMALL = 1_000_000  # cells below which a second thread costs more than it gains
MANY_NODES = 4096  # above which a call per node costs more than threads gain
MANY_CELLS = 2**30  # of the histograms of all nodes, above which threads take too much memory


@dataclass(frozen=True)
class Binned(BinnedRows):
    """Rows as bins: ``packed[f // 4, i]`` holds feature f of row i in byte ``f % 4``."""

    packed: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray
    offsets: np.ndarray = field(init=False)

    @property
    def n_rows(self) -> int:
        return self.packed.shape[1]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (self.packed,)

    def bins(self, features: np.ndarray | None = None) -> tuple[Any, ...]:
        features = np.arange(self.n_features) if features is None else features
        return self.packed, features, self.layout

    def n_read(self, n_rows: int, n_features: int) -> int:
        return n_rows * n_features

    def leaves(self, tree: "GrownTree") -> np.ndarray:
        return tree.apply(self.packed)

    def take(self, rows: np.ndarray) -> "Binned":
        packed = np.ascontiguousarray(self.packed[:, rows])
        return Binned(packed, self.n_bins, self.has_missing, self.categorical)


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

    def rule(self, total_mass: float, whole: float) -> tuple[int, float, int, int]:
        """Limits in the units of :class:`Sums`; weights are enough if only rounding is missing."""
        min_mass = max(1, int(self.min_weight_leaf * total_mass * (1 - 1e-9)))
        min_count = self.min_samples_leaf if self.min_samples_leaf > 1 else 0
        l2 = self.l2 / whole * 2.0**60 if self.l2 else 0.0
        return CRITERIA[self.criterion], l2, min_mass, min_count


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
    def from_growth(cls, tree: tuple[np.ndarray, ...], n_nodes: int) -> "GrownTree":
        feature, children, left_set, totals, gain, depth = (part[:n_nodes] for part in tree)
        leaf = feature < 0
        children = np.where(leaf[:, None], np.arange(n_nodes)[:, None], children)
        return cls(
            feature=np.where(leaf, 0, feature).astype(np.int32),
            children=children.astype(np.int32),
            left_set=np.where(leaf[:, None], np.uint32(0), left_set),
            value=totals / 2.0**60,
            gain=np.where(leaf, 0.0, np.maximum(gain, 0.0) / 2.0**60),
            depth=int(depth.max()),
        )

    def apply(self, packed: np.ndarray) -> np.ndarray:
        """Leaf of each binned row."""
        out = np.empty(packed.shape[1], dtype=np.int32)
        apply(packed, self.feature, self.children, self.left_set, self.depth, out)
        return out


def parts(n: int, n_parts: int) -> list[slice]:
    """``n`` rows in so many stretches of like length."""
    bounds = np.linspace(0, n, n_parts + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]


def _row_numbers(rows: np.ndarray | None, at: slice) -> np.ndarray:
    """A stretch of the rows to be used, None standing for all."""
    if rows is None:
        return np.arange(at.start, at.stop, dtype=np.int32)
    return rows[at].astype(np.int32)


def one_by_one(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [function(item) for item in items]


@dataclass(frozen=True)
class Sums:
    """What growth adds up, as integers: labels with weights, or dense channels."""

    labels: np.ndarray
    weights: np.ndarray
    channels: np.ndarray
    whole: float = 1.0  # what 2**60 stands for

    @classmethod
    def of_labels(
        cls,
        labels: np.ndarray,
        weights: np.ndarray,
        n_labels: int,
        rows: np.ndarray | None = None,
        n_shards: int = 1,
        run: Run = one_by_one,
    ) -> "Sums":
        """Labels in 0 .. n_labels - 1 with non-negative weights; ``rows``: those to be used."""
        fixed = np.empty(len(weights), dtype=np.int64)
        total = weights.sum() if rows is None else weights[rows].sum()
        run(lambda at: to_fixed_point(weights[at], total, fixed[at]), parts(len(fixed), n_shards))
        return cls(labels.astype(np.int32, copy=False), fixed, np.empty((0, n_labels), np.int64))

    @classmethod
    def of_channels(cls, channels: np.ndarray) -> "Sums":
        """One vector per row; signed edges end with the row's mass, Newton sums are (g, h)."""
        fixed, whole = np.empty(channels.size, dtype=np.int64), np.abs(channels).sum()
        to_fixed_point(channels.ravel(), whole, fixed)
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing.astype(np.int32), nothing, fixed.reshape(channels.shape), float(whole))

    @property
    def n_channels(self) -> int:
        return self.channels.shape[1]

    def total(self, rows: np.ndarray) -> np.ndarray:
        if len(self.channels):
            return self.channels[rows].sum(axis=0)
        total = np.zeros(self.n_channels, dtype=np.int64)
        sum_labels(self.labels, self.weights, rows, total)
        return total

    def arrays(self, counting: bool) -> tuple[np.ndarray, ...]:
        counted = np.empty(0, dtype=np.int64)
        if counting:
            mass = self.channels[:, -1] if len(self.channels) else self.weights
            counted = (mass > 0).astype(np.int64)
        return self.labels, self.weights, self.channels, counted


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
) -> tuple[GrownTree, np.ndarray]:
    """Grow a tree; also the leaf of each binned row.

    ``rows`` (ascending) and ``features`` restrict what it may learn from. Large data go to
    ``n_shards`` shards, mapped by ``run``; the tree does not depend on that.
    """
    features = np.arange(binned.n_features) if features is None else features
    n_used = binned.n_rows if rows is None else len(rows)
    capacity = growth.capacity(n_used)
    bins = binned.bins(features)
    arrays = sums.arrays(growth.min_samples_leaf > 1)
    n_cells = int(binned.offsets[-1]) * (sums.n_channels + (len(arrays[3]) > 0))
    is_small = binned.n_read(n_used, len(features)) < SMALL
    if is_small or capacity >= MANY_NODES or n_shards * n_cells * capacity > MANY_CELLS:
        n_shards = 1
    shares = run(partial(_row_numbers, rows), parts(n_used, n_shards))
    total = np.sum(run(sums.total, shares), axis=0)
    mass = total[-1] if growth.criterion in ("edge", "newton") else total.sum()
    rule = growth.rule(mass, sums.whole)
    limits = growth.limits(n_used)
    tree = empty_tree(capacity, sums.n_channels)
    tree[3][0] = total
    leaf = np.empty(binned.n_rows, dtype=np.int32)
    if n_shards > 1:
        shards = [Shard(bins, arrays, share, sums.n_channels, n_cells) for share in shares]
        n_nodes = ShardedGrowth(shards, rule, limits, run).grow(tree, leaf)
    else:
        span = np.empty((capacity, 2), dtype=np.int64)
        span[0] = 0, n_used
        n_nodes = grow(bins, arrays, shares[0], rule, limits, tree, span, leaf)
    grown = GrownTree.from_growth(tree, n_nodes)
    return grown, leaf if rows is None else binned.leaves(grown)
