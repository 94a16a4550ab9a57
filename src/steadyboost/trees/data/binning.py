"""From columns of numbers, dense or sparse, to cut points and bins of ``uint8``.

Sparse columns are passed as (starts, rows, values): the entries of column f are those from
``starts[f]`` to ``starts[f + 1]``, their rows ascending, and none of their values is zero. Cuts and
bins are those of the same columns in full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction

MAX_BINS = 255  # of values; with the one of missing values they fit a byte
GRID_CELLS = 1024  # cells of equal width: a value is only compared with the cuts in its own cell
PADDED = 512  # length of padded values: a search of 8 steps may read beyond the 255th
ASSIGN_ROWS = 256  # that are binned at a time: all of their columns stay in the cache


@kernel
def count_below(sorted_values, value):
    """Number of at most 255 sorted values, padded, below ``value``: binary search, no branch."""
    count = np.uint64(0)
    width = np.uint64(128)
    for _ in range(8):
        below = sorted_values[count + width - np.uint64(1)] < value
        count += width if below else np.uint64(0)
        width >>= np.uint64(1)
    return count


def padded(*columns: np.ndarray) -> np.ndarray:
    """Rows of at most 255 sorted values, padded with inf: a search may read beyond them."""
    out = np.full((len(columns), PADDED), np.inf)
    for row, values in zip(out, columns, strict=True):
        row[: len(values)] = values
    return out


@kernel
def add_distinct(values, limit, n_distinct, out):
    """Insert new values into ``n_distinct`` sorted ones; their number, -1 if above ``limit``.

    NaN is not counted.
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
    """Cuts halfway between neighbouring values."""
    return halfway(distinct[:-1], distinct[1:])


