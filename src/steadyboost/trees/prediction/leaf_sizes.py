"""Random trees pruned to a minimum leaf size, for several sizes at once.

The *effective leaf* of a node is the node itself, or the one above it that pruning makes a leaf.
"""

from dataclasses import replace

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.prediction.apply import leaf_of_row


@kernel
def _find_effective_leaves(children, masses, sizes, effective):
    """Write, for each size, the effective leaf of each node.

    A split is kept if both of its sides have the size, and those above it are kept. Parents come
    before their children.
    """
    for s in range(len(sizes)):
        own = effective[s]
        for node in range(len(children)):
            left, right = children[node]
            if left == node:
                continue
            if own[node] != node or min(masses[left], masses[right]) < sizes[s]:
                own[left] = own[right] = own[node]


@kernel
def _add_votes(packed, tree, shares, effective, rows, votes):
    """Add to ``votes[s, row]`` the shares of the effective leaf of the row."""
    for row in rows:
        leaf = leaf_of_row(packed, row, tree)
        for s in range(len(effective)):
            node = effective[s, leaf]
            for c in range(shares.shape[1]):
                votes[s, row, c] += shares[node, c]


def shares(sums: np.ndarray) -> np.ndarray:
    """Each row of sums over its total; equal shares where there is nothing."""
    sums = np.ascontiguousarray(sums)
    total = sums.sum(axis=-1, keepdims=True)
    return np.divide(sums, total, out=np.full(sums.shape, 1 / sums.shape[-1]), where=total > 0)


def effective_leaves(tree: GrownTree, sizes: np.ndarray) -> np.ndarray:
    """(sizes, nodes): the effective leaf of each node for each leaf size."""
    nodes = np.arange(len(tree.children), dtype=np.int32)
    effective = np.tile(nodes, (len(sizes), 1))
    _find_effective_leaves(tree.children, tree.value.sum(axis=1), sizes, effective)
    return effective


def with_leaf_size(tree: GrownTree, size: float) -> GrownTree:
    """The tree with class shares at its leaves, pruned to leaves of that mass.

    Nodes keep their numbers: those below the new leaves are there still, but cannot be reached
    (:func:`reachable` drops them).
    """
    (effective,) = effective_leaves(tree, np.array([size]))
    nodes = np.arange(len(tree.children))
    is_leaf = effective[tree.children[:, 0]] != tree.children[:, 0]
    return replace(
        tree,
        feature=np.where(is_leaf, 0, tree.feature).astype(np.int32),
        children=np.where(is_leaf[:, None], nodes[:, None], tree.children).astype(np.int32),
        value=shares(tree.value)[effective],
    )


@kernel
def _mark_reachable(children, kept):
    """Mark the nodes that the root leads to; parents come before their children."""
    kept[0] = True
    for node in range(len(children)):
        left, right = children[node]
        if kept[node] and left != node:
            kept[left] = kept[right] = True


def reachable(tree: GrownTree) -> GrownTree:
    """The tree without the nodes that its root does not lead to."""
    kept = np.zeros(len(tree.children), dtype=bool)
    _mark_reachable(tree.children, kept)
    if kept.all():
        return tree
    numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    return replace(
        tree,
        feature=tree.feature[kept],
        children=numbers[tree.children[kept]],
        left_bitset=tree.left_bitset[kept],
        value=tree.value[kept],
        gain=tree.gain[kept],
    )


def add_votes(
    tree: GrownTree, sizes: np.ndarray, binned: BinnedRows, missed: np.ndarray, votes: np.ndarray
) -> None:
    """Add the class shares of the effective leaves of the rows in a mask, for each size."""
    own, effective = shares(tree.value), effective_leaves(tree, sizes)
    for chunk, packed, feature in binned.unpacked(tree.feature):
        nodes = tree.nodes._replace(feature=feature)
        _add_votes(packed, nodes, own, effective, np.flatnonzero(missed[chunk]), votes[:, chunk])
