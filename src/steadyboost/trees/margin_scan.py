"""Cuts of a node, judged by the mean of the smallest margins after the best step.

``of`` is (scores, labels, standing) of all rows; ``lines`` are those of
:mod:`steadyboost.trees.margin_search` for the labels that rows have now, and ``problem`` is
(weights, mass of the bottom, scale, reach, width): see ``climb``.

Cuts are put in order by a bound. The mean of the smallest margins is the largest, over steps t and
thresholds r, of ``(m r - sum of w max(r - N_i(t), 0)) / (m (c + t))``. For a pair (t, r), the
``probe``, that is a sum over rows, and a histogram of the ``shortfalls`` gives the best labels of
every cut.
"""

import numpy as np

from steadyboost.trees.categories import order_categories
from steadyboost.trees.criteria import GINI
from steadyboost.trees.error_search import purity_of, write_set
from steadyboost.trees.jit import inlined, inner, kernel
from steadyboost.trees.margin_search import FIRST_PROBE, climb, line_of, look, numerator
from steadyboost.trees.splitting import number_bins

MARGIN_DIGITS = 1e9  # margins that agree in so many digits are equal
CHUNK = 1024

_climb, _look = climb.bare, look.bare


@inlined
def _line(scores, y, standing, i, label):
    own, first, second, best = standing
    level, base = line_of(
        scores[i, label], own[i], first[i], second[i], label == y[i], label == best[i]
    )
    return level, base, 1.0 if label == y[i] else -1.0


@inner
def _set_lines(of, rows, label, lines):
    scores, y, standing = of
    level, base, way = lines
    for j in range(len(rows)):
        i = np.uint64(rows[j])
        level[i], base[i], way[i] = _line(scores, y, standing, i, np.uint64(label))


@kernel
def set_lines(of, rows, label, lines):
    """Give rows a label."""
    _set_lines(of, rows, label, lines)


@kernel
def best_label(of, rows, mass, lines, problem):
    """The label of some rows with the largest margin, then of the heaviest class; it is set."""
    weights, bottom, scale, reach, width = problem
    best_margin, best = -np.inf, np.int64(-1)
    for k in range(of[0].shape[1]):
        _set_lines(of, rows, k, lines)
        known = _look(lines, weights, bottom, scale, reach / FIRST_PROBE)
        found = _climb(lines, weights, bottom, scale, reach, width, known)
        margin = np.rint(MARGIN_DIGITS * found[2])
        if margin > best_margin or (margin == best_margin and mass[k] > mass[best]):
            best_margin, best = margin, np.int64(k)
    _set_lines(of, rows, best, lines)
    return best_margin, best


@inner
def _fall_short(of, weights, rows, probe, out):
    """``w max(r - N(t), 0)`` of each row, for each label (and none)."""
    scores, y, (own, first, second, best) = of
    n_classes, (step, threshold) = scores.shape[1], probe
    for j in range(len(rows)):
        i, short = np.uint64(rows[j]), out[j]
        gap, rest, weight = own[i] - first[i], own[i] - second[i], weights[i]
        top = own[i] - step
        for k in range(n_classes):
            value = min(gap, top - scores[i, np.uint64(k)])
            short[k] = weight * max(threshold - value, 0.0)
        short[np.uint64(best[i])] = weight * max(threshold - min(rest, gap - step), 0.0)
        short[np.uint64(y[i])] = weight * max(threshold - (gap + step), 0.0)
        short[n_classes] = weight * max(threshold - gap, 0.0)


@kernel
def shortfall(lines, weights, probe):
    """The sum of ``w max(r - N(t), 0)`` at a probe, with the labels that rows have."""
    level, base, way = lines
    step, threshold = probe
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * max(threshold - numerator(level[i], base[i], way[i], step), 0.0)
    return total


@inner
def _fill(packed, features, starts, of, weights, whole, rows, probe, sums, mass):
    """Sums of the shortfalls and class masses, bin by bin; some rows at a time."""
    y = of[1]
    shortfalls = np.zeros((CHUNK, sums.shape[1]))
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        _fall_short(of, weights, some, probe, shortfalls)
        for f in range(len(features)):
            words = packed[features[f] >> 2]
            shift = np.uint32(8 * (features[f] & 3))
            for j in range(len(some)):
                row = np.uint64(some[j])
                bin_ = np.uint64((words[row] >> shift) & np.uint32(255))
                cell = np.uint64(starts[f]) + bin_
                mass[cell, np.uint64(y[row])] += whole[row]
                own, added = sums[cell], shortfalls[np.uint64(j)]
                for c in range(len(own)):
                    own[c] += added[c]


@inner
def _least(part, n_classes):
    """The label that leaves a part the least shortfall."""
    best = np.int64(0)
    for k in range(1, n_classes):
        if part[k] < part[best]:
            best = np.int64(k)
    return best


@kernel
def list_cuts(packed, features, layout, judged, cuts, sets):
    """All cuts of a node: (feature, left label, right label, bound, purity), and bins going left.

    They come feature by feature, shortest prefix first. ``judged`` is (of, weights, integer
    weights, rows and label of the node, probe, and of the bound: what it has without shortfalls,
    a factor, the shortfall of all rows as they are labelled now). Returns how many cuts there are.
    """
    of, weights, whole, rows, label, probe, (floor, factor, all_short) = judged
    _, n_bins, has_missing, categorical = layout
    n_classes = of[0].shape[1]
    starts = np.zeros(len(features) + 1, dtype=np.int64)
    for f in range(len(features)):
        starts[f + 1] = starts[f] + n_bins[features[f]] + has_missing[features[f]]
    all_sums = np.zeros((starts[-1], (n_classes + 4) // 4 * 4))  # whole vectors
    all_mass = np.zeros((starts[-1], n_classes), np.int64)
    _fill(packed, features, starts, of, weights, whole, rows, probe, all_sums, all_mass)
    order, n = np.empty(257, dtype=np.int64), 0
    for at in range(len(features)):
        f, start, stop = features[at], starts[at], starts[at + 1]
        own, sums, mass = stop - start, all_sums[start:stop], all_mass[start:stop]
        total, shape = mass.sum(axis=0), (n_bins[f], has_missing[f], categorical[f])
        passes = 1
        if has_missing[f] and not categorical[f] and mass[own - 1].sum() > 0:
            passes = 2
        for first in range(passes):
            n_order = np.int64(0)
            if categorical[f]:
                n_order = np.int64(order_categories(mass.ravel(), own, total, GINI, order))
            else:
                n_order = np.int64(number_bins(n_bins[f], np.int64(first), order))
            left, left_mass = np.zeros(sums.shape[1]), np.zeros(n_classes, dtype=np.int64)
            right, right_mass = sums.sum(axis=0), total.copy()
            outside = all_short - right[n_classes if label < 0 else label]
            for k in range(n_order):
                bin_ = order[k]
                if mass[bin_].sum() == 0:
                    continue
                left += sums[bin_]
                right -= sums[bin_]
                left_mass += mass[bin_]
                right_mass -= mass[bin_]
                if k < first or right_mass.sum() == 0:
                    continue
                on_left, on_right = _least(left, n_classes), _least(right, n_classes)
                short = outside + left[on_left] + right[on_right]
                cuts[n, 0], cuts[n, 1], cuts[n, 2] = f, on_left, on_right
                cuts[n, 3] = (floor - short) * factor
                cuts[n, 4] = purity_of(left_mass, right_mass)
                write_set(order, k + 1, 0, own, shape, mass, sets[n])
                n += 1
    return n
