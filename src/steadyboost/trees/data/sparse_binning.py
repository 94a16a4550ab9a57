"""Compressed columns of numbers to bins; what is not stored is zero.

Columns travel as (starts, rows, values): the entries of column f are those from ``starts[f]`` to
``starts[f + 1]``, their rows ascending, and none of their values is zero. Cuts and bins are those
of the same columns in full.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from steadyboost.trees.data.binning import (
    add_distinct,
    count_below,
    cuts_between,
    halfway,
)
from steadyboost.trees.jit import kernel

Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

N_STRETCHES = 16  # of columns, that threads share


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
        """Whether each column has a gap."""
        gaps = np.flatnonzero(np.isnan(self.values))
        missing = np.zeros(self.n_columns, dtype=np.int64)
        missing[np.searchsorted(self.starts, gaps, side="right") - 1] = 1
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


def _stretches(n_columns: int) -> list[tuple[int, int]]:
    bounds = np.linspace(0, n_columns, min(n_columns, N_STRETCHES) + 1).astype(int)
    return list(pairwise(bounds.tolist()))


def find_sparse_cuts(
    table: Compressed,
    weights: np.ndarray | None,
    max_bins: int,
    sample: np.ndarray | None,
    run: Run,
) -> list[np.ndarray]:
    """Cut points of each column, as those that ``binning.find_cuts`` finds."""
    counts = np.empty(table.n_columns, dtype=np.int64)
    distinct = np.empty(len(table.values) + table.n_columns)

    def count(stretch: tuple[int, int]) -> None:
        first, last = stretch
        few_distinct_columns(
            table.starts, table.values, table.n_rows, max_bins, first, last, counts, distinct
        )

    run(count, _stretches(table.n_columns))
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
    zeros = drawn.copy()
    zeros[table.column(f)[0]] = False
    n_zero = np.count_nonzero(zeros)
    masses = np.ones(len(rows)) if weights is None else weights[rows]
    if n_zero:
        of_zeros = n_zero if weights is None else np.cumsum(weights[zeros])[-1]
        values, masses = np.append(values, 0.0), np.append(masses, of_zeros)
    distinct, inverse = np.unique(values, return_inverse=True)
    return cuts_between(distinct, np.bincount(inverse, weights=masses), max_bins)


def assign_sparse_bins(
    table: Compressed, cuts: Sequence[np.ndarray], run: Run
) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each entry, and the bin that zero is in, of each column."""
    cut_starts = np.concatenate([[0], np.cumsum([len(own) for own in cuts])]).astype(np.int64)
    flat = np.concatenate([np.empty(0), *cuts])
    zero_bins = np.empty(table.n_columns, dtype=np.uint8)
    codes = np.empty(len(table.values), dtype=np.uint8)

    def assign(stretch: tuple[int, int]) -> None:
        assign_column_bins(table.starts, table.values, cut_starts, flat, *stretch, zero_bins, codes)

    run(assign, _stretches(table.n_columns))
    return codes, zero_bins
