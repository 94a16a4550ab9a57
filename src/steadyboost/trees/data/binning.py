"""Columns of numbers to bins of ``uint8``."""

import numpy as np

from steadyboost.trees.jit import kernel

MAX_BINS = 255
GRID = 1024  # cells that narrow down where a value falls
ROWS = 256  # that are binned at a time


@kernel
def count_below(sorted_values, value):
    """How many of at most 255 sorted values, padded, are below ``value``: 8 steps, no branch."""
    count = np.uint64(0)
    width = np.uint64(128)
    for _ in range(8):
        below = sorted_values[count + width - np.uint64(1)] < value
        count += width if below else np.uint64(0)
        width >>= np.uint64(1)
    return count


def padded(*columns: np.ndarray) -> np.ndarray:
    """Rows of at most 255 sorted values, filled up with inf to 512: a search may look beyond."""
    out = np.full((len(columns), 512), np.inf)
    for row, values in zip(out, columns, strict=True):
        row[: len(values)] = values
    return out


@kernel
def add_distinct(values, limit, n_distinct, out):
    """Add to ``n_distinct`` sorted values those that are new; how many there are then.

    NaN is none, and -1 is the answer where there are more than ``limit``.
    """
    for value in values:
        position = count_below(out, value)
        if out[position] == value or np.isnan(value):
            continue
        if n_distinct == limit:
            return -1
        for j in range(n_distinct, position, -1):
            out[j] = out[j - 1]
        out[position] = value
        n_distinct += 1
    return n_distinct


@kernel
def few_distinct(values, limit, out):
    """Write the distinct non-missing values to ``out``, sorted; -1 if more than ``limit``.

    ``out`` is one row of :func:`padded`, all inf.
    """
    return add_distinct(values, limit, 0, out)


def midpoints(distinct: np.ndarray) -> np.ndarray:
    """Cuts between neighbours."""
    return halfway(distinct[:-1], distinct[1:])


def halfway(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Cuts halfway between pairs of values, never equal to the upper one after rounding."""
    cuts = lower / 2 + upper / 2
    return np.where((cuts < lower) | (cuts >= upper), lower, cuts)


def find_cuts(
    values: np.ndarray, weights: np.ndarray | None, max_bins: int, sample: np.ndarray | None = None
) -> np.ndarray:
    """Cut points of one numeric column: value ``v`` falls in bin ``#{cuts < v}``.

    Up to ``max_bins`` distinct values get a bin each. More are cut at weighted quantiles (of the
    rows in ``sample``, if given), at the midpoint between the two neighbouring values.
    """
    distinct = padded(np.empty(0))[0]
    n_distinct = few_distinct(values, max_bins, distinct)
    if n_distinct >= 0:
        return midpoints(distinct[:n_distinct])
    if sample is not None and not np.isnan(values[sample]).all():
        values, weights = values[sample], None if weights is None else weights[sample]
    known = ~np.isnan(values)
    return quantile_cuts(values[known], None if weights is None else weights[known], max_bins)


def quantile_cuts(values: np.ndarray, weights: np.ndarray | None, max_bins: int) -> np.ndarray:
    """Midpoint cuts that leave an equal share of the weight in each bin, as far as ties allow."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return cuts_between(distinct, np.bincount(inverse, weights=weights), max_bins)


def cuts_between(distinct: np.ndarray, masses: np.ndarray, max_bins: int) -> np.ndarray:
    """The same, from the distinct values and the weight that each has."""
    below = np.cumsum(masses)
    shares = np.arange(1, max_bins) * (below[-1] / max_bins)
    last_in_bin = np.unique(np.searchsorted(below, shares * (1 - 1e-12)))
    last_in_bin = last_in_bin[last_in_bin < len(distinct) - 1]
    return midpoints(distinct)[last_in_bin]


@kernel
def _cell_of(value, grid):
    """Which of GRID cells of equal width a value falls in: never a lower one for a larger value."""
    low, scale = grid
    place = (value / 2 - low) * scale  # half of it, lest the difference overflow
    place = place if place > 0 else 0.0  # or if it is not a number
    return np.int64(place if place < GRID - 1 else GRID - 1.0)


@kernel
def _learn_grid(cuts, n_cuts, before):
    """Write how many cuts are in earlier cells; the grid, and the steps that a search takes then.

    A cut in an earlier cell than a value is below it, one in a later cell is not: only those of
    its own cell are left to compare.
    """
    low = cuts[0] / 2 if n_cuts > 0 else 0.0
    scale = GRID / (cuts[n_cuts - 1] / 2 - low) if n_cuts > 1 else 0.0
    grid = (low, scale if scale < np.inf else 0.0)
    cell, first, most = 0, 0, 0
    for k in range(n_cuts + 1):
        at = _cell_of(cuts[k], grid) if k < n_cuts else GRID
        if at >= cell:
            most = k - first if k - first > most else most
            before[cell : at + 1] = k
            cell, first = at + 1, k
    steps = 0
    while most >> steps:
        steps += 1
    return grid, steps


@kernel
def _assign(values, cuts, n_cuts, before, grid, steps, counts, out):
    """Write ``#{cuts < v}`` for each value, one more than all for NaN; whether there was any.

    Step by step for all values together: such loops become vector instructions.
    """
    any_missing = False
    for i in range(len(values)):
        counts[i] = before[np.uint64(_cell_of(values[i], grid))]
    for step in range(steps - 1, -1, -1):
        width = np.int64(1) << step
        for i in range(len(values)):
            counts[i] += width * np.int64(cuts[np.uint64(counts[i] + width - 1)] < values[i])
    for i in range(len(values)):
        missing = np.isnan(values[i])
        any_missing |= missing
        out[i] = n_cuts + 1 if missing else counts[i]
    return any_missing


@kernel
def _assign_bins(X, features, cuts, n_cuts, room, out, missing):
    """As assign_bins, with room for the grids of all columns, and for numbers of a few rows."""
    before, grids, steps, values, counts = room
    for k in range(len(features)):
        f = features[k]
        (grids[k, 0], grids[k, 1]), steps[k] = _learn_grid(cuts[f], n_cuts[f], before[k])
    for start in range(0, len(X), ROWS):
        n = ROWS if len(X) - start > ROWS else len(X) - start
        for k in range(len(features)):
            f, grid = features[k], (grids[k, 0], grids[k, 1])
            for i in range(n):
                values[i] = X[start + i, f]
            bins = out[f >> 2, start : start + n, f & 3]
            missing[f] |= _assign(
                values[:n], cuts[f], n_cuts[f], before[k], grid, steps[k], counts, bins
            )


def assign_bins(
    X: np.ndarray,
    features: np.ndarray,
    cuts: np.ndarray,
    n_cuts: np.ndarray,
    out: np.ndarray,
    missing: np.ndarray,
) -> None:
    """Write the bins of some columns, ``#{cuts < v}``, or one more than the last for NaN.

    ``cuts`` are padded, ``out[f // 4, i, f % 4]`` is the bin of row i, and ``missing`` becomes
    true for columns with gaps. Few rows at a time, so that all their columns stay in the cache.
    """
    room = (
        np.empty((len(features), GRID), dtype=np.uint8),
        np.empty((len(features), 2)),
        np.empty(len(features), dtype=np.int64),
        np.empty(ROWS),
        np.empty(ROWS, dtype=np.int64),
    )
    _assign_bins(X, features, cuts, n_cuts, room, out, missing)
