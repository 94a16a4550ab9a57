"""Cuts of a node, scored by the mean of the smallest margins after the best step.

``of`` is (scores, labels, scores of rivals) of all rows; ``lines`` are those of
:mod:`steadyboost.boosters.dmcboost.margin_search` for the labels that rows have now, and
``problem`` is that of ``climb``. A ``table`` of cuts is (packed bins, places in them, bins going
left, labels of both sides). The mean of the smallest margins is the largest, over steps t and
thresholds r, of ``(m r - sum of w max(r - N_i(t), 0)) / (m (c + t))``. For a pair (t, r), the
``probe``, that is a sum over rows, and a histogram of the ``shortfalls`` gives it for every cut and
every two labels: never more than what the cut is worth.
"""

import numpy as np

from steadyboost.boosters.dmcboost.error_search import purity_of, write_set
from steadyboost.boosters.dmcboost.margin_search import line_of, seek
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import contains
from steadyboost.trees.splits.categories import order_categories
from steadyboost.trees.splits.criteria import GINI
from steadyboost.trees.splits.search import number_bins

MARGIN_DIGITS = 1e9  # margins that agree in so many digits are equal
CHUNK = 1024


@kernel
def _line(scores, y, rival_scores, i, label):
    own, first, second, best = rival_scores
    level, base = line_of(
        scores[i, np.uint64(label)], own[i], first[i], second[i], label == y[i], label == best[i]
    )
    return level, base, 1.0 if label == y[i] else -1.0


@kernel
def _set_lines(of, rows, label, lines):
    scores, y, rival_scores = of
    level, base, way = lines
    for j in range(len(rows)):
        i = np.uint64(rows[j])
        level[i], base[i], way[i] = _line(scores, y, rival_scores, i, np.int64(label))


@kernel
def set_lines(of, rows, label, lines):
    """Give rows a label."""
    _set_lines(of, rows, label, lines)


@kernel
def _label_rows(table, k, rows, out):
    """The label that the k-th cut gives to each of the rows."""
    packed, places, left_bitsets, labels = table
    words, shift = packed[places[k] >> 2], np.uint32(8 * (places[k] & 3))
    named = np.empty(256, dtype=np.int64)
    for b in range(256):
        named[b] = labels[k, 0] if contains(left_bitsets[k], b) else labels[k, 1]
    for j in range(len(rows)):
        bin_ = (words[np.uint64(rows[j])] >> shift) & np.uint32(255)
        out[j] = named[np.uint64(bin_)]


@kernel
def search_cuts(of, rows, table, numbers, lines, weights, problem, floor, top, found):
    """The best step of some cuts, margin and threshold there; the leaf's rows are listed."""
    scores, y, rival_scores = of
    level, base, way = lines[0].copy(), lines[1].copy(), lines[2].copy()
    labels = np.empty(len(rows), dtype=np.int64)
    for k in numbers:
        _label_rows(table, k, rows, labels)
        for j in range(len(rows)):
            i = np.uint64(rows[j])
            level[i], base[i], way[i] = _line(scores, y, rival_scores, i, labels[j])
        best = seek((level, base, way), weights, problem, floor, top)
        found[k, 0], found[k, 1], found[k, 2] = best[0], best[3], best[2]


@kernel
def _short_of_labels(of, rows, labels, weights, step, threshold):
    """Free of branches, and four sums side by side, so that none waits for the last."""
    scores, y, (own, first, second, best) = of
    lanes = np.zeros(4)
    for j in range(len(rows)):
        i, label = np.uint64(rows[j]), labels[j]
        rest = second[i] if label == best[i] else first[i]
        other = max(rest, scores[i, np.uint64(label)] + step)
        top = first[i] - step if label == y[i] else other
        lanes[np.uint64(j & 3)] += weights[i] * max(threshold - own[i] + top, 0.0)
    return lanes.sum()


@kernel
def sum_shortfalls_of(of, rows, label, table, weights, probes, short):
    """Add up ``w max(r - N(t), 0)`` at each probe, over rows with a label.

    If there is a table of cuts, one for each probe, rows have the labels of these. Rows are read
    block by block, so that they are in the cache for all probes.
    """
    labels = np.full(CHUNK, label)
    for start in range(0, len(rows), CHUNK):
        block = rows[start : start + CHUNK]
        for k in range(len(probes)):
            if len(table[1]) > 0:
                _label_rows(table, k, block, labels)
            short[k] += _short_of_labels(of, block, labels, weights, probes[k, 0], probes[k, 1])


def shortfall_width(n_classes):
    """Channels for the shortfalls of all labels and none: whole vectors."""
    return (n_classes + 4) // 4 * 4


_shortfall_width = kernel(shortfall_width)


