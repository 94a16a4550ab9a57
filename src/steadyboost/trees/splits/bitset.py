"""Sets of bins as 256 bits: which bins of a column go left."""

import numpy as np

from steadyboost.trees.jit import kernel

BITSET_WORDS = 8  # of 32 bits: one bit for each bin of a column


@kernel
def include(bin_, bitset):
    bitset[bin_ >> 5] |= np.uint32(1) << np.uint32(bin_ & 31)


@kernel
def contains(bitset, bin_):
    return np.int64((bitset[bin_ >> 5] >> np.uint32(bin_ & 31)) & np.uint32(1))
