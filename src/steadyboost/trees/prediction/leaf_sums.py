"""Many trees whose leaves add numbers to columns of scores, in one compiled call."""

from collections.abc import Sequence

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.prediction.apply import (
    CHUNK,
    PackedForest,
    PlaceScratch,
    find_places,
    output_of,
    tree_of,
)


def pack_trees(
    trees: Sequence[GrownTree], outputs: Sequence[np.ndarray], heights: Sequence[int]
) -> PackedForest:
    """Trees in one array each, with the outputs of their nodes, and so many entries of a table."""
    arrays = ((tree.feature, tree.children, tree.left_bitset) for tree in trees)
    feature, children, left_bitset = map(np.concatenate, zip(*arrays, strict=True))
    starts = np.zeros((len(trees) + 1, 2), dtype=np.int64)
    np.cumsum([len(tree.feature) for tree in trees], out=starts[1:, 0])
    np.cumsum(heights, out=starts[1:, 1])
    depth = np.array([tree.depth for tree in trees])
    output = np.concatenate(outputs)
    return PackedForest(feature, children, left_bitset, output, depth, starts)


def features_of(forest: PackedForest) -> np.ndarray:
    """Features that any tree looks at; also 0, which stands at leaves."""
    return np.flatnonzero(np.bincount(forest.feature))


@kernel
def _add_leaves(packed, forest, columns, values, scratch, scores):
    """Add the values of each row's leaf, tree by tree.

    ``columns`` has the first column that a tree adds to, and how many.
    """
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        for t in range(len(forest.depth)):
            number = output_of(forest, t)
            few = find_places(packed, start, stop, tree_of(forest, t), number, scratch)
            nodes = scratch.by_place if few else number
            first, width = columns[t]
            table = values[forest.starts[t, 1] : forest.starts[t + 1, 1]]
            for c in range(width):
                for j in range(stop - start):
                    node = np.uint64(nodes[np.uint64(scratch.places[j])])
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
        scratch = PlaceScratch.allocate()
        for packed, feature, own in binned.with_scores(self.forest.feature, scores):
            forest = self.forest._replace(feature=feature)
            _add_leaves(packed, forest, self.columns, self.values, scratch, own)
