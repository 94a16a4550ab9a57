"""Batched growth: a tree for each of many weightings, or gradients, of the same rows.

A Python call takes longer than growing a stump on a few thousand rows. Here, a compiled loop grows
a batch of trees, with the kernels, and so the results, of
:func:`~steadyboost.trees.growth.tree.grow_tree`.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.grower import COMPILE_SECONDS, GrowerState, TreeArrays, grow
from steadyboost.trees.growth.params import GrowthLimits, TreeParams
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.histograms.row_statistics import (
    NO_LABELS,
    NO_WEIGHTS,
    RowStatistics,
    counted,
    round_to_40_bits,
    to_fixed_point,
)
from steadyboost.trees.jit import announce_compilation, kernel
from steadyboost.trees.parallel import MapFunction, serial_map
from steadyboost.trees.prediction.apply import KEY_ROWS, LeafScratch, TreeNodes, find_leaf_keys
from steadyboost.trees.splits.criteria import NEWTON, SplitParams

BATCH_CELLS = 4_000_000  # rows plus nodes of all trees of a batch, which bounds its memory
ONE = 2.0**60  # total of the weights, or of gradients and curvatures, in fixed point


class BatchState(NamedTuple):
    """Arrays of the grower for one tree at a time: two lists of rows, and its state."""

    rows: np.ndarray
    scratch: np.ndarray
    grower: GrowerState

    @classmethod
    def allocate(cls, n: int, grower: GrowerState) -> "BatchState":
        return cls(np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), grower)


class BatchParams(NamedTuple):
    """How the trees of a batch grow; a leaf must have ``min_share`` of its tree's weight."""

    split: SplitParams
    min_share: float
    limits: GrowthLimits


class WeightedLabels(NamedTuple):
    """A row of weights for each tree, their ``totals``, and a row of labels for each or for all."""

    labels: np.ndarray
    weights: np.ndarray
    totals: np.ndarray


class Derivatives(NamedTuple):
    """Gradients and curvatures of the rows to grow from, as (trees, rows) arrays."""

    gradients: np.ndarray
    curvatures: np.ndarray


@kernel
def _tree_at(forest, j):
    """One of the trees that have a leading axis."""
    return TreeArrays(
        forest.feature[j],
        forest.children[j],
        forest.left_bitset[j],
        forest.totals[j],
        forest.gain[j],
        forest.depth[j],
    )


@kernel
def _fix_two_classes(weights, labels, total, out, sums):
    """As fix_weights, vectorised for labels 0 and 1; the number of rows of positive weight."""
    to_fixed_point(weights, total, out)
    both, one, n_rows = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(out)):
        both += out[i]
        one += out[i] * labels[i]
        n_rows += out[i] > 0
    sums[0], sums[1] = both - one, one
    return n_rows


@kernel
def _list_rows_with_weight(fixed, n_rows, rows):
    """List the rows of positive weight; all rows if these are all, which takes no branch."""
    at = 0
    for i in range(len(fixed)):
        if fixed[i] > 0 or n_rows == len(fixed):
            rows[at] = i
            at += 1


class Votes(NamedTuple):
    """Votes of trees of two classes by node and by row, and their numbers of nodes and of rows."""

    of_node: np.ndarray
    of_row: np.ndarray
    n_nodes: np.ndarray
    n_rows: np.ndarray


@kernel
def _grow_weighted(bins, stats, weighted, params, forest, state, votes):
    """Grow a tree of two classes for each row of weights.

    A tree is grown from the rows of positive weight in fixed point, often few of them; if these are
    all rows, their votes are written as well.
    """
    split, limits, grower = params.split, params.limits, state.grower
    labels, weights, totals = weighted
    n = weights.shape[1]
    for j in range(len(weights)):
        own_labels, tree = labels[j % len(labels)], _tree_at(forest, j)
        n_used = _fix_two_classes(weights[j], own_labels, totals[j], stats.weights, tree.totals[0])
        _list_rows_with_weight(stats.weights, n_used, state.rows)
        for i in range(len(stats.counts)):
            stats.counts[i] = stats.weights[i] > 0
        mass = tree.totals[0, 0] + tree.totals[0, 1]
        # As in TreeParams.split: a leaf that has just the share may miss it after rounding.
        min_mass = max(np.int64(1), np.int64(params.min_share * mass * (1 - 1e-9)))
        own_split = SplitParams(
            split.criterion, min_mass, split.min_count, split.l2, split.category_noise, 0
        )
        own_stats = RowStatistics(
            own_labels, stats.weights, None, stats.counts, stats.no_labels, stats.n_channels
        )
        rows = state.rows[:n_used]
        n_nodes, _ = grow(bins, own_stats, rows, state.scratch, own_split, limits, tree, grower)
        votes.n_nodes[j], votes.n_rows[j] = n_nodes, n_used
        for node in range(len(tree.gain)):
            # As floats, which a finished tree keeps: they may tie where the integers do not.
            vote = np.float64(tree.totals[node, 1]) > np.float64(tree.totals[node, 0])
            votes.of_node[j, node] = vote
        if n_used == n:
            for i in range(n):
                votes.of_row[j, i] = votes.of_node[j, np.uint64(grower.node_of_row[i])]


