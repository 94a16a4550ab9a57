"""The best split of a node by the training error after the best step, over all rows at once.

A vote for label k makes a row right on one side of its breakpoint. Breakpoints are sorted into
intervals, and a histogram over (bin, label, interval), cumulated over bins and intervals, gives
for every cut, left label and right label the weight that is right on every interval. Where bins
have few rows, there is no histogram, and their rows are added one by one.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.error_line_search import choose_interval
from steadyboost.boosters.dmcboost.margin_state import ColumnBins
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, include
from steadyboost.trees.splits.criteria import GINI
from steadyboost.trees.splits.search import assign_unseen_bins, number_bins, order_categories

LOSS_DIGITS = 1e6  # losses that agree in so many digits are equal
STEP_LIMIT = 500.0  # beyond which exp would leave the range
PURER = 1 + 1e-12  # a purity is larger only by more than rounding


class NodeSums(NamedTuple):
    """Sums over the rows of a node, by bin."""

    hist: np.ndarray  # weight right by (bin, label, interval); of no bins where rows are added
    mass: np.ndarray  # by (bin, class)
    losses: np.ndarray  # by bin: of each label as another one, then as the own one
    right_now: np.ndarray  # weight right without votes, by bin


class PartSums(NamedTuple):
    """Sums over the rows on one side of a cut."""

    curves: np.ndarray  # weight right by (label, interval)
    mass: np.ndarray
    losses: np.ndarray
    right_now: np.ndarray  # one number


class Parts(NamedTuple):
    """A node, and the two sides of a cut of it."""

    whole: PartSums
    left: PartSums
    right: PartSums


class Breakpoints(NamedTuple):
    """Where each row turns right or wrong by a vote: its position among the intervals."""

    y: np.ndarray
    weights: np.ndarray
    positions: np.ndarray  # (labels, n), for a vote for each label


class SearchNode(NamedTuple):
    """The rows of a node, the columns that may be split on, and where votes turn rows."""

    rows: np.ndarray
    columns: ColumnBins
    breakpoints: Breakpoints


class LeafContribution(NamedTuple):
    """What leaves with labels contribute."""

    curve: np.ndarray  # weight right on each interval
    own_loss: float  # of rows that have their own label
    other_loss: float


class IntervalEnds(NamedTuple):
    """Interval j lies between ``high[j - 1]`` and ``low[j]``."""

    low: np.ndarray
    high: np.ndarray


class CutContext(NamedTuple):
    """What a cut of a node is scored with: all other leaves, the node's label, the intervals."""

    elsewhere: LeafContribution
    label: int  # -1 for none
    ends: IntervalEnds


class BinOrder(NamedTuple):
    """The bins of a feature in the order in which they move to the left side."""

    order: np.ndarray
    n_order: int
    first: int  # the first prefix to score
    start: int  # of the feature's bins in the sums
    rows: np.ndarray  # by bin, where there is no histogram
    begins: np.ndarray


class BestCut(NamedTuple):
    """A cut of a node; its length is 0 where it is of an earlier feature."""

    weight: int
    loss: float
    purity: float
    length: int
    on_left: int
    on_right: int


class Scratch(NamedTuple):
    """Two curves, and a number for each label."""

    fixed: np.ndarray
    work: np.ndarray
    tops: np.ndarray


