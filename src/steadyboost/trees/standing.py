"""How each row stands: its own score against the best two others, and where votes turn it."""

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.linesearch import NEVER, breakpoint_of, rivals


@kernel
def stand(scores, y, own, first, second, best):
    """Own score, the best two of the other labels, and which is the best, of each row."""
    for i in range(len(y)):
        first[i], second[i], best[i] = rivals(scores, i, np.int64(y[i]))
        own[i] = scores[np.uint64(i), np.uint64(y[i])]


@kernel
def all_breakpoints(scores, y, standing, rows, out):
    """Breakpoints of the listed rows for every vote; how many there are."""
    own, first, second, best = standing
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
def find_positions(scores, y, standing, edges, width, start, positions):
    """For each label and row, the first interval in which a vote has turned the row.

    Interval j begins at ``edges[j - 1]``; ``len(edges) + 1`` stands for beyond, and the next number
    for rows that stay wrong. ``start`` is the number of the first row.
    """
    own, first, second, best = standing
    m = len(edges)
    for c in range(scores.shape[1]):
        for i in range(len(y)):
            row = np.uint64(i)
            point = breakpoint_of(
                scores[row, np.uint64(c)], own[row], first[row], second[row],
                c == y[row], c == best[row],
            )  # fmt: skip
            below, left = np.int64(0), m
            while left > 0:
                half = left >> 1
                step = edges[below + half] < point - width
                below = below + half + 1 if step else below
                left = left - half - 1 if step else half
            positions[c, np.uint64(start + i)] = below + 1 if point < NEVER else m + 2


@kernel
def raise_rivals(scores, y, own, weights, shift, other, total):
    """``w exp(a(l) - a(y) - shift)`` of each wrong label, 0 for the own one, and their sum."""
    for i in range(len(y)):
        row = np.uint64(i)
        total[row] = 0.0
        for c in range(scores.shape[1]):
            label = np.uint64(c)
            value = weights[row] * np.exp(scores[row, label] - own[row] - shift)
            value = 0.0 if c == y[row] else value
            other[row, label] = value
            total[row] += value
