"""Histograms: sums of integer weights per (feature, bin, channel), of dense or sparse rows.

A histogram is one flat ``int64`` array: cell ``(offset[f] + bin) * n_channels + channel``. With
*labels* a row adds its weight to one channel; with *dense* channels (signed edges, Newton sums) it
adds a vector. Where rows are counted, the counts of the bins follow the sums.

Indices are unsigned in the innermost loops because numba then leaves out the test for negative
ones, a third of the time.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Bins
from steadyboost.trees.data.bundling import (
    add_marginals,
    add_vector_marginals,
    bundles_pay,
    label_stride_of,
)
from steadyboost.trees.histograms.row_statistics import RowStatistics
from steadyboost.trees.jit import kernel

# Rows whose words, labels and weights, 16 bytes each, stay in the second-level cache (256 KB or
# more) while the features of all words are added.
LABEL_ROWS = 16_384
# The same for vectors of channels, which are longer: they stay in the first-level cache.
CHANNEL_ROWS = 256
# Additions that an order by label must make cheaper for each cell that is moved afterwards.
TRANSPOSING_PAYS = 8


class Columns(NamedTuple):
    """Dense binned columns to be added up: those of features, or of bundles of features."""

    packed: np.ndarray
    features: np.ndarray
    offsets: np.ndarray


class Strides(NamedTuple):
    """Cells from one bin to the next, and from one label to the next: one of them is 1."""

    bin: int
    label: int


class BuildScratch(NamedTuple):
    """What building a histogram writes to.

    A histogram in another order (label by label, or of bundles), and what a block of rows is
    gathered into: words of bins, labels, weights, and pairs of channels.
    """

    other_order: np.ndarray
    words: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    pairs: np.ndarray


@kernel
def _add_four(words, labels, weights, offsets, bin_stride, label_stride, hist):
    """Four columns at once: one load of their packed bins serves four sums."""
    base0 = np.uint64(offsets[0]) * bin_stride
    base1 = np.uint64(offsets[1]) * bin_stride
    base2 = np.uint64(offsets[2]) * bin_stride
    base3 = np.uint64(offsets[3]) * bin_stride
    mask = np.uint64(255)
    for j in range(len(words)):
        word = np.uint64(words[j])
        label = np.uint64(labels[j]) * label_stride
        weight = weights[j]
        hist[base0 + (word & mask) * bin_stride + label] += weight
        hist[base1 + ((word >> np.uint64(8)) & mask) * bin_stride + label] += weight
        hist[base2 + ((word >> np.uint64(16)) & mask) * bin_stride + label] += weight
        # No mask: a word has 32 bits.
        hist[base3 + (word >> np.uint64(24)) * bin_stride + label] += weight


@kernel
def _add_four_listed(column, rows, labels, weights, offsets, label_stride, hist):
    """As ``_add_four`` label by label, for listed rows that are not gathered first."""
    base0, base1 = np.uint64(offsets[0]), np.uint64(offsets[1])
    base2, base3 = np.uint64(offsets[2]), np.uint64(offsets[3])
    mask = np.uint64(255)
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        word = np.uint64(column[row])
        label = np.uint64(labels[row]) * label_stride
        weight = weights[row]
        hist[base0 + (word & mask) + label] += weight
        hist[base1 + ((word >> np.uint64(8)) & mask) + label] += weight
        hist[base2 + ((word >> np.uint64(16)) & mask) + label] += weight
        hist[base3 + (word >> np.uint64(24)) + label] += weight


@kernel
def _add_one(words, shift, labels, weights, base, strides, hist):
    """Add one column."""
    mask = np.uint64(255)
    for j in range(len(words)):
        bin_ = (np.uint64(words[j]) >> np.uint64(shift)) & mask
        hist[base + bin_ * strides.bin + np.uint64(labels[j]) * strides.label] += weights[j]


@kernel
def _end_of_word(features, at):
    """The end of the features that share a word with the one at index ``at``."""
    stop = at
    while stop < len(features) and features[stop] >> 2 == features[at] >> 2:
        stop += 1
    return stop


@kernel
def _add_word(words, features, labels, weights, offsets, strides, hist):
    """Add the features of one word: all four of them, or some."""
    bin_stride, label_stride = strides.bin, strides.label
    one = np.uint64(1)
    if len(features) < 4:
        for f in features:
            base = np.uint64(offsets[f]) * bin_stride
            _add_one(words, 8 * (f & 3), labels, weights, base, strides, hist)
    elif bin_stride == one:  # constants, so that a multiplication per column is left out
        _add_four(words, labels, weights, offsets[features[0] :], one, label_stride, hist)
    else:
        _add_four(words, labels, weights, offsets[features[0] :], bin_stride, one, hist)


@kernel
def _gather_words(rows, column, words):
    """Write the packed bins of the listed rows."""
    for j in range(len(rows)):
        words[j] = column[np.uint64(rows[j])]


@kernel
def _gather_labels(rows, labels, weights, own_labels, own_weights):
    """Write the labels and weights of the listed rows."""
    for j in range(len(rows)):
        row = np.uint64(rows[j])
        own_labels[j] = labels[row]
        own_weights[j] = weights[row]


@kernel
def transposing_pays(n_rows, n_features, n_cells):
    """Whether to build a histogram label by label and then transpose it."""
    return n_rows * n_features > TRANSPOSING_PAYS * n_cells


@kernel
def add_transposed(by_label, n_bins, stride, n_channels, hist):
    """Add a histogram that is label by label to one that is bin by bin."""
    width, step = np.uint64(n_channels), np.uint64(stride)
    for b in range(np.uint64(0), np.uint64(n_bins)):
        for c in range(width):
            hist[b * width + c] += by_label[c * step + b]


@kernel
def add_labels(columns, rows, labels, weights, strides, scratch, hist):
    """Add rows that have one label and one weight each; strides are those of bins and labels.

    ``rows`` ascend. If they have no gaps, as at the root, words, labels and weights are read in
    place; otherwise they are gathered block by block, unless there are at most four columns.
    """
    packed, features, offsets = columns
    # With a single word of features, labels and weights would be gathered to be read once.
    at_once = len(features) == 4 and features[0] & 3 == 0 and features[3] - features[0] == 3
    at_once = at_once and strides.bin == np.uint64(1)
    for start in range(0, len(rows), LABEL_ROWS):
        block = rows[start : start + LABEL_ROWS]
        m, first = len(block), block[0]
        in_place = block[m - 1] - first == m - 1
        if at_once and not in_place:
            column, own_offsets = packed[features[0] >> 2], offsets[features[0] :]
            _add_four_listed(column, block, labels, weights, own_offsets, strides.label, hist)
            continue
        if in_place:
            block_labels, block_weights = labels[first : first + m], weights[first : first + m]
        else:
            block_labels, block_weights = scratch.labels[:m], scratch.weights[:m]
            _gather_labels(block, labels, weights, block_labels, block_weights)
        at = np.int64(0)
        while at < len(features):
            column, stop = packed[features[at] >> 2], _end_of_word(features, at)
            words = column[first : first + m]
            if not in_place:
                words = scratch.words[:m]
                _gather_words(block, column, words)
            own = features[at:stop]
            _add_word(words, own, block_labels, block_weights, offsets, strides, hist)
            at = stop


@kernel
def _add_pairs(words, features, pairs, offsets, hist):
    """Columns that share words, for rows that have two channels each."""
    mask = np.uint64(255)
    for f in features:
        shift, base = np.uint64(8 * (f & 3)), np.uint64(2 * offsets[f])
        for j in range(len(words)):
            cell = base + np.uint64(2) * ((np.uint64(words[j]) >> shift) & mask)
            hist[cell] += pairs[np.uint64(j), np.uint64(0)]
            hist[cell + np.uint64(1)] += pairs[np.uint64(j), np.uint64(1)]


@kernel
def _add_two_channels(columns, rows, channels, scratch, hist):
    """As ``_add_vectors`` for two channels, which are read block by block as labels are."""
    packed, features, offsets = columns
    for start in range(0, len(rows), LABEL_ROWS):
        block = rows[start : start + LABEL_ROWS]
        pairs, words = scratch.pairs, scratch.words[: len(block)]
        for j in range(len(block)):
            row = np.uint64(block[j])
            pairs[j, 0], pairs[j, 1] = channels[row, np.uint64(0)], channels[row, np.uint64(1)]
        at = np.int64(0)
        while at < len(features):
            stop = _end_of_word(features, at)
            _gather_words(block, packed[features[at] >> 2], words)
            _add_pairs(words, features[at:stop], pairs, offsets, hist)
            at = stop


@kernel
def _add_vectors(columns, rows, channels, scratch, hist):
    """Add listed rows, block by block: their channels are read once for all features."""
    packed, features, offsets = columns
    n_channels, words = channels.shape[1], scratch.words
    for start in range(0, len(rows), CHANNEL_ROWS):
        block, word = rows[start : start + CHANNEL_ROWS], np.int64(-1)
        for f in features:
            if f >> 2 != word:
                word = f >> 2
                _gather_words(block, packed[word], words)
            shift, base = np.uint32(8 * (f & 3)), np.uint64(offsets[f])
            for j in range(len(block)):
                bin_ = np.uint64((words[np.uint64(j)] >> shift) & np.uint32(255))
                own = hist[(base + bin_) * np.uint64(n_channels) :]
                added = channels[np.uint64(block[j])]
                for c in range(n_channels):
                    own[c] += added[c]


@kernel
def add_channels(columns, rows, channels, scratch, hist):
    """Add rows that have a vector of channels each."""
    if channels.shape[1] == 2:
        _add_two_channels(columns, rows, channels, scratch, hist)
    else:
        _add_vectors(columns, rows, channels, scratch, hist)


@kernel
def _add_sparse_labels(sparse, rows, labels, weights, hist, total):
    """Add the stored entries of rows that have one label and one weight each."""
    starts, cells, n_channels = sparse.row_starts, sparse.cells, np.uint64(len(total))
    for i in rows:
        row = np.uint64(i)
        weight, label = weights[row], np.uint64(labels[row])
        total[label] += weight
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            hist[np.uint64(cells[k]) * n_channels + label] += weight


@kernel
def _add_sparse_channels(sparse, rows, channels, hist, total):
    """Add the stored entries of rows that have a vector of channels each."""
    starts, cells, n_channels = sparse.row_starts, sparse.cells, np.uint64(len(total))
    for i in rows:
        row = np.uint64(i)
        for c in range(n_channels):
            total[c] += channels[row, c]
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + np.uint64(1)])):
            cell = np.uint64(cells[k]) * n_channels
            for c in range(n_channels):
                hist[cell + c] += channels[row, c]


@kernel
def _add_zero_bins(features, offsets, zero_bins, total, hist):
    """Give each feature's zero bin what its other bins lack of the total: exact, as integers."""
    n_channels = len(total)
    rest = np.empty(n_channels, dtype=np.int64)
    for f in features:
        for c in range(n_channels):
            rest[c] = total[c]
        for cell in range(offsets[f], offsets[f + 1]):
            for c in range(n_channels):
                rest[c] -= hist[cell * n_channels + c]
        zero = (offsets[f] + zero_bins[f]) * n_channels
        for c in range(n_channels):
            hist[zero + c] += rest[c]


