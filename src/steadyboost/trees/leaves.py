"""Many trees whose leaves add numbers to columns of scores, in one compiled call."""

from collections.abc import Sequence

import numpy as np

from steadyboost.trees.binned import BinnedRows
from steadyboost.trees.jit import standing
from steadyboost.trees.prediction import CHUNK, find_places, scratch_for_places
from steadyboost.trees.tree import GrownTree


@standing
def _add_leaves(packed, trees, starts, columns, values, scratch, scores):
    """Add the values of each row's leaf, tree by tree.

    ``trees`` is (feature, children, left_set, depth, number in its tree) with the nodes of all;
    ``starts`` has where each tree begins in them and in ``values``, ``columns`` the first column
    that it adds to, and how many.
    """
    feature, children, left_set, depth, number = trees
    places = scratch[0]
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        for t in range(len(depth)):
            own = slice(starts[t, 0], starts[t + 1, 0])
            tree = (feature[own], children[own], left_set[own], np.int64(depth[t]))
            few = find_places(packed, start, stop, tree, number[own], scratch)
            nodes = scratch[1] if few else number[own]
            first, width = columns[t]
            table = values[starts[t, 1] : starts[t + 1, 1]]
            for c in range(width):
                for j in range(stop - start):
                    node = np.uint64(nodes[np.uint64(places[j])])
                    scores[start + j, first + c] += table[node * np.uint64(width) + np.uint64(c)]


class LeafSums:
    """Trees, and for each the first of the columns that the values of its leaves are added to."""

    def __init__(self, trees: Sequence[GrownTree], first_columns: Sequence[int]):
        sizes = [len(tree.feature) for tree in trees]
        depth = np.array([tree.depth for tree in trees])
        number = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
        arrays = ((tree.feature, tree.children, tree.left_set) for tree in trees)
        feature, children, left_set = map(np.concatenate, zip(*arrays, strict=True))
        self.nodes = feature, children, left_set, depth, number
        widths = [tree.value.shape[1] for tree in trees]
        self.columns = np.column_stack([first_columns, widths])
        self.values = np.concatenate([tree.value.ravel() for tree in trees])
        self.starts = np.zeros((len(trees) + 1, 2), dtype=np.int64)
        np.cumsum(sizes, out=self.starts[1:, 0])
        np.cumsum(np.multiply(sizes, widths), out=self.starts[1:, 1])

    @property
    def features(self) -> np.ndarray:
        """Those that any tree looks at; also 0, which stands at leaves."""
        return np.flatnonzero(np.bincount(self.nodes[0]))

    def add(self, binned: BinnedRows, scores: np.ndarray) -> None:
        """Add to the scores of binned rows."""
        scratch = scratch_for_places()
        for packed, feature, own in binned.with_scores(self.nodes[0], scores):
            nodes = (feature, *self.nodes[1:])
            _add_leaves(packed, nodes, self.starts, self.columns, self.values, scratch, own)
