"""Walking grown trees on binned rows."""

import numpy as np

from steadyboost.trees.jit import kernel


@kernel
def apply(packed, feature, children, left_set, depth, out):
    """Write the leaf of each row.

    Leaves point to themselves, so every row takes ``depth`` steps without a branch, and the
    processor works on several rows at once.
    """
    for i in range(packed.shape[1]):
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
