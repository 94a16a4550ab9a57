"""Line searches on the mean of the smallest margins: its value, slope and maximum.

Margins of one step t >= 0 share the denominator ``c + t``, so numerators decide which rows are at
the bottom. Each is concave, ``min(level, base + way * t)``: ``level`` comes from the labels that
the hypothesis does not name, ``base`` from the one that it does, and ``way`` is 1 or -1. Such a
triple of arrays is called ``lines``. The sum of the smallest is concave too, and the mean margin
quasi-concave (Theorem 3 of Zhai, Xia & Wang 2014, where it is right: on either half-line).

Where there are many rows, some of them bracket the best step. Then all are evaluated there once,
and only those that may enter or leave the bottom inside the bracket are searched.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from steadyboost.trees.histograms.row_statistics import Run, one_by_one
from steadyboost.trees.jit import kernel

FEW = 32  # values that are sorted
BUCKETS = 512
FIRST_PART = 64  # the optimum is mostly in this part of the bracket
FURTHER = 4  # where it is not, as many times as far
CLOSE = 1 / 64  # to a guess: where to look first
FLAT = 1e-12  # a slope below this is rounding
TINY = np.finfo(np.float64).tiny
FINEST = 2.0**-48  # part of the reach below which there may be no number in the middle
SOME = 2**14  # rows that tell about where it is
STRETCH = 2**15  # rows that are looked at a time
FIRST_WIDTH = 1 / 32  # of the step that some rows have found: how far from it to look first
MOST_LOOKS = 2  # after which the rest is quick

Lines = tuple[np.ndarray, ...]
Problem = tuple[float, float, float, float]  # mass of the bottom, scale, reach, width


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
        if not 0 < factor < 1e300:  # all equal, or nearly so; or not finite
            return least
        for b in range(BUCKETS):
            sums[b] = 0.0
        for k in range(n):
            place = (values[k] - least) * factor
            sums[np.uint64(place if place < BUCKETS else 0.0)] += weights[k]  # 0 for NaN
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
def drop_decided(lines, weights, known, kept):
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
def _next_step(tangents, low, high, guess):
    """A step next to a guess, on both sides; then where tangents of the sum meet, or the middle."""
    (step, total, slope), (other, other_total, other_slope) = tangents
    if np.isnan(other) and low < guess * (1 + CLOSE) < high:
        return guess * (1 + CLOSE)
    if np.isnan(step) and low < guess * (1 - CLOSE) < high:
        return guess * (1 - CLOSE)
    meet = (other_total - other_slope * other - total + slope * step) / (slope - other_slope)
    return meet if low < meet < high else (low + high) / 2


@kernel
def bisect_step(work, undecided, span, at, guess, problem):
    """Algorithm 2.1: bisect [0, reach] for the step with the largest mean of bottom margins.

    ``problem`` is (mass of the bottom, scale, reach, width of the last bracket). ``work`` and
    ``undecided`` are what :func:`drop_decided` made of all rows for a ``span``, and ``at`` is the
    step at which they were evaluated. The mean rises where the span begins, if that is not 0, and
    falls where it ends, if that is not the reach. Returns the ends of the last bracket, and the
    mean margin and the threshold at its beginning. As the mean is quasi-concave, a slope decides
    for all points beyond, and rows that can no longer enter or leave the bottom are dropped. So it
    pays to evaluate near the best step first: next to a ``guess`` (0: there is none), and then,
    every other time, where tangents meet.
    """
    mass, scale, reach, width = problem
    width = max(width, reach * FINEST, TINY)  # so that the loop ends without a reach
    n, mass_settled, value, steep = undecided
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
                step = _next_step((rising, falling), ends[0], ends[1], guess)
            left = mass - mass_settled
            threshold, total, slope = _bottom_sums(work, n, left, step, values, masses)
            value += steep * (step - at)
            tangent = (step, total + value, slope + steep)
            if _rises(tangent[1], tangent[2], mass, scale + step):
                rising_at, rising = step, tangent
            else:
                falling_at, falling = step, tangent
            now = (rising_at, min(falling_at, reach), step, threshold)
            n, more, added, turned = drop_decided(work[:3], work[3][:n], now, work)
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
def search_step(lines, weights, problem, floor, top):
    """As ``bisect_step``, on all rows; ``floor`` is the threshold at 0, ``top`` twice a guess."""
    n, (mass, scale, reach, _) = len(weights), problem
    kept, work = (np.empty(n), np.empty(n), np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    while True:
        undecided = drop_decided(lines, weights, (0.0, top, 0.0, floor), kept)
        m, mass_settled, value, steep = undecided
        _, total, slope = _bottom_sums(kept, m, mass - mass_settled, top, *work)
        rises = _rises(total + value + steep * top, slope + steep, mass, scale + top)
        if top >= reach or not rises:
            return bisect_step(kept, undecided, (0.0, top), 0.0, top / 2, problem)
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
def sum_below(lines, weights, step, low, high, near):
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
def evaluate(work, sums, mass, scale, step):
    """The threshold at a step, and whether the mean rises, if ``work`` has all rows near it.

    ``sums`` are mass, sum and slope of the rows below.
    """
    n = len(work[0])
    found = _bottom_sums(work, n, mass - sums[0], step, np.empty(n), np.empty(n))
    threshold, total, slope = found
    return threshold, _rises(total + sums[1], slope + sums[2], mass, scale + step)


class _LineSearch:
    """A search over all rows, stretch by stretch: the same ones for any number of threads."""

    def __init__(
        self,
        lines_of: Callable[[slice], Lines],
        weights: np.ndarray,
        run: Run,
        problem: "Problem",
    ):
        bounds = np.linspace(0, len(weights), len(weights) // STRETCH + 1).astype(int).tolist()
        stretches = [slice(a, b) for a, b in pairwise(bounds)]
        self.run, self.problem = run, problem
        self.pieces = run(lambda at: (lines_of(at), weights[at]), stretches)

    def _gather(self, sort: Callable[..., tuple]) -> tuple[Lines, tuple[float, ...]]:
        """The rows that a kernel keeps of each stretch, and its sums over the others."""

        def keep(piece: tuple[Lines, np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
            kept = tuple(np.empty(len(piece[1]) + 1) for _ in range(4))
            sums, m = sort(*piece, kept)
            return [own[:m] for own in kept], sums

        found = self.run(keep, self.pieces)
        work = tuple(np.concatenate([kept[k] for kept, _ in found]) for k in range(4))
        return work, tuple(np.sum([sums for _, sums in found], axis=0).tolist())

    def evaluate(self, step: float, near: tuple[float, float]) -> tuple[float, bool]:
        """The threshold at a step, which may be between two values, and whether the mean rises."""
        mass, scale = self.problem[:2]

        def sort(lines: Lines, weights: np.ndarray, kept: Lines) -> tuple[list[float], int]:
            *sums, m = sum_below(lines, weights, step, *near, kept)
            return sums, m

        work, sums = self._gather(sort)
        if sums[0] < mass <= sums[0] + work[3].sum():
            return evaluate(work, sums, mass, scale, step)
        return self.evaluate(step, (-np.inf, np.inf))

    def bracket(self, guess: float, near: tuple[float, float]) -> tuple[float, float, float, float]:
        """Look on both sides of a guess, ever further, then in the middle; few rows are left."""
        reach = self.problem[2]
        low, high, apart = 0.0, reach, max(guess * FIRST_WIDTH, reach / 8192)
        at, (threshold, rises) = guess, self.evaluate(guess, near)
        for _ in range(MOST_LOOKS):
            low, high = (at, high) if rises else (low, at)
            step = min(at + apart, reach) if rises else max(at - apart, 0.0)
            if not low < step < high:
                step = (low + high) / 2
            moved = 1.000001 * abs(step - at)
            threshold, rises = self.evaluate(step, (threshold - moved, threshold + moved))
            at, apart = step, 2 * apart
        low, high = (at, high) if rises else (low, at)
        return self.bisect_step((low, high), at, threshold)

    def bisect_step(
        self, span: tuple[float, float], at: float, threshold: float
    ) -> tuple[float, float, float, float]:
        def sort(lines: Lines, weights: np.ndarray, kept: Lines) -> tuple[list[float], int]:
            m, *sums = drop_decided(lines, weights, (*span, at, threshold), kept)
            return sums, m

        work, sums = self._gather(sort)
        return bisect_step(work, (len(work[0]), *sums), span, at, 0.0, self.problem)


def find_step(
    lines_of: Callable[[slice], Lines],
    weights: np.ndarray,
    problem: Problem,
    guess: float = 0.0,
    run: Run = one_by_one,
) -> tuple[float, float, float, float]:
    """As ``bisect_step``, of rows whose lines a function makes; a ``guess`` of the step helps."""
    n, (mass, scale, reach, width) = len(weights), problem
    every = max(1, n // SOME) if n >= 2 * STRETCH else 1
    some, own = lines_of(slice(0, n, every)), np.ascontiguousarray(weights[::every])
    share = mass * float(own.sum() / weights.sum()) if every > 1 else mass
    top = min(2 * guess, reach) if guess > 0 else reach / FIRST_PART
    floor = bottom_mean(some, own, share, scale, 0.0)[2]
    found = search_step(some, own, (share, scale, reach, width), floor, top)
    if every == 1:
        return found
    near = [bottom_mean(some, own, part * share, scale, found[0])[2] for part in (0.95, 1.05)]
    search = _LineSearch(lines_of, weights, run, problem)
    return search.bracket(found[0], (near[0], near[1]))
