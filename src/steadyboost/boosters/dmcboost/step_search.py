"""The step with the largest mean of the smallest margins, where there may be many rows.

Some of the rows tell about where it is. All are looked at there once, and those that may change
sides between the steps on either side of it are few.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from steadyboost.boosters.dmcboost.margin_search import (
    FIRST_PART,
    bottom_mean,
    climb,
    look,
    seek,
    settle,
    sort_out,
)
from steadyboost.trees.histograms.row_statistics import Run, one_by_one

SOME = 2**14  # rows that tell about where it is
STRETCH = 2**15  # rows that are looked at a time
FIRST_WIDTH = 1 / 32  # of the step that some rows have found: how far from it to look first
MOST_LOOKS = 2  # after which the rest is quick

Lines = tuple[np.ndarray, ...]
Problem = tuple[float, float, float, float]  # mass of the bottom, scale, reach, width


class _Search:
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

    def look(self, step: float, near: tuple[float, float]) -> tuple[float, bool]:
        """The threshold at a step, which may be between two values, and whether the mean rises."""
        mass, scale = self.problem[:2]

        def sort(lines: Lines, weights: np.ndarray, kept: Lines) -> tuple[list[float], int]:
            *sums, m = sort_out(lines, weights, step, *near, kept)
            return sums, m

        work, sums = self._gather(sort)
        if sums[0] < mass <= sums[0] + work[3].sum():
            return look(work, sums, mass, scale, step)
        return self.look(step, (-np.inf, np.inf))

    def around(self, guess: float, near: tuple[float, float]) -> tuple[float, float, float, float]:
        """Look on both sides of a guess, ever further, then in the middle; few rows are left."""
        reach = self.problem[2]
        low, high, apart = 0.0, reach, max(guess * FIRST_WIDTH, reach / 8192)
        at, (threshold, rises) = guess, self.look(guess, near)
        for _ in range(MOST_LOOKS):
            low, high = (at, high) if rises else (low, at)
            step = min(at + apart, reach) if rises else max(at - apart, 0.0)
            if not low < step < high:
                step = (low + high) / 2
            moved = 1.000001 * abs(step - at)
            threshold, rises = self.look(step, (threshold - moved, threshold + moved))
            at, apart = step, 2 * apart
        low, high = (at, high) if rises else (low, at)
        return self.climb((low, high), at, threshold)

    def climb(
        self, span: tuple[float, float], at: float, threshold: float
    ) -> tuple[float, float, float, float]:
        def sort(lines: Lines, weights: np.ndarray, kept: Lines) -> tuple[list[float], int]:
            m, *sums = settle(lines, weights, (*span, at, threshold), kept)
            return sums, m

        work, sums = self._gather(sort)
        return climb(work, (len(work[0]), *sums), span, at, 0.0, self.problem)


def find_step(
    lines_of: Callable[[slice], Lines],
    weights: np.ndarray,
    problem: Problem,
    guess: float = 0.0,
    run: Run = one_by_one,
) -> tuple[float, float, float, float]:
    """As ``climb``, of rows whose lines are made by a function; a ``guess`` of the step helps."""
    n, (mass, scale, reach, width) = len(weights), problem
    every = max(1, n // SOME) if n >= 2 * STRETCH else 1
    some, own = lines_of(slice(0, n, every)), np.ascontiguousarray(weights[::every])
    share = mass * float(own.sum() / weights.sum()) if every > 1 else mass
    top = min(2 * guess, reach) if guess > 0 else reach / FIRST_PART
    floor = bottom_mean(some, own, share, scale, 0.0)[2]
    found = seek(some, own, (share, scale, reach, width), floor, top)
    if every == 1:
        return found
    near = [bottom_mean(some, own, part * share, scale, found[0])[2] for part in (0.95, 1.05)]
    search = _Search(lines_of, weights, run, problem)
    return search.around(found[0], (near[0], near[1]))
