"""Sums of integer weights per (feature, bin, channel), of dense rows.

A histogram is one flat ``int64`` array: cell ``(offset[f] + bin) * n_channels + channel``. With
*labels* a row adds its weight to one channel; with *dense* channels (signed edges, Newton sums) it
adds a vector.

Indices are unsigned in the innermost loops because numba then leaves out the test for negative
ones, a third of the time.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel

BLOCK = 16_384  # rows whose words, labels and weights stay in the second-level cache
DENSE_ROWS = 256  # whose channels stay in the first-level cache
TRANSPOSING_PAYS = 8  # additions made cheaper for each cell that has to be moved


class Columns(NamedTuple):
    """Dense binned columns to be added up: those of features, or of bundles of features."""

    packed: np.ndarray
    features: np.ndarray
    offsets: np.ndarray


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
    mask, (bin_stride, label_stride) = np.uint64(255), strides
    for j in range(len(words)):
        bin_ = (np.uint64(words[j]) >> np.uint64(shift)) & mask
        hist[base + bin_ * bin_stride + np.uint64(labels[j]) * label_stride] += weights[j]


@kernel
def _end_of_word(features, at):
    """The place after the last of the features that share a word with the one at a place."""
    stop = at
    while stop < len(features) and features[stop] >> 2 == features[at] >> 2:
        stop += 1
    return stop


@kernel
def _add_word(words, features, labels, weights, offsets, strides, hist):
    """Add the features of one word: all four of them, or some."""
    bin_stride, label_stride = strides
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
    """Whether a histogram of so many rows is made label by label, and transposed then."""
    return n_rows * n_features > TRANSPOSING_PAYS * n_cells


@kernel
def add_transposed(by_label, n_bins, stride, n_channels, hist):
    """Add a histogram that is label by label to one in the usual order."""
    width, step = np.uint64(n_channels), np.uint64(stride)
    for b in range(np.uint64(0), np.uint64(n_bins)):
        for c in range(width):
            hist[b * width + c] += by_label[c * step + b]


@kernel
def add_labels(columns, rows, labels, weights, strides, scratch, hist):
    """Add rows that have one label and one weight each; strides are those of bins and labels.

    ``rows`` ascend. A run without gaps (the root) is read in place; else words, labels and weights
    are gathered block by block, unless there are but four columns.
    """
    packed, features, offsets = columns
    at_once = len(features) == 4 and features[0] & 3 == 0 and features[3] - features[0] == 3
    at_once = at_once and strides[0] == np.uint64(1)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        m, first = len(block), block[0]
        in_place = block[m - 1] - first == m - 1
        if at_once and not in_place:
            column, own_offsets = packed[features[0] >> 2], offsets[features[0] :]
            _add_four_listed(column, block, labels, weights, own_offsets, strides[1], hist)
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
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
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
    for start in range(0, len(rows), DENSE_ROWS):
        block, word = rows[start : start + DENSE_ROWS], np.int64(-1)
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
