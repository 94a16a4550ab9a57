"""Partition of the rows of a node among its children."""

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains, unpack_bitset


def bin_table() -> np.ndarray:
    """Scratch for whether each bin goes left."""
    return np.empty(32 * BITSET_WORDS, dtype=np.uint64)


@kernel
def partition(packed, feature, left_bitset, rows, scratch, goes_left, first):
    """Reorder ``rows`` so that those that go left come first, both sides in ascending order.

    The rows are those listed or, if ``first`` is not -1, ``first`` and all after it, which need not
    be listed. Each row is written to both sides and one of two cursors moves: this takes no branch,
    which could not be predicted.

         rows            l r r l r l l          rows            l l l l | r r r
         scratch         r r r
    """
    unpack_bitset(left_bitset, goes_left)
    words = packed[feature >> 2]
    shift = np.uint32(8 * (feature & 3))
    n_left, n_right, one = np.uint64(0), np.uint64(0), np.uint64(1)
    if first >= 0:
        for row in range(first, first + len(rows)):
            left = goes_left[np.uint64((words[np.uint64(row)] >> shift) & np.uint32(255))]
            rows[n_left] = row
            scratch[n_right] = row
            n_left += left
            n_right += one - left
    else:
        for k in range(len(rows)):
            row = rows[k]
            left = goes_left[np.uint64((words[np.uint64(row)] >> shift) & np.uint32(255))]
            rows[n_left] = row
            scratch[n_right] = row
            n_left += left
            n_right += one - left
    for k in range(n_right):
        rows[n_left + np.uint64(k)] = scratch[k]
    return np.int64(n_left)


@kernel
def assign_leaves(packed, feature, left_bitset, rows, left_node, goes_left, node_of_row):
    """Assign rows to two leaves, ``left_node`` and the next; they stay in their order."""
    unpack_bitset(left_bitset, goes_left)
    words = packed[feature >> 2]
    shift = np.uint32(8 * (feature & 3))
    for row in rows:
        bin_ = (words[np.uint64(row)] >> shift) & np.uint32(255)
        node_of_row[np.uint64(row)] = left_node + 1 - goes_left[np.uint64(bin_)]


@kernel
def count_left(packed, feature, left_bitset, rows):
    """How many of the rows go left."""
    words, shift, n_left = packed[feature >> 2], np.uint32(8 * (feature & 3)), np.int64(0)
    for row in rows:
        n_left += contains(left_bitset, np.int64((words[np.uint64(row)] >> shift) & np.uint32(255)))
    return n_left
