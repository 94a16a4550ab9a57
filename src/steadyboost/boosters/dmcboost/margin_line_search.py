"""Line searches on the mean of the smallest margins: its value, slope and maximum.

Margins of one step t >= 0 share the denominator ``c + t``, so numerators decide which rows are at
the bottom. Each is concave, ``min(level, base + way * t)``: ``level`` comes from the labels that
the hypothesis does not name, ``base`` from the one that it does, and ``way`` is 1 or -1: see
:class:`MarginLines`. The sum of the smallest is concave too, and the mean margin quasi-concave
(Theorem 3 of Zhai, Xia & Wang 2014, where it is right: on either half-line).

Where there are many rows, some of them bracket the best step. Then all are evaluated there once,
and only those that may enter or leave the bottom inside the bracket are searched.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction, serial_map

if TYPE_CHECKING:
    from steadyboost.boosters.dmcboost.margin_state import ScoredRows

SORTED_VALUES = 32  # values that are sorted
BUCKETS = 512  # of a pass: their sums, 4 KB, stay in the first-level cache
FIRST_PART = 64  # the optimum is mostly in this part of the bracket
FURTHER = 4  # where it is not, as many times as far
CLOSE = 1 / 64  # to a guess: where to look first
FLAT = 1e-12  # a slope below this is rounding
TINY = np.finfo(np.float64).tiny
FINEST = 2.0**-48  # part of the reach below which there may be no number in the middle
SAMPLE_ROWS = 2**14  # rows that tell about where it is
THREAD_ROWS = 2**15  # rows that are looked at a time
FIRST_WIDTH = 1 / 32  # of the step that some rows have found: how far from it to look first
MAX_LOOKS = 2  # after which the rest is quick


class MarginLines(NamedTuple):
    """The numerator of each row's margin after a step t: ``min(level, base + way * t)``."""

    level: np.ndarray
    base: np.ndarray
    way: np.ndarray

    @classmethod
    def allocate(cls, n: int) -> "MarginLines":
        return cls(np.empty(n), np.empty(n), np.empty(n))

    def at(self, rows: slice) -> "MarginLines":
        return MarginLines(self.level[rows], self.base[rows], self.way[rows])


class WeightedLines(NamedTuple):
    """Lines with the weights of their rows."""

    level: np.ndarray
    base: np.ndarray
    way: np.ndarray
    weights: np.ndarray

    @classmethod
    def allocate(cls, n: int) -> "WeightedLines":
        return cls(np.empty(n), np.empty(n), np.empty(n), np.empty(n))

    @classmethod
    def joined(cls, parts: Sequence["WeightedLines"]) -> "WeightedLines":
        return cls(*[np.concatenate(own) for own in zip(*parts, strict=True)])


class MarginProblem(NamedTuple):
    """What a search for the best step is told of besides the rows."""

    mass: float  # of the rows at the bottom
    scale: float  # sum of the steps so far
    reach: float  # the largest step
    width: float  # of the last bracket


class BottomSums(NamedTuple):
    """Of the smallest numerators: the largest, their weighted sum, and the slope of that."""

    threshold: float
    total: float
    slope: float


class Settled(NamedTuple):
    """Rows that are at the bottom in a whole bracket: mass, sum and slope; how many are left."""

    n_left: int
    mass: float
    total: float
    slope: float


class Bracket(NamedTuple):
    """Two steps, and one of them with its threshold: all that is known of rows in between."""

    low: float
    high: float
    step: float
    threshold: float


class Tangent(NamedTuple):
    """The sum of the smallest numerators at a step, and its slope; NaN where it is unknown."""

    step: float
    total: float
    slope: float


class BestStep(NamedTuple):
    """The ends of the last bracket, and margin and threshold where it begins."""

    begin: float
    end: float
    margin: float
    threshold: float


@kernel
def line_of(value, own_score, first, second, is_own, is_best):
    """(level, base) of a row for which the label of score ``value`` is named."""
    if is_own:
        return np.inf, own_score - first
    return own_score - (second if is_best else first), own_score - value


