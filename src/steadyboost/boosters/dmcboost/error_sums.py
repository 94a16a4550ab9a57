"""FixedPointSums over the rows of a node that the search by training error needs.

``read``     (packed bins, columns, where the bins of each begin, and the end of the last): the
             features themselves, or columns that join several of them
``tallies``  (y, weights, right_now, other, total): of all rows; the last two are exponential
             losses, and ``right_now`` is the weight of a row that is right without a vote
"""

import numpy as np

from steadyboost.boosters.dmcboost.error_parts import add_row
from steadyboost.trees.data.bundling import add_vector_marginals
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import contains

CHUNK = 2048  # rows whose words and breakpoints fit into the cache
SHORT = 512  # rows whose losses do


@kernel
def _gather(words, rows, n, out):
    for j in range(n):
        out[j] = words[np.uint64(rows[j])]


@kernel
def _list_turns(rows, label, y, weights, positions, never, turns):
    """Those rows that a vote for a label can turn, where, and their jumps; how many there are."""
    turned, at, jumps = turns
    n = np.uint64(0)
    for j in range(len(rows)):
        row = np.uint64(rows[j])
        turned[n], at[n] = rows[j], positions[row]
        jumps[n] = weights[row] if y[row] == label else -weights[row]
        n += np.uint64(positions[row] < never)
    return np.int64(n)


@kernel
def _add_four(words, n, at, jumps, starts, width, sums):
    """Four columns at once: one load of their packed bins serves four sums."""
    wide, mask = np.uint64(width), np.uint64(255)
    base0, base1 = np.uint64(starts[0]) * wide, np.uint64(starts[1]) * wide
    base2, base3 = np.uint64(starts[2]) * wide, np.uint64(starts[3]) * wide
    for j in range(n):
        word, jump, place = np.uint64(words[j]), jumps[j], np.uint64(at[j])
        sums[base0 + (word & mask) * wide + place] += jump
        sums[base1 + ((word >> np.uint64(8)) & mask) * wide + place] += jump
        sums[base2 + ((word >> np.uint64(16)) & mask) * wide + place] += jump
        sums[base3 + (word >> np.uint64(24)) * wide + place] += jump


@kernel
def _add_one(words, shift, n, at, jumps, start, width, sums):
    wide, base = np.uint64(width), np.uint64(start) * np.uint64(width)
    for j in range(n):
        bin_ = (np.uint64(words[j]) >> np.uint64(shift)) & np.uint64(255)
        sums[base + bin_ * wide + np.uint64(at[j])] += jumps[j]


@kernel
def _add_turns(read, turns, n, width, words, sums):
    """Add jumps per (bin, interval), four columns at a time where there are as many."""
    packed, columns, starts = read
    turned, at, jumps = turns
    f = np.int64(0)
    while f < len(columns):
        group, stop = columns[f] >> 2, f
        while stop < len(columns) and columns[stop] >> 2 == group:
            stop += 1
        _gather(packed[group], turned, n, words)
        if stop - f == 4:
            _add_four(words, n, at, jumps, starts[f:], width, sums)
        else:
            for k in range(f, stop):
                _add_one(words, 8 * (columns[k] & 3), n, at, jumps, starts[k], width, sums)
        f = stop


@kernel
def _cumulate(jumps, mass, label, hist):
    """From jumps to the weight that is right on each interval."""
    width = hist.shape[2] + 1
    for cell in range(len(hist)):
        own, out = jumps[cell * width : (cell + 1) * width], hist[cell, label]
        turned = np.int64(0)
        for j in range(width):
            turned += own[j]
        right = mass[cell, label] - turned  # right before the first breakpoint
        for j in range(width - 1):  # the last column has those beyond all intervals
            right += own[j]
            out[j] = right


