"""The best split of a node, from its histogram.

Bins are moved to the left side in the order of their numbers, or, for categories, in the order of
:func:`order_categories`; the best prefix wins.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains, include
from steadyboost.trees.splits.criteria import (
    EDGE,
    ERROR,
    GINI,
    MAX_EDGE,
    NEWTON,
    TIE_SHARE,
    mass_of,
    score_of,
    signal_share,
)


@kernel
def _share_deviations(hist, n_bins, total, criterion, order, mass, deviation):
    """Bins with mass, and by how much their channel means deviate from the node's."""
    n_channels, n_used = len(total), deviation.shape[1]
    total_mass = np.float64(max(mass_of(total, criterion), 1))
    n = 0
    for b in range(n_bins):
        sums = hist[b * n_channels : (b + 1) * n_channels]
        m = np.float64(mass_of(sums, criterion))
        if m > 0:
            order[n], mass[n] = b, m
            for c in range(n_used):
                deviation[n, c] = sums[c] / m - total[c] / total_mass
            n += 1
    return n


@kernel
def _dot(a, b):
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@kernel
def _main_direction(mass, deviation, n):
    """First principal component by power iteration, from the bin that deviates most."""
    n_used = deviation.shape[1]
    start, largest = 0, -1.0
    for k in range(n):
        size = mass[k] * _dot(deviation[k], deviation[k])
        if size > largest:
            start, largest = k, size
    direction = deviation[start].copy()
    # Ten iterations: the order only needs the direction roughly. With two classes all bins lie on
    # one line, which is the direction.
    for _ in range(10 if n_used > 2 else 0):
        step = np.empty(n_used)
        step[:] = 0.0
        for k in range(n):
            along = mass[k] * _dot(deviation[k], direction)
            for c in range(n_used):
                step[c] += along * deviation[k, c]
        norm = np.sqrt(_dot(step, step))
        if norm > 0:
            for c in range(n_used):
                direction[c] = step[c] / norm
    return direction


@kernel
def order_categories(hist, n_bins, total, criterion, order):
    """Write the bins with mass, along the first principal component of their channel means.

    For two classes this is Breiman's order by the share of one class, in which the best of all
    2^(n-1) subsets is a prefix; for more it is the heuristic of Coppersmith, Hong & Hosking (1999).
    """
    n, _ = _order_and_signal(hist, n_bins, total, criterion, 0.0, order)
    return n


@kernel
def _order_and_signal(hist, n_bins, total, criterion, noise, order):
    """As ``order_categories``; how many bins, and the share of their differences that is signal."""
    n_channels = len(total)
    n_used = n_channels if criterion < EDGE else (1 if criterion == NEWTON else n_channels - 1)
    mass = np.empty(n_bins)
    deviation = np.empty((n_bins, n_used))
    n = _share_deviations(hist, n_bins, total, criterion, order, mass, deviation)
    if n == 0:
        return 0, 1.0
    between = 0.0
    for k in range(n):
        between += mass[k] * _dot(deviation[k], deviation[k])
    signal = signal_share(between, n, noise)
    direction = _main_direction(mass, deviation, n)
    for k in range(n):  # stable insertion sort: there are at most 256 bins
        key, item = _dot(deviation[k], direction), order[k]
        j = k - 1
        while j >= 0 and mass[j] > key:
            mass[j + 1], order[j + 1] = mass[j], order[j]
            j -= 1
        mass[j + 1], order[j + 1] = key, item
    return n, signal


MAX_BINS = 256  # of a column, including the one of missing values: a bin fits a byte


class SplitScratch(NamedTuple):
    """Scratch of a search: an order of bins, and the sums of two sides."""

    order: np.ndarray
    sides: np.ndarray

    @classmethod
    def allocate(cls, n_channels: int) -> "SplitScratch":
        order = np.empty(MAX_BINS + 1, dtype=np.int64)
        return cls(order, np.empty((2, n_channels), dtype=np.int64))