@kernel
def _fall_short(of, weights, rows, probe, falling, out):
    """``w max(r - N(t), 0)`` of rows that have any, for each label (and none); how many have."""
    scores, y, (own, first, second, best) = of
    n_classes, (step, threshold), n = scores.shape[1], probe, np.uint64(0)
    for j in range(len(rows)):
        i = np.uint64(rows[j])
        falling[n] = np.uint64(j)
        n += np.uint64(own[i] - first[i] - step < threshold)
    for j in range(n):
        i, short = np.uint64(rows[falling[j]]), out[j]
        margin, weight, values = own[i] - first[i], weights[i], scores[i]
        still, moved = max(threshold - margin, 0.0), threshold + step - own[i]
        for k in range(n_classes):
            value = moved + values[k]
            short[k] = weight * (value if value > still else still)
        rest = min(own[i] - second[i], margin - step)
        short[np.uint64(best[i])] = weight * max(threshold - rest, 0.0)
        short[np.uint64(y[i])] = weight * max(threshold - (margin + step), 0.0)
        short[n_classes] = weight * still
    return n


@kernel
def _add_shortfalls(words, shift, start, falling, n, shortfalls, sums):
    for j in range(n):
        bin_ = (words[falling[j]] >> shift) & np.uint32(255)
        own, added = sums[start + np.uint64(bin_)], shortfalls[j]
        for c in range(len(added)):
            own[c] += added[c]


@kernel
def sum_shortfalls(read, of, weights, whole, rows, probe):
    """Sums of shortfalls for each label (and none) per bin, and class masses, after them."""
    packed, columns, starts = read
    y, n_classes = of[1], of[0].shape[1]
    n_columns = _shortfall_width(n_classes)
    sums = np.zeros((starts[-1], n_columns + n_classes))
    shortfalls, falling = np.zeros((CHUNK, n_columns)), np.empty(CHUNK + 1, dtype=np.uint64)
    words = np.empty(CHUNK, dtype=np.uint32)
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        n = _fall_short(of, weights, some, probe, falling, shortfalls)
        group = np.int64(-1)
        for f in range(len(columns)):
            if columns[f] >> 2 != group:
                group = columns[f] >> 2
                for j in range(len(some)):
                    words[j] = packed[group, np.uint64(some[j])]
            shift, start = np.uint32(8 * (columns[f] & 3)), np.uint64(starts[f])
            for j in range(len(some)):
                row = np.uint64(some[j])
                cell = start + np.uint64((words[np.uint64(j)] >> shift) & np.uint32(255))
                sums[cell, np.uint64(n_columns) + np.uint64(y[row])] += whole[row]
            _add_shortfalls(words, shift, start, falling, n, shortfalls, sums)
    return sums


@kernel
def _write_cuts(feature, parts, masses, n_labels, cuts):
    """A cut with any two of the best labels of its sides; how many are written."""
    (left, right), (left_mass, right_mass), n = parts, masses, 0
    purity, k = purity_of(left_mass, right_mass), len(left_mass)
    on_left, on_right = np.argsort(left[:k]), np.argsort(right[:k])
    for l in on_left[:n_labels]:
        for r in on_right[:n_labels]:
            cuts[n, 0], cuts[n, 1], cuts[n, 2] = feature, l, r
            cuts[n, 3], cuts[n, 4] = left[l] + right[r], -purity
            cuts[n, 5] = -left_mass[l] - right_mass[r]
            n += 1
    return n


@kernel
def list_cuts(features, layout, sums, mass, n_labels, cuts, sets):
    """All cuts of a node, and bins going left; they come feature by feature, shortest prefix first.

    A cut is (feature, left label, right label, shortfall, impurity, other mass): the smaller, the
    better. ``sums`` and ``mass`` are those of the features' bins. Returns how many cuts there are.
    """
    offsets, n_bins, has_missing, categorical = layout
    n_classes = mass.shape[1]
    order, n = np.empty(257, dtype=np.int64), 0
    for f in features:
        start, stop = offsets[f] - offsets[features[0]], offsets[f + 1] - offsets[features[0]]
        own, cells, masses = stop - start, sums[start:stop], mass[start:stop]
        total, shape = masses.sum(axis=0), (n_bins[f], has_missing[f], categorical[f])
        passes = 1
        if has_missing[f] and not categorical[f] and masses[own - 1].sum() > 0:
            passes = 2
        for first in range(passes):
            n_order = np.int64(0)
            if categorical[f]:
                n_order = np.int64(order_categories(masses.ravel(), own, total, GINI, order))
            else:
                n_order = np.int64(number_bins(n_bins[f], np.int64(first), order))
            left, left_mass = np.zeros(sums.shape[1]), np.zeros(n_classes, dtype=np.int64)
            right, right_mass = cells.sum(axis=0), total.copy()
            for k in range(n_order):
                bin_ = order[k]
                if masses[bin_].sum() == 0:
                    continue
                left += cells[bin_]
                right -= cells[bin_]
                left_mass += masses[bin_]
                right_mass -= masses[bin_]
                if k < first or right_mass.sum() == 0:
                    continue
                parts, both = (left, right), (left_mass, right_mass)
                more = _write_cuts(f, parts, both, n_labels, cuts[n:])
                write_set(order, k + 1, 0, own, shape, masses, sets[n])
                for same in range(1, more):
                    sets[n + same] = sets[n]
                n += more
    return n
