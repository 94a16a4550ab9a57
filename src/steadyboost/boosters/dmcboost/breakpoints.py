"""Breakpoints of the training error, and exponential losses: the input of the search in phase I.

A breakpoint is the step at which a vote changes whether a row is classified correctly.
"""

import numpy as np

from steadyboost.boosters.dmcboost.linesearch import NEVER, breakpoint_of
from steadyboost.boosters.dmcboost.margin_state import MarginState, SearchSample
from steadyboost.trees.jit import kernel

DRAWERS = 4096  # equal-width buckets over the edges, so that a point is compared with few of them
BLOCK = 4096  # rows whose losses fit into the cache


@kernel
def all_breakpoints(scores, y, rival_scores, rows, out):
    """Breakpoints of the listed rows for every vote; how many there are."""
    own, first, second, best = rival_scores
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
def _drawer(value, origin, factor):
    return np.uint64(min(max((value - origin) * factor, 0.0), DRAWERS - 1.0))


@kernel
def _file_edges(edges):
    """Drawers of one width over the sorted edges, and how many edges are before each of them."""
    factor = DRAWERS / (edges[-1] - edges[0]) if len(edges) > 1 else 0.0
    before = np.zeros(DRAWERS + 1, dtype=np.uint16)
    for k in range(len(edges)):
        before[_drawer(edges[k], edges[0], factor) + np.uint64(1)] += 1
    for d in range(DRAWERS):
        before[d + 1] += before[d]
    return edges[0], factor, before


@kernel
def _position(point, edges, drawers):
    """How many edges are before a point, plus 1: most drawers have no edge or one to compare."""
    origin, factor, before = drawers
    drawer = _drawer(point, origin, factor)
    low, high = np.uint64(before[drawer]), np.uint64(before[drawer + np.uint64(1)])
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if edges[middle] < point:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low + np.uint64(1)


@kernel
def find_positions(scores, y, rival_scores, edges, width, start, positions):
    """For each label and row, the first interval in which a vote has turned the row.

    Interval j begins at the (j - 1)-th of the edges; ``len(edges) + 1`` stands for beyond, and the
    next number for rows that stay wrong. ``start`` is the number of the first row. A row that is
    wrong by two labels is not turned but by its own.
    """
    own, first, second, best = rival_scores
    drawers, never = _file_edges(edges), np.uint64(len(edges) + 2)
    for i in range(len(y)):
        row, out = np.uint64(i), np.uint64(start + i)
        if own[row] > first[row]:
            for c in range(scores.shape[1]):
                point = own[row] - scores[row, np.uint64(c)] - width
                positions[np.uint64(c), out] = _position(point, edges, drawers)
        else:
            for c in range(scores.shape[1]):
                positions[np.uint64(c), out] = never
            if own[row] > second[row]:
                point = own[row] - first[row] - width
                positions[np.uint64(best[row]), out] = _position(point, edges, drawers)
        point = first[row] - own[row] - width
        positions[np.uint64(y[row]), out] = _position(point, edges, drawers)


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
    own, y, weights = margin_state.arrays[0], sample.y, sample.weights
    shape, scratch = margin_state.scores.shape, margin_state.scratch
    other = scratch.array("losses", shape[0] * shape[1], float).reshape(shape)
    total = np.empty(len(y))
    shift = -margin_state.margins.min()

    def raise_part(part: slice) -> None:
        for start in range(part.start, part.stop, BLOCK):
            at = slice(start, min(start + BLOCK, part.stop))
            block = other[at]
            spread_own(own[at], shift, block)
            np.subtract(margin_state.scores[at], block, out=block)
            np.exp(block, out=block)
            weigh_others(block, y[at], weights[at], total[at])

    sample.run(raise_part, margin_state.parts)
    return other, total
