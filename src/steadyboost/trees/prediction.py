"""Walking grown trees on binned rows.

A tree travels as (feature, children, left_set, depth). A row ends in a *place*: the leaf itself,
or, in a tree of few leaves, the set of leaves that no split of the tree has ruled out, of which
its own is the first from the left (Lucchese et al. 2015, QuickScorer). All splits are decided for
many rows at a time, without a branch.
"""

import numpy as np

from steadyboost.trees.crew import shared_loop
from steadyboost.trees.jit import inlined, plain, standing
from steadyboost.trees.splitting import SET_WORDS, contains

FEW_LEAVES = 8  # of which a set fits one byte
MOST_LEAVES = 32  # of which a set fits a word
TAKEN = 16_384  # rows that a thread takes at a time
CHUNK = 2048  # rows whose places stay in the first-level cache


@plain
def _walk(packed, start, stop, tree, places):
    """Leaf of each row, step by step.

    Leaves point to themselves, so every row takes ``depth`` steps without a branch, and the
    processor works on several rows at once.
    """
    feature, children, left_set, depth = tree
    for i in range(start, stop):
        node = np.uint64(0)
        row = np.uint64(i)
        for _ in range(depth):
            f = np.uint64(feature[node])
            shift = np.uint32(8) * np.uint32(f & np.uint64(3))
            bin_ = (packed[f >> np.uint64(2), row] >> shift) & np.uint32(255)
            word = left_set[node, np.uint64(bin_ >> np.uint32(5))]
            left = (word >> (bin_ & np.uint32(31))) & np.uint32(1)
            node = np.uint64(children[node, np.uint64(np.uint32(1) - left)])
        places[np.uint64(i - start)] = node


@plain
def _describe(left_set):
    """A set of bins as (end, other): the bins below ``end``, and one more, 256 if none.

    (0, 257) if it is not of that form.
    """
    word = 0
    while word < SET_WORDS and left_set[word] == np.uint32(0xFFFFFFFF):
        word += 1
    at, other = 32 * word, 256
    rest = left_set[word] if word < SET_WORDS else np.uint32(0)
    while rest & np.uint32(1):
        rest >>= np.uint32(1)
        at += 1
    end = at
    while word < SET_WORDS:
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
        rest = left_set[word] if word < SET_WORDS else np.uint32(0)
    return end, other


@plain
def _rule_out(words, shift, left_set, kept, places):
    """Keep only the leaves in ``kept`` for rows that go right."""
    end, other = _describe(left_set)
    low, extra = np.uint32(end), np.uint32(other)
    if other <= 256:  # compare: this loop becomes vector instructions
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(bin_ < low) | np.uint32(bin_ == extra)
            places[j] &= kept | (np.uint32(0) - left)
    else:
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(contains(left_set, np.int64(bin_)))
            places[j] &= kept | (np.uint32(0) - left)


@plain
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


@inlined
def _first_of(set_):
    """A number below 32 that only sets with this first element have (de Bruijn's sequence)."""
    lowest = set_ & (np.uint32(0) - set_)
    return np.uint32(np.uint32(lowest * np.uint32(0x077CB531)) >> np.uint32(27))


@plain
def _sift(packed, start, stop, tree, values, scratch):
    """Leaves that no split rules out, as a set of bits; the value of the first for every set."""
    feature, children, left_set, _ = tree
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
        _rule_out(words, shift, left_set[node], ~lost, places[: stop - start])
    if not few:
        for j in range(stop - start):
            places[j] = _first_of(places[j])


@plain
def find_places(packed, start, stop, tree, values, scratch):
    """Where rows end: as places in ``scratch[1]``, which has the ``values`` of the leaves.

    Or in ``values`` itself, if there are many leaves: whether there are few.
    """
    few = len(values) < 2 * MOST_LEAVES
    if few:
        _sift(packed, start, stop, tree, values, scratch)
    else:
        _walk(packed, start, stop, tree, scratch[0])
    return few


def scratch_for_places() -> tuple[np.ndarray, ...]:
    """Places of a chunk's rows, values by place, and the leaves below each node."""
    return (
        np.empty(CHUNK, dtype=np.uint32),
        np.empty(256, dtype=np.int32),
        np.empty((2, 2 * MOST_LEAVES), dtype=np.int64),
    )


@standing
def apply(packed, tree, nodes, scratch, out):
    """Write the leaf of each row; ``nodes`` are their numbers."""
    places = scratch[0]
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        few = find_places(packed, start, stop, tree, nodes, scratch)
        leaves = scratch[1] if few else nodes
        for j in range(stop - start):
            out[start + j] = leaves[np.uint64(places[j])]


@plain
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


@standing
def add_trees(packed, trees, starts, tables, one_each, scratch, scores):
    """Add what each of many trees votes for, tree by tree, to rows of scores.

    ``trees`` is (feature, children, left_set, depth, vote) with the nodes of all trees, and
    ``tables`` what votes add, in a row for each of a tree's votes or one for all. ``starts`` has
    where each tree begins in both.
    """
    feature, children, left_set, depth, vote = trees
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        for t in range(len(depth)):
            own = slice(starts[t, 0], starts[t + 1, 0])
            tree = (feature[own], children[own], left_set[own], np.int64(depth[t]))
            few = find_places(packed, start, stop, tree, vote[own], scratch)
            votes = scratch[1] if few else vote[own]
            table = tables[starts[t, 1] : starts[t + 1, 1]]
            _add_chunk(scratch[0], votes, table, one_each, scores[start:stop])


@shared_loop
def _take_parts(part, who, args):
    values, places, out = args
    at = slice(part * TAKEN, part * TAKEN + TAKEN)
    own, taken = places[at], out[at]
    for i in range(len(own)):
        taken[i] = values[np.uint64(own[i])]


@standing
def take(values, places, out, board=None):
    """Write ``values[places]``."""
    _take_parts(board, (len(places) + TAKEN - 1) // TAKEN, (values, places, out))