@kernel
def add_sparse_rows(bins, sparse, stats, channels, rows, hist):
    """Add listed rows; entries are added one by one, and zero bins get the rest of the total."""
    offsets, zero_bins = bins.layout.offsets, sparse.columns.zero_bins
    total = np.zeros(stats.n_channels, dtype=np.int64)
    if channels is None:
        _add_sparse_labels(sparse, rows, stats.labels, stats.weights, hist, total)
    else:
        _add_sparse_channels(sparse, rows, channels, hist, total)
    _add_zero_bins(bins.features, offsets, zero_bins, total, hist)
    if len(stats.counts) > 0:  # counts are weights of a single label
        n_rows, tail = np.zeros(1, dtype=np.int64), hist[offsets[-1] * stats.n_channels :]
        _add_sparse_labels(sparse, rows, stats.no_labels, stats.counts, tail, n_rows)
        _add_zero_bins(bins.features, offsets, zero_bins, n_rows, tail)


def build_scratch(bins: Bins, stats: RowStatistics, n_rows: int) -> BuildScratch:
    """Scratch for histograms of up to ``n_rows`` rows; sparse rows need none."""
    dense, size = bins.sparse is None, min(LABEL_ROWS, n_rows)
    n_bins = int(bins.layout.offsets[-1]) if dense else 0
    if bins.bundles is not None:
        n_bins = max(n_bins, int(bins.bundles.offsets[-1]))
    n_pairs = size if dense and stats.channels is not None and stats.n_channels == 2 else 0
    return BuildScratch(
        np.empty(int(label_stride_of(n_bins)) * stats.n_channels, dtype=np.int64),
        np.empty(size, dtype=np.uint32),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty((n_pairs, 2), dtype=np.int64),
    )


