"""Trees of two classes for many weightings of the same rows, in few calls.

A call per tree costs more than a stump on a few thousand rows; here a compiled loop grows a stretch
of them, with the kernels, and so the results, of :func:`~steadyboost.trees.tree.grow_tree`.
"""

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.fixed_point import rounded, to_fixed_point
from steadyboost.trees.grower import NARROW, go_on
from steadyboost.trees.jit import plain, standing
from steadyboost.trees.prediction import CHUNK, find_places, scratch_for_places
from steadyboost.trees.room import Room, empty_forest
from steadyboost.trees.sharded import Run, one_by_one
from steadyboost.trees.state import N_NODES, STATE
from steadyboost.trees.tree import GrownTree, Growth

_go_on = go_on.bare  # as called from kernels

MANY_CELLS = 4_000_000  # of rows and tree nodes that a stretch of trees works on


@plain
def _fix(weights, labels, total, out, sums):
    """As fix_weights, for labels 0 and 1: vector instructions. How many rows weigh anything."""
    to_fixed_point(weights, total, out)
    both, one, n_rows = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(out)):
        both += out[i]
        one += out[i] * labels[i]
        n_rows += out[i] > 0
    sums[0], sums[1] = both - one, one
    return n_rows


@plain
def _list_rows(fixed, n_rows, rows):
    """The numbers of the rows that weigh anything."""
    at = 0
    for i in range(len(fixed)):
        rows[at] = i
        at += fixed[i] > 0 or n_rows == len(fixed)


@plain
def _vote_of_nodes(totals, vote):
    """A node votes for its heavier class, by the floats that a finished tree keeps of its sums."""
    for node in range(len(vote)):
        vote[node] = np.float64(totals[node, 1]) > np.float64(totals[node, 0])


@standing
def _grow_stretch(
    bins, labels, weights, sums, rule, limits, least, forest, ends, votes, by_row, span, room, first
):  # fmt: skip
    """Grow a tree for each row of ``weights``, which add up to ``sums``, from ``first`` on.

    ``labels`` has a row for each tree, or one for all. ``least`` is the share of the weight that a
    leaf must have; ``forest`` is room for trees as in ``go_on``, with a leading axis, and for the
    votes of their nodes. ``ends`` gets the number of nodes of each tree, and of the rows that it is
    grown from: those whose weight is nothing in fixed point, often most of them, are left out. If
    there are none of these, ``votes`` gets those of the rows. Returns the tree that needs a wider
    room to go on, or how many there are.
    """
    feature, children, left_set, totals, gain, depth, vote = forest
    fixed, counted, same_label, rows, scratch, leaf = by_row
    n = weights.shape[1]
    for j in range(first, len(weights)):
        own_labels = labels[j % len(labels)]
        if room[STATE][N_NODES] == 0:
            ends[j, 1] = _fix(weights[j], own_labels, sums[j], fixed, totals[j, 0])
            _list_rows(fixed, ends[j, 1], rows)
            for i in range(len(counted)):
                counted[i] = fixed[i] > 0
            span[0, 0], span[0, 1] = 0, ends[j, 1]
        mass = totals[j, 0, 0] + totals[j, 0, 1]
        own = (rule[0], max(np.int64(1), np.int64(least * mass * (1 - 1e-9))), rule[2])
        tree = (feature[j], children[j], left_set[j], totals[j], gain[j], depth[j])
        added = (own_labels, fixed, counted, same_label)
        ends[j, 0] = _go_on(
            bins, added, rows[: ends[j, 1]], scratch, own, limits, tree, span, leaf, room
        )
        if ends[j, 0] == NARROW:
            return j
        _vote_of_nodes(totals[j], vote[j])
        if ends[j, 1] == n:
            for i in range(n):
                votes[j, i] = vote[j, np.uint64(leaf[i])]
    return len(weights)


