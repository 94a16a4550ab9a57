"""Histograms of nodes with few rows: only of the bins that occur in them.

Most bins of such a node are empty, and most of the time would be spent on clearing and searching
them. Here the bins that are not empty are renumbered in their order, so that the search for a
split finds the same.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Bins, Layout
from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.bitset import BITSET_WORDS, contains, include
from steadyboost.trees.splits.criteria import mass_of
from steadyboost.trees.splits.search import MAX_BINS, has_categories

BINS_PER_ROW = 1  # average bins of a feature per row of a node, from which on they are renumbered


class SmallNodeScratch(NamedTuple):
    """Sums and counts by cell, the bin of each cell, tables by bin, and the layout of the cells."""

    hist: np.ndarray
    counts: np.ndarray
    bins: np.ndarray
    seen: np.ndarray
    cell_of_bin: np.ndarray
    layout: Layout
    chosen: np.ndarray


def few_rows(bins: Bins) -> int:
    """Most rows of a small node; 0 for sparse rows, whose histograms skip empty bins anyway."""
    offsets = bins.layout.offsets
    if bins.sparse is not None:
        return 0
    return int(offsets[-1]) // (BINS_PER_ROW * (len(offsets) - 1))


def small_node_scratch(bins: Bins, n_channels: int, few: int) -> SmallNodeScratch:
    """Scratch for histograms of up to ``few`` rows."""
    offsets, n_bins, has_missing, categorical = bins.layout
    n_cells = min(int(offsets[-1]), few * len(n_bins)) + 1
    own = np.zeros_like(offsets), np.zeros_like(n_bins), np.zeros_like(has_missing)
    return SmallNodeScratch(
        np.empty(n_cells * (n_channels + 1), dtype=np.int64),
        np.empty(n_cells, dtype=np.int64),
        np.empty(n_cells, dtype=np.int64),
        np.zeros(MAX_BINS + 1, dtype=np.int64),
        np.empty(MAX_BINS + 1, dtype=np.int64),
        Layout(*own, categorical),
        np.empty(BITSET_WORDS, dtype=np.uint32),
    )


@kernel
def _number_bins(words, shift, rows, first, scratch):
    """Number the bins that occur from ``first`` on; the next number, and the last bin."""
    bins, seen, cell_of_bin = scratch.bins, scratch.seen, scratch.cell_of_bin
    low, high, cell = np.int64(256), np.int64(0), first
    for k in range(len(rows)):
        bin_ = np.int64((words[np.uint64(rows[k])] >> shift) & np.uint32(255))
        seen[bin_] = 1
        low = bin_ if bin_ < low else low
        high = bin_ if bin_ > high else high
    # Without a branch: an entry for an empty bin is overwritten by that of the next one.
    for b in range(low, high + 1):
        cell_of_bin[b], bins[cell] = cell, b
        cell += seen[b]
        seen[b] = 0
    return cell, high


@kernel
def _add_rows(words, shift, rows, stats, channels, scratch):
    """Add rows to the cells of their bins; ``channels`` is None where rows have labels."""
    hist, width = scratch.hist, stats.n_channels
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        cell = scratch.cell_of_bin[(words[row] >> shift) & np.uint32(255)]
        if channels is None:
            hist[cell * width + stats.labels[row]] += stats.weights[row]
        else:
            for c in range(width):
                hist[cell * width + c] += channels[row, c]
        if len(stats.counts) > 0:
            scratch.counts[cell] += stats.counts[row]


@kernel
def build_small_histogram(bins, stats, rows, scratch):
    """Write the histogram of the listed rows, with counts if rows are counted; its length."""
    hist, counts, n_channels = scratch.hist, scratch.counts, stats.n_channels
    features, full = bins.features, bins.layout
    offsets, n_bins, has_missing, _ = scratch.layout
    cell, listed = np.int64(0), np.int64(0)
    for f in range(len(n_bins)):
        offsets[f] = cell
        if listed < len(features) and features[listed] == f:
            words, shift, first = bins.packed[f >> 2], np.uint32(8 * (f & 3)), cell
            cell, high = _number_bins(words, shift, rows, first, scratch)
            has_missing[f] = full.has_missing[f] and high == full.n_bins[f]
            n_bins[f] = cell - first - has_missing[f]
            hist[first * n_channels : cell * n_channels] = 0
            counts[first:cell] = 0
            _add_rows(words, shift, rows, stats, stats.channels, scratch)
            listed += 1
    offsets[-1] = cell
    if len(stats.counts) == 0:
        return cell * n_channels
    for k in range(cell):
        hist[cell * n_channels + k] = counts[k]
    return cell * (n_channels + 1)


@kernel
def restore_bins(layout, feature, left_sums, total, criterion, scratch, left_bitset):
    """Turn a set of cells that go left into one of bins; ``layout`` is that of the bins.

    Bins of numbers that do not occur go with the next higher bin that does; those of categories,
    with the heavier side.
    """
    bin_of_cell, (offsets, n_cells, _, _) = scratch.bins, scratch.layout
    n_bins, start = layout.n_bins[feature], offsets[feature]
    chosen = scratch.chosen
    for word in range(BITSET_WORDS):
        chosen[word], left_bitset[word] = left_bitset[word], 0
    if not has_categories(layout.categorical, feature):
        for k in range(n_cells[feature]):
            if contains(chosen, k):
                low = bin_of_cell[start + k - 1] + 1 if k > 0 else 0
                for b in range(low, bin_of_cell[start + k] + 1):
                    include(b, left_bitset)
        if contains(chosen, n_cells[feature]):
            include(n_bins, left_bitset)
        return
    left_mass = mass_of(left_sums, criterion)
    heavier = left_mass > mass_of(total, criterion) - left_mass
    cell = start
    for b in range(n_bins + 1):
        known = cell < offsets[feature + 1] and bin_of_cell[cell] == b
        if contains(chosen, cell - start) if known else heavier:
            include(b, left_bitset)
        cell += known
