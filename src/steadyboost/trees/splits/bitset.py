"""Sets of bins as 256 bits: which bins of a column go left."""

from collections.abc import Iterable

import numpy as np

from steadyboost.trees.jit import kernel

BITSET_WORDS = 8  # of 32 bits: one bit for each bin of a column


@kernel
def include(bin_, bitset):
    bitset[bin_ >> 5] |= np.uint32(1) << np.uint32(bin_ & 31)


@kernel
def contains(bitset, bin_):
    return np.int64((bitset[bin_ >> 5] >> np.uint32(bin_ & 31)) & np.uint32(1))


def bitset_of(bins: Iterable[int]) -> np.ndarray:
    """Bins as a bit set."""
    words = np.zeros(BITSET_WORDS, dtype=np.uint32)
    for b in bins:
        words[b >> 5] |= np.uint32(1 << (b & 31))
    return words


@kernel
def unpack_bitset(bitset, table):
    """Write the bits to a table: looking up a byte of it takes fewer instructions than a shift."""
    for word in range(BITSET_WORDS):
        for b in range(32):
            table[32 * word + b] = (bitset[word] >> np.uint32(b)) & np.uint32(1)