@kernel
def sum_turns(read, bundles, starts, labels, rows, tallies, positions, mass, hist):
    """Weight right by (bin, label, interval) of a node's rows, for some of the labels.

    ``bundles`` says which features the columns bundle; it has no members where they bundle none.
    """
    joined, width = len(bundles.members) > 0, hist.shape[2] + 1
    sums = np.empty(read[2][-1] * width, dtype=hist.dtype)
    single = np.empty(len(hist) * width if joined else 0, dtype=hist.dtype)
    words, turns = (
        np.empty(CHUNK + 1, dtype=np.uint32),
        (
            np.empty(CHUNK + 1, dtype=rows.dtype),
            np.empty(CHUNK + 1, dtype=positions.dtype),
            np.empty(CHUNK + 1, dtype=hist.dtype),
        ),
    )
    for k in labels:
        sums[:] = 0
        for begin in range(0, len(rows), CHUNK):
            some = rows[begin : begin + CHUNK]
            n = _list_turns(some, k, tallies[0], tallies[1], positions[k], width, turns)
            _add_turns(read, turns, n, width, words, sums)
        if joined:
            single[:] = 0
            add_vector_marginals(bundles, sums, starts, width, single)
        _cumulate(single if joined else sums, mass, k, hist)


@kernel
def sum_tallies(read, rows, tallies):
    """Sums per bin: losses of the own label, of others, class masses, weight right without votes.

    The labels' losses as others come first, then those as own ones, then masses: all are whole
    numbers below 2**53, or losses.
    """
    packed, columns, starts = read
    y, weights, right, other, total = tallies
    n_classes = other.shape[1]
    out = np.zeros((starts[-1], 3 * n_classes + 1))
    words = np.empty(SHORT, dtype=np.uint32)
    for begin in range(0, len(rows), SHORT):
        some = rows[begin : begin + SHORT]
        group = np.int64(-1)
        for f in range(len(columns)):
            if columns[f] >> 2 != group:
                group = columns[f] >> 2
                _gather(packed[group], some, len(some), words)
            shift, start = np.uint32(8 * (columns[f] & 3)), np.uint64(starts[f])
            for j in range(len(some)):
                row = np.uint64(some[j])
                bin_ = (words[np.uint64(j)] >> shift) & np.uint32(255)
                sums, losses = out[start + np.uint64(bin_)], other[row]
                for c in range(n_classes):
                    sums[c] += losses[c]
                label = np.uint64(n_classes) + np.uint64(y[row])
                sums[label] += total[row]
                sums[label + np.uint64(n_classes)] += weights[row]
                sums[np.uint64(3 * n_classes)] += right[row]
    return out


@kernel
def sum_sides(hist, losses, left_bitset, labels):
    """What both sides of a split add with their labels: the weight right on each interval, losses.

    ``hist`` and ``losses`` are those of the feature that is split on.
    """
    n_cells, n_classes, width = hist.shape
    curves, both = np.zeros((2, width), dtype=hist.dtype), np.zeros((2, 2))
    for bin_ in range(n_cells):
        side = 1 - contains(left_bitset, bin_)
        label, curve = labels[side], curves[side]
        own = hist[bin_, label]
        for j in range(width):
            curve[j] += own[j]
        both[side, 0] += losses[bin_, n_classes + label]
        both[side, 1] += losses[bin_, label]
    return curves, both


@kernel
def add_sides(read, rows, tallies, positions, left_bitset, labels, curves, losses):
    """As ``sum_sides``, row by row where there is no histogram: added to ``curves`` and losses."""
    packed, columns, _ = read
    y, weights, _, other, total = tallies
    words, shift = packed[columns[0] >> 2], np.uint32(8 * (columns[0] & 3))
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        side = 1 - contains(left_bitset, np.int64((words[row] >> shift) & np.uint32(255)))
        label = labels[side]
        add_row(row, label, (y, weights, positions), curves[side])
        if y[row] == label:
            losses[side, 0] += total[row]
        losses[side, 1] += other[row, label]