@kernel
def empty_part(hist):
    """The sums of no rows."""
    _, n_classes, width = hist.shape
    return PartSums(
        np.zeros((n_classes, width), dtype=hist.dtype),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(2 * n_classes),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def clear(part):
    """Leave no rows."""
    part.curves[:] = 0
    part.mass[:] = 0
    part.losses[:] = 0.0
    part.right_now[0] = 0


@kernel
def has_mass(mass):
    for c in range(len(mass)):
        if mass[c] > 0:
            return True
    return False


@kernel
def add_bin(cell, sums, part):
    """Add the rows of a bin to a part."""
    for k in range(sums.mass.shape[1]):
        if len(sums.hist):
            own, curve = sums.hist[cell, k], part.curves[k]
            for j in range(len(curve)):
                curve[j] += own[j]
        part.mass[k] += sums.mass[cell, k]
    for k in range(sums.losses.shape[1]):
        part.losses[k] += sums.losses[cell, k]
    part.right_now[0] += sums.right_now[cell]


@kernel
def add_row(row, label, breakpoints, curve):
    """Add a row to the weight that is right on each interval if it gets a vote for a label.

    A vote for its own label makes a row right from its position on, one for another until there.
    """
    at = np.int64(breakpoints.positions[np.uint64(label), row])
    if at <= len(curve):
        own = curve[at:] if label == breakpoints.y[row] else curve[:at]
        for j in range(len(own)):
            own[j] += breakpoints.weights[row]


@kernel
def add_rows(rows, breakpoints, curves):
    """Add rows to the curves of all labels, where there is no histogram of them."""
    for i in range(len(rows)):
        for k in range(len(curves)):
            add_row(np.uint64(rows[i]), k, breakpoints, curves[k])


@kernel
def sum_node(n_cells, node, sums):
    """All rows of a node, by the bins of its first feature."""
    whole = empty_part(sums.hist)
    for cell in range(n_cells):
        add_bin(cell, sums, whole)
    if not len(sums.hist):
        add_rows(node.rows, node.breakpoints, whole.curves)
    return whole


@kernel
def set_rest(parts):
    """The right side is what is not on the left."""
    whole, left, right = parts
    for k in range(len(whole.curves)):
        of_whole, of_left, curve = whole.curves[k], left.curves[k], right.curves[k]
        for j in range(len(curve)):
            curve[j] = of_whole[j] - of_left[j]
    for k in range(len(whole.mass)):
        right.mass[k] = whole.mass[k] - left.mass[k]
    for k in range(len(whole.losses)):
        right.losses[k] = whole.losses[k] - left.losses[k]
    right.right_now[0] = whole.right_now[0] - left.right_now[0]


@kernel
def sort_rows(node, column, n_cells):
    """The rows of a node by their bins in a column, and where those of each bin begin."""
    rows, (packed, places, _) = node.rows, node.columns
    words, shift = packed[places[column] >> 2], np.uint32(8 * (places[column] & 3))
    ends = np.zeros(n_cells + 1, dtype=np.int64)
    for i in range(len(rows)):
        ends[((words[rows[i]] >> shift) & np.uint32(255)) + 1] += 1
    ends = np.cumsum(ends)
    found, at = np.empty_like(rows), ends.copy()  # where the next row of each bin goes
    for i in range(len(rows)):
        cell = (words[rows[i]] >> shift) & np.uint32(255)
        found[at[cell]] = rows[i]
        at[cell] += 1
    return found, ends


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
def _best_label(part, own_loss, other_loss, ends, scratch, top, best_loss):
    """Of the labels with most weight right and a loss that is not above a given one: the best one.

    Returns (rounded loss, label), or -1 for the label if there is none.
    """
    mass, losses = part.mass, part.losses
    n_classes, best = len(mass), np.int64(-1)
    for k in range(n_classes):
        own, other = own_loss + losses[n_classes + k], other_loss + losses[k]
        if scratch.tops[k] == top and not _least_loss(own, other) > best_loss:
            _add_curves(scratch.fixed, part.curves[k], scratch.work)
            _, _, step = choose_interval(scratch.work, ends.low, ends.high, True)
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
def _score_cut(left, right, context, scratch, needed, limit):
    """The best labels of both parts: (weight right, loss, left label, right label).

    The left part is labelled while the right one keeps the node's label, if it has any. A cut with
    less than the weight that is needed has no loss, and no right label.
    """
    elsewhere, label, ends = context
    fixed, work, tops = scratch
    n_classes, width = left.curves.shape
    if label >= 0:
        _add_curves(elsewhere.curve, right.curves[label], fixed)
    else:
        for j in range(width):
            fixed[j] = elsewhere.curve[j] + right.right_now[0]
    top = _weigh_labels(fixed, left.curves, work, tops)
    on_left, n_top = np.int64(-1), 0
    for k in range(n_classes):
        if tops[k] == top:
            on_left, n_top = k if n_top == 0 else on_left, n_top + 1
    if n_top > 1:
        own, other = elsewhere.own_loss, elsewhere.other_loss
        if label >= 0:
            own, other = own + right.losses[n_classes + label], other + right.losses[label]
        _, chosen = _best_label(left, own, other, ends, scratch, top, np.inf)
        on_left = chosen if chosen >= 0 else on_left  # -1 where no loss is a number
    _add_curves(elsewhere.curve, left.curves[on_left], fixed)
    weight = _weigh_labels(fixed, right.curves, work, tops)
    if weight < needed:
        return weight, np.inf, on_left, np.int64(-1)
    own = elsewhere.own_loss + left.losses[n_classes + on_left]
    other = elsewhere.other_loss + left.losses[on_left]
    most = limit if weight == needed else np.inf
    loss, on_right = _best_label(right, own, other, ends, scratch, weight, most)
    return weight, loss, on_left, on_right


@kernel
def _allocate_scratch(hist):
    _, n_classes, width = hist.shape
    fixed, work = np.zeros(width, dtype=hist.dtype), np.empty(width, dtype=hist.dtype)
    return Scratch(fixed, work, np.empty(n_classes, dtype=np.int64))


@kernel
def _scan(bins, breakpoints, parts, scratch, sums, context, best):
    """Score all prefixes of the bins of a feature; the best cut, if it is better than ``best``."""
    order, left, right = bins.order, parts.left, parts.right
    clear(left)
    weight, loss, purity, length, on_left, on_right = best
    for k in range(bins.n_order):
        cell = bins.start + order[k]
        if not has_mass(sums.mass[cell]):
            continue
        add_bin(cell, sums, left)
        if not len(sums.hist):
            begin, end = bins.begins[order[k]], bins.begins[order[k] + 1]
            add_rows(bins.rows[begin:end], breakpoints, left.curves)
        if k < bins.first:
            continue
        set_rest(parts)
        if not has_mass(right.mass):
            break
        new, new_loss, l, r = _score_cut(left, right, context, scratch, weight, loss)
        if r < 0:
            continue
        pure = purity_of(left.mass, right.mass)
        if new > weight or new_loss < loss or pure > PURER * purity:
            weight, loss, purity = new, new_loss, pure
            length, on_left, on_right = np.int64(k + 1), l, r
    return BestCut(weight, loss, purity, length, on_left, on_right)


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
    assign_unseen_bins(own, shape, left, total, GINI, left_bitset)


@kernel
def search_features(features, layout, node, sums, elsewhere, label, ends, left_bitset):
    """The best split of a node on some features, whose bins follow one another in ``sums``.

    Returns (weight right, rounded loss, purity, feature or -1, left label, right label) and writes
    the bins that go left. Ties: the lowest feature, then the shortest prefix of bins.
    """
    offsets, n_bins, has_missing, categorical = layout
    context, mass = CutContext(elsewhere, label, ends), sums.mass
    order = np.empty(257, dtype=np.int64)  # 256 bins, and one for missing values
    none = np.int64(-1)
    best, best_feature = BestCut(none, np.inf, 0.0, np.int64(0), none, none), none
    whole = sum_node(offsets[features[0] + 1] - offsets[features[0]], node, sums)
    parts = Parts(whole, empty_part(sums.hist), empty_part(sums.hist))
    scratch = _allocate_scratch(sums.hist)
    rows, begins = node.rows[:0], np.zeros(1, dtype=np.int64)
    for f in range(len(features)):
        at = features[f]
        start, own = offsets[at] - offsets[features[0]], offsets[at + 1] - offsets[at]
        shape = (n_bins[at], has_missing[at], categorical[at])
        if not len(sums.hist):
            rows, begins = sort_rows(node, f, own)
        passes = 1
        if has_missing[at] and not categorical[at] and mass[start + own - 1].sum() > 0:
            passes = 2
        for first in range(passes):
            if categorical[at]:
                cells = mass[start : start + own].ravel()
                n_order = np.int64(order_categories(cells, own, whole.mass, GINI, order))
            else:
                n_order = np.int64(number_bins(n_bins[at], np.int64(first), order))
            bins = BinOrder(order, n_order, first, start, rows, begins)
            found = _scan(bins, node.breakpoints, parts, scratch, sums, context, best)
            if found.length > 0:
                write_set(order, found.length, start, own, shape, mass, left_bitset)
                best_feature = at
                best = BestCut(
                    found.weight,
                    found.loss,
                    found.purity,
                    np.int64(0),
                    found.on_left,
                    found.on_right,
                )
    return best.weight, best.loss, best.purity, best_feature, best.on_left, best.on_right


@kernel
def best_label(part, ends):
    """The best label of all rows together."""
    scratch = _allocate_scratch(np.expand_dims(part.curves, 0))
    top = _weigh_labels(scratch.fixed, part.curves, scratch.work, scratch.tops)
    _, label = _best_label(part, 0.0, 0.0, ends, scratch, top, np.inf)
    return max(label, np.int64(0))