@kernel
def margin_lines(scores, y, rival_scores, votes, sign, lines):
    """Write the lines of all rows, for steps of one sign; those without a vote (-1) do not move."""
    own, first, second, best = rival_scores
    level, base, way = lines
    for i in range(len(y)):
        vote = np.int64(votes[i])
        level[i], base[i], way[i] = own[i] - first[i], np.inf, -1.0
        if vote >= 0:
            value, is_own = scores[np.uint64(i), np.uint64(vote)], vote == y[i]
            level[i], base[i] = line_of(value, own[i], first[i], second[i], is_own, vote == best[i])
            way[i] = sign if is_own else -sign


def lines_along(rows: "ScoredRows", votes: np.ndarray, sign: float) -> MarginLines:
    """Lines of the margins of rows along a hypothesis, for steps of one sign."""
    lines = MarginLines.allocate(len(votes))
    margin_lines(*rows, votes, sign, lines)
    return lines


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
    while n > SORTED_VALUES:
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
def _bottom_sums(lines, n, mass, step, values, masses):
    """The sums over the smallest of the first n numerators, which have this mass together.

    Of rows that tie at the threshold, those that fall come first: the slope is that to the right.
    """
    level, base, way, weights = lines
    for k in range(n):
        values[k] = numerator(level[k], base[k], way[k], step)
        masses[k] = weights[k]
    threshold = bottom_threshold(values, masses, n, mass)
    total, slope, left = 0.0, 0.0, mass
    tied = np.zeros(3)  # by slope: -1, 0, 1
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
    return BottomSums(threshold, total, slope - falling + rising)


@kernel
def drop_decided(lines, weights, bracket, kept):
    """Keep the rows that may enter or leave the bottom, or bend, in a bracket; sum the others.

    No numerator moves faster than the step, nor does the threshold: one that is further from it
    than twice the width of the bracket stays on its side.
    """
    level, base, way = lines
    low, high, point, threshold = bracket
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
            kept.level[m], kept.base[m], kept.way[m] = level[k], base[k], way[k]
            kept.weights[m] = weights[k]
            m += 1
    return Settled(m, mass, value, slope)


@kernel
def _rises(total, slope, mass, divisor):
    """Whether the mean margin rises, given sum and slope of the smallest numerators."""
    return slope * divisor - total > FLAT * mass * divisor


@kernel
def _next_step(rising, falling, low, high, guess):
    """A step next to a guess, on both sides; then where tangents of the sum meet, or the middle."""
    if np.isnan(falling.step) and low < guess * (1 + CLOSE) < high:
        return guess * (1 + CLOSE)
    if np.isnan(rising.step) and low < guess * (1 - CLOSE) < high:
        return guess * (1 - CLOSE)
    ahead = falling.total - falling.slope * falling.step - rising.total
    meet = (ahead + rising.slope * rising.step) / (rising.slope - falling.slope)
    return meet if low < meet < high else (low + high) / 2


