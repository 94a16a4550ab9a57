"""Deep trees in few bytes: eight per node, and a row of values per leaf.

A node of a :class:`~steadyboost.trees.growth.tree.GrownTree` has a set of 256 bins and a value for
every class. Where no set of categories is split, what goes left are the bins below a threshold and
perhaps the one of missing values; children are side by side; and values matter at leaves only, of
which those of one class share a row. A walk then reads a tenth of the memory, which is what it
spends its time on.

A split is ``left child | feature | end | other`` in 24, 20, 9 and 9 bits: bins below ``end``, and
the bin ``other``, go left. A leaf has the highest bit, and its row of the table in the lowest 32.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.jit import kernel
from steadyboost.trees.prediction.apply import KEY_ROWS, as_threshold

MOST_NODES, MOST_FEATURES = 1 << 24, 1 << 20  # what the fields of a node have bits for
END, FEATURE, CHILD = np.uint64(9), np.uint64(18), np.uint64(38)  # first bits of the fields
LEAF = np.uint64(1 << 63)
NINE_BITS, FEATURE_BITS = np.uint64(511), np.uint64(MOST_FEATURES - 1)
NO_THRESHOLD = 257  # in place of ``other``, where a set of categories goes left


@kernel
def _is_plain(feature, children, left_bitset):
    """Whether all splits are thresholds of few enough features, with children side by side."""
    for node in range(len(feature)):
        left, right = children[node, 0], children[node, 1]
        if left == node:
            continue
        _, other = as_threshold(left_bitset[node])
        if other == NO_THRESHOLD or right != left + 1 or feature[node] >= MOST_FEATURES:
            return False
    return True


@kernel
def _encode(tree, value, first_row, nodes, rows):
    """Write the nodes, and list the leaves whose values need a row; returns how many do.

    The first rows of the table are those of single classes, the next one is ``first_row``.
    """
    feature, children, left_bitset = tree
    n_rows = 0
    for node in range(len(feature)):
        left = children[node, 0]
        if left != node:
            end, other = as_threshold(left_bitset[node])
            code = np.uint64(other) | (np.uint64(end) << END)
            nodes[node] = code | (np.uint64(feature[node]) << FEATURE) | (np.uint64(left) << CHILD)
            continue
        row = -1
        for c in range(value.shape[1]):
            if value[node, c] == 1.0:
                row = c
        if row < 0:
            row = first_row + n_rows
            rows[n_rows] = node
            n_rows += 1
        nodes[node] = LEAF | np.uint64(row)
    return n_rows


@kernel
def _add(packed, nodes, starts, first_columns, table, scores):
    """Add the values of each row's leaf, tree by tree."""
    width = table.shape[1]
    for start in range(0, packed.shape[1], KEY_ROWS):
        stop = min(start + KEY_ROWS, packed.shape[1])
        for t in range(len(first_columns)):
            own, first = nodes[starts[t] : starts[t + 1]], first_columns[t]
            for i in range(start, stop):
                code = own[np.uint64(0)]
                while code < LEAF:
                    f = (code >> FEATURE) & FEATURE_BITS
                    shift = np.uint32(8) * np.uint32(f & np.uint64(3))
                    bin_ = (packed[f >> np.uint64(2), np.uint64(i)] >> shift) & np.uint32(255)
                    end = np.uint32((code >> END) & NINE_BITS)
                    other = np.uint32(code & NINE_BITS)
                    right = np.uint64(1) - (np.uint64(bin_ < end) | np.uint64(bin_ == other))
                    code = own[(code >> CHILD) + right]
                row = np.uint64(code & np.uint64(0xFFFFFFFF))
                for c in range(width):
                    scores[i, first + c] += table[row, np.uint64(c)]


class CompactTree(NamedTuple):
    """A tree's nodes, and the rows of the table after those of single classes."""

    nodes: np.ndarray
    values: np.ndarray


def is_plain(tree: GrownTree) -> bool:
    """Whether the tree can be written in few bytes."""
    small = len(tree.feature) < MOST_NODES
    return small and bool(_is_plain(tree.feature, tree.children, tree.left_bitset))


def compact(tree: GrownTree, first_row: int) -> CompactTree:
    """The tree in few bytes; its own values are in the rows from ``first_row`` on."""
    n, value = len(tree.feature), np.ascontiguousarray(tree.value)  # one layout for the kernel
    nodes, rows = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    n_rows = _encode((tree.feature, tree.children, tree.left_bitset), value, first_row, nodes, rows)
    return CompactTree(nodes, value[rows[:n_rows]])


class CompactForest:
    """Trees whose leaves have as many values, each added to columns of its own."""

    def __init__(self, trees: Sequence[GrownTree], first_columns: Sequence[int]):
        width = trees[0].value.shape[1]
        parts, n_rows = [], width
        for tree in trees:
            parts.append(compact(tree, n_rows))
            n_rows += len(parts[-1].values)
        self.nodes = np.concatenate([part.nodes for part in parts])
        self.table = np.concatenate([np.eye(width), *(part.values for part in parts)])
        self.starts = np.concatenate([[0], np.cumsum([len(part.nodes) for part in parts])])
        self.columns = np.asarray(first_columns, dtype=np.int64)

    def _feature(self) -> np.ndarray:
        """The feature of each node, 0 at leaves."""
        feature = (self.nodes >> FEATURE) & FEATURE_BITS
        return np.where(self.nodes < LEAF, feature, 0).astype(np.int64)

    @property
    def features(self) -> np.ndarray:
        """Features that any tree tests; also 0."""
        return np.flatnonzero(np.bincount(self._feature(), minlength=1))

    def add(self, binned: BinnedRows, scores: np.ndarray) -> None:
        """Add to the scores of binned rows."""
        feature = self._feature()
        for packed, places, own in binned.with_scores(feature, scores):
            nodes = self.nodes if places is feature else self._with_features(places)
            _add(packed, nodes, self.starts, self.columns, self.table, own)

    def _with_features(self, places: np.ndarray) -> np.ndarray:
        """The nodes with other numbers of features: those in unpacked sparse rows."""
        others = self.nodes & ~(FEATURE_BITS << FEATURE)
        changed = others | (places.astype(np.uint64) << FEATURE)
        return np.where(self.nodes < LEAF, changed, self.nodes)
