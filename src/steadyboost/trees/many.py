"""Trees for many weightings of the same labelled rows, in few calls.

A call per tree costs more than a stump on a few thousand rows; here a compiled loop grows a stretch
of them, with the kernels, and so the results, of :func:`~steadyboost.trees.tree.grow_tree`.
"""

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.grower import empty_tree, grow
from steadyboost.trees.histogram import rounded, sum_labels, to_fixed_point
from steadyboost.trees.jit import kernel
from steadyboost.trees.sharded import Run
from steadyboost.trees.tree import GrownTree, Growth, one_by_one

MANY_CELLS = 4_000_000  # of rows and tree nodes that a stretch of trees works on


@kernel
def _grow_stretch(bins, labels, weights, sums, rule, limits, least, forest):
    """Grow a tree for each column of ``weights``, which add up to ``sums``.

    Rows whose weight is nothing in fixed point, often most of them, are left out.
    ``least`` is the share of the weight that a leaf must have; ``forest`` is room for trees as in
    ``grow``, with a leading axis.
    """
    criterion, l2, _, min_count = rule
    feature, children, left_set, totals, gain, depth = forest
    n, capacity = len(labels), feature.shape[1]
    fixed = np.empty(n, dtype=np.int64)
    rows = np.empty(n, dtype=np.int32)
    scratch = np.empty(n, dtype=np.int32)
    leaf = np.empty(n, dtype=np.int32)
    lanes = np.empty((4, totals.shape[2]), dtype=np.int64)
    counted = np.empty(n if min_count > 0 else 0, dtype=np.int64)
    same_label = np.zeros(len(counted), dtype=np.int32)
    channels = np.empty((0, totals.shape[2]), dtype=np.int64)
    span = np.empty((capacity, 2), dtype=np.int64)
    for j in range(weights.shape[1]):
        to_fixed_point(weights[:, j], sums[j], fixed)
        n_rows = 0
        for i in range(n):
            rows[n_rows] = i
            n_rows += fixed[i] > 0
        for i in range(len(counted)):
            counted[i] = fixed[i] > 0
        lanes[:] = 0
        sum_labels(labels, fixed, rows[:n_rows], lanes)
        totals[j, 0] = lanes.sum(axis=0)
        mass = totals[j, 0].sum()
        min_mass = max(np.int64(1), np.int64(least * mass * (1 - 1e-9)))
        span[0, 0], span[0, 1] = 0, n_rows
        tree = (feature[j], children[j], left_set[j], totals[j], gain[j], depth[j])
        own = (criterion, l2, min_mass, min_count)
        added = (labels, fixed, channels, counted, same_label)
        grow(bins, added, rows[:n_rows], scratch, own, limits, tree, span, leaf)


def _forest(n_trees: int, capacity: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """Room for trees, an entry per tree and node."""
    flat = empty_tree(n_trees * capacity, n_channels)
    return tuple(part.reshape(n_trees, capacity, *part.shape[1:]) for part in flat)


def _grown(forest: tuple[np.ndarray, ...]) -> list[GrownTree]:
    """As :meth:`GrownTree.from_growth`, for all trees at once."""
    feature, children, left_set, totals, gain, depth = forest
    capacity = feature.shape[1]
    leaf = feature < 0
    sizes = (1 + 2 * (~leaf).sum(axis=1)).tolist()
    children = np.where(leaf[..., None], np.arange(capacity)[:, None], children).astype(np.int32)
    left_set = np.where(leaf[..., None], np.uint32(0), left_set)
    gain = np.where(leaf, 0.0, np.maximum(gain, 0.0) / 2.0**60)
    feature = np.where(leaf, 0, feature).astype(np.int32)
    depths, value = depth.max(axis=1).tolist(), totals / 2.0**60
    grown = []
    for j, size in enumerate(sizes):
        own = [array[j, :size].copy() for array in (feature, children, left_set, value, gain)]
        grown.append(GrownTree(own[0], own[1], own[2], own[3], own[4], depths[j]))
    return grown


def grow_many(
    binned: BinnedRows,
    labels: np.ndarray,
    weights: np.ndarray,
    n_labels: int,
    growth: Growth,
    n_threads: int = 1,
    run: Run = one_by_one,
) -> list[GrownTree]:
    """A tree for each column of ``weights``, which is (n, trees) in column order."""
    n, n_trees = weights.shape
    capacity, limits = growth.capacity(n), growth.limits(n)
    bins = binned.bins(None, n_labels)
    sums, rule = rounded(weights.sum(axis=0)), growth.rule(1.0, 1.0)
    labels = labels.astype(np.int32, copy=False)
    size = max(1, min(-(-n_trees // n_threads), MANY_CELLS // (n + capacity)))

    def grow_stretch(start: int) -> list[GrownTree]:
        at = slice(start, min(start + size, n_trees))
        forest = _forest(at.stop - start, capacity, n_labels)
        least = growth.min_weight_leaf
        _grow_stretch(bins, labels, weights[:, at], sums[at], rule, limits, least, forest)
        return _grown(forest)

    stretches = run(grow_stretch, range(0, n_trees, size))
    return [tree for stretch in stretches for tree in stretch]