@kernel
def bisect_step(lines, settled, bracket, guess, problem):
    """Algorithm 2.1: bisect [0, reach] for the step with the largest mean of bottom margins.

    ``lines`` and ``settled`` are what :func:`drop_decided` made of all rows for a ``bracket``. The
    mean rises where that begins, if it is not at 0, and falls where it ends, if it is not at the
    reach. As the mean is quasi-concave, a slope decides for all points beyond, and rows that can
    no longer enter or leave the bottom are dropped; ``lines`` are overwritten. So it pays to
    evaluate near the best step first: next to a ``guess`` (0: there is none), and then, every other
    time, where tangents meet.
    """
    mass, scale, reach, width = problem
    width = max(width, reach * FINEST, TINY)  # so that the loop ends without a reach
    n, mass_settled, value, steep = settled
    own = MarginLines(lines.level, lines.base, lines.way)
    values, masses = np.empty(n), np.empty(n)
    rising_at, at = bracket.low, bracket.step
    falling_at = bracket.high if bracket.high < reach else np.inf
    begin, end = 0.0, reach
    rising, falling = Tangent(np.nan, np.nan, np.nan), Tangent(np.nan, np.nan, np.nan)
    is_middle = True
    while end - begin >= width:
        q = (begin + end) / 2
        if rising_at < q < falling_at:
            is_middle = not (is_middle or np.isnan(rising.step) or np.isnan(falling.step))
            step = q
            if not is_middle:
                step = _next_step(rising, falling, rising_at, min(falling_at, reach), guess)
            sums = _bottom_sums(lines, n, mass - mass_settled, step, values, masses)
            value += steep * (step - at)
            tangent = Tangent(step, sums.total + value, sums.slope + steep)
            if _rises(tangent.total, tangent.slope, mass, scale + step):
                rising_at, rising = step, tangent
            else:
                falling_at, falling = step, tangent
            now = Bracket(rising_at, min(falling_at, reach), step, sums.threshold)
            n, more, added, turned = drop_decided(own, lines.weights[:n], now, lines)
            mass_settled, value, steep = mass_settled + more, value + added, steep + turned
            at = step
        elif q <= rising_at:
            begin = q
        else:
            end = q
    found = _bottom_sums(lines, n, mass - mass_settled, begin, values, masses)
    total = value + steep * (begin - at) + found.total
    return BestStep(begin, end, total / (mass * (scale + begin)), found.threshold)


