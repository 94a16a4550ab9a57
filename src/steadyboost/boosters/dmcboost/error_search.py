"""The best split of a node by the training error after the best step, over all rows at once.

A vote for label k makes a row right on one side of its breakpoint. Breakpoints are sorted into
intervals, and a histogram over (bin, label, interval), cumulated over bins and intervals, gives
for every cut, left label and right label the weight that is right on every interval. Where bins
have few rows, there is no histogram, and their rows are added one by one.

``sums``     (weight right by bin, label and interval, of no bins where rows are added; class masses
             by bin; losses by bin, of each label as another one and as the own one; weight right
             without votes by bin)
``node``     (rows, read, turns): its rows, their bins (see
             :mod:`steadyboost.boosters.dmcboost.error_sums`) and (labels, weights, positions) of
             all rows: where a vote turns a row

``around``   (curve, own_loss, other_loss): what the rows outside the node add to the weight that
             is right, and to the two parts of the exponential loss
``ends``     (low, high) ends of the groups of breakpoints
"""

import numpy as np

from steadyboost.boosters.dmcboost.error_parts import (
    add_bin,
    add_rows,
    clear,
    empty_part,
    has_mass,
    set_rest,
    sort_rows,
    sum_node,
)
from steadyboost.boosters.dmcboost.linesearch import choose_interval
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, include
from steadyboost.trees.splits.categories import order_categories
from steadyboost.trees.splits.criteria import GINI
from steadyboost.trees.splits.search import number_bins, send_absent

LOSS_DIGITS = 1e6  # losses that agree in so many digits are equal
STEP_LIMIT = 500.0  # beyond which exp would leave the range
PURER = 1 + 1e-12


@kernel
def _loss_at(step, own_loss, other_loss):
    step = min(max(step, -STEP_LIMIT), STEP_LIMIT)
    return np.rint(LOSS_DIGITS * (np.expm1(-step) * own_loss + np.expm1(step) * other_loss))


@kernel
def _least_loss(own_loss, other_loss):
    """Below the rounded loss at any step."""
    return -LOSS_DIGITS * (np.sqrt(own_loss) - np.sqrt(other_loss)) ** 2 - 1


@kernel
def _add_curves(fixed, own, curve):
    """Their sum; the highest value of it. All are of one type: both loops are vectorised."""
    for j in range(len(curve)):
        curve[j] = fixed[j] + own[j]
    top = curve[0]
    for j in range(len(curve)):
        top = max(top, curve[j])
    return np.int64(top)


@kernel
def _weigh_labels(fixed, part, curve, tops):
    """The most weight right with each label of a part, and the most of all.

    ``fixed`` is the weight right elsewhere on each interval, ``part[k]`` that of the part if it
    has label k.
    """
    top = np.int64(0)
    for k in range(len(tops)):
        tops[k] = _add_curves(fixed, part[k], curve)
        top = tops[k] if k == 0 else max(top, tops[k])
    return top


@kernel
def _best_label(part, fixed, own_loss, other_loss, ends, curve, tops, top, best_loss):
    """Of the labels with most weight right and a loss that is not above a given one: the best one.

    Returns (rounded loss, label), or -1 for the label if there is none.
    """
    curves, mass, losses, _ = part
    n_classes, best = len(mass), np.int64(-1)
    for k in range(n_classes):
        own, other = own_loss + losses[n_classes + k], other_loss + losses[k]
        if tops[k] == top and not _least_loss(own, other) > best_loss:
            _add_curves(fixed, curves[k], curve)
            _, _, step = choose_interval(curve, ends[0], ends[1], True)
            loss = _loss_at(step, own, other)
            if loss < best_loss or (loss == best_loss and (best < 0 or mass[k] > mass[best])):
                best_loss, best = loss, np.int64(k)
    return best_loss, best


@kernel
def purity_of(left, right):
    """Decides between equal splits: the smaller weighted Gini impurity."""
    left_mass, right_mass, left_squares, right_squares = 0.0, 0.0, 0.0, 0.0
    for c in range(len(left)):
        l, r = np.float64(left[c]), np.float64(right[c])
        left_mass += l
        right_mass += r
        left_squares += l * l
        right_squares += r * r
    return left_squares / left_mass + right_squares / right_mass


@kernel
def _score_cut(left, right, around, label, ends, scratch, needed, limit):
    """The best labels of both parts: (weight right, loss, left label, right label).

    The left part is labelled while the right one keeps the node's label, if it has any. A cut with
    less than the weight that is needed has no loss, and no right label.
    """
    curve, own_loss, other_loss = around
    fixed, work, tops = scratch
    n_classes, width = left[0].shape
    if label >= 0:
        _add_curves(curve, right[0][label], fixed)
    else:
        for j in range(width):
            fixed[j] = curve[j] + right[3][0]
    top = _weigh_labels(fixed, left[0], work, tops)
    on_left, n_top = np.int64(-1), 0
    for k in range(n_classes):
        if tops[k] == top:
            on_left, n_top = k if n_top == 0 else on_left, n_top + 1
    if n_top > 1:
        own, other = own_loss, other_loss
        if label >= 0:
            own, other = own + right[2][n_classes + label], other + right[2][label]
        _, on_left = _best_label(left, fixed, own, other, ends, work, tops, top, np.inf)
    _add_curves(curve, left[0][on_left], fixed)
    weight = _weigh_labels(fixed, right[0], work, tops)
    if weight < needed:
        return weight, np.inf, on_left, np.int64(-1)
    own, other = own_loss + left[2][n_classes + on_left], other_loss + left[2][on_left]
    most = limit if weight == needed else np.inf
    loss, on_right = _best_label(right, fixed, own, other, ends, work, tops, weight, most)
    return weight, loss, on_left, on_right


