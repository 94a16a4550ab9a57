"""How threads that grow one tree together agree on its splits.

Each of them grows all of the tree from all rows, and looks for splits among features of its own.
``board`` is what they write for each other: the turn that each has taken (a line of the cache for
each), and two rounds of its offers: scores, features, sets of bins that go left, and their sums.
Two rounds, as a thread may make its next offers while another one still reads the last ones.
"""

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from steadyboost.trees.jit import plain
from steadyboost.trees.splitting import SET_WORDS

LINE = 8  # numbers in a line of the cache
LOOKS = 2_000_000  # at another thread's turn: some milliseconds
YIELD = 4096  # looks after which whoever else needs this processor may have it
PAIR = 2  # nodes that are split at a time


def make_board(n_shares: int, n_channels: int) -> tuple[np.ndarray, ...]:
    """A board for so many threads."""
    shape = 2, n_shares, PAIR
    return (
        np.zeros(n_shares * LINE, dtype=np.int64),
        np.empty(shape),
        np.empty(shape, dtype=np.int64),
        np.empty((*shape, SET_WORDS), dtype=np.uint32),
        np.empty((*shape, n_channels), dtype=np.int64),
    )


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def _read(_: Any, array: Any, at: Any) -> Any:
    """A number that another thread may write, and after it what that one wrote before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, args), "acquire", 8)

    return types.int64(array, at), generate


@intrinsic
def _write(_: Any, array: Any, at: Any, value: Any) -> Any:
    """The other side of ``_read``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, at, value), generate


@intrinsic
def _give_way(_: Any) -> Any:
    """Let other threads that wait for this processor run first; at once back if there are none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), generate


@plain
def offer(board, share, turn, nodes, score, split_on, left_sets, left_sums):
    """Write what is best by the own features in some nodes, from one up to another."""
    turns, scores, features, sets, sums = board
    for node in range(nodes[0], nodes[1]):
        k = node - nodes[0]
        scores[turn & 1, share, k], features[turn & 1, share, k] = score[node], split_on[node]
        for word in range(SET_WORDS):
            sets[turn & 1, share, k, word] = left_sets[node, word]
        for c in range(left_sums.shape[1]):
            sums[turn & 1, share, k, c] = left_sums[node, c]
    _write(turns, share * LINE, turn + 1)


@plain
def _all_there(turns, turn):
    looks = np.int64(0)
    for at in range(0, len(turns), LINE):
        while _read(turns, at) <= turn:
            looks += 1
            if looks > LOOKS:
                return False
            if looks % YIELD == 0:
                _give_way()
    return True


@plain
def agree(board, share, turn, nodes, score, split_on, left_sets, left_sums):
    """Take over the best offers, the first of equals; False if some are not there after a while."""
    turns, scores, features, sets, sums = board
    if not _all_there(turns, turn):
        return False
    for node in range(nodes[0], nodes[1]):
        k, best = node - nodes[0], np.int64(0)
        for other in range(1, scores.shape[1]):
            if scores[turn & 1, other, k] > scores[turn & 1, best, k]:
                best = other
        if best == share:
            continue
        score[node], split_on[node] = scores[turn & 1, best, k], features[turn & 1, best, k]
        for word in range(SET_WORDS):
            left_sets[node, word] = sets[turn & 1, best, k, word]
        for c in range(left_sums.shape[1]):
            left_sums[node, c] = sums[turn & 1, best, k, c]
    return True
