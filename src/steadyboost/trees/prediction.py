"""Walking grown trees on binned rows."""

import numpy as np

from steadyboost.trees.jit import inner, kernel
from steadyboost.trees.splitting import contains

FEW_SPLITS = 8  # whose outcomes fit one byte
CHUNK = 2048  # rows whose outcomes stay in the first-level cache


@inner
def _walk(packed, feature, children, left_set, depth, start, stop, out):
    """Leaf of each row, step by step.

    Leaves point to themselves, so every row takes ``depth`` steps without a branch, and the
    processor works on several rows at once.
    """
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
        out[row] = node


@inner
def _describe(left_set):
    """A set of bins as (end, other): the bins below ``end``, and one more, 256 if none.

    (0, 257) if it is not of that form.
    """
    end = 0
    while end < 256 and contains(left_set, end):
        end += 1
    other, n_others = 256, 0
    for b in range(end, 256):
        if contains(left_set, b):
            other = b
            n_others += 1
    return (end, other) if n_others < 2 else (0, 257)


@inner
def _mark_outcomes(words, shift, left_set, bit, outcomes):
    """Set ``bit`` in the outcome of each row that goes left."""
    end, other = _describe(left_set)
    low, extra = np.uint32(end), np.uint32(other)
    if other <= 256:  # compare: this loop becomes vector instructions
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            left = np.uint32(bin_ < low) | np.uint32(bin_ == extra)
            outcomes[j] |= left * bit
    else:
        for j in range(len(words)):
            bin_ = (words[j] >> shift) & np.uint32(255)
            outcomes[j] |= np.uint32(contains(left_set, np.int64(bin_))) * bit


@inner
def _leaf_of_outcomes(children, splits, n_splits, leaves):
    """The leaf for each combination of outcomes of the splits."""
    for outcome in range(1 << n_splits):
        node = np.int64(0)
        k = 0
        while k < n_splits:
            k = 0
            while k < n_splits and splits[k] != node:
                k += 1
            if k < n_splits:
                node = np.int64(children[node, 1 - ((outcome >> k) & 1)])
        leaves[outcome] = node


@inner
def _apply_few(packed, feature, children, left_set, splits, n_splits, out):
    """Leaf of each row from the outcomes of all splits, chunk by chunk and split by split."""
    leaves = np.empty(1 << FEW_SPLITS, dtype=np.int32)
    _leaf_of_outcomes(children, splits, n_splits, leaves)
    outcomes = np.empty(CHUNK, dtype=np.uint32)
    for start in range(0, packed.shape[1], CHUNK):
        stop = min(start + CHUNK, packed.shape[1])
        for j in range(stop - start):
            outcomes[j] = np.uint32(0)
        for k in range(n_splits):
            f = np.int64(feature[splits[k]])
            words = packed[f >> 2, start:stop]
            shift = np.uint32(8 * (f & 3))
            bit = np.uint32(1) << np.uint32(k)
            _mark_outcomes(words, shift, left_set[splits[k]], bit, outcomes)
        for j in range(stop - start):
            out[np.uint64(start + j)] = leaves[np.uint64(outcomes[j])]


@kernel
def apply(packed, feature, children, left_set, depth, out):
    """Write the leaf of each row."""
    splits = np.empty(FEW_SPLITS, dtype=np.int64)
    n_splits = 0
    for node in range(len(children)):
        if children[node, 0] != node:
            if n_splits < FEW_SPLITS:
                splits[n_splits] = node
            n_splits += 1
    if n_splits <= FEW_SPLITS:
        _apply_few(packed, feature, children, left_set, splits, n_splits, out)
    else:
        _walk(packed, feature, children, left_set, depth, 0, packed.shape[1], out)


@kernel
def take(values, places, out):
    """Write ``values[places]``."""
    for i in range(len(places)):
        out[i] = values[np.uint64(places[i])]


@kernel
def rename(names, rows, out):
    """Replace ``out[i]`` by ``names[out[i]]`` at the listed rows."""
    for i in rows:
        out[np.uint64(i)] = names[np.uint64(out[np.uint64(i)])]