@kernel
def _allocate_scratch(hist):
    """Two curves, and a number by label."""
    _, n_classes, width = hist.shape
    fixed, work = np.zeros(width, dtype=hist.dtype), np.empty(width, dtype=hist.dtype)
    return fixed, work, np.empty(n_classes, dtype=np.int64)


@kernel
def _scan(
    order, n_order, first, start, by_bin, turns, parts, scratch, sums, around, label, ends, best
):  # fmt: skip
    """Score the prefixes of ``order``, the bins of one feature in the order they move left.

    ``by_bin`` are the rows by bin, where there is no histogram; ``parts`` the whole node and
    scratch arrays for two parts. ``best`` is (weight right, loss, purity, 0, left label, right
    label); where a prefix is better, it is returned with its length in place of the 0.
    """
    hist, mass = sums[0], sums[1]
    whole, left, right = parts
    clear(left)
    weight, loss, purity, length, on_left, on_right = best
    for k in range(n_order):
        cell = start + order[k]
        if not has_mass(mass[cell]):
            continue
        add_bin(cell, sums, left)
        if not len(hist):
            rows, begins = by_bin
            add_rows(rows[begins[order[k]] : begins[order[k] + 1]], turns, left[0])
        if k < first:
            continue
        set_rest(whole, left, right)
        if not has_mass(right[1]):
            break
        new, new_loss, l, r = _score_cut(left, right, around, label, ends, scratch, weight, loss)
        if r < 0:
            continue
        pure = purity_of(left[1], right[1])
        if new > weight or new_loss < loss or pure > PURER * purity:
            weight, loss, purity = new, new_loss, pure
            length, on_left, on_right = np.int64(k + 1), l, r
    return weight, loss, purity, length, on_left, on_right


@kernel
def write_set(order, length, start, n_cells, shape, mass, left_bitset):
    """The bins that go left; those that the node has not seen follow the heavier side."""
    for word in range(BITSET_WORDS):
        left_bitset[word] = 0
    left = np.zeros(mass.shape[1], dtype=np.int64)
    total = np.zeros(mass.shape[1], dtype=np.int64)
    for k in range(length):
        include(order[k], left_bitset)
        left += mass[start + order[k]]
    for b in range(n_cells):
        total += mass[start + b]
    own = mass[start : start + n_cells].ravel()
    send_absent(own, shape, left, total, GINI, left_bitset)


@kernel
def search_features(features, layout, node, sums, around, label, ends, left_bitset):
    """The best split of a node on some features, whose bins follow one another in ``sums``.

    Returns (weight right, rounded loss, purity, feature or -1, left label, right label) and writes
    the bins that go left. Ties: the lowest feature, then the shortest prefix of bins.
    """
    offsets, n_bins, has_missing, categorical = layout
    mass = sums[1]
    order = np.empty(257, dtype=np.int64)
    none = np.int64(-1)
    best, best_feature = (none, np.inf, 0.0, np.int64(0), none, none), none
    whole = sum_node(offsets[features[0] + 1] - offsets[features[0]], node, sums)
    parts, scratch = (whole, empty_part(sums[0]), empty_part(sums[0])), _allocate_scratch(sums[0])
    by_bin = (node[0][:0], np.zeros(1, dtype=np.int64))
    for f in range(len(features)):
        at = features[f]
        start, own = offsets[at] - offsets[features[0]], offsets[at + 1] - offsets[at]
        shape = (n_bins[at], has_missing[at], categorical[at])
        if not len(sums[0]):
            by_bin = sort_rows(node, f, own)
        passes = 1
        if has_missing[at] and not categorical[at] and mass[start + own - 1].sum() > 0:
            passes = 2
        for first in range(passes):
            if categorical[at]:
                cells = mass[start : start + own].ravel()
                n_order = np.int64(order_categories(cells, own, whole[1], GINI, order))
            else:
                n_order = np.int64(number_bins(n_bins[at], np.int64(first), order))
            bins = order, n_order, first, start, by_bin
            found = _scan(*bins, node[2], parts, scratch, sums, around, label, ends, best)
            if found[3] > 0:
                write_set(order, found[3], start, own, shape, mass, left_bitset)
                best_feature = at
                best = (found[0], found[1], found[2], np.int64(0), found[4], found[5])
    weight, loss, purity, _, on_left, on_right = best
    return weight, loss, purity, best_feature, on_left, on_right


@kernel
def best_label(part, ends):
    """The best label of all rows together."""
    fixed, work, tops = _allocate_scratch(np.expand_dims(part[0], 0))
    top = _weigh_labels(fixed, part[0], work, tops)
    return _best_label(part, fixed, 0.0, 0.0, ends, work, tops, top, np.inf)[1]
