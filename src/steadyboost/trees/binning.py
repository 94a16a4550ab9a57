"""Columns of numbers to bins of ``uint8``."""

import numpy as np

from steadyboost.trees.jit import inlined, inner, kernel

MAX_BINS = 255


@inlined
def count_below(sorted_values, value):
    """How many of 256 sorted values (padded with inf) are below ``value``: 8 steps, no branch."""
    count = np.uint64(0)
    width = np.uint64(128)
    for _ in range(8):
        below = sorted_values[count + width - np.uint64(1)] < value
        count += width if below else np.uint64(0)
        width >>= np.uint64(1)
    return count


def padded(sorted_values: np.ndarray) -> np.ndarray:
    """At most 255 sorted values, filled up with inf to 256."""
    out = np.full(256, np.inf)
    out[: len(sorted_values)] = sorted_values
    return out


@inner
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

    ``out`` has 256 entries, all inf.
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
    distinct = padded(np.empty(0))
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
def assign_bins(values, cuts, missing_bin, out):
    """Write ``#{cuts < v}`` for each value, ``missing_bin`` for NaN; whether there was any.

    ``cuts`` is padded.
    """
    any_missing = False
    for i in range(len(values)):
        value = values[i]
        missing = np.isnan(value)
        any_missing |= missing
        out[i] = missing_bin if missing else count_below(cuts, value)
    return any_missing
