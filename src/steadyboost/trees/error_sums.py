"""Sums over the rows of a node that the search by training error needs.

``events``   (bounds, rows, positions, jumps): of the node's rows, label by label; entries
             ``bounds[k]`` to ``bounds[k + 1]`` are those of label k
``tallies``  (y, weights, right_now, other, total): of all rows; the last two are exponential
             losses, and ``right_now`` is the weight of a row that is right without a vote
"""

import numpy as np

from steadyboost.trees.jit import inner, kernel

CHUNK = 4096  # rows whose words and sums stay in the cache


@kernel
def count_events(rows, positions, never):
    """How many of the rows a vote for each label can turn."""
    counts = np.zeros(len(positions), dtype=np.int64)
    for k in range(len(positions)):
        own, n = positions[k], 0
        for j in range(len(rows)):
            n += own[np.uint64(rows[j])] < never
        counts[k] = n
    return counts


@kernel
def list_events(labels, rows, y, weights, positions, never, bounds, event_rows, event_at, jumps):
    """The turning points of a node's rows, for some of the labels."""
    for k in labels:
        n, end, own = np.uint64(bounds[k]), np.uint64(bounds[k + 1]), positions[k]
        for j in range(len(rows)):
            row = np.uint64(rows[j])
            at = own[row]
            if n < end:
                event_rows[n], event_at[n] = row, at
                jumps[n] = weights[row] if y[row] == k else -weights[row]
            n += np.uint64(at < never)


@kernel
def part_of(rows, label, positions, tallies, n_intervals):
    """What rows with one label add: the weight right on each interval, and both losses."""
    y, weights, right_now, other, total = tallies
    curve = np.zeros(n_intervals + 1, dtype=np.int64)
    own_loss, other_loss, right = 0.0, 0.0, np.int64(0)
    for i in rows:
        if label < 0:
            right += right_now[i]
        elif y[i] == label:
            own_loss += total[i]
            curve[positions[label, i]] += weights[i]
        else:
            other_loss += other[i, label]
            if positions[label, i] <= n_intervals:
                curve[positions[label, i]] -= weights[i]
                right += weights[i]
    for j in range(n_intervals):
        right += curve[j]
        curve[j] = right
    return curve[:n_intervals], own_loss, other_loss


@inner
def _gather(words, rows, out):
    for j in range(len(rows)):
        out[j] = words[np.uint64(rows[j])]


@inner
def fill_turns(packed, features, starts, events, hist):
    """Sums of jumps per (label, bin, interval); ``starts``: where the features' bins begin."""
    bounds, rows, at, jumps = events
    words = np.empty(CHUNK, dtype=np.uint32)
    for k in range(len(bounds) - 1):
        own = hist[k]
        for begin in range(bounds[k], bounds[k + 1], CHUNK):
            end = min(begin + CHUNK, bounds[k + 1])
            group = np.int64(-1)
            for f in range(len(features)):
                if features[f] >> 2 != group:
                    group = features[f] >> 2
                    _gather(packed[group], rows[begin:end], words)
                shift = np.uint32(8 * (features[f] & 3))
                start = np.uint64(starts[f])
                positions, changes = at[begin:end], jumps[begin:end]
                for j in range(end - begin):
                    item = np.uint64(j)
                    cell = start + np.uint64((words[item] >> shift) & np.uint32(255))
                    own[cell, np.uint64(positions[item])] += changes[item]


@inner
def fill_tallies(packed, features, starts, rows, tallies, mass, right_now, losses):
    """Sums per bin: class masses, weight right without votes, and losses (own, then others)."""
    y, weights, right, other, total = tallies
    n_classes = mass.shape[1]
    words = np.empty(CHUNK, dtype=np.uint32)
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        group = np.int64(-1)
        for f in range(len(features)):
            if features[f] >> 2 != group:
                group = features[f] >> 2
                _gather(packed[group], some, words)
            shift = np.uint32(8 * (features[f] & 3))
            for j in range(len(some)):
                row = np.uint64(some[j])
                bin_ = (words[np.uint64(j)] >> shift) & np.uint32(255)
                cell, label = np.uint64(starts[f]) + np.uint64(bin_), np.uint64(y[row])
                mass[cell, label] += weights[row]
                right_now[cell] += right[row]
                losses[cell, label] += total[row]
                for c in range(n_classes):
                    losses[cell, np.uint64(n_classes + c)] += other[row, np.uint64(c)]


@inner
def cumulate(hist, mass):
    """From jumps to the weight that is right on each interval."""
    n_classes, n_cells, width = hist.shape
    for k in range(n_classes):
        for cell in range(n_cells):
            own = hist[k, cell]
            turned = np.int64(0)
            for j in range(width):
                turned += own[j]
            right = mass[cell, k] - turned  # right before the first breakpoint
            for j in range(width - 1):  # the last column has those beyond all intervals
                right += own[j]
                own[j] = right
