"""The mean of the smallest margins along one step: its value, slope and maximum.

Margins of one step t >= 0 share the denominator ``c + t``, so numerators decide which rows are at
the bottom. Each is concave, ``min(level, base + way * t)``: ``level`` comes from the labels that
the hypothesis does not name, ``base`` from the one that it does, and ``way`` is 1 or -1. Such a
triple of arrays is called ``lines``. The sum of the smallest is concave too, and the mean margin
quasi-concave (Theorem 3 of Zhai, Xia & Wang 2014, where it is right: on either half-line).
"""

import numpy as np

from steadyboost.trees.jit import kernel

FEW = 32  # values that are sorted
BUCKETS = 512
FIRST_PART = 64  # the optimum is mostly in this part of the bracket
FURTHER = 4  # where it is not, as many times as far
CLOSE = 1 / 64  # to a guess: where to look first
FLAT = 1e-12  # a slope below this is rounding
FINEST = 2.0**-48  # part of the reach below which there may be no number in the middle


@kernel
def line_of(value, own_score, first, second, is_own, is_best):
    """(level, base) of a row for which the label of score ``value`` is named."""
    if is_own:
        return np.inf, own_score - first
    return own_score - (second if is_best else first), own_score - value


@kernel
def margin_lines(scores, y, rival_scores, votes, sign, level, base, way):
    """Lines of all rows, for steps of one sign; rows without a vote (-1) do not move."""
    own, first, second, best = rival_scores
    for i in range(len(y)):
        vote = np.int64(votes[i])
        level[i], base[i], way[i] = own[i] - first[i], np.inf, -1.0
        if vote >= 0:
            value, is_own = scores[np.uint64(i), np.uint64(vote)], vote == y[i]
            level[i], base[i] = line_of(value, own[i], first[i], second[i], is_own, vote == best[i])
            way[i] = sign if is_own else -sign


@kernel
def numerator(level, base, way, step):
    return min(level, base + way * step)


@kernel
def slope_after(level, base, way, step):
    """Slope of a numerator just right of ``step``."""
    moving = base + way * step
    return way if moving < level or (moving == level and way < 0) else 0.0


@kernel
def _sort_pairs(values, weights, n):
    for k in range(1, n):
        value, weight = values[k], weights[k]
        j = k - 1
        while j >= 0 and values[j] > value:
            values[j + 1], weights[j + 1] = values[j], weights[j]
            j -= 1
        values[j + 1], weights[j + 1] = value, weight


@kernel
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


@kernel
def _bottom_sums(work, n, mass, step, values, masses):
    """Threshold, sum and slope of the smallest of n numerators.

    Of rows that tie at the threshold, those that fall come first: the slope is that to the right.
    """
    level, base, way, weights = work
    for k in range(n):
        values[k] = numerator(level[k], base[k], way[k], step)
        masses[k] = weights[k]
    threshold = bottom_threshold(values, masses, n, mass)
    total, slope, left = 0.0, 0.0, mass
    tied = np.zeros(3)
    for k in range(n):
        value = numerator(level[k], base[k], way[k], step)
        if value <= threshold:
            steep = slope_after(level[k], base[k], way[k], step)
            if value < threshold:
                total += weights[k] * value
                slope += weights[k] * steep
                left -= weights[k]
            else:
                tied[np.int64(steep) + 1] += weights[k]
    total += left * threshold
    falling = min(tied[0], left)
    rising = left - falling - min(tied[1], left - falling)
    return threshold, total, slope - falling + rising


@kernel
def settle(lines, weights, known, kept):
    """Keep the rows that may enter or leave the bottom, or bend, between two steps.

    ``known`` is (both steps, one of them, the threshold there): no numerator moves faster than the
    step, nor does the threshold. Returns how many are kept, and mass, value and slope of those that
    are at the bottom throughout.
    """
    level, base, way = lines
    low, high, point, threshold = known
    band = 2 * (high - low)
    m, mass, value, slope = 0, 0.0, 0.0, 0.0
    for k in range(len(weights)):
        own = numerator(level[k], base[k], way[k], point)
        if own - band > threshold:
            continue
        bend = (level[k] - base[k]) * way[k]
        if own + band < threshold and not low < bend < high:
            steep = 0.0
            if base[k] + way[k] * (low + high) / 2 < level[k]:
                steep = way[k]
            mass += weights[k]
            value += weights[k] * own
            slope += weights[k] * steep
        else:
            kept[0][m], kept[1][m], kept[2][m] = level[k], base[k], way[k]
            kept[3][m] = weights[k]
            m += 1
    return m, mass, value, slope


@kernel
def _rises(total, slope, mass, divisor):
    """Whether the mean margin rises, given sum and slope of the smallest numerators."""
    return slope * divisor - total > FLAT * mass * divisor