@kernel
def _score_sides(left, right, total, split):
    """Masses of both sides and the sum of their scores, for any criterion."""
    criterion = split.criterion
    for c in range(len(total)):
        right[c] = total[c] - left[c]
    left_mass = mass_of(left, criterion)
    right_mass = mass_of(right, criterion)
    if ERROR <= criterion <= MAX_EDGE:  # sums of integers, so that equal splits tie exactly
        on_left, on_right, edges = left[0], right[0], np.int64(0)
        for c in range(len(total) - (criterion != ERROR)):
            on_left = left[c] if left[c] > on_left else on_left
            on_right = right[c] if right[c] > on_right else on_right
            edges += abs(left[c]) + abs(right[c])
        score = np.float64(edges if criterion == EDGE else on_left + on_right)
        if criterion == MAX_EDGE:
            score += TIE_SHARE * edges
        return left_mass, right_mass, score
    score = score_of(left, left_mass, split) + score_of(right, right_mass, split)
    return left_mass, right_mass, score


@kernel
def _square_over(value, mass):
    return np.float64(value) * np.float64(value) / mass if mass > 0 else 0.0


@kernel
def _score_newton(left, total, l2):
    """As ``_score_sides`` for NEWTON."""
    left_mass, right_mass = left[1], total[1] - left[1]
    score = _square_over(left[0], left_mass + l2)
    return left_mass, right_mass, score + _square_over(total[0] - left[0], right_mass + l2)


@kernel
def any_in_bin(hist, bin_, n_channels):
    for c in range(n_channels):
        if hist[bin_ * n_channels + c] != 0:
            return True
    return False


@kernel
def _write_prefix(order, length, left_bitset):
    """Write the first bins of the order as a bit set."""
    for word in range(BITSET_WORDS):
        left_bitset[word] = 0
    for k in range(length):
        include(order[k], left_bitset)


@kernel
def number_bins(n_bins, missing_first, order):
    """Write the bins in their order, the missing one before them if it goes left."""
    order[0] = n_bins
    for b in range(n_bins):
        order[b + missing_first] = b
    return n_bins + missing_first


@kernel
def has_categories(categorical, feature):
    """Whether a feature is categorical; None stands for no such feature in the table."""
    return categorical[feature] if categorical is not None else False


@kernel
def _order_bins(cells, shape, categorical, feature, missing_first, total, split, order):
    """Write the bins in the order in which they are tried; how many, and their signal."""
    n_bins, has_missing = shape
    if categorical is None:
        return number_bins(n_bins, missing_first, order), 1.0
    if categorical[feature]:
        noise = split.category_noise
        return _order_and_signal(cells, n_bins + has_missing, total, split.criterion, noise, order)
    return number_bins(n_bins, missing_first, order), 1.0


@kernel
def _scan_two_classes(hist, base, n_bins, missing_first, total, min_mass, best_score):
    """As a pass of _search for GINI and two channels: the best score, and how many bins go left.

    It is 0 if no split beats ``best_score``. Sums stay in registers, which takes a third of the
    time.
    """
    zero, one, length = np.int64(0), np.int64(0), np.int64(0)
    if missing_first:
        zero, one = hist[2 * (base + n_bins)], hist[2 * (base + n_bins) + 1]
        if zero | one == 0:  # no missing values in this node: as pass 0
            return best_score, length
    for b in range(n_bins):
        at = np.uint64(2 * (base + b))
        own_zero, own_one = hist[at], hist[at + np.uint64(1)]
        if own_zero | own_one == 0:
            continue
        zero += own_zero
        one += own_one
        other_zero, other_one = total[0] - zero, total[1] - one
        if zero + one < min_mass:
            continue
        if other_zero + other_one < min_mass:
            break
        score = np.float64(zero) * np.float64(zero) + np.float64(one) * np.float64(one)
        score /= np.float64(zero + one)
        squares = np.float64(other_zero) * np.float64(other_zero)
        squares += np.float64(other_one) * np.float64(other_one)
        score += squares / np.float64(other_zero + other_one)
        if score > best_score:
            best_score, length = score, np.int64(b + 1 + missing_first)
    return best_score, length


