"""Histograms of nodes with few rows: of the bins that their rows have, and no others.

Most bins of such a node are empty: a full histogram takes longer than all else. Here the bins that
are not are numbered anew, in their order, so that the search for a split is the same.

``room``    (hist, counts, codes, seen, place, layout, chosen): sums and counts by cell, the bin
            that each stands for, two tables by bin, the layout of the cells, and a set of them
"""

import numpy as np

from steadyboost.trees.criteria import mass_of
from steadyboost.trees.histogram import add_row
from steadyboost.trees.jit import plain
from steadyboost.trees.splitting import SET_WORDS, contains, has_categories, include

BINS_PER_ROW = 1  # from which on the bins of a node are numbered anew


def few_rows(bins: tuple) -> int:
    """How many are few; none where rows are stored sparsely."""
    offsets = bins[2][0]
    return 0 if len(bins) == 5 else int(offsets[-1]) // (BINS_PER_ROW * (len(offsets) - 1))


def compact_room(bins: tuple, n_channels: int, few: int) -> tuple:
    """Room for the histograms of up to so many rows."""
    offsets, n_bins, has_missing, categorical = bins[2]
    n_cells = min(int(offsets[-1]), few * len(n_bins)) + 1
    return (
        np.empty(n_cells * (n_channels + 1), dtype=np.int64),
        np.empty(n_cells, dtype=np.int64),
        np.empty(n_cells, dtype=np.int64),
        np.zeros(257, dtype=np.int64),
        np.empty(257, dtype=np.int64),
        (np.zeros_like(offsets), np.zeros_like(n_bins), np.zeros_like(has_missing), categorical),
        np.empty(SET_WORDS, dtype=np.uint32),
    )


@plain
def _number_bins(words, shift, rows, first, room):
    """Number the bins of rows from ``first`` on; the next number, and the last bin."""
    codes, seen, place = room[2], room[3], room[4]
    low, high, cell = np.int64(256), np.int64(0), first
    for k in range(len(rows)):
        bin_ = np.int64((words[np.uint64(rows[k])] >> shift) & np.uint32(255))
        seen[bin_] = 1
        low = bin_ if bin_ < low else low
        high = bin_ if bin_ > high else high
    for b in range(low, high + 1):
        place[b], codes[cell] = cell, b
        cell += seen[b]
        seen[b] = 0
    return cell, high


@plain
def _add_rows(words, shift, rows, sums, n_channels, room):
    hist, counts, place = room[0], room[1], room[4]
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        cell = place[(words[row] >> shift) & np.uint32(255)]
        add_row(sums, row, cell, n_channels, hist, counts)


@plain
def fill_compact(bins, sums, rows, n_channels, room):
    """Histogram of the listed rows, which are few: its length, with counts where rows count."""
    hist, counts, layout = room[0], room[1], room[5]
    if len(bins) == 5:  # known when this is compiled
        return np.int64(0)
    packed, features, (_, all_bins, any_missing, _), _ = bins
    offsets, n_bins, has_missing, _ = layout
    cell, listed = np.int64(0), np.int64(0)
    for f in range(len(n_bins)):
        offsets[f] = cell
        if listed < len(features) and features[listed] == f:
            words, shift, first = packed[f >> 2], np.uint32(8 * (f & 3)), cell
            cell, high = _number_bins(words, shift, rows, first, room)
            has_missing[f] = any_missing[f] and high == all_bins[f]
            n_bins[f] = cell - first - has_missing[f]
            hist[first * n_channels : cell * n_channels] = 0
            counts[first:cell] = 0
            _add_rows(words, shift, rows, sums, n_channels, room)
            listed += 1
    offsets[-1] = cell
    if len(sums[-1]) == 0:
        return cell * n_channels
    for k in range(cell):  # not by slices: an error about their lengths would take long to compile
        hist[cell * n_channels + k] = counts[k]
    return cell * (n_channels + 1)


@plain
def restore_bins(bins, feature, left_sums, total, criterion, room, left_set):
    """Turn a set of cells that go left into one of bins.

    Numbers that no row has go with the next lower one; categories, with the heavier side.
    """
    codes, (offsets, n_cells, _, _) = room[2], room[5]
    n_bins, start = bins[2][1][feature], offsets[feature]
    chosen = room[6]
    for word in range(SET_WORDS):
        chosen[word], left_set[word] = left_set[word], 0
    if not has_categories(bins[2][3], feature):
        for k in range(n_cells[feature]):
            if contains(chosen, k):
                for b in range(codes[start + k - 1] + 1 if k > 0 else 0, codes[start + k] + 1):
                    include(b, left_set)
        if contains(chosen, n_cells[feature]):
            include(n_bins, left_set)
        return
    left_mass = mass_of(left_sums, criterion)
    heavier = left_mass > mass_of(total, criterion) - left_mass
    cell = start
    for b in range(n_bins + 1):
        known = cell < offsets[feature + 1] and codes[cell] == b
        if contains(chosen, cell - start) if known else heavier:
            include(b, left_set)
        cell += known