@kernel
def _vote(packed, start, feature, forest, depths, scratch, votes):
    """Write the votes of trees in which not all rows took part, from row ``start`` on."""
    n_trees, n = votes.of_row.shape
    for first in range(0, packed.shape[1], KEY_ROWS):
        stop = min(first + KEY_ROWS, packed.shape[1])
        for j in range(n_trees):
            if votes.n_rows[j] == n:
                continue
            own = slice(0, votes.n_nodes[j])
            tree = TreeNodes(
                feature[j, own], forest.children[j, own], forest.left_bitset[j, own], depths[j]
            )
            vote = votes.of_node[j, own]
            few = find_leaf_keys(packed, first, stop, tree, vote, scratch)
            table = scratch.by_key if few else vote
            for k in range(stop - first):
                votes.of_row[j, start + first + k] = table[np.uint64(scratch.keys[k])]


def _finished(forest: TreeArrays, votes: Votes) -> list[tuple[GrownTree, np.ndarray]]:
    """As :meth:`GrownTree.from_growth`, for all trees at once, with the votes of their nodes."""
    depths, value = forest.depth.max(axis=1).tolist(), forest.totals / ONE
    gain = np.maximum(forest.gain, 0) / ONE
    grown = []
    for j, size in enumerate(votes.n_nodes.tolist()):
        tree = GrownTree(
            forest.feature[j, :size].copy(),
            forest.children[j, :size].copy(),
            forest.left_bitset[j, :size].copy(),
            value[j, :size].copy(),
            gain[j, :size].copy(),
            depths[j],
        )
        grown.append((tree, votes.of_node[j, :size].copy()))
    return grown