@kernel
def _scan_newton(cells, order, n_order, first, total, split, best_score):
    """As a pass of _search for NEWTON and no counts, or counts in the lowest bits of the masses.

    The best score, and how many bins of the order go left: 0 if no split beats ``best_score``.
    """
    slope, mass, length = np.int64(0), np.int64(0), np.int64(0)
    l2, min_mass, min_count, mask = split.l2, split.min_mass, split.min_count, split.count_mask
    for k in range(n_order):
        at = np.uint64(2 * order[k])
        own, own_mass = cells[at], cells[at + np.uint64(1)]
        if own | own_mass == 0:
            if k < first:  # no missing values in this node: as pass 0
                break
            continue
        slope += own
        mass += own_mass
        if k < first or mass < min_mass or (mass & mask) < min_count:
            continue
        rest = total[1] - mass
        if rest < min_mass or (rest & mask) < min_count:
            break
        score = _square_over(slope, mass + l2) + _square_over(total[0] - slope, rest + l2)
        if score > best_score:
            best_score, length = score, np.int64(k + 1)
    return best_score, length


@kernel
def _count_rows(counts, offsets, feature):
    """Rows in the node: any one feature's counts add up to it."""
    total = np.int64(0)
    if len(counts) > 0:
        for cell in range(offsets[feature], offsets[feature + 1]):
            total += counts[cell]
    return total


@kernel
def _search(hist, features, layout, total, split, scratch, left_bitset):
    """Best split over ``features``: (score of both sides, feature or -1), with its left bins.

    Bins move left in their order (that of :func:`order_categories` where they are categories),
    and the best prefix wins. In pass 0 missing values stay right; in pass 1, which is left out if
    there are none, they go left first. Gains of categories count by the share of their differences
    that is no chance. The masses and sums of squares are those of the class criteria, and GINI
    needs nothing more; NEWTON is written out because boosters ask for it most.

    One long function: where features have few bins, calls would take most of the time.
    """
    offsets, n_bins, has_missing, categorical = layout
    criterion, min_mass, min_count = split.criterion, split.min_mass, split.min_count
    n_channels, tail = len(total), offsets[-1] * len(total)
    total_count = _count_rows(hist[tail:], offsets, features[0])
    order, left, right = scratch.order, scratch.sides[0], scratch.sides[1]
    best_score, best_feature = -np.inf, np.int64(-1)
    own = score_of(total, mass_of(total, criterion), split) if split.category_noise > 0.0 else 0.0
    # The most frequent cases have loops of their own: two classes, and Newton sums, of which no
    # counts are kept apart.
    two = criterion == GINI and n_channels == 2 and len(hist) == tail
    newton = criterion == NEWTON and len(hist) == tail
    for f in features:
        base, length, missing_first = offsets[f], np.int64(0), np.int64(0)
        is_categorical, shape = has_categories(categorical, f), (n_bins[f], has_missing[f])
        for first in range(1 + (has_missing[f] and not is_categorical)):
            if two and not is_categorical:
                best_score, n_moved = _scan_two_classes(
                    hist, base, n_bins[f], np.int64(first), total, min_mass, best_score
                )
                if n_moved > 0:
                    length, missing_first = n_moved, np.int64(first)
                continue
            cells = hist[base * n_channels :]
            n_order, signal = _order_bins(
                cells, shape, categorical, f, np.int64(first), total, split, order
            )
            if signal == 0.0:
                continue
            # Gains count by their signal: so much more must be gained to be the best.
            to_beat = best_score if signal == 1.0 else own + (best_score - own) / signal
            found = to_beat
            if newton:
                found, n_moved = _scan_newton(
                    cells, order, n_order, np.int64(first), total, split, to_beat
                )
                if n_moved > 0:
                    length, missing_first = n_moved, np.int64(first)
                    best_score = found if signal == 1.0 else own + (found - own) * signal
                continue
            left_count = np.int64(0)
            for c in range(n_channels):
                left[c] = 0
            for k in range(n_order):
                left_mass, right_mass, moved = np.int64(0), np.int64(0), np.int64(0)
                left_squares, right_squares = 0.0, 0.0
                # Indices are unsigned because numba then leaves out the test for negative ones.
                cell = np.uint64((base + order[k]) * n_channels)
                for c in range(n_channels):
                    own = hist[cell + np.uint64(c)]
                    l = left[c] + own
                    left[c] = l
                    r = total[c] - l
                    moved |= own
                    left_mass += l
                    right_mass += r
                    left_squares += np.float64(l) * np.float64(l)
                    right_squares += np.float64(r) * np.float64(r)
                if moved == 0:
                    if k < first:  # no missing values in this node: as pass 0
                        break
                    continue  # an empty bin: as the split before it
                if criterion == GINI:
                    score = left_squares / np.float64(left_mass)
                    score += right_squares / np.float64(right_mass)
                elif criterion == NEWTON:
                    left_mass, right_mass, score = _score_newton(left, total, split.l2)
                else:
                    left_mass, right_mass, score = _score_sides(left, right, total, split)
                if len(hist) > tail:
                    left_count += hist[tail + base + order[k]]
                if k < first or left_mass < min_mass or left_count < min_count:
                    continue
                if right_mass < min_mass or total_count - left_count < min_count:
                    break  # the right side only becomes smaller
                if score > found:
                    found, length, missing_first = score, np.int64(k + 1), np.int64(first)
            if found > to_beat:
                best_score = found if signal == 1.0 else own + (found - own) * signal
        if length > 0:  # better than all features before, so that ties go to the first
            best_feature = f
            if not is_categorical:
                number_bins(n_bins[f], missing_first, order)
            _write_prefix(order, length, left_bitset)
    return best_score, best_feature


