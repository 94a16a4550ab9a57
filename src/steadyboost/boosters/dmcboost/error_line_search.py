"""Exact line searches on the training error along a weak hypothesis.

A hypothesis votes for a label in each row (-1: for none), and a step adds to the scores of the
labels voted for. A breakpoint is the step at which a vote changes whether a row is classified
correctly; the weight of the rows that are classified correctly is constant between breakpoints.
Where there are many, they are put into buckets first. Their weights bound the curve inside a
bucket, and only buckets that may hold the best interval are sorted.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.boosters.dmcboost.margin_state import MarginState, ScoredRows, SearchSample
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction

NEVER = np.inf  # the breakpoint of a row that no step can turn
BUCKETS = 4096  # equal-width buckets over the edges, so that a point is compared with few of them
LOSS_ROWS = 4096  # rows whose losses fit into the cache
BUCKETING_PAYS = 2**15  # breakpoints from which on it pays
BUCKET_SAMPLE = 1024  # breakpoints that tell where most of them are


class ErrorCurve(NamedTuple):
    """Groups of breakpoints, from ``low`` to ``high``, and the weight right between them."""

    low: np.ndarray
    high: np.ndarray
    right: np.ndarray  # one entry more


def merging_width(scale: float) -> float:
    """Breakpoints closer than this are one; ``scale`` is the sum of the steps so far."""
    return 1e-9 * (1 + scale)  # scores are sums of the steps: their rounding grows with the scale


@kernel
def breakpoint_of(value, own_score, first, second, is_own, is_best):
    """Where row i turns if the label of score ``value`` is named; NEVER if it stays wrong.

    Algorithm 1.1: a row that is named rightly is right beyond the breakpoint, one that is named
    wrongly is right before it, if it leads all other labels.
    """
    if is_own:
        return first - own_score
    rest = second if is_best else first
    return own_score - value if own_score > rest else NEVER


@kernel
def find_breakpoints(scored, votes, weights, points, jumps):
    """Breakpoints and the weight that turns right at each; returns the weight right at -inf."""
    scores, y, (own, first, second, best) = scored
    right = np.int64(0)
    for i in range(len(y)):
        vote = np.int64(votes[i])
        points[i], jumps[i] = NEVER, 0
        if vote < 0:
            right += weights[i] if own[i] > first[i] else 0
            continue
        value = scores[np.uint64(i), np.uint64(vote)]
        is_own = vote == y[i]
        points[i] = breakpoint_of(value, own[i], first[i], second[i], is_own, vote == best[i])
        if points[i] < NEVER:
            jumps[i] = weights[i] if is_own else -weights[i]
            right += 0 if is_own else weights[i]
    return right


@kernel
def merge_points(points, jumps, width, low, high, sums):
    """Groups of sorted points with gaps of at most ``width``: their ends and sums of jumps."""
    n = 0
    for k in range(len(points)):
        if k == 0 or points[k] - points[k - 1] > width:
            low[n], sums[n] = points[k], 0
            n += 1
        high[n - 1] = points[k]
        sums[n - 1] += jumps[k]
    return n


@kernel
def _middle(begin, end):
    """The step for an interval: its middle, or 1 beyond the end of a half-line."""
    if begin == -np.inf:
        return end - 1.0
    return begin + 1.0 if end == np.inf else (begin + end) / 2


@kernel
def choose_interval(right, low, high, join):
    """The interval with most weight right; ties: positive, bounded, widest, smallest step.

    Interval j lies between ``high[j - 1]`` and ``low[j]``; ``right`` has one entry more. With
    ``join``, neighbours of equal weight are one, except across 0. Returns the first and the last
    of the chosen intervals, and the step.
    """
    top = right[0]
    for j in range(len(right)):
        top = max(top, right[j])
    j, end = len(right), 0  # the first and the last of them: both loops are vectorised
    for i in range(len(right)):
        j = min(j, i if right[i] == top else len(right))
        end = max(end, i if right[i] == top else 0)
    first, last, step, width = np.int64(-1), np.int64(-1), 0.0, 0.0
    while j <= end:
        if right[j] == top:
            begin = j
            while join and j < end and right[j + 1] == top:
                if low[j] <= 0 <= high[j]:
                    break
                j += 1
            start = high[begin - 1] if begin > 0 else -np.inf
            stop = low[j] if j < len(low) else np.inf
            new, wide = _middle(start, stop), stop - start
            if (new > 0) != (step > 0):
                better = new > 0
            elif (wide < np.inf) != (width < np.inf):
                better = wide < np.inf
            elif wide != width:
                better = wide > width
            else:
                better = abs(new) < abs(step)
            if better or first < 0:
                first, last, step, width = np.int64(begin), np.int64(j), new, wide
        j += 1
    return first, last, step


def error_curve(
    rows: ScoredRows, votes: np.ndarray, weights: np.ndarray, scale: float
) -> ErrorCurve:
    """Algorithm 1.1: groups of breakpoints (low and high ends), and the weight right between them.

    0 is one of the breakpoints, so that no interval has both signs.
    """
    n = len(rows.y)
    points, jumps = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    points[-1], jumps[-1] = 0.0, 0
    right = find_breakpoints(rows, votes, weights, points, jumps)
    return curve_of(points, jumps, right, merging_width(scale))


def curve_of(points: np.ndarray, jumps: np.ndarray, right: int, width: float) -> ErrorCurve:
    """The groups of breakpoints and the weight right between them, from that at -inf."""
    finite = points < NEVER
    points, jumps = points[finite], jumps[finite]
    order = np.argsort(points)
    low, high = np.empty(len(order)), np.empty(len(order))
    sums = np.empty(len(order), dtype=np.int64)
    n = merge_points(points[order], jumps[order], width, low, high, sums)
    curve = right + np.concatenate([[0], np.cumsum(sums[:n])])
    return ErrorCurve(low[:n], high[:n], curve)


@kernel
def all_breakpoints(scored, rows, out):
    """Breakpoints of the listed rows for every vote; how many there are."""
    scores, y, (own, first, second, best) = scored
    n = 0
    for i in rows:
        for c in range(scores.shape[1]):
            point = breakpoint_of(
                scores[i, c], own[i], first[i], second[i], c == y[i], c == best[i]
            )
            if point < NEVER:
                out[n] = point
                n += 1
    return n


@kernel
def _bucket(value, origin, factor):
    """One of the buckets for any value: of NaN, the last."""
    place = (value - origin) * factor
    place = place if place < BUCKETS - 1.0 else BUCKETS - 1.0
    return np.uint64(place if place > 0.0 else 0.0)


@kernel
def _bucket_edges(edges):
    """Equal-width buckets over the sorted edges, and the number of edges before each of them."""
    factor = BUCKETS / (edges[-1] - edges[0]) if len(edges) > 1 else 0.0
    before = np.zeros(BUCKETS + 1, dtype=np.uint16)
    for k in range(len(edges)):
        before[_bucket(edges[k], edges[0], factor) + np.uint64(1)] += 1
    for d in range(BUCKETS):
        before[d + 1] += before[d]
    return edges[0], factor, before


@kernel
def _position(point, edges, buckets):
    """How many edges are before a point, plus 1: most buckets have no edge or one to compare."""
    origin, factor, before = buckets
    bucket = _bucket(point, origin, factor)
    low, high = np.uint64(before[bucket]), np.uint64(before[bucket + np.uint64(1)])
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if edges[middle] < point:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low + np.uint64(1)


@kernel
def find_positions(scored, edges, width, start, positions):
    """For each label and row, the first interval in which a vote has turned the row.

    Interval j begins at the (j - 1)-th of the edges; ``len(edges) + 1`` stands for beyond, and the
    next number for rows that stay wrong. ``start`` is the number of the first row. A row that is
    wrong by two labels is not turned but by its own.
    """
    scores, y, (own, first, second, best) = scored
    buckets, never = _bucket_edges(edges), np.uint64(len(edges) + 2)
    for i in range(len(y)):
        row, out = np.uint64(i), np.uint64(start + i)
        if own[row] > first[row]:
            for c in range(scores.shape[1]):
                point = own[row] - scores[row, np.uint64(c)] - width
                positions[np.uint64(c), out] = _position(point, edges, buckets)
        else:
            for c in range(scores.shape[1]):
                positions[np.uint64(c), out] = never
            if own[row] > second[row]:
                point = own[row] - first[row] - width
                positions[np.uint64(best[row]), out] = _position(point, edges, buckets)
        point = first[row] - own[row] - width
        positions[np.uint64(y[row]), out] = _position(point, edges, buckets)


@kernel
def spread_own(own, shift, out):
    """The score of each row's own label plus a shift, once for each label."""
    for i in range(len(own)):
        row, value = out[i], own[i] + shift
        for c in range(len(row)):
            row[c] = value


