"""Trees of Newton's steps, one for each of many columns of gradients over the same rows.

As in :mod:`steadyboost.trees.many`, a compiled loop grows them all; a leaf's value is its step
-G / (H + l2), of the sums G of the gradients and H of the curvatures.
"""

from dataclasses import replace

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.grower import NARROW, go_on
from steadyboost.trees.jit import standing
from steadyboost.trees.room import Room, empty_forest
from steadyboost.trees.state import N_NODES, STATE
from steadyboost.trees.tree import GrownTree, Growth

_go_on = go_on.bare  # as called from kernels

ONE = 2.0**60  # that sums are parts of


@standing
def _grow_steps(
    bins, gradients, curvatures, rows, rule, limits, forest, steps, by_row, span, room, first
):  # fmt: skip
    """Grow a tree for each row of (trees, n) arrays; ``steps`` gets the values of the nodes.

    From tree ``first`` on; returns the one that needs a wider room to go on, or how many there are.
    """
    feature, children, left_set, totals, gain, depth = forest
    channels, counted, same_label, own, scratch, leaf = by_row
    for j in range(first, len(gradients)):
        whole = 0.0
        for k in range(len(rows)):
            whole += abs(gradients[j, rows[k]]) + curvatures[j, rows[k]]
        scale = ONE / whole if whole > 0 else 0.0
        l2 = rule[3] * scale
        if room[STATE][N_NODES] == 0:
            totals[j, 0] = 0
            for k in range(len(rows)):
                i = rows[k]
                own[k] = i
                channels[i, 0] = np.int64(gradients[j, i] * scale)
                channels[i, 1] = max(np.int64(1), np.int64(curvatures[j, i] * scale))
                totals[j, 0, 0] += channels[i, 0]
                totals[j, 0, 1] += channels[i, 1]
            span[0, 0], span[0, 1] = 0, len(rows)
        tree = (feature[j], children[j], left_set[j], totals[j], gain[j], depth[j])
        n_nodes = _go_on(
            bins, (channels, counted, same_label), own, scratch, (rule[0], rule[1], rule[2], l2),
            limits, tree, span, leaf, room,
        )  # fmt: skip
        if n_nodes == NARROW:
            return j
        for node in range(n_nodes):
            steps[j, node] = -totals[j, node, 0] / (totals[j, node, 1] + l2)
    return len(gradients)


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
    forest = empty_forest(n_trees, capacity, 2)
    criterion, _, min_count, _ = growth.rule(np.ones(1), 1.0)
    counting, n = min_count > 0, len(gradients)
    bins, steps = binned.bins(features), np.empty((n_trees, capacity))
    by_row = (
        np.zeros((n, 2), dtype=np.int64),
        np.ones(n if counting else 0, dtype=np.int64),
        np.zeros(n if counting else 0, dtype=np.int32),
        np.empty(len(rows), dtype=np.int32),
        np.empty(len(rows), dtype=np.int32),
        np.empty(n, dtype=np.int32),
    )
    span = np.empty((capacity, 2), dtype=np.int64)
    sides = [np.ascontiguousarray(part.T) for part in (gradients, curvatures)]
    rule, limits = (criterion, 1, min_count, growth.l2), growth.limits(len(rows))
    room, done = Room(bins, by_row[:3], len(rows), 2, capacity), 0
    while done < n_trees:
        done = _grow_steps(
            bins, *sides, rows, rule, limits, forest, steps, by_row, span, room.arrays, done
        )
        if done < n_trees:
            room.widen()
    return [_grown(tuple(part[j] for part in forest), steps[j]) for j in range(n_trees)]


def _grown(tree: tuple[np.ndarray, ...], steps: np.ndarray) -> GrownTree:
    n_nodes = 1 + 2 * int((tree[1][:, 0] != np.arange(len(steps))).sum())
    return replace(GrownTree.from_growth(tree, n_nodes, ONE), value=steps[:n_nodes, None].copy())
