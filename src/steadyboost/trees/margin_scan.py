"""Cuts of a node, judged by the mean of the smallest margins after the best step.

``lines`` are those of :mod:`steadyboost.trees.margin_search` for the labels that rows have now,
and ``problem`` is (weights, mass of the bottom, scale, width at which a bisection ends).

Cuts are put in order by a bound. The mean of the smallest margins is the largest, over steps t and
thresholds r, of ``(m r - sum of w max(r - N_i(t), 0)) / (m (c + t))``; for some pairs (t, r), the
``probes``, that is a sum over rows, and a histogram of the ``shortfalls`` gives it for every cut,
left label and right label.
"""

import numpy as np

from steadyboost.trees.categories import order_categories
from steadyboost.trees.criteria import GINI
from steadyboost.trees.error_search import purity_of, write_set
from steadyboost.trees.jit import inlined, inner, kernel
from steadyboost.trees.margin_search import climb, line_of, numerator
from steadyboost.trees.splitting import number_bins

MARGIN_DIGITS = 1e9  # margins that agree in so many digits are equal

_climb = climb.bare


@inlined
def _line(scores, y, standing, i, label):
    own, first, second, best = standing
    level, base = line_of(
        scores[i, label], own[i], first[i], second[i], label == y[i], label == best[i]
    )
    return level, base, 1.0 if label == y[i] else -1.0


@inner
def _set_lines(scores, y, standing, rows, label, lines):
    for i in rows:
        lines[0][i], lines[1][i], lines[2][i] = _line(scores, y, standing, i, label)


@kernel
def set_lines(scores, y, standing, rows, label, lines):
    """Give rows a label."""
    _set_lines(scores, y, standing, rows, label, lines)


@kernel
def best_label(scores, y, standing, rows, mass, lines, problem):
    """The label of some rows with the largest margin, then of the heaviest class; it is set."""
    weights, bottom, scale, width = problem
    best_margin, best = -np.inf, np.int64(-1)
    for k in range(scores.shape[1]):
        _set_lines(scores, y, standing, rows, k, lines)
        margin = np.rint(MARGIN_DIGITS * _climb(lines, weights, bottom, scale, scale, width)[2])
        if margin > best_margin or (margin == best_margin and mass[k] > mass[best]):
            best_margin, best = margin, np.int64(k)
    _set_lines(scores, y, standing, rows, best, lines)
    return best_margin, best


@kernel
def find_shortfalls(scores, y, standing, weights, rows, probes, out):
    """``w max(r - N(t), 0)`` of each row, for each label (and none) and each probe (t, r)."""
    own, first = standing[0], standing[1]
    n_classes = scores.shape[1]
    for j in range(len(rows)):
        i = rows[j]
        for k in range(n_classes + 1):
            level, base, way = own[i] - first[i], np.inf, -1.0
            if k < n_classes:
                level, base, way = _line(scores, y, standing, i, k)
            for p in range(len(probes)):
                short = probes[p, 1] - numerator(level, base, way, probes[p, 0])
                out[j, k * len(probes) + p] = weights[i] * max(short, 0.0)


@inner
def _fill(packed, feature, rows, y, whole, shortfalls, sums, mass):
    """Sums of the shortfalls and class masses, bin by bin."""
    words = packed[feature >> 2]
    shift = np.uint32(8 * (feature & 3))
    for j in range(len(rows)):
        row = np.uint64(rows[j])
        cell = np.uint64((words[row] >> shift) & np.uint32(255))
        mass[cell, np.uint64(y[row])] += whole[row]
        for c in range(shortfalls.shape[1]):
            sums[cell, np.uint64(c)] += shortfalls[np.uint64(j), np.uint64(c)]


@inner
def _bound(fixed, part, label, floors, factors):
    """The best bound over all probes if a part has this label."""
    best = -np.inf
    n_probes = len(fixed)
    for p in range(n_probes):
        best = max(best, (floors[p] - fixed[p] - part[label * n_probes + p]) * factors[p])
    return best


@inner
def _label_by_bound(fixed, part, n_classes, floors, factors):
    best, bound = np.int64(0), -np.inf
    for k in range(n_classes):
        own = _bound(fixed, part, k, floors, factors)
        if own > bound:
            best, bound = np.int64(k), own
    return best, bound


@inner
def _judge(left, right, around, label, n_classes, floors, factors):
    """Labels of both parts, and the bound: left first, while the right part keeps its label."""
    n_probes = len(around)
    kept = n_classes if label < 0 else label
    fixed = np.empty(n_probes)
    for p in range(n_probes):
        fixed[p] = around[p] + right[kept * n_probes + p]
    on_left, _ = _label_by_bound(fixed, left, n_classes, floors, factors)
    for p in range(n_probes):
        fixed[p] = around[p] + left[on_left * n_probes + p]
    on_right, bound = _label_by_bound(fixed, right, n_classes, floors, factors)
    return on_left, on_right, bound


@kernel
def list_cuts(packed, features, layout, rows, y, whole, shortfalls, outside, label, floors,
              factors, cuts, sets):  # fmt: skip
    """All cuts of a node: (feature, left label, right label, bound, purity), and bins going left.

    They come feature by feature, shortest prefix first. Returns how many there are.
    """
    _, n_bins, has_missing, categorical = layout
    n_classes = shortfalls.shape[1] // len(floors) - 1
    order, n = np.empty(257, dtype=np.int64), 0
    for f in features:
        own = np.int64(n_bins[f] + has_missing[f])
        sums, mass = np.zeros((own, shortfalls.shape[1])), np.zeros((own, n_classes), np.int64)
        _fill(packed, f, rows, y, whole, shortfalls, sums, mass)
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
            for k in range(n_order):
                at = order[k]
                if mass[at].sum() == 0:
                    continue
                left += sums[at]
                right -= sums[at]
                left_mass += mass[at]
                right_mass -= mass[at]
                if k < first or right_mass.sum() == 0:
                    continue
                cuts[n, 0], cuts[n, 4] = f, purity_of(left_mass, right_mass)
                cuts[n, 1], cuts[n, 2], cuts[n, 3] = _judge(
                    left, right, outside, label, n_classes, floors, factors
                )
                write_set(order, k + 1, 0, own, shape, mass, sets[n])
                n += 1
    return n