@kernel
def weigh_others(values, y, weights, total):
    """Multiply each row by its weight, without its own label, and add it up."""
    for i in range(len(y)):
        row = values[i]
        row[np.uint64(y[i])] = 0.0
        added = 0.0
        for c in range(len(row)):
            row[c] *= weights[i]
            added += row[c]
        total[i] = added


def exponential_losses(
    sample: SearchSample, margin_state: MarginState
) -> tuple[np.ndarray, np.ndarray]:
    """``w exp(a(l) - a(y))`` of each wrong label and 0 for the own one, and its sum over labels.

    Both are multiplied by a factor that keeps them in range.
    """
    own, y, weights = margin_state.rivals.own, sample.y, sample.weights
    shape, scratch = margin_state.scores.shape, margin_state.scratch
    other = scratch.array("losses", shape[0] * shape[1], float).reshape(shape)
    total = np.empty(len(y))
    shift = -margin_state.margins.min()

    def raise_part(part: slice) -> None:
        for start in range(part.start, part.stop, LOSS_ROWS):
            at = slice(start, min(start + LOSS_ROWS, part.stop))
            block = other[at]
            spread_own(own[at], shift, block)
            np.subtract(margin_state.scores[at], block, out=block)
            np.exp(block, out=block)
            weigh_others(block, y[at], weights[at], total[at])

    sample.run(raise_part, margin_state.parts)
    return other, total