def halfway(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Cuts halfway between pairs of values, never equal to the upper one after rounding."""
    cuts = lower / 2 + upper / 2  # the sum of two large numbers would overflow
    return np.where((cuts < lower) | (cuts >= upper), lower, cuts)


def find_cuts(
    values: np.ndarray, weights: np.ndarray | None, max_bins: int, sample: np.ndarray | None = None
) -> np.ndarray:
    """Cut points of one numeric column: value ``v`` falls in bin ``#{cuts < v}``.

    Up to ``max_bins`` distinct values get a bin each. More are cut at weighted quantiles (of the
    rows in ``sample``, if given), at the midpoint between the two neighbouring values.
    """
    distinct = np.full(PADDED, np.inf)
    n_distinct = few_distinct(values, max_bins, distinct)
    if n_distinct >= 0:
        return midpoints(distinct[:n_distinct])
    if sample is not None and not np.isnan(values[sample]).all():
        values, weights = values[sample], None if weights is None else weights[sample]
    known = ~np.isnan(values)
    return quantile_cuts(values[known], None if weights is None else weights[known], max_bins)


def find_dense_cuts(
    X: np.ndarray,
    weights: np.ndarray | None,
    max_bins: Sequence[int],
    sample: np.ndarray | None,
    run: MapFunction,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Cut points of each column, with a limit for each, and whether it has missing values."""

    def of_column(f: int) -> tuple[np.ndarray, bool]:
        # A copy, as most tables are in row order: it is read several times.
        column = np.ascontiguousarray(X[:, f], dtype=np.float64)
        return find_cuts(column, weights, max_bins[f], sample), bool(np.isnan(column).any())

    cuts, missing = zip(*run(of_column, range(X.shape[1])), strict=True)
    return list(cuts), np.array(missing, dtype=np.int64)


def quantile_cuts(values: np.ndarray, weights: np.ndarray | None, max_bins: int) -> np.ndarray:
    """Midpoint cuts that leave an equal share of the weight in each bin, as far as ties allow."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return cuts_between(distinct, np.bincount(inverse, weights=weights), max_bins)


def cuts_between(distinct: np.ndarray, masses: np.ndarray, max_bins: int) -> np.ndarray:
    """The same, from the distinct values and the weight that each has."""
    below = np.cumsum(masses)
    shares = np.arange(1, max_bins) * (below[-1] / max_bins)
    # A sum that equals a share up to rounding fills the bin.
    last_in_bin = np.unique(np.searchsorted(below, shares * (1 - 1e-12)))
    last_in_bin = last_in_bin[last_in_bin < len(distinct) - 1]
    return midpoints(distinct)[last_in_bin]


@kernel
def _cell_of(value, grid):
    """The cell of the grid that a value falls in; it never decreases where values increase."""
    low, scale = grid
    place = (value / 2 - low) * scale  # halves, because the difference might overflow
    place = place if place > 0 else 0.0  # also for NaN
    return np.int64(place if place < GRID_CELLS - 1 else GRID_CELLS - 1.0)


@kernel
def _learn_grid(cuts, n_cuts, before):
    """Write how many cuts are in earlier cells; the grid, and the steps of a search in a cell.

    A cut in an earlier cell than a value is below it, one in a later cell is not: only those of
    its own cell are left to compare.
    """
    low = cuts[0] / 2 if n_cuts > 0 else 0.0
    scale = GRID_CELLS / (cuts[n_cuts - 1] / 2 - low) if n_cuts > 1 else 0.0
    grid = (low, scale if scale < np.inf else 0.0)  # cuts too close: one cell for all
    cell, first, most = 0, 0, 0
    for k in range(n_cuts + 1):
        at = _cell_of(cuts[k], grid) if k < n_cuts else GRID_CELLS
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

    Each step of the search is a loop over all values, which is vectorised.
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


class BinningScratch(NamedTuple):
    """Grids of all columns, with the steps of a search in them, and the numbers of a few rows."""

    before: np.ndarray
    grids: np.ndarray
    steps: np.ndarray
    values: np.ndarray
    counts: np.ndarray


@kernel
def _assign_bins(X, features, cuts, n_cuts, scratch, out, missing):
    """The kernel of :func:`assign_bins`."""
    before, grids, steps, values, counts = scratch
    for k in range(len(features)):
        f = features[k]
        (grids[k, 0], grids[k, 1]), steps[k] = _learn_grid(cuts[f], n_cuts[f], before[k])
    for start in range(0, len(X), ASSIGN_ROWS):
        n = ASSIGN_ROWS if len(X) - start > ASSIGN_ROWS else len(X) - start
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
    true for columns with missing values.
    """
    scratch = BinningScratch(
        np.empty((len(features), GRID_CELLS), dtype=np.uint8),
        np.empty((len(features), 2)),
        np.empty(len(features), dtype=np.int64),
        np.empty(ASSIGN_ROWS),
        np.empty(ASSIGN_ROWS, dtype=np.int64),
    )
    _assign_bins(X, features, cuts, n_cuts, scratch, out, missing)


COLUMN_BLOCKS = 16  # tasks for threads: more than threads, as columns differ in their entries


@dataclass(frozen=True)
class Compressed:
    """A table in compressed columns, without zeros."""

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    n_rows: int

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    def column(self, f: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of a column that are stored, and their values."""
        own = slice(self.starts[f], self.starts[f + 1])
        return self.rows[own], self.values[own]

    @property
    def has_missing(self) -> np.ndarray:
        """Whether each column has missing values."""
        found = np.flatnonzero(np.isnan(self.values))
        missing = np.zeros(self.n_columns, dtype=np.int64)
        missing[np.searchsorted(self.starts, found, side="right") - 1] = 1
        return missing


@kernel
def few_distinct_columns(starts, values, n_rows, limit, first, last, counts, out):
    """Distinct values of some columns, zero among them where a row is not stored.

    Column f writes its own from ``out[starts[f] + f]`` on, sorted, and how many they are to
    ``counts[f]``; -1 if more than ``limit``.
    """
    found = np.empty(256)
    zero = np.zeros(1)
    for f in range(first, last):
        found[:] = np.inf
        start, stop = starts[f], starts[f + 1]
        n = add_distinct(zero, limit, 0, found) if stop - start < n_rows else 0
        n = add_distinct(values[start:stop], limit, n, found)
        counts[f] = n
        for k in range(n):
            out[start + f + k] = found[k]


@kernel
def assign_column_bins(starts, values, cut_starts, cuts, first, last, zero_bins, out):
    """Write the bin of each entry of some columns, and the bin that zero is in."""
    padded = np.empty(256)
    for f in range(first, last):
        n_cuts = cut_starts[f + 1] - cut_starts[f]
        for k in range(256):
            padded[k] = cuts[cut_starts[f] + k] if k < n_cuts else np.inf
        zero_bins[f] = count_below(padded, 0.0)
        for k in range(starts[f], starts[f + 1]):
            out[k] = n_cuts + 1 if np.isnan(values[k]) else count_below(padded, values[k])


def _column_blocks(n_columns: int) -> list[tuple[int, int]]:
    bounds = np.linspace(0, n_columns, min(n_columns, COLUMN_BLOCKS) + 1).astype(int)
    return list(pairwise(bounds.tolist()))


def find_sparse_cuts(
    table: Compressed,
    weights: np.ndarray | None,
    max_bins: int,
    sample: np.ndarray | None,
    run: MapFunction,
) -> list[np.ndarray]:
    """Cut points of each column, as those that :func:`find_cuts` finds."""
    counts = np.empty(table.n_columns, dtype=np.int64)
    distinct = np.empty(len(table.values) + table.n_columns)

    def count(block: tuple[int, int]) -> None:
        first, last = block
        few_distinct_columns(
            table.starts, table.values, table.n_rows, max_bins, first, last, counts, distinct
        )

    run(count, _column_blocks(table.n_columns))
    cuts = _between(distinct, table.starts[:-1] + np.arange(table.n_columns), counts)
    many = np.flatnonzero(counts < 0)
    drawn = np.full(table.n_rows, sample is None)
    if sample is not None:
        drawn[sample] = True
    quantiles = partial(quantile_cuts_of, table, weights, max_bins, drawn)
    for f, own in zip(many, run(quantiles, many.tolist()), strict=True):
        cuts[f] = own
    return cuts


def _between(distinct: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Midpoints between the distinct values of each column, all columns at once."""
    n_cuts = np.maximum(counts - 1, 0)
    ends = np.cumsum(n_cuts)
    lower = np.repeat(starts - ends + n_cuts, n_cuts) + np.arange(ends[-1])
    flat = halfway(distinct[lower], distinct[lower + 1])
    return np.split(flat, ends[:-1])


def quantile_cuts_of(
    table: Compressed, weights: np.ndarray | None, max_bins: int, drawn: np.ndarray, f: int
) -> np.ndarray:
    """Cuts of a column that leave an equal share of the weight of the drawn rows in each bin.

    The weights of zeros are added up in the order of the rows, as in a full column: otherwise
    the cuts could differ by a rounding.
    """
    rows, values = table.column(f)
    if np.isnan(values[drawn[rows]]).sum() == np.count_nonzero(drawn):
        drawn = np.ones_like(drawn)
    known = drawn[rows] & ~np.isnan(values)
    rows, values = rows[known], values[known]
    zeros = drawn.copy()  # rows that are drawn and not stored
    zeros[table.column(f)[0]] = False
    n_zero = np.count_nonzero(zeros)
    masses = np.ones(len(rows)) if weights is None else weights[rows]
    if n_zero:
        of_zeros = n_zero if weights is None else np.cumsum(weights[zeros])[-1]
        values, masses = np.append(values, 0.0), np.append(masses, of_zeros)
    distinct, inverse = np.unique(values, return_inverse=True)
    return cuts_between(distinct, np.bincount(inverse, weights=masses), max_bins)


def assign_sparse_bins(
    table: Compressed, cuts: Sequence[np.ndarray], run: MapFunction
) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each entry, and the bin that zero is in, of each column."""
    cut_starts = np.concatenate([[0], np.cumsum([len(own) for own in cuts])]).astype(np.int64)
    flat = np.concatenate([np.empty(0), *cuts])
    zero_bins = np.empty(table.n_columns, dtype=np.uint8)
    codes = np.empty(len(table.values), dtype=np.uint8)

    def assign(block: tuple[int, int]) -> None:
        assign_column_bins(table.starts, table.values, cut_starts, flat, *block, zero_bins, codes)

    run(assign, _column_blocks(table.n_columns))
    return codes, zero_bins
