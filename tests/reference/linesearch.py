"""The line searches of DMCBoost by brute force: every step that could matter is tried.

Nothing here is shared with the package.
"""

import math
from itertools import permutations


def is_right(row, y, vote, step):
    """Whether the own label leads all others; a tie is an error."""
    score = [value + step * (k == vote) for k, value in enumerate(row)]
    return all(score[y] > value for k, value in enumerate(score) if k != y)


def error_at(scores, y, votes, weights, step):
    rows = zip(scores, y, votes, weights, strict=True)
    return sum(w for row, own, vote, w in rows if not is_right(row, own, vote, step))


def all_differences(scores):
    """0 and every difference of two scores of a row: no error can change anywhere else."""
    return sorted({0.0} | {a - b for row in scores for a, b in permutations(row, 2)})


def apart(points, width):
    """Groups of points with gaps of at most ``width``, as (first, last)."""
    groups = []
    for point in points:
        if groups and point - groups[-1][1] <= width:
            groups[-1][1] = point
        else:
            groups.append([point, point])
    return groups


def intervals_between(groups):
    """(beginning, end, step): the middle, or 1 beyond the end of a half-line."""
    ends = [g[1] for g in groups], [g[0] for g in groups]
    inner = [(a, b, (a + b) / 2) for a, b in zip(ends[0][:-1], ends[1][1:], strict=True)]
    first = (-math.inf, groups[0][0], groups[0][0] - 1)
    return [first, *inner, (groups[-1][1], math.inf, groups[-1][1] + 1)]


def merged_by_error(scores, y, votes, weights, scale):
    """(beginning, end, error) of the longest stretches of one error and one sign."""
    pieces = []
    for a, b, step in intervals_between(apart(all_differences(scores), 1e-9 * (1 + scale))):
        error = error_at(scores, y, votes, weights, step)
        if pieces and a != 0 and math.isclose(error, pieces[-1][2], abs_tol=1e-12):
            pieces[-1][1] = b
        else:
            pieces.append([a, b, error])
    return pieces


def choose(intervals, errors, tolerance=1e-12):
    """The best interval: least error; positive; bounded; widest; smallest step."""

    def key(j):
        a, b, step = intervals[j]
        width = b - a if math.isfinite(b - a) else math.inf
        return (step <= 0, math.isinf(width), -width, abs(step))

    least = min(errors)
    return min((j for j, e in enumerate(errors) if e <= least + tolerance), key=key)


def breakpoint_of(row, y, vote):
    """Algorithm 1.1: where a row turns, None if nowhere."""
    rest = max((v for k, v in enumerate(row) if k not in (y, vote)), default=-math.inf)
    if vote == y:
        return rest - row[y]
    return row[y] - row[vote] if row[y] > rest else None


def joined(intervals, errors):
    """Neighbours of equal error as one interval, except across 0."""
    stretches = []
    for (a, b, _), error in zip(intervals, errors, strict=True):
        follows = stretches and math.isclose(stretches[-1][2], error, abs_tol=1e-12)
        across_zero = stretches and stretches[-1][1] <= 0 <= a
        if follows and not across_zero:
            stretches[-1][1] = b
        else:
            stretches.append([a, b, error])
    steps = [
        b - 1 if math.isinf(a) else a + 1 if math.isinf(b) else (a + b) / 2 for a, b, _ in stretches
    ]
    ends = [(a, b, step) for (a, b, _), step in zip(stretches, steps, strict=True)]
    return ends, [error for *_, error in stretches]


def minimize_error(scores, y, votes, weights, scale, join=False):
    """(step, error, interval) by trying each interval between the rows' own breakpoints."""
    found = {0.0}
    for row, own, vote in zip(scores, y, votes, strict=True):
        if vote >= 0 and (point := breakpoint_of(row, own, vote)) is not None:
            found.add(point)
    intervals = intervals_between(apart(sorted(found), 1e-9 * (1 + scale)))
    errors = [error_at(scores, y, votes, weights, step) for _, _, step in intervals]
    if join:
        intervals, errors = joined(intervals, errors)
    best = choose(intervals, errors, 1e-12 * sum(weights))
    return intervals[best][2], errors[best], intervals[best][:2]


def margin(row, y, vote, step, scale):
    """Equation (7)."""
    score = [value + step * (k == vote) for k, value in enumerate(row)]
    other = max(value for k, value in enumerate(score) if k != y)
    return (score[y] - other) / (scale + abs(step))


def derivative(row, y, vote, step, scale):
    """Equation (9): D squared times the derivative of one margin, for a step of 0 or more."""
    if vote < 0:
        return max(v for k, v in enumerate(row) if k != y) - row[y]
    rest = max((v for k, v in enumerate(row) if k not in (y, vote)), default=-math.inf)
    if vote == y:
        return scale - row[y] + rest
    if row[vote] + step >= rest:
        return -scale - row[y] + row[vote]
    return rest - row[y]


def bottom_shares(keys, weights, bottom):
    """How much of each row is at the bottom: the smallest keys first, up to the mass."""
    shares, left = [0.0] * len(keys), bottom
    for i in sorted(range(len(keys)), key=lambda i: keys[i]):
        shares[i] = min(weights[i], left)
        left -= shares[i]
    return shares


def bottom_margin(scores, y, votes, weights, step, bottom, scale):
    """Objective (5) and its derivative (9); of equal margins those that fall come first."""
    rows = list(zip(scores, y, votes, strict=True))
    margins = [margin(*row, step, scale) for row in rows]
    slopes = [derivative(*row, step, scale) for row in rows]
    shares = bottom_shares(list(zip(margins, slopes, strict=True)), weights, bottom)
    g = sum(s * m for s, m in zip(shares, margins, strict=True)) / bottom
    slope = sum(s * d for s, d in zip(shares, slopes, strict=True))
    return g, slope / (bottom * (scale + step) ** 2)


def maximize_margin(scores, y, votes, weights, bottom, scale, tol):
    """Algorithm 2.1: (beginning, end) of the last bracket."""
    begin, end = 0.0, scale
    while end - begin >= tol:
        q = (begin + end) / 2
        slope = bottom_margin(scores, y, votes, weights, q, bottom, scale)[1]
        if slope * (scale + q) > 1e-12:
            begin = q
        else:
            end = q
    return begin, end