@kernel
def _next_look(tangents, low, high, guess):
    """A step next to a guess, on both sides; then where tangents of the sum meet, or the middle."""
    (step, total, slope), (other, other_total, other_slope) = tangents
    if np.isnan(other) and low < guess * (1 + CLOSE) < high:
        return guess * (1 + CLOSE)
    if np.isnan(step) and low < guess * (1 - CLOSE) < high:
        return guess * (1 - CLOSE)
    meet = (other_total - other_slope * other - total + slope * step) / (slope - other_slope)
    return meet if low < meet < high else (low + high) / 2


@kernel
def climb(work, settled, span, at, guess, problem):
    """Algorithm 2.1: bisect [0, reach] for the step with the largest mean of bottom margins.

    ``problem`` is (mass of the bottom, scale, reach, width of the last bracket). ``work`` and
    ``settled`` are what :func:`settle` made of all rows for a ``span``, and ``at`` is where they
    were looked at. The mean rises where the span begins, if that is not 0, and falls where it ends,
    if that is not the reach. Returns the ends of the last bracket, and the mean margin and the
    threshold at its beginning. As the mean is quasi-concave, a slope answers for all points beyond,
    and rows drop out that can no longer change sides. So it pays to look near the best step first:
    next to a ``guess`` (0: there is none), and then, every other time, where tangents meet.
    """
    mass, scale, reach, width = problem
    width = max(width, reach * FINEST)
    n, mass_settled, value, steep = settled
    values, masses = np.empty(n), np.empty(n)
    rising_at, falling_at = span[0], span[1] if span[1] < reach else np.inf
    begin, end = 0.0, reach
    rising, falling, is_middle = (np.nan, np.nan, np.nan), (np.nan, np.nan, np.nan), True
    while end - begin >= width:
        q = (begin + end) / 2
        if rising_at < q < falling_at:
            is_middle = not (is_middle or np.isnan(rising[0]) or np.isnan(falling[0]))
            step = q
            if not is_middle:
                ends = rising_at, min(falling_at, reach)
                step = _next_look((rising, falling), ends[0], ends[1], guess)
            left = mass - mass_settled
            threshold, total, slope = _bottom_sums(work, n, left, step, values, masses)
            value += steep * (step - at)
            tangent = (step, total + value, slope + steep)
            if _rises(tangent[1], tangent[2], mass, scale + step):
                rising_at, rising = step, tangent
            else:
                falling_at, falling = step, tangent
            now = (rising_at, min(falling_at, reach), step, threshold)
            n, more, added, turned = settle(work[:3], work[3][:n], now, work)
            mass_settled, value, steep = mass_settled + more, value + added, steep + turned
            at = step
        elif q <= rising_at:
            begin = q
        else:
            end = q
    found = _bottom_sums(work, n, mass - mass_settled, begin, values, masses)
    total = value + steep * (begin - at) + found[1]
    return begin, end, total / (mass * (scale + begin)), found[0]


@kernel
def seek(lines, weights, problem, floor, top):
    """As ``climb``, of all rows; ``floor`` is the threshold at 0, and ``top`` twice a guess."""
    n, (mass, scale, reach, _) = len(weights), problem
    kept, work = (np.empty(n), np.empty(n), np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    while True:
        settled = settle(lines, weights, (0.0, top, 0.0, floor), kept)
        m, mass_settled, value, steep = settled
        _, total, slope = _bottom_sums(kept, m, mass - mass_settled, top, *work)
        rises = _rises(total + value + steep * top, slope + steep, mass, scale + top)
        if top >= reach or not rises:
            return climb(kept, settled, (0.0, top), 0.0, top / 2, problem)
        top = min(FURTHER * top, reach)


@kernel
def bottom_mean(lines, weights, mass, scale, step):
    """Objective (5), its derivative (9) to the right of a step, and the largest numerator in it."""
    n = len(weights)
    level, base, way = lines
    work = (level, base, way, weights)
    threshold, total, slope = _bottom_sums(work, n, mass, step, np.empty(n), np.empty(n))
    divisor = scale + step
    mean, derivative = total / (mass * divisor), (slope * divisor - total) / (mass * divisor**2)
    return mean, derivative, threshold


@kernel
def sort_out(lines, weights, step, low, high, near):
    """Mass, sum and slope of the numerators below ``low``; those up to ``high`` are written."""
    level, base, way = lines
    mass, total, slope, m = 0.0, 0.0, 0.0, 0
    for k in range(len(weights)):
        value = numerator(level[k], base[k], way[k], step)
        below = weights[k] if value < low else 0.0
        mass += below
        total += below * value
        slope += below * slope_after(level[k], base[k], way[k], step)
        near[0][m], near[1][m], near[2][m], near[3][m] = level[k], base[k], way[k], weights[k]
        m += low <= value <= high
    return mass, total, slope, m


@kernel
def look(work, sums, mass, scale, step):
    """The threshold at a step, and whether the mean rises, if ``work`` has all rows near it.

    ``sums`` are mass, sum and slope of the rows below.
    """
    n = len(work[0])
    found = _bottom_sums(work, n, mass - sums[0], step, np.empty(n), np.empty(n))
    threshold, total, slope = found
    return threshold, _rises(total + sums[1], slope + sums[2], mass, scale + step)
