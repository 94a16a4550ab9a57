"""Random trees as they would be with larger leaves: a node may speak for all below it."""

from dataclasses import replace

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel


@kernel
def _find_speakers(children, masses, sizes, speakers):
    """Change, for each size, which node speaks for each node: itself, or one above it.

    A split counts where both of its sides have the size, and those above it count. Parents come
    before their children.
    """
    for s in range(len(sizes)):
        own = speakers[s]
        for node in range(len(children)):
            left, right = children[node]
            if left == node:
                continue
            if own[node] != node or min(masses[left], masses[right]) < sizes[s]:
                own[left] = own[right] = own[node]


@kernel
def _leaf_of(packed, row, feature, children, left_bitset):
    node = np.int32(0)
    while children[node, 0] != node:
        f = feature[node]
        bin_ = (packed[f >> 2, row] >> np.uint32(8 * (f & 3))) & np.uint32(255)
        left = (left_bitset[node, bin_ >> np.uint32(5)] >> (bin_ & np.uint32(31))) & np.uint32(1)
        node = children[node, 1 - np.int64(left)]
    return node


@kernel
def _add_votes(packed, nodes, shares, speakers, rows, votes):
    """Add to ``votes[s, row]`` the shares of the node that speaks for the row's leaf."""
    feature, children, left_bitset = nodes
    for row in rows:
        leaf = _leaf_of(packed, row, feature, children, left_bitset)
        for s in range(len(speakers)):
            node = speakers[s, leaf]
            for c in range(shares.shape[1]):
                votes[s, row, c] += shares[node, c]


def shares(sums: np.ndarray) -> np.ndarray:
    """Each row of sums over its total; equal shares where there is nothing."""
    sums = np.ascontiguousarray(sums)
    total = sums.sum(axis=-1, keepdims=True)
    return np.divide(sums, total, out=np.full(sums.shape, 1 / sums.shape[-1]), where=total > 0)


def speakers_of(tree: GrownTree, sizes: np.ndarray) -> np.ndarray:
    """(sizes, nodes): the node whose class shares a node stands for where leaves have a size."""
    nodes = np.arange(len(tree.children), dtype=np.int32)
    speakers = np.tile(nodes, (len(sizes), 1))
    _find_speakers(tree.children, tree.value.sum(axis=1), sizes, speakers)
    return speakers


def with_leaf_size(tree: GrownTree, size: float) -> GrownTree:
    """The tree with class shares at its leaves, as if they had at least that mass."""
    (speakers,) = speakers_of(tree, np.array([size]))
    return replace(tree, value=shares(tree.value)[speakers])


def add_votes(
    tree: GrownTree, sizes: np.ndarray, binned: BinnedRows, missed: np.ndarray, votes: np.ndarray
) -> None:
    """Add the class shares of the leaves of rows that a mask lists, as they are for each size."""
    own, speakers = shares(tree.value), speakers_of(tree, sizes)
    for stretch, packed, feature in binned.unpacked(tree.feature):
        nodes = feature, tree.children, tree.left_bitset
        _add_votes(packed, nodes, own, speakers, np.flatnonzero(missed[stretch]), votes[:, stretch])