def grow_weighted_trees(
    binned: BinnedRows,
    labels: np.ndarray,
    weights: np.ndarray,
    params: TreeParams,
    n_threads: int = 1,
    run: MapFunction = serial_map,
) -> tuple[list[tuple[GrownTree, np.ndarray]], np.ndarray]:
    """Grow a tree for each row of the (trees, n) weights.

    Returns the trees with the votes of their nodes, and the votes of the rows, (trees, n).

    Labels are 0 and 1: a row for each tree, or one for all trees.
    """
    announce_compilation(grow, COMPILE_SECONDS)
    n_trees, n = weights.shape
    capacity, limits = params.capacity(n), params.limits(n)
    bins, split = binned.bins(None, 2), params.split(np.ones(1), 1.0)
    votes = np.empty((n_trees, n), dtype=np.int32)
    size = max(1, min(-(-n_trees // n_threads), BATCH_CELLS // (n + capacity)))

    def grow_batch(start: int) -> list[tuple[GrownTree, np.ndarray]]:
        at = slice(start, min(start + size, n_trees))
        own, own_labels = weights[at], labels if len(labels) == 1 else labels[at]
        counts = np.empty(n if params.counts_rows else 0, dtype=np.int64)
        fixed = np.empty(n, dtype=np.int64)
        stats = RowStatistics(own_labels[0], fixed, None, *counted(counts), 2)
        forest = TreeArrays.allocate_many(len(own), capacity, 2)
        grower = GrowerState.allocate(bins, stats, n, capacity, limits, np.empty(n, np.int32))
        sizes = np.empty((2, len(own)), dtype=np.int64)
        said = Votes(np.empty((len(own), capacity), np.int32), votes[at], *sizes)
        weighted = WeightedLabels(own_labels, own, round_to_40_bits(own.sum(axis=1)))
        growth = BatchParams(split, float(params.min_weight_leaf), limits)
        state = BatchState.allocate(n, grower)
        _grow_weighted(bins, stats, weighted, growth, forest, state, said)
        if (said.n_rows < n).any():
            scratch, depths = LeafScratch.allocate(), forest.depth.max(axis=1)
            for rows, packed, feature in binned.unpacked(forest.feature.ravel()):
                own_feature = feature.reshape(forest.feature.shape)
                _vote(packed, rows.start, own_feature, forest, depths, scratch, said)
        return _finished(forest, said)

    batches = run(grow_batch, range(0, n_trees, size))
    return [grown for batch in batches for grown in batch], votes


@kernel
def _grow_newton(bins, stats, derivatives, rows, params, forest, steps, state):
    """Grow a tree for each row of gradients; ``steps`` gets the values of nodes: -G / (H + l2)."""
    slopes, curvatures = derivatives
    split, limits, grower = params.split, params.limits, state.grower
    channels, mask = stats.channels, np.int64(split.count_mask)
    for j in range(len(slopes)):
        tree, total, squares, curved = _tree_at(forest, j), 0.0, 0.0, 0.0
        for k in range(len(rows)):
            total += abs(slopes[j, k]) + curvatures[j, k]
            squares += slopes[j, k] * slopes[j, k]
            curved += curvatures[j, k]
        scale = ONE / total if total > 0 else 0.0
        slope, mass = np.int64(0), np.int64(0)
        for k in range(len(rows)):
            i = rows[k]
            state.rows[k] = i
            channels[i, 0] = np.int64(slopes[j, k] * scale)
            # The count also keeps the mass of a leaf positive, if its curvatures round to 0.
            channels[i, 1] = (np.int64(curvatures[j, k] * scale) & ~mask) + 1
            slope += channels[i, 0]
            mass += channels[i, 1]
        tree.totals[0, 0], tree.totals[0, 1] = slope, mass
        noise = split.category_noise * scale * (squares / curved if curved > 0 else 1.0)
        l2 = split.l2 * scale
        own_split = SplitParams(split.criterion, split.min_mass, split.min_count, l2, noise, mask)
        n_nodes, _ = grow(bins, stats, state.rows, state.scratch, own_split, limits, tree, grower)
        for node in range(n_nodes):
            steps[j, node] = -tree.totals[node, 0] / (tree.totals[node, 1] + l2)


def grow_newton_trees(
    binned: BinnedRows,
    gradients: np.ndarray,
    curvatures: np.ndarray,
    rows: np.ndarray,
    features: np.ndarray | None,
    params: TreeParams,
) -> list[GrownTree]:
    """A tree for each row of the (trees, rows) arrays, from the listed rows and features.

    The value of a node is Newton's step, -G / (H + l2), of the sums G of the gradients and H of
    the curvatures. What categories gain by chance follows from the gradients: where all labels are
    learnt, small ones are no chance.
    """
    announce_compilation(grow, COMPILE_SECONDS)
    (n_trees, n_used), n = gradients.shape, binned.n_rows
    capacity = params.capacity(n_used)
    channels = np.empty((n, 2), dtype=np.int64)
    stats = RowStatistics(NO_LABELS, NO_WEIGHTS, channels, *counted(NO_WEIGHTS), 2)
    bins, steps = binned.bins(features), np.empty((n_trees, capacity))
    forest = TreeArrays.allocate_many(n_trees, capacity, 2)
    limits, leaves = params.limits(n_used), np.empty(n, dtype=np.int32)
    grower = GrowerState.allocate(bins, stats, n_used, capacity, limits, leaves)
    # One layout, so that the kernel is compiled once.
    by_tree = Derivatives(np.ascontiguousarray(gradients), np.ascontiguousarray(curvatures))
    # The lowest bits of the curvatures count the rows, which saves an addition per row and feature.
    mask = (1 << n_used.bit_length()) - 1
    split = SplitParams(
        NEWTON,
        1,
        params.min_samples_leaf if params.counts_rows else 0,
        params.l2,
        params.category_noise,
        mask,
    )
    growth, state = BatchParams(split, 0.0, limits), BatchState.allocate(n_used, grower)
    _grow_newton(bins, stats, by_tree, rows, growth, forest, steps, state)
    return [
        _newton_tree(TreeArrays(*(part[j] for part in forest)), steps[j]) for j in range(n_trees)
    ]


def _newton_tree(tree: TreeArrays, steps: np.ndarray) -> GrownTree:
    n_nodes = 1 + 2 * int((tree.children[:, 0] != np.arange(len(steps))).sum())
    return replace(GrownTree.from_growth(tree, n_nodes, ONE), value=steps[:n_nodes, None].copy())
