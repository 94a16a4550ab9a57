"""The mean of the smallest margins along one step: its value, slope and maximum.

Margins of one step t >= 0 share the denominator ``c + t``, so numerators decide which rows are at
the bottom. Each is concave, ``min(level, base + way * t)``: ``level`` comes from the labels that
the hypothesis does not name, ``base`` from the one that it does, and ``way`` is 1 or -1. Such a
triple of arrays is called ``lines``. The sum of the smallest is concave too, and the mean margin
quasi-concave (Theorem 3 of Zhai, Xia & Wang 2014, where it is right: on either half-line).
"""

import numpy as np

from steadyboost.trees.jit import inlined, inner, kernel, shared

FEW = 32  # values that are sorted
BUCKETS = 512
FIRST_PROBE = 64  # the optimum is mostly in this part of the bracket
FLAT = 1e-12  # a slope below this is rounding


@inlined
def line_of(value, own_score, first, second, is_own, is_best):
    """(level, base) of a row for which the label of score ``value`` is named."""
    if is_own:
        return np.inf, own_score - first
    return own_score - (second if is_best else first), own_score - value


@kernel
def margin_lines(scores, y, standing, votes, sign, level, base, way):
    """Lines of all rows, for steps of one sign; rows without a vote (-1) do not move."""
    own, first, second, best = standing
    for i in range(len(y)):
        vote = np.int64(votes[i])
        level[i], base[i], way[i] = own[i] - first[i], np.inf, -1.0
        if vote >= 0:
            value, is_own = scores[np.uint64(i), np.uint64(vote)], vote == y[i]
            level[i], base[i] = line_of(value, own[i], first[i], second[i], is_own, vote == best[i])
            way[i] = sign if is_own else -sign


@inlined
def numerator(level, base, way, step):
    return min(level, base + way * step)


@inlined
def slope_after(level, base, way, step):
    """Slope of a numerator just right of ``step``."""
    moving = base + way * step
    return way if moving < level or (moving == level and way < 0) else 0.0


@inner
def _sort_pairs(values, weights, n):
    for k in range(1, n):
        value, weight = values[k], weights[k]
        j = k - 1
        while j >= 0 and values[j] > value:
            values[j + 1], weights[j + 1] = values[j], weights[j]
            j -= 1
        values[j + 1], weights[j + 1] = value, weight


@shared
def bottom_threshold(values, weights, n, mass):
    """The value up to which the smallest of the first n values have this mass.

    Values go to buckets, and only the bucket that holds the threshold is looked into again. Both
    arrays are scratch afterwards.
    """
    sums = np.empty(BUCKETS)
    while n > FEW:
        least, largest = values[0], values[0]
        for k in range(1, n):
            least, largest = min(least, values[k]), max(largest, values[k])
        factor = (BUCKETS - 1) / (largest - least)
        if not factor < 1e300:  # all equal, or nearly so
            return least
        for b in range(BUCKETS):
            sums[b] = 0.0
        for k in range(n):
            sums[np.uint64((values[k] - least) * factor)] += weights[k]
        holder = 0
        while holder < BUCKETS - 1 and sums[holder] < mass:
            mass -= sums[holder]
            holder += 1
        m = 0
        for k in range(n):
            value, weight = values[k], weights[k]
            values[m], weights[m] = value, weight
            m += np.int64((value - least) * factor) == holder
        if m == 0:  # rounding: the mass is that of all values
            return largest
        n = m
    _sort_pairs(values, weights, n)
    for k in range(n - 1):
        if weights[k] >= mass:
            return values[k]
        mass -= weights[k]
    return values[n - 1]


_bottom_threshold = bottom_threshold.bare  # as called from kernels