def n_cells(bins: Bins, stats: RowStatistics) -> int:
    """Cells of a histogram: of the sums and, where rows are counted, of the counts."""
    return int(bins.layout.offsets[-1]) * (stats.n_channels + (len(stats.counts) > 0))


@kernel
def _add_weights(columns, rows, labels, weights, width, scratch, hist):
    """Add weights by label, of which there are ``width``, in the order that is fastest."""
    n_bins = columns.offsets[-1]
    if transposing_pays(len(rows), len(columns.features), n_bins * width):
        stride = label_stride_of(n_bins)
        by_label = scratch.other_order[: stride * width]
        by_label[:] = 0
        strides = Strides(np.uint64(1), np.uint64(stride))
        add_labels(columns, rows, labels, weights, strides, scratch, by_label)
        add_transposed(by_label, n_bins, stride, width, hist)
    else:
        strides = Strides(np.uint64(width), np.uint64(1))
        add_labels(columns, rows, labels, weights, strides, scratch, hist)


@kernel
def _add_bundled_weights(bundles, offsets, rows, labels, weights, width, scratch, hist):
    """As ``_add_weights``, from the histograms of bundles."""
    columns = Columns(bundles.packed, bundles.columns, bundles.offsets)
    stride = label_stride_of(bundles.offsets[-1])
    by_label = scratch.other_order[: stride * width]
    by_label[:] = 0
    strides = Strides(np.uint64(1), np.uint64(stride))
    add_labels(columns, rows, labels, weights, strides, scratch, by_label)
    add_marginals(bundles, by_label, offsets, width, hist)


