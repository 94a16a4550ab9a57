"""Parts of a node in the search by training error: the curves and sums of the rows on one side.

Tuples of arrays (curves, mass, losses, right_now): the weight right by label and interval, class
masses, losses of each label as another one and as the own one, and the weight right without votes;
``sums`` and ``node`` are those of :mod:`steadyboost.boosters.dmcboost.error_search`.
"""

import numpy as np

from steadyboost.trees.jit import kernel


@kernel
def empty_part(hist):
    """Curves, class masses, losses and the weight right without votes, of no rows."""
    _, n_classes, width = hist.shape
    return (
        np.zeros((n_classes, width), dtype=hist.dtype),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(2 * n_classes),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def clear(part):
    """Leave no rows."""
    part[0][:] = 0
    part[1][:] = 0
    part[2][:] = 0.0
    part[3][0] = 0


@kernel
def has_mass(mass):
    for c in range(len(mass)):
        if mass[c] > 0:
            return True
    return False


@kernel
def add_bin(cell, sums, part):
    """Add the rows of a bin to a part."""
    hist, mass, losses, right_now = sums
    for k in range(mass.shape[1]):
        if len(hist):
            own, curve = hist[cell, k], part[0][k]
            for j in range(len(curve)):
                curve[j] += own[j]
        part[1][k] += mass[cell, k]
    for k in range(losses.shape[1]):
        part[2][k] += losses[cell, k]
    part[3][0] += right_now[cell]


@kernel
def add_row(row, label, turns, curve):
    """Add a row to the weight that is right on each interval if it gets a vote for a label.

    A vote for its own label makes a row right from its position on, one for another until there.
    """
    y, weights, positions = turns
    at = np.int64(positions[np.uint64(label), row])
    if at <= len(curve):
        own = curve[at:] if label == y[row] else curve[:at]
        for j in range(len(own)):
            own[j] += weights[row]


@kernel
def add_rows(rows, turns, curves):
    """Add rows to the curves of all labels, where a histogram has them not."""
    for i in range(len(rows)):
        for k in range(len(curves)):
            add_row(np.uint64(rows[i]), k, turns, curves[k])


@kernel
def sum_node(n_cells, node, sums):
    """All rows of a node, by the bins of its first feature."""
    whole = empty_part(sums[0])
    for cell in range(n_cells):
        add_bin(cell, sums, whole)
    if not len(sums[0]):
        add_rows(node[0], node[2], whole[0])
    return whole


@kernel
def set_rest(whole, left, right):
    """What is not in the left part."""
    for k in range(len(whole[0])):
        of_whole, of_left, curve = whole[0][k], left[0][k], right[0][k]
        for j in range(len(curve)):
            curve[j] = of_whole[j] - of_left[j]
    for k in range(len(whole[1])):
        right[1][k] = whole[1][k] - left[1][k]
    for k in range(len(whole[2])):
        right[2][k] = whole[2][k] - left[2][k]
    right[3][0] = whole[3][0] - left[3][0]


@kernel
def sort_rows(node, column, n_cells):
    """The rows of a node by their bins in a column, and where those of each bin begin."""
    rows, (packed, columns, _), _ = node
    words, shift = packed[columns[column] >> 2], np.uint32(8 * (columns[column] & 3))
    ends = np.zeros(n_cells + 1, dtype=np.int64)
    for i in range(len(rows)):
        ends[((words[rows[i]] >> shift) & np.uint32(255)) + 1] += 1
    ends = np.cumsum(ends)
    found, at = np.empty_like(rows), ends.copy()
    for i in range(len(rows)):
        cell = (words[rows[i]] >> shift) & np.uint32(255)
        found[at[cell]] = rows[i]
        at[cell] += 1
    return found, ends