@inner
def _bottom_sums(lines, weights, rows, mass, step, values, masses):
    """Threshold, sum and slope of the smallest numerators of the listed rows.

    Of rows that tie at the threshold, those that fall come first: the slope is that to the right.
    """
    level, base, way = lines
    for k in range(len(rows)):
        i = rows[k]
        values[k] = numerator(level[i], base[i], way[i], step)
        masses[k] = weights[i]
    threshold = _bottom_threshold(values, masses, len(rows), mass)
    total, slope, left = 0.0, 0.0, mass
    tied = np.zeros(3)
    for k in range(len(rows)):
        i = rows[k]
        value = numerator(level[i], base[i], way[i], step)
        if value <= threshold:
            steep = slope_after(level[i], base[i], way[i], step)
            if value < threshold:
                total += weights[i] * value
                slope += weights[i] * steep
                left -= weights[i]
            else:
                tied[np.int64(steep) + 1] += weights[i]
    total += left * threshold
    falling = min(tied[0], left)
    rising = left - falling - min(tied[1], left - falling)
    return threshold, total, slope - falling + rising


@inner
def _settle(lines, weights, rows, threshold, point, low, high, kept):
    """Keep the rows that may enter or leave the bottom, or bend, for steps from low to high.

    No numerator moves faster than the step, nor does the threshold. Returns how many are kept,
    and mass, value at ``point`` and slope of those that are at the bottom throughout.
    """
    level, base, way = lines
    band = 2 * (high - low)
    n, mass, value, slope = 0, 0.0, 0.0, 0.0
    for k in range(len(rows)):
        i = rows[k]
        own = numerator(level[i], base[i], way[i], point)
        bend = (level[i] - base[i]) * way[i]
        if own - band > threshold:
            continue
        if own + band < threshold and not low < bend < high:
            steep = 0.0
            if base[i] + way[i] * (low + high) / 2 < level[i]:
                steep = way[i]
            mass += weights[i]
            value += weights[i] * own
            slope += weights[i] * steep
        else:
            kept[n] = i
            n += 1
    return n, mass, value, slope


@shared
def climb(lines, weights, mass, scale, reach, width):
    """Algorithm 2.1: bisect [0, reach] for the step with the largest mean of bottom margins.

    Returns the ends of the last bracket and the mean margin at its beginning. As the mean is
    quasi-concave, a slope answers for all points beyond; so a first question near 0 spares most
    of the others, and rows drop out that can no longer change sides.
    """
    n = len(weights)
    rows, kept = np.arange(n), np.empty(n, dtype=np.int64)
    values, masses = np.empty(n), np.empty(n)
    left, settled, settled_slope, settled_at = mass, 0.0, 0.0, 0.0
    rising_at, falling_at = 0.0, np.inf
    begin, end = 0.0, reach
    while end - begin >= width:
        q = (begin + end) / 2
        if rising_at < q < falling_at:
            point = q if rising_at > 0 or falling_at < np.inf else reach / FIRST_PROBE
            threshold, total, slope = _bottom_sums(
                lines, weights, rows, left, point, values, masses
            )
            total += settled + settled_slope * (point - settled_at)
            slope += settled_slope
            divisor = scale + point
            if slope * divisor - total > FLAT * mass * divisor:
                rising_at = point
            else:
                falling_at = point
            m, more, value, steep = _settle(
                lines, weights, rows, threshold, point, rising_at, min(falling_at, reach), kept
            )
            settled += settled_slope * (point - settled_at) + value
            settled_slope, settled_at, left = settled_slope + steep, point, left - more
            rows, kept = kept[:m], np.empty(m, dtype=np.int64)
        elif q <= rising_at:
            begin = q
        else:
            end = q
    total = settled + settled_slope * (begin - settled_at)
    if len(rows) > 0:
        total += _bottom_sums(lines, weights, rows, left, begin, values, masses)[1]
    return begin, end, total / (mass * (scale + begin))


@shared
def bottom_mean(lines, weights, mass, scale, step):
    """Objective (5), its derivative (9) to the right of a step, and the largest numerator in it."""
    n = len(weights)
    rows, values, masses = np.arange(n), np.empty(n), np.empty(n)
    threshold, total, slope = _bottom_sums(lines, weights, rows, mass, step, values, masses)
    divisor = scale + step
    mean, derivative = total / (mass * divisor), (slope * divisor - total) / (mass * divisor**2)
    return mean, derivative, threshold
