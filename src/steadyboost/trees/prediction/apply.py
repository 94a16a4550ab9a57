"""Finding the leaves of binned rows in a grown tree.

Large trees are walked from the root. In a tree of few leaves, each row has a bit set of leaves,
from which every split removes those that it rules out; the row's leaf is the first one left
(Lucchese et al. 2015, QuickScorer). All splits are evaluated for many rows at a time, without a
branch. Either way gives a *key* for each row: an index into a table of the values of leaves.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains

FEW_LEAVES = 8  # a set of them is a byte, which is the key into a table of 256 entries
MOST_LEAVES = 32  # a set of them is a word, whose lowest bit gives the key
KEY_ROWS = 2048  # rows whose keys (8 KB) stay in the first-level cache from split to split


class TreeNodes(NamedTuple):
    """A tree to walk."""

    feature: np.ndarray
    children: np.ndarray
    left_bitset: np.ndarray
    depth: int


class LeafScratch(NamedTuple):
    """Keys of a chunk's rows, values by key, and the leaves below each node."""

    keys: np.ndarray
    by_key: np.ndarray
    leaves: np.ndarray

    @classmethod
    def allocate(cls) -> "LeafScratch":
        return cls(
            np.empty(KEY_ROWS, dtype=np.uint32),
            np.empty(256, dtype=np.int32),
            np.empty((2, 2 * MOST_LEAVES), dtype=np.int64),
        )


@kernel
def _walk(packed, start, stop, tree, keys):
    """Leaf of each row, step by step.

    Leaves point to themselves, so every row takes ``depth`` steps without a branch, and the
    processor works on several rows at once.
    """
    feature, children, left_bitset, depth = tree
    for i in range(start, stop):
        node = np.uint64(0)
        row = np.uint64(i)
        for _ in range(depth):
            f = np.uint64(feature[node])
            shift = np.uint32(8) * np.uint32(f & np.uint64(3))
            bin_ = (packed[f >> np.uint64(2), row] >> shift) & np.uint32(255)
            word = left_bitset[node, np.uint64(bin_ >> np.uint32(5))]
            left = (word >> (bin_ & np.uint32(31))) & np.uint32(1)
            node = np.uint64(children[node, np.uint64(np.uint32(1) - left)])
        keys[np.uint64(i - start)] = node


@kernel
def as_threshold(left_bitset):
    """A set of bins as (end, other): the bins below ``end``, and one more, 256 if none.

    Splits of numbers have this form; the other bin is that of missing values. (0, 257) for others.
    """
    word = 0
    while word < BITSET_WORDS and left_bitset[word] == np.uint32(0xFFFFFFFF):
        word += 1
    at, other = 32 * word, 256
    rest = left_bitset[word] if word < BITSET_WORDS else np.uint32(0)
    while rest & np.uint32(1):
        rest >>= np.uint32(1)
        at += 1
    end = at
    while word < BITSET_WORDS:
        if rest != 0 and other < 256:
            return 0, 257
        if rest != 0:
            other = at
            while not rest & np.uint32(1):
                rest >>= np.uint32(1)
                other += 1
            if rest != 1:
                return 0, 257
        word += 1
        at = 32 * word
        rest = left_bitset[word] if word < BITSET_WORDS else np.uint32(0)
    return end, other


@kernel
def _rule_out(words, shift, left_bitset, kept, keys):
    """Keep only the leaves in ``kept`` for rows that go right."""
    end, other = as_threshold(left_bitset)
    low, extra = np.uint32(end), np.uint32(other)
    if other <= 256:  # two comparisons, which are vectorised; a look-up in the set is not
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(bin_ < low) | np.uint32(bin_ == extra)
            keys[j] &= kept | (np.uint32(0) - left)
    else:
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(contains(left_bitset, np.int64(bin_)))
            keys[j] &= kept | (np.uint32(0) - left)


@kernel
def _number_leaves(children, leaves):
    """For each node its leaves, numbered from the left: the first, and how many."""
    first, count = leaves[0], leaves[1]
    for node in range(len(children) - 1, -1, -1):  # children come after their parent
        left, right = children[node, 0], children[node, 1]
        count[node] = 1 if left == node else count[left] + count[right]
    first[0] = 0
    for node in range(len(children)):
        left, right = children[node, 0], children[node, 1]
        if left != node:
            first[left], first[right] = first[node], first[node] + count[left]


@kernel
def _exit_leaf_key(set_):
    """A number below 32 that identifies the first element of a set.

    A multiplication by de Bruijn's sequence is vectorised, counting trailing zeros is not.
    """
    lowest = set_ & (np.uint32(0) - set_)
    return np.uint32(np.uint32(lowest * np.uint32(0x077CB531)) >> np.uint32(27))


@kernel
def _intersect_leaf_sets(packed, start, stop, tree, values, scratch):
    """Write the sets of leaves that no split rules out, or their first elements, as keys."""
    feature, children, left_bitset, _ = tree
    keys, by_key, leaves = scratch
    _number_leaves(children, leaves)
    first, count = leaves[0], leaves[1]
    few = len(children) < 2 * FEW_LEAVES
    for j in range(stop - start):
        keys[j] = np.uint32(255) if few else np.uint32(0xFFFFFFFF)
    for node in range(len(children)):
        left = children[node, 0]
        if left == node:
            if few:
                for set_ in range(1 << first[node], 256, 2 << first[node]):
                    by_key[set_] = values[node]
            else:
                by_key[_exit_leaf_key(np.uint32(1) << np.uint32(first[node]))] = values[node]
            continue
        f = np.int64(feature[node])
        lost = np.uint32(((1 << count[left]) - 1) << first[left])
        words, shift = packed[f >> 2, start:stop], np.uint32(8 * (f & 3))
        _rule_out(words, shift, left_bitset[node], ~lost, keys[: stop - start])
    if not few:
        for j in range(stop - start):
            keys[j] = _exit_leaf_key(keys[j])


@kernel
def find_leaf_keys(packed, start, stop, tree, values, scratch):
    """Write the keys of the leaves of rows to ``scratch.keys``; whether the tree has few leaves.

    If so, keys are indices of ``scratch.by_key``, which gets the ``values`` of the leaves; else of
    ``values`` itself.
    """
    few = len(values) < 2 * MOST_LEAVES
    if few:
        _intersect_leaf_sets(packed, start, stop, tree, values, scratch)
    else:
        _walk(packed, start, stop, tree, scratch.keys)
    return few


@kernel
def leaf_of_row(packed, row, tree):
    """Leaf of one row, for deep trees of which most leaves are far less deep than the deepest."""
    node = np.int32(0)
    while tree.children[node, 0] != node:
        f = tree.feature[node]
        bin_ = (packed[f >> 2, row] >> np.uint32(8 * (f & 3))) & np.uint32(255)
        node = tree.children[node, 1 - contains(tree.left_bitset[node], np.int64(bin_))]
    return node


@kernel
def apply(packed, tree, numbers, scratch, out):
    """Write the leaf of each row; ``numbers`` are those of the nodes."""
    for start in range(0, packed.shape[1], KEY_ROWS):
        stop = min(start + KEY_ROWS, packed.shape[1])
        few = find_leaf_keys(packed, start, stop, tree, numbers, scratch)
        leaves = scratch.by_key if few else numbers
        for j in range(stop - start):
            out[start + j] = leaves[np.uint64(scratch.keys[j])]


@kernel
def take(values, indices, out):
    """Write ``values[indices]``, such as the votes of leaves."""
    for i in range(len(indices)):
        out[i] = values[np.uint64(indices[i])]