@standing
def _vote(packed, start, feature, forest, depths, ends, scratch, votes):
    """Write the votes of trees in which not all rows took part, from row ``start`` on."""
    _, children, left_set, _, _, _, vote = forest
    places = scratch[0]
    for first in range(0, packed.shape[1], CHUNK):
        stop = min(first + CHUNK, packed.shape[1])
        for j in range(len(votes)):
            if ends[j, 1] == votes.shape[1]:
                continue
            own = slice(0, ends[j, 0])
            tree = (feature[j, own], children[j, own], left_set[j, own], depths[j])
            few = find_places(packed, first, stop, tree, vote[j, own], scratch)
            table = scratch[1] if few else vote[j, own]
            for k in range(stop - first):
                votes[j, start + first + k] = table[np.uint64(places[k])]


def _by_row(n: int, counting: bool) -> tuple[np.ndarray, ...]:
    """What growth has of each row: weight, count and its one label, number, another, and leaf."""
    n_counted = n if counting else 0
    return (
        np.empty(n, dtype=np.int64),
        np.empty(n_counted, dtype=np.int64),
        np.zeros(n_counted, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
    )


def _grown(forest: tuple[np.ndarray, ...], sizes: list[int]) -> list[tuple[GrownTree, np.ndarray]]:
    """As :meth:`GrownTree.from_growth`, for all trees at once, with the votes of their nodes."""
    feature, children, left_set, totals, gain, depth, vote = forest
    depths, value = depth.max(axis=1).tolist(), totals / 2.0**60
    gain = np.maximum(gain, 0) / 2.0**60
    grown = []
    for j, size in enumerate(sizes):
        own = [array[j, :size].copy() for array in (feature, children, left_set, value, gain)]
        tree = GrownTree(own[0], own[1], own[2], own[3], own[4], depths[j])
        grown.append((tree, vote[j, :size].copy()))
    return grown


def grow_many(
    binned: BinnedRows,
    labels: np.ndarray,
    weights: np.ndarray,
    growth: Growth,
    n_threads: int = 1,
    run: Run = one_by_one,
) -> tuple[list[tuple[GrownTree, np.ndarray]], np.ndarray]:
    """A tree for each row of the (trees, n) weights, with the votes of its nodes; those of rows.

    Labels, 0 and 1, are those of each tree, or one row for all of them.
    """
    n_trees, n = weights.shape
    capacity, limits = growth.capacity(n), growth.limits(n)
    bins, rule = binned.bins(None, 2), growth.rule(np.ones(1), 1.0)
    counting = rule[2] > 0
    votes = np.empty((n_trees, n), dtype=np.int32)
    size = max(1, min(-(-n_trees // n_threads), MANY_CELLS // (n + capacity)))

    def grow_stretch(start: int) -> list[tuple[GrownTree, np.ndarray]]:
        at = slice(start, min(start + size, n_trees))
        own, said = weights[at], votes[at]
        forest = *empty_forest(len(own), capacity, 2), np.empty((len(own), capacity), np.int32)
        ends = np.empty((len(own), 2), dtype=np.int64)
        own_labels = labels if len(labels) == 1 else labels[at]
        sums, least = rounded(own.sum(axis=1)), growth.min_weight_leaf
        by_row, span = _by_row(n, counting), np.empty((capacity, 2), dtype=np.int64)
        room, done = Room(bins, (own_labels, *by_row[:3]), n, 2, capacity), 0
        while done < len(own):
            done = _grow_stretch(
                bins, own_labels, own, sums, rule, limits, least, forest, ends, said, by_row, span,
                room.arrays, done,
            )  # fmt: skip
            if done < len(own):
                room.widen()
        if (ends[:, 1] < n).any():
            scratch = scratch_for_places()
            for rows, packed, feature in binned.unpacked(forest[0].ravel()):
                own_feature, depths = feature.reshape(forest[0].shape), forest[5].max(axis=1)
                _vote(packed, rows.start, own_feature, forest, depths, ends, scratch, said)
        return _grown(forest, ends[:, 0].tolist())

    stretches = run(grow_stretch, range(0, n_trees, size))
    return [grown for stretch in stretches for grown in stretch], votes
