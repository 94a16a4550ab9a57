"""The best part of the curve of the training error along one step, where there are many rows.

Breakpoints go to drawers. What turns in a drawer bounds the curve inside it, and only drawers that
may hold the best interval are sorted.
"""

import numpy as np

from steadyboost.boosters.dmcboost.linesearch import NEVER, curve_of, find_breakpoints
from steadyboost.trees.histograms.row_statistics import Run
from steadyboost.trees.jit import kernel

MANY = 2**15  # breakpoints from which on it pays
DRAWERS = 4096
SOME = 1024  # breakpoints that tell where most of them are

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]


@kernel
def _file(points, jumps, origin, factor, drawers, ends, sums):
    """The drawer of each point, the ends of each drawer, and what turns in it: all, and to right.

    Points that turn nothing are in none, whose number is the last.
    """
    for i in range(len(points)):
        place = min(max((points[i] - origin) * factor, 0.0), DRAWERS - 1.0)
        at = np.uint64(place) if points[i] < NEVER else np.uint64(DRAWERS)
        drawers[i] = at
        ends[0, at], ends[1, at] = min(ends[0, at], points[i]), max(ends[1, at], points[i])
        sums[0, at] += jumps[i]
        sums[1, at] += max(jumps[i], 0)


@kernel
def _unite(ends, sums, right, width, group, low, high, total):
    """Groups of neighbouring drawers with gaps of at most ``width``; which may hold the best.

    Returns their number and whether each may.
    """
    rises = np.zeros(DRAWERS, dtype=np.int64)
    n = 0
    for d in range(DRAWERS):
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
    """The first of the drawers, and how many there are to 1."""
    some = points[:: max(1, len(points) // SOME)]
    some = np.sort(some[some < NEVER])
    if len(some) < 2:
        return 0.0, 0.0
    first, last = some[len(some) // 100], some[-1 - len(some) // 100]
    return float(first), DRAWERS / float(last - first) if last > first else 0.0


def best_of_curve(
    rows: tuple[np.ndarray, ...], width: float, run: Run, parts: list[slice]
) -> Curve:
    """As ``error_curve``, but for intervals that are not the best: neighbours may be joined.

    ``rows`` are scores, labels, own score and the best two others with the label of the best, votes
    and integer weights.
    """
    n = len(rows[1])
    points, jumps = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    points[-1], jumps[-1] = 0.0, 0

    def find(at: slice) -> int:
        scores, y, *rival_scores, votes, weights = (array[at] for array in rows)
        return find_breakpoints(
            scores, y, tuple(rival_scores), votes, weights, points[at], jumps[at]
        )

    right = int(sum(run(find, parts)))
    if n < MANY:
        return curve_of(points, jumps, right, width)
    drawers, (origin, factor) = np.empty(n + 1, dtype=np.uint16), _where_most_are(points)

    def file(at: slice) -> tuple[np.ndarray, np.ndarray]:
        ends = np.stack([np.full(DRAWERS + 1, np.inf), np.full(DRAWERS + 1, -np.inf)])
        sums = np.zeros((2, DRAWERS + 1), dtype=np.int64)
        _file(points[at], jumps[at], origin, factor, drawers[at], ends, sums)
        return ends, sums

    filed = run(file, [*parts[:-1], slice(parts[-1].start, n + 1)])
    ends = np.stack([np.min([e[0] for e, _ in filed], 0), np.max([e[1] for e, _ in filed], 0)])
    return _look_inside(points, jumps, drawers, ends, sum(s for _, s in filed), right, width)


def _look_inside(
    points: np.ndarray,
    jumps: np.ndarray,
    drawers: np.ndarray,
    ends: np.ndarray,
    sums: np.ndarray,
    right: int,
    width: float,
) -> Curve:
    """The curve between groups of drawers, and inside of those that may hold the best interval."""
    group = np.full(DRAWERS + 1, -1)
    low, high, total = np.empty(DRAWERS), np.empty(DRAWERS), np.empty(DRAWERS, dtype=np.int64)
    n, is_open = _unite(ends, sums, right, width, group, low, high, total)
    inside = is_open[group][drawers]
    own = curve_of(points[inside], jumps[inside], 0, width)
    closed = ~is_open[:n]
    lows, highs = (
        np.concatenate([low[:n][closed], own[0]]),
        np.concatenate([high[:n][closed], own[1]]),
    )
    turned = np.concatenate([total[:n][closed], np.diff(own[2])])
    order = np.argsort(lows)
    curve = right + np.concatenate([[0], np.cumsum(turned[order])])
    return lows[order], highs[order], curve