@kernel
def _assign_buckets(points, jumps, origin, factor, buckets, ends, sums):
    """The bucket of each point, the ends of each bucket, and what turns in it: all, and to right.

    Points that turn nothing are in none, whose number is the last.
    """
    for i in range(len(points)):
        at = _bucket(points[i], origin, factor) if points[i] < NEVER else np.uint64(BUCKETS)
        buckets[i] = at
        ends[0, at], ends[1, at] = min(ends[0, at], points[i]), max(ends[1, at], points[i])
        sums[0, at] += jumps[i]
        sums[1, at] += max(jumps[i], 0)


@kernel
def _unite(ends, sums, right, width, group, low, high, total):
    """Merge neighbouring buckets with gaps of at most ``width``; which may hold the best.

    Returns their number and whether each may.
    """
    rises = np.zeros(BUCKETS, dtype=np.int64)
    n = 0
    for d in range(BUCKETS):
        if ends[1, d] < ends[0, d]:  # an empty one
            continue
        if n == 0 or ends[0, d] - high[n - 1] > width:
            low[n], total[n] = ends[0, d], 0
            n += 1
        group[d], high[n - 1] = n - 1, ends[1, d]
        total[n - 1] += sums[0, d]
        rises[n - 1] += sums[1, d]
    top, now = right, right
    for g in range(n):
        now += total[g]
        top = max(top, now)
    is_open, now = np.zeros(n + 1, dtype=np.bool_), right
    for g in range(n):
        is_open[g] = now + rises[g] >= top and high[g] - low[g] > width
        now += total[g]
    return n, is_open


def _where_most_are(points: np.ndarray) -> tuple[float, float]:
    """Origin of the buckets, and their number per unit."""
    some = points[:: max(1, len(points) // BUCKET_SAMPLE)]
    some = np.sort(some[some < NEVER])
    if len(some) < 2:
        return 0.0, 0.0
    first, last = some[len(some) // 100], some[-1 - len(some) // 100]
    return float(first), BUCKETS / float(last - first) if last > first else 0.0


def best_of_curve(
    rows: ScoredRows,
    votes: np.ndarray,
    weights: np.ndarray,
    width: float,
    run: MapFunction,
    parts: list[slice],
) -> ErrorCurve:
    """As ``error_curve``, but for intervals that are not the best: neighbours may be joined."""
    n = len(rows.y)
    points, jumps = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    points[-1], jumps[-1] = 0.0, 0

    def find(at: slice) -> int:
        return find_breakpoints(rows.at(at), votes[at], weights[at], points[at], jumps[at])

    right = int(sum(run(find, parts)))
    if n < BUCKETING_PAYS:
        return curve_of(points, jumps, right, width)
    buckets, (origin, factor) = np.empty(n + 1, dtype=np.uint16), _where_most_are(points)

    def file(at: slice) -> tuple[np.ndarray, np.ndarray]:
        ends = np.stack([np.full(BUCKETS + 1, np.inf), np.full(BUCKETS + 1, -np.inf)])
        sums = np.zeros((2, BUCKETS + 1), dtype=np.int64)
        _assign_buckets(points[at], jumps[at], origin, factor, buckets[at], ends, sums)
        return ends, sums

    filed = run(file, [*parts[:-1], slice(parts[-1].start, n + 1)])
    ends = np.stack([np.min([e[0] for e, _ in filed], 0), np.max([e[1] for e, _ in filed], 0)])
    return _look_inside(points, jumps, buckets, ends, sum(s for _, s in filed), right, width)


def _look_inside(
    points: np.ndarray,
    jumps: np.ndarray,
    buckets: np.ndarray,
    ends: np.ndarray,
    sums: np.ndarray,
    right: int,
    width: float,
) -> ErrorCurve:
    """The curve between groups of buckets, and inside of those that may hold the best interval."""
    group = np.full(BUCKETS + 1, -1)
    low, high, total = np.empty(BUCKETS), np.empty(BUCKETS), np.empty(BUCKETS, dtype=np.int64)
    n, is_open = _unite(ends, sums, right, width, group, low, high, total)
    inside = is_open[group][buckets]
    own = curve_of(points[inside], jumps[inside], 0, width)
    closed = ~is_open[:n]
    lows = np.concatenate([low[:n][closed], own.low])
    highs = np.concatenate([high[:n][closed], own.high])
    turned = np.concatenate([total[:n][closed], np.diff(own.right)])
    order = np.argsort(lows)
    curve = right + np.concatenate([[0], np.cumsum(turned[order])])
    return ErrorCurve(lows[order], highs[order], curve)
