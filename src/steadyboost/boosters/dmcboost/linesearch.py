"""The training error along one step, exactly.

Scores stand at some values; a hypothesis names a label for each row (-1: none), and a step adds to
the scores of the named labels. The weight of the rows that are right is a step function of it.
"""

import numpy as np

from steadyboost.trees.jit import kernel

NEVER = np.inf  # the breakpoint of a row that no step can turn


def merging_width(scale: float) -> float:
    """Breakpoints closer than this are one; ``scale`` is the sum of the steps so far."""
    return 1e-9 * (1 + scale)


def whole_weights(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Weights as integers, so that equal errors tie exactly.

    The factor is a power of two: weights that are whole numbers stay exact multiples of one
    another, and a row of weight 2 is two rows.
    """
    if weights is None:
        return np.ones(n, dtype=np.int64)
    _, exponent = np.frexp(weights.sum())
    return np.maximum(np.rint(np.ldexp(weights, 52 - int(exponent))), 1).astype(np.int64)


@kernel
def rivals(scores, i, own):
    """The best label of row i besides its own, its score, and that of the second best."""
    first, second, best = -np.inf, -np.inf, np.int64(-1)
    for c in range(scores.shape[1]):
        value = scores[np.uint64(i), np.uint64(c)]
        if c != own:
            if value > first:
                first, second, best = value, first, np.int64(c)
            elif value > second:
                second = value
    return first, second, best


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
def find_rivals(scores, y, own, first, second, best):
    """Own score, the best two of the other labels, and which is the best, of each row."""
    for i in range(len(y)):
        first[i], second[i], best[i] = rivals(scores, i, np.int64(y[i]))
        own[i] = scores[np.uint64(i), np.uint64(y[i])]


def all_rivals(scores: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Score of each row's own label, of its best two rivals, and which label is the best rival."""
    n = len(y)
    rival_scores = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    find_rivals(scores, y, *rival_scores)
    return rival_scores


@kernel
def find_breakpoints(scores, y, rival_scores, votes, weights, points, jumps):
    """Breakpoints and the weight that turns right at each; returns the weight right at -inf."""
    own, first, second, best = rival_scores
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
    scores: np.ndarray,
    y: np.ndarray,
    rival_scores: tuple[np.ndarray, ...],
    votes: np.ndarray,
    weights: np.ndarray,
    scale: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Algorithm 1.1: groups of breakpoints (low and high ends), and the weight right between them.

    0 is one of the breakpoints, so that no interval has both signs.
    """
    points, jumps = np.empty(len(y) + 1), np.empty(len(y) + 1, dtype=np.int64)
    points[-1], jumps[-1] = 0.0, 0
    right = find_breakpoints(scores, y, rival_scores, votes, weights, points, jumps)
    return curve_of(points, jumps, right, merging_width(scale))


def curve_of(
    points: np.ndarray, jumps: np.ndarray, right: int, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of breakpoints and the weight right between them, from that at -inf."""
    finite = points < NEVER
    points, jumps = points[finite], jumps[finite]
    order = np.argsort(points)
    low, high = np.empty(len(order)), np.empty(len(order))
    sums = np.empty(len(order), dtype=np.int64)
    n = merge_points(points[order], jumps[order], width, low, high, sums)
    curve = right + np.concatenate([[0], np.cumsum(sums[:n])])
    return low[:n], high[:n], curve