@kernel
def search_step(lines, weights, problem, floor, top):
    """As ``bisect_step``, on all rows; ``floor`` is the threshold at 0, ``top`` twice a guess."""
    n, (mass, scale, reach, _) = len(weights), problem
    kept = WeightedLines(np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    values, masses = np.empty(n), np.empty(n)
    while True:
        bracket = Bracket(0.0, top, 0.0, floor)
        settled = drop_decided(lines, weights, bracket, kept)
        left = mass - settled.mass
        sums = _bottom_sums(kept, settled.n_left, left, top, values, masses)
        total, slope = sums.total + settled.total + settled.slope * top, sums.slope + settled.slope
        if top >= reach or not _rises(total, slope, mass, scale + top):
            return bisect_step(kept, settled, bracket, top / 2, problem)
        top = min(FURTHER * top, reach)


@kernel
def bottom_mean(lines, weights, mass, scale, step):
    """Objective (5), its derivative (9) to the right of a step, and the largest numerator in it."""
    n = len(weights)
    weighted = WeightedLines(lines.level, lines.base, lines.way, weights)
    threshold, total, slope = _bottom_sums(weighted, n, mass, step, np.empty(n), np.empty(n))
    divisor = scale + step
    mean, derivative = total / (mass * divisor), (slope * divisor - total) / (mass * divisor**2)
    return mean, derivative, threshold


@kernel
def sum_below(lines, weights, step, low, high, near):
    """Sum the numerators below ``low``; those from there to ``high`` are left, and written."""
    level, base, way = lines
    mass, total, slope, m = 0.0, 0.0, 0.0, 0
    for k in range(len(weights)):
        value = numerator(level[k], base[k], way[k], step)
        below = weights[k] if value < low else 0.0
        mass += below
        total += below * value
        slope += below * slope_after(level[k], base[k], way[k], step)
        near.level[m], near.base[m], near.way[m] = level[k], base[k], way[k]
        near.weights[m] = weights[k]
        m += low <= value <= high
    return Settled(m, mass, total, slope)


@kernel
def evaluate(lines, below, mass, scale, step):
    """The threshold at a step, and whether the mean rises there.

    ``lines`` are those of all rows near the threshold, and ``below`` sums the others.
    """
    n = len(lines.level)
    sums = _bottom_sums(lines, n, mass - below.mass, step, np.empty(n), np.empty(n))
    total, slope = sums.total + below.total, sums.slope + below.slope
    return sums.threshold, _rises(total, slope, mass, scale + step)


class _LineSearch:
    """A search over all rows, in blocks that do not depend on the number of threads."""

    def __init__(
        self,
        lines_of: Callable[[slice], MarginLines],
        weights: np.ndarray,
        run: MapFunction,
        problem: MarginProblem,
    ):
        bounds = np.linspace(0, len(weights), len(weights) // THREAD_ROWS + 1).astype(int).tolist()
        blocks = [slice(a, b) for a, b in pairwise(bounds)]
        self.run, self.problem = run, problem
        self.pieces = run(lambda at: (lines_of(at), weights[at]), blocks)

    def _sum_others(
        self, keep: Callable[[MarginLines, np.ndarray, WeightedLines], Settled]
    ) -> tuple[WeightedLines, Settled]:
        """The rows that a kernel keeps of each block, and its sums over the others."""

        def in_block(piece: tuple[MarginLines, np.ndarray]) -> tuple[WeightedLines, Settled]:
            kept = WeightedLines.allocate(len(piece[1]) + 1)
            sums = keep(*piece, kept)
            return WeightedLines(*[own[: sums.n_left] for own in kept]), sums

        found = self.run(in_block, self.pieces)
        lines = WeightedLines.joined([kept for kept, _ in found])
        sums = np.sum([sums[1:] for _, sums in found], axis=0).tolist()
        return lines, Settled(len(lines.level), *sums)

    def evaluate(self, step: float, near: tuple[float, float]) -> tuple[float, bool]:
        """The threshold at a step, which may be between two values, and whether the mean rises."""
        mass, scale = self.problem.mass, self.problem.scale
        lines, below = self._sum_others(
            lambda lines, weights, kept: sum_below(lines, weights, step, *near, kept)
        )
        if below.mass < mass <= below.mass + lines.weights.sum():
            return evaluate(lines, below, mass, scale, step)
        return self.evaluate(step, (-np.inf, np.inf))

    def bracket(self, guess: float, near: tuple[float, float]) -> BestStep:
        """Look on both sides of a guess, ever further, then in the middle; few rows are left."""
        reach = self.problem.reach
        low, high, apart = 0.0, reach, max(guess * FIRST_WIDTH, reach / 8192)
        at, (threshold, rises) = guess, self.evaluate(guess, near)
        for _ in range(MAX_LOOKS):
            low, high = (at, high) if rises else (low, at)
            step = min(at + apart, reach) if rises else max(at - apart, 0.0)
            if not low < step < high:
                step = (low + high) / 2
            moved = 1.000001 * abs(step - at)
            threshold, rises = self.evaluate(step, (threshold - moved, threshold + moved))
            at, apart = step, 2 * apart
        low, high = (at, high) if rises else (low, at)
        return self.bisect_step(Bracket(low, high, at, threshold))

    def bisect_step(self, bracket: Bracket) -> BestStep:
        lines, settled = self._sum_others(
            lambda lines, weights, kept: drop_decided(lines, weights, bracket, kept)
        )
        return bisect_step(lines, settled, bracket, 0.0, self.problem)


def find_step(
    lines_of: Callable[[slice], MarginLines],
    weights: np.ndarray,
    problem: MarginProblem,
    guess: float = 0.0,
    run: MapFunction = serial_map,
) -> BestStep:
    """As ``bisect_step``, of rows whose lines a function makes; a ``guess`` of the step helps."""
    n, (mass, scale, reach, _) = len(weights), problem
    every = max(1, n // SAMPLE_ROWS) if n >= 2 * THREAD_ROWS else 1
    some, own = lines_of(slice(0, n, every)), np.ascontiguousarray(weights[::every])
    share = mass * float(own.sum() / weights.sum()) if every > 1 else mass
    top = min(2 * guess, reach) if guess > 0 else reach / FIRST_PART
    floor = bottom_mean(some, own, share, scale, 0.0)[2]
    found = search_step(some, own, problem._replace(mass=share), floor, top)
    if every == 1:
        return found
    near = [bottom_mean(some, own, part * share, scale, found.begin)[2] for part in (0.95, 1.05)]
    search = _LineSearch(lines_of, weights, run, problem)
    return search.bracket(found.begin, (near[0], near[1]))
