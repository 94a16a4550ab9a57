"""Trees of Newton's steps, one for each of many columns of gradients over the same rows.

As in :mod:`steadyboost.trees.many`, a compiled loop grows them all; a leaf's value is its step
-G / (H + l2), of the sums G of the gradients and H of the curvatures.
"""

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.grower import empty_tree, grow
from steadyboost.trees.jit import kernel
from steadyboost.trees.tree import GrownTree, Growth

ONE = 2.0**60  # that sums are parts of


@kernel
def _grow_steps(bins, gradients, curvatures, rows, rule, limits, counting, forest, steps):
    """Grow a tree for each row of (trees, n) arrays; ``steps`` gets the values of the nodes."""
    criterion, min_mass, min_count, l2 = rule
    feature, children, left_set, totals, gain, depth = forest
    n, capacity = gradients.shape[1], feature.shape[1]
    own = np.empty(len(rows), dtype=np.int32)
    scratch = np.empty(len(rows), dtype=np.int32)
    leaf = np.empty(n, dtype=np.int32)
    channels = np.zeros((n, 2), dtype=np.int64)
    counted = np.ones(n if counting else 0, dtype=np.int64)
    same_label = np.zeros(len(counted), dtype=np.int32)
    span = np.empty((capacity, 2), dtype=np.int64)
    for j in range(len(gradients)):
        whole = 0.0
        for k in range(len(rows)):
            own[k] = rows[k]
            whole += abs(gradients[j, rows[k]]) + curvatures[j, rows[k]]
        scale = ONE / whole if whole > 0 else 0.0
        totals[j, 0] = 0
        for i in own:
            channels[i, 0] = np.int64(gradients[j, i] * scale)
            channels[i, 1] = max(np.int64(1), np.int64(curvatures[j, i] * scale))
            totals[j, 0, 0] += channels[i, 0]
            totals[j, 0, 1] += channels[i, 1]
        span[0, 0], span[0, 1] = 0, len(rows)
        tree = (feature[j], children[j], left_set[j], totals[j], gain[j], depth[j])
        sums = (channels, counted, same_label)
        n_nodes = grow(
            bins, sums, own, scratch, (criterion, min_mass, min_count, l2 * scale), limits, tree,
            span, leaf,
        )  # fmt: skip
        for node in range(n_nodes):
            steps[j, node] = -totals[j, node, 0] / (totals[j, node, 1] + l2 * scale)


def grow_steps(
    binned: BinnedRows,
    gradients: np.ndarray,
    curvatures: np.ndarray,
    rows: np.ndarray,
    features: np.ndarray | None,
    growth: Growth,
) -> list[GrownTree]:
    """A tree for each column of the (n, trees) arrays, from the listed rows and features.

    The value of a node is its step.
    """
    n_trees, capacity = gradients.shape[1], growth.capacity(len(rows))
    flat = empty_tree(n_trees * capacity, 2)
    forest = tuple(part.reshape(n_trees, capacity, *part.shape[1:]) for part in flat)
    criterion, _, min_count, _ = growth.rule(1.0, 1.0)
    steps = np.empty((n_trees, capacity))
    _grow_steps(
        binned.bins(features),
        np.ascontiguousarray(gradients.T),
        np.ascontiguousarray(curvatures.T),
        rows,
        (criterion, 1, min_count, growth.l2),
        growth.limits(len(rows)),
        min_count > 0,
        forest,
        steps,
    )
    return [_grown([part[j] for part in forest], steps[j]) for j in range(n_trees)]


def _grown(tree: list[np.ndarray], steps: np.ndarray) -> GrownTree:
    feature, children, left_set, _, gain, depth = tree
    n = 1 + 2 * int((feature >= 0).sum())
    leaf = feature[:n] < 0
    children = np.where(leaf[:, None], np.arange(n)[:, None], children[:n])
    return GrownTree(
        feature=np.where(leaf, 0, feature[:n]).astype(np.int32),
        children=children.astype(np.int32),
        left_set=np.where(leaf[:, None], np.uint32(0), left_set[:n]),
        value=steps[:n, None].copy(),
        gain=np.where(leaf, 0.0, np.maximum(gain[:n], 0.0) / ONE),
        depth=int(depth[:n].max()),
    )
