"""Packed forests: many trees in one array per field, evaluated in one compiled call.

The trees of a stage vote, and a table says what each vote adds to the scores
(:func:`add_trees`); or their leaves have values that are added themselves (:class:`LeafSums`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.prediction.apply import (
    KEY_ROWS,
    LeafScratch,
    TreeNodes,
    find_leaf_keys,
)


class PackedForest(NamedTuple):
    """The nodes of many trees in one array each.

    Tree t has the nodes ``starts[t, 0]`` to ``starts[t + 1, 0]`` and is ``depth[t]`` deep;
    ``output`` is the vote of a node, or its row in a table of values; the entries of tree t in that
    table are those from ``starts[t, 1]`` on.
    """

    feature: np.ndarray
    children: np.ndarray
    left_bitset: np.ndarray
    output: np.ndarray
    depth: np.ndarray
    starts: np.ndarray


@kernel
def tree_of(forest, t):
    """One tree of a forest."""
    own = slice(forest.starts[t, 0], forest.starts[t + 1, 0])
    return TreeNodes(
        forest.feature[own],
        forest.children[own],
        forest.left_bitset[own],
        np.int64(forest.depth[t]),
    )


@kernel
def output_of(forest, t):
    """The outputs of the nodes of one tree."""
    return forest.output[forest.starts[t, 0] : forest.starts[t + 1, 0]]


@kernel
def _add_chunk(keys, votes, table, one_each, scores):
    """Add the row of each vote to all classes; ``one_each``: one entry to the class voted for."""
    if one_each:
        for j in range(len(scores)):
            vote = np.uint64(votes[np.uint64(keys[j])])
            scores[np.uint64(j), vote] += table[np.uint64(0), vote]
    else:
        for c in range(scores.shape[1]):
            for j in range(len(scores)):
                vote = np.uint64(votes[np.uint64(keys[j])])
                scores[np.uint64(j), np.uint64(c)] += table[vote, np.uint64(c)]


@kernel
def add_trees(packed, forest, tables, one_each, scratch, scores):
    """Add what each of many trees votes for, tree by tree, to rows of scores.

    ``tables`` is what votes add, in a row for each of a tree's votes or one for all.
    """
    for start in range(0, packed.shape[1], KEY_ROWS):
        stop = min(start + KEY_ROWS, packed.shape[1])
        for t in range(len(forest.depth)):
            vote = output_of(forest, t)
            few = find_leaf_keys(packed, start, stop, tree_of(forest, t), vote, scratch)
            votes = scratch.by_key if few else vote
            table = tables[forest.starts[t, 1] : forest.starts[t + 1, 1]]
            _add_chunk(scratch.keys, votes, table, one_each, scores[start:stop])


def pack_trees(
    trees: Sequence[GrownTree], outputs: Sequence[np.ndarray], heights: Sequence[int]
) -> PackedForest:
    """Pack trees with the outputs of their nodes, and their numbers of table entries."""
    arrays = ((tree.feature, tree.children, tree.left_bitset) for tree in trees)
    feature, children, left_bitset = map(np.concatenate, zip(*arrays, strict=True))
    starts = np.zeros((len(trees) + 1, 2), dtype=np.int64)
    np.cumsum([len(tree.feature) for tree in trees], out=starts[1:, 0])
    np.cumsum(heights, out=starts[1:, 1])
    depth = np.array([tree.depth for tree in trees])
    output = np.concatenate(outputs)
    return PackedForest(feature, children, left_bitset, output, depth, starts)


def features_of(forest: PackedForest) -> np.ndarray:
    """Features that any tree tests; also 0, which leaves have."""
    return np.flatnonzero(np.bincount(forest.feature))


@kernel
def _add_leaves(packed, forest, columns, values, scratch, scores):
    """Add the values of each row's leaf, tree by tree.

    ``columns`` has the first column that a tree adds to, and how many.
    """
    for start in range(0, packed.shape[1], KEY_ROWS):
        stop = min(start + KEY_ROWS, packed.shape[1])
        for t in range(len(forest.depth)):
            number = output_of(forest, t)
            few = find_leaf_keys(packed, start, stop, tree_of(forest, t), number, scratch)
            nodes = scratch.by_key if few else number
            first, width = columns[t]
            table = values[forest.starts[t, 1] : forest.starts[t + 1, 1]]
            for c in range(width):
                for j in range(stop - start):
                    node = np.uint64(nodes[np.uint64(scratch.keys[j])])
                    scores[start + j, first + c] += table[node * np.uint64(width) + np.uint64(c)]


class LeafSums:
    """Trees, and for each the first of the columns that the values of its leaves are added to."""

    def __init__(self, trees: Sequence[GrownTree], first_columns: Sequence[int]):
        numbers = [np.arange(len(tree.feature), dtype=np.int32) for tree in trees]
        self.forest = pack_trees(trees, numbers, [tree.value.size for tree in trees])
        self.columns = np.column_stack([first_columns, [tree.value.shape[1] for tree in trees]])
        self.values = np.concatenate([tree.value.ravel() for tree in trees])

    @property
    def features(self) -> np.ndarray:
        return features_of(self.forest)

    def add(self, binned: BinnedRows, scores: np.ndarray) -> None:
        """Add to the scores of binned rows."""
        scratch = LeafScratch.allocate()
        for packed, feature, own in binned.with_scores(self.forest.feature, scores):
            forest = self.forest._replace(feature=feature)
            _add_leaves(packed, forest, self.columns, self.values, scratch, own)