@kernel
def assign_unseen_bins(cells, shape, left_sums, total, criterion, left_bitset):
    """Send bins that do not occur in the node (missing values, categories) to the heavier side."""
    n_bins, has_missing, categorical = shape
    left_mass = mass_of(left_sums, criterion)
    if left_mass <= mass_of(total, criterion) - left_mass:
        return
    for b in range(0 if categorical else n_bins, n_bins + 1):
        if b >= n_bins + has_missing or not any_in_bin(cells, b, len(total)):
            include(b, left_bitset)


@kernel
def _sum_left(hist, feature, layout, total, criterion, left_bitset, left_sums):
    """Write the channel sums of the bins that go left, and assign the bins that do not occur."""
    offsets, n_bins, has_missing, categorical = layout
    n_channels = len(total)
    cells = hist[offsets[feature] * n_channels : offsets[feature + 1] * n_channels]
    for c in range(n_channels):
        left_sums[c] = 0
        for b in range(offsets[feature + 1] - offsets[feature]):
            left_sums[c] += cells[b * n_channels + c] * contains(left_bitset, b)
    shape = (n_bins[feature], has_missing[feature], has_categories(categorical, feature))
    assign_unseen_bins(cells, shape, left_sums, total, criterion, left_bitset)


@kernel
def find_split(hist, features, layout, total, split, scratch, left_bitset, left_sums):
    """Best split of a node over ``features``: (score of both sides, feature); -1 if none.

    Writes the bins that go left and their channel sums. Ties go to the lowest feature, then to the
    shortest prefix of bins.
    """
    score, feature = _search(hist, features, layout, total, split, scratch, left_bitset)
    if feature >= 0:
        _sum_left(hist, feature, layout, total, split.criterion, left_bitset, left_sums)
    return score, feature
