"""Walking grown trees on binned rows.

A row ends in a *place*: the leaf itself, or, in a tree of few leaves, the set of leaves that no
split of the tree has ruled out, of which its own is the first from the left (Lucchese et al. 2015,
QuickScorer). All splits are decided for many rows at a time, without a branch.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains

FEW_LEAVES = 8  # of which a set fits one byte
MOST_LEAVES = 32  # of which a set fits a word
CHUNK = 2048  # rows whose places stay in the first-level cache


class TreeNodes(NamedTuple):
    """A tree to walk."""

    feature: np.ndarray
    children: np.ndarray
    left_bitset: np.ndarray
    depth: int


class PackedForest(NamedTuple):
    """The nodes of many trees in one array each.

    Tree t has the nodes ``starts[t, 0]`` to ``starts[t + 1, 0]`` and is ``depth[t]`` deep;
    ``output`` is what a node stands for (a vote, or a place in a table of values), and its entries
    in that table are those from ``starts[t, 1]`` on.
    """

    feature: np.ndarray
    children: np.ndarray
    left_bitset: np.ndarray
    output: np.ndarray
    depth: np.ndarray
    starts: np.ndarray


class PlaceScratch(NamedTuple):
    """Places of a chunk's rows, outputs by place, and the leaves below each node."""

    places: np.ndarray
    by_place: np.ndarray
    leaves: np.ndarray

    @classmethod
    def allocate(cls) -> "PlaceScratch":
        return cls(
            np.empty(CHUNK, dtype=np.uint32),
            np.empty(256, dtype=np.int32),
            np.empty((2, 2 * MOST_LEAVES), dtype=np.int64),
        )


@kernel
def _walk(packed, start, stop, tree, places):
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
        places[np.uint64(i - start)] = node


@kernel
def _describe(left_bitset):
    """A set of bins as (end, other): the bins below ``end``, and one more, 256 if none.

    (0, 257) if it is not of that form.
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
def _rule_out(words, shift, left_bitset, kept, places):
    """Keep only the leaves in ``kept`` for rows that go right."""
    end, other = _describe(left_bitset)
    low, extra = np.uint32(end), np.uint32(other)
    if other <= 256:  # compare: this loop becomes vector instructions
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(bin_ < low) | np.uint32(bin_ == extra)
            places[j] &= kept | (np.uint32(0) - left)
    else:
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(contains(left_bitset, np.int64(bin_)))
            places[j] &= kept | (np.uint32(0) - left)


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
def _first_of(set_):
    """A number below 32 that only sets with this first element have (de Bruijn's sequence)."""
    lowest = set_ & (np.uint32(0) - set_)
    return np.uint32(np.uint32(lowest * np.uint32(0x077CB531)) >> np.uint32(27))


@kernel
def _sift(packed, start, stop, tree, values, scratch):
    """Leaves that no split rules out, as a set of bits; the value of the first for every set."""
    feature, children, left_bitset, _ = tree
    places, by_place, leaves = scratch
    _number_leaves(children, leaves)
    first, count = leaves[0], leaves[1]
    few = len(children) < 2 * FEW_LEAVES
    for j in range(stop - start):
        places[j] = np.uint32(255) if few else np.uint32(0xFFFFFFFF)
    for node in range(len(children)):
        left = children[node, 0]
        if left == node:
            if few:
                for set_ in range(1 << first[node], 256, 2 << first[node]):
                    by_place[set_] = values[node]
            else:
                by_place[_first_of(np.uint32(1) << np.uint32(first[node]))] = values[node]
            continue
        f = np.int64(feature[node])
        lost = np.uint32(((1 << count[left]) - 1) << first[left])
        words, shift = packed[f >> 2, start:stop], np.uint32(8 * (f & 3))
        _rule_out(words, shift, left_bitset[node], ~lost, places[: stop - start])
    if not few:
        for j in range(stop - start):
            places[j] = _first_of(places[j])


@kernel
def find_places(packed, start, stop, tree, values, scratch):
    """Where rows end: as places in ``scratch.by_place``, which has the ``values`` of the leaves.

    Or in ``values`` itself, if there are many leaves: whether there are few.
    """
    few = len(values) < 2 * MOST_LEAVES
    if few:
        _sift(packed, start, stop, tree, values, scratch)
    else:
        _walk(packed, start, stop, tree, scratch.places)
    return few


@kernel
def apply(packed, tree, numbers, scratch, out):
    """Write the leaf of each row; ``numbers`` are those of the nodes."""
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        few = find_places(packed, start, stop, tree, numbers, scratch)
        leaves = scratch.by_place if few else numbers
        for j in range(stop - start):
            out[start + j] = leaves[np.uint64(scratch.places[j])]


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
def _add_chunk(places, votes, table, one_each, scores):
    """Add the row of each vote to all classes; ``one_each``: one entry to the class voted for."""
    if one_each:
        for j in range(len(scores)):
            vote = np.uint64(votes[np.uint64(places[j])])
            scores[np.uint64(j), vote] += table[np.uint64(0), vote]
    else:
        for c in range(scores.shape[1]):
            for j in range(len(scores)):
                vote = np.uint64(votes[np.uint64(places[j])])
                scores[np.uint64(j), np.uint64(c)] += table[vote, np.uint64(c)]


@kernel
def add_trees(packed, forest, tables, one_each, scratch, scores):
    """Add what each of many trees votes for, tree by tree, to rows of scores.

    ``tables`` is what votes add, in a row for each of a tree's votes or one for all.
    """
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        for t in range(len(forest.depth)):
            vote = output_of(forest, t)
            few = find_places(packed, start, stop, tree_of(forest, t), vote, scratch)
            votes = scratch.by_place if few else vote
            table = tables[forest.starts[t, 1] : forest.starts[t + 1, 1]]
            _add_chunk(scratch.places, votes, table, one_each, scores[start:stop])


@kernel
def take(values, places, out):
    """Write ``values[places]``."""
    for i in range(len(places)):
        out[i] = values[np.uint64(places[i])]
