"""Rows of a split node go to its children.

``bins`` and ``tree`` are those of :mod:`steadyboost.trees.grower`; ``goes_left`` is room for what a
set of bins says of each.
"""

import numpy as np

from steadyboost.trees.jit import inlined, inner, kernel, plain
from steadyboost.trees.sparse_kernels import column_of
from steadyboost.trees.splitting import SET_WORDS, contains
from steadyboost.trees.state import FRESH

_column_of = inner(column_of)


@plain
def _unpack(left_set, goes_left):
    for word in range(SET_WORDS):
        for b in range(32):
            goes_left[32 * word + b] = (left_set[word] >> np.uint32(b)) & np.uint32(1)


@inlined
def _send_row(row, words, shift, goes_left, rows, n_left, scratch, n_right):
    """Write a row to both sides; one of the two cursors moves. This takes no branch."""
    left = goes_left[np.uint64((words[np.uint64(row)] >> shift) & np.uint32(255))]
    rows[n_left] = row
    scratch[n_right] = row
    return n_left + left, n_right + np.uint64(1) - left


@plain
def partition_with(packed, feature, left_set, first, rows, scratch, goes_left):
    """Reorder ``rows`` so that those that go left come first, both in ascending order.

    They are listed, or, if there is a ``first`` one (else -1), it is that and all after it.
    """
    _unpack(left_set, goes_left)
    words = packed[feature >> 2]
    shift = np.uint32(8 * (feature & 3))
    n_left = np.uint64(0)
    n_right = np.uint64(0)
    if first >= 0:
        for row in range(first, first + len(rows)):
            n_left, n_right = _send_row(
                row, words, shift, goes_left, rows, n_left, scratch, n_right
            )
    else:
        for k in range(len(rows)):
            n_left, n_right = _send_row(
                rows[k], words, shift, goes_left, rows, n_left, scratch, n_right
            )
    for k in range(n_right):
        rows[n_left + np.uint64(k)] = scratch[k]
    return np.int64(n_left)


@plain
def settle_with(packed, feature, left_set, rows, left_node, node_of_row, goes_left):
    """Send rows to two leaves, ``left_node`` and the next: no need to reorder them any more."""
    _unpack(left_set, goes_left)
    words = packed[feature >> 2]
    shift = np.uint32(8 * (feature & 3))
    for row in rows:
        bin_ = (words[np.uint64(row)] >> shift) & np.uint32(255)
        node_of_row[np.uint64(row)] = left_node + 1 - goes_left[np.uint64(bin_)]


def table_of_bins() -> np.ndarray:
    """Room for whether each bin goes left."""
    return np.empty(32 * SET_WORDS, dtype=np.uint64)


_new_table = inner(table_of_bins)


@kernel
def count_left(packed, feature, left_set, rows):
    """How many of the rows go left."""
    n_left = np.int64(0)
    for row in rows:
        bin_ = (packed[feature >> 2, np.uint64(row)] >> np.uint32(8 * (feature & 3))) & np.uint32(
            255
        )
        n_left += contains(left_set, np.int64(bin_))
    return n_left


@kernel
def partition(packed, feature, left_set, rows, scratch, first=-1):
    """As partition_with, with a table of its own."""
    return partition_with(packed, feature, left_set, first, rows, scratch, _new_table())


@kernel
def settle(packed, feature, left_set, rows, left_node, node_of_row):
    """As settle_with, with a table of its own."""
    settle_with(packed, feature, left_set, rows, left_node, node_of_row, _new_table())


@plain
def _send(packed, place, left_set, first, rows, scratch, left, at_limit, node_of_row, goes_left):
    """Send rows to the nodes ``left`` and the next; how many go left, if they may split again."""
    if at_limit:
        settle_with(packed, place, left_set, rows, left, node_of_row, goes_left)
        return np.int64(0)
    return partition_with(packed, place, left_set, first, rows, scratch, goes_left)


@inner
def _send_sparse(bins, feature, left_set, rows, scratch, left, at_limit, node_of_row, goes_left):
    packed, place = _column_of(bins, feature)
    return _send(packed, place, left_set, -1, rows, scratch, left, at_limit, node_of_row, goes_left)


@plain
def list_all(rows, state):
    """Write the numbers of the rows, if nobody has yet."""
    if state[FRESH]:
        for k in range(len(rows)):
            rows[k] = k
        state[FRESH] = 0


@plain
def send_rows(bins, node, left, rows, scratch, at_limit, tree, span, node_of_row, goes_left, state):
    """Send a split node's rows to its children; whether the left child has at most half."""
    feature, left_set = tree[0][node], tree[2][node]
    start, stop = span[node, 0], span[node, 1]
    if at_limit:
        list_all(rows, state)
    own, first = rows[start:stop], np.int64(0 if state[FRESH] else -1)
    state[FRESH] = 0
    if len(bins) == 5:  # known when this is compiled
        n_left = _send_sparse(
            bins, feature, left_set, own, scratch, left, at_limit, node_of_row, goes_left
        )
    else:
        n_left = _send(
            bins[0], feature, left_set, first, own, scratch, left, at_limit, node_of_row, goes_left
        )
    if at_limit:
        start, stop = np.int64(0), np.int64(0)
    span[left, 0], span[left, 1] = start, start + n_left
    span[left + 1, 0], span[left + 1, 1] = start + n_left, stop
    return 2 * n_left <= len(own)
