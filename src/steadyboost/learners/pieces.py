"""What a tree needs to know of all rows, where they are pieces on several machines."""

import numpy as np

from steadyboost.learners.base import Data, Pieces, Threads, sums_before
from steadyboost.trees.growth.sharded import add_up
from steadyboost.trees.histograms.fixed_point import rounded


def sum_all(
    data: Data, masses: np.ndarray, rows: np.ndarray | None, threads: Threads
) -> float | None:
    """The total over the rows (None: all) of all machines; None where there is one."""
    if data.pieces is None:
        return None
    used = masses if rows is None else masses[rows]
    pieces = data.pieces if rows is None else data.pieces.take(rows)
    sums = [float(used[start:stop].sum()) for _, start, stop in pieces.spans]
    return float(rounded(threads.allreduce(sums, add_up, pieces.numbers)))


def sample(
    share: float, rows: np.ndarray, data: Data, rng: np.random.Generator, threads: Threads
) -> np.ndarray:
    """A share of the rows of all machines, drawn without replacement: those of this one."""
    spans = (Pieces.one(len(rows)) if data.pieces is None else data.pieces.take(rows)).spans
    sizes, numbers = [stop - start for _, start, stop in spans], [k for k, _, _ in spans]
    starts, n_all = sums_before(threads, sizes, numbers)
    n_drawn = max(1, round(share * n_all))
    drawn = np.sort(rng.choice(n_all, n_drawn, replace=False, shuffle=False))
    kept = [
        rows[first + drawn[slice(*np.searchsorted(drawn, [begin, begin + n]))] - begin]
        for (_, first, _), begin, n in zip(spans, starts, sizes, strict=True)
    ]
    return np.concatenate(kept)