@kernel
def _add_bundled(bundles, offsets, stats, channels, rows, scratch, hist):
    width = stats.n_channels
    if channels is None:
        _add_bundled_weights(
            bundles, offsets, rows, stats.labels, stats.weights, width, scratch, hist
        )
    else:
        into = scratch.other_order[: bundles.offsets[-1] * width]
        into[:] = 0
        columns = Columns(bundles.packed, bundles.columns, bundles.offsets)
        add_channels(columns, rows, channels, scratch, into)
        add_vector_marginals(bundles, into, offsets, width, hist)
    if len(stats.counts) > 0:
        tail = hist[offsets[-1] * width :]
        # Counts are weights of a single label.
        _add_bundled_weights(
            bundles, offsets, rows, stats.no_labels, stats.counts, np.int64(1), scratch, tail
        )


@kernel
def add_rows(bins, sparse, bundles, stats, channels, rows, scratch, hist):
    """Add listed rows to a histogram.

    ``sparse``, ``bundles`` and ``channels`` are those of the bins and the statistics. They are
    arguments of their own because numba leaves out what an argument that is None does not need.
    """
    offsets, width = bins.layout.offsets, stats.n_channels
    if sparse is not None:
        add_sparse_rows(bins, sparse, stats, channels, rows, hist)
        return
    if len(rows) == 0:
        return
    if bundles is not None and bundles_pay(bundles, len(rows), len(bins.features), width):
        _add_bundled(bundles, offsets, stats, channels, rows, scratch, hist)
        return
    columns = Columns(bins.packed, bins.features, offsets)
    if channels is None:
        _add_weights(columns, rows, stats.labels, stats.weights, width, scratch, hist)
    else:
        add_channels(columns, rows, channels, scratch, hist)
    if len(stats.counts) > 0:
        tail = hist[offsets[-1] * width :]
        _add_weights(columns, rows, stats.no_labels, stats.counts, np.int64(1), scratch, tail)


def build_histogram(
    bins: Bins, stats: RowStatistics, rows: np.ndarray, scratch: BuildScratch, hist: np.ndarray
) -> None:
    """Write the histogram of the listed rows."""
    hist[:] = 0
    parts = bins.sparse, bins.bundles, stats, stats.channels
    add_rows(bins, *parts, rows, scratch, hist)


@kernel
def subtract(parent, child, out):
    """The histogram of the child's sibling; it may take the place of the parent's."""
    for cell in range(len(parent)):
        out[cell] = parent[cell] - child[cell]
