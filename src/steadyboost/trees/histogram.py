"""Sums of integer weights per (feature, bin, channel).

A histogram is one flat ``int64`` array: cell ``(offset[f] + bin) * n_channels + channel``.
With *labels* a row adds its weight to one channel; with *dense* channels (signed edges, Newton
sums) it adds a vector.
"""

import numpy as np

from steadyboost.trees.crew import LINE, add
from steadyboost.trees.jit import inlined, plain

BLOCK = 16384
DENSE_ROWS = 256  # whose channels stay in the first-level cache
TURNS_PAY = 8  # additions made cheaper for each cell that has to be moved


@inlined
def _add_four(words, labels, weights, n, offsets, bin_stride, label_stride, hist):
    """Four columns at once: one load of their packed bins serves four sums.

    Indices are unsigned because numba then drops the test for negative ones, a third of the time.
    """
    base0 = np.uint64(offsets[0]) * bin_stride
    base1 = np.uint64(offsets[1]) * bin_stride
    base2 = np.uint64(offsets[2]) * bin_stride
    base3 = np.uint64(offsets[3]) * bin_stride
    mask = np.uint64(255)
    for j in range(n):
        word = np.uint64(words[j])
        label = np.uint64(labels[j]) * label_stride
        weight = weights[j]
        hist[base0 + (word & mask) * bin_stride + label] += weight
        hist[base1 + ((word >> np.uint64(8)) & mask) * bin_stride + label] += weight
        hist[base2 + ((word >> np.uint64(16)) & mask) * bin_stride + label] += weight
        hist[base3 + (word >> np.uint64(24)) * bin_stride + label] += weight


@plain
def _add_listed(column, rows, labels, weights, offsets, label_stride, hist):
    """As ``_add_four`` of listed rows, where bins are neighbours."""
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


@plain
def _add_one(words, shift, labels, weights, n, base, bin_stride, label_stride, hist):
    mask = np.uint64(255)
    for j in range(n):
        bin_ = (np.uint64(words[j]) >> np.uint64(shift)) & mask
        hist[base + bin_ * bin_stride + np.uint64(labels[j]) * label_stride] += weights[j]


@plain
def add_group(words, features, at, labels, weights, n, offsets, strides, hist):
    """Add the features of one group of four; returns the place of the next group's first."""
    group = features[at] >> 2
    stop = at
    while stop < len(features) and features[stop] >> 2 == group:
        stop += 1
    bin_stride, label_stride = strides
    one = np.uint64(1)
    if stop - at < 4:
        for k in range(at, stop):
            f = features[k]
            base = np.uint64(offsets[f]) * bin_stride
            _add_one(words, 8 * (f & 3), labels, weights, n, base, bin_stride, label_stride, hist)
    elif bin_stride == one:  # constants, so that a multiplication per column is left out
        _add_four(words, labels, weights, n, offsets[4 * group :], one, label_stride, hist)
    else:
        _add_four(words, labels, weights, n, offsets[4 * group :], bin_stride, one, hist)
    return stop


@plain
def gather(rows, labels, weights, own_labels, own_weights):
    """Write the labels and weights of the listed rows."""
    for j in range(len(rows)):
        row = np.uint64(rows[j])
        own_labels[j] = labels[row]
        own_weights[j] = weights[row]


@plain
def turns_pay(n_rows, n_features, n_cells):
    """Whether a histogram of so many rows is made label by label, and turned then."""
    return n_rows * n_features > TURNS_PAY * n_cells


@plain
def label_stride(n_bins):
    """Cells from one label to the next: an odd number of cache lines.

    With a power of two the same bins of all labels would share a few sets of the cache.
    """
    return np.int64(LINE * (((n_bins + LINE - 1) // LINE) | 1))


@plain
def turn(by_label, first, end, stride, n_channels, hist):
    """Add some bins of a histogram that is label by label to one in the usual order."""
    width, step = np.uint64(n_channels), np.uint64(stride)
    for b in range(np.uint64(first), np.uint64(end)):
        for c in range(width):
            hist[b * width + c] += by_label[c * step + b]


@inlined
def add_row(sums, row, cell, n_channels, hist, counts):
    """Add one row to one cell; ``sums`` are those of :mod:`steadyboost.trees.grower`."""
    if len(sums) == 3:  # known when this is compiled
        for c in range(n_channels):
            hist[cell * n_channels + c] += sums[0][row, c]
    else:
        hist[cell * n_channels + sums[0][row]] += sums[1][row]
    if len(sums[-1]) > 0:
        counts[cell] += sums[-2][row]


@inlined
def n_threads_of(taken):
    return 1 if taken is None else len(taken[0]) // (2 * LINE)


@plain
def _take_segment(taken, own, place, n):
    """The next of the own segments, else of those that others leave; n if none is left."""
    n_threads = len(taken) // (2 * LINE)
    for k in range(n_threads):
        whose = (own + k) % n_threads
        segment = n * whose // n_threads + add(taken, (place + whose) * LINE, 1)
        if segment < n * (whose + 1) // n_threads:
            return segment
    return n


@inlined
def next_of(taken, place, n, segment):
    """The next of n segments of rows; where threads share them, the next that none has taken.

    ``taken`` is what they count by, room for counting twice, and the number of the own thread.
    """
    if taken is None:
        return segment + 1
    return _take_segment(taken[0], taken[1], place, n)


@plain
def add_labels(
    packed, features, offsets, rows, spans, taken, place, labels, weights, strides, room, hist
):
    """Add rows that have one label and one weight each; strides are those of bins and labels.

    ``rows`` must ascend from each of the ``spans`` to its end. A run without gaps (the root) is
    read in place; else words, labels and weights are gathered block by block, small enough to stay
    in the second-level cache, unless there are but four columns.
    """
    at_once = len(features) == 4 and features[0] & 3 == 0 and features[3] - features[0] == 3
    at_once = at_once and strides[0] == np.uint64(1)
    words, own_labels, own_weights = room[1], room[2], room[3]
    segment = next_of(taken, place, len(spans), np.int64(-1))
    while segment < len(spans):
        end = spans[segment, 1]
        for start in range(spans[segment, 0], end, BLOCK):
            block = rows[start : start + BLOCK if start + BLOCK < end else end]
            m = len(block)
            first = block[0]
            in_place = block[m - 1] - first == m - 1
            if at_once and not in_place:
                _add_listed(
                    packed[features[0] >> 2], block, labels, weights, offsets[features[0] :],
                    strides[1], hist,
                )  # fmt: skip
                continue
            if in_place:
                block_labels = labels[first : first + m]
                block_weights = weights[first : first + m]
            else:
                gather(block, labels, weights, own_labels, own_weights)
                block_labels, block_weights = own_labels, own_weights
            at = np.int64(0)
            while at < len(features):
                column = packed[features[at] >> 2]
                if in_place:
                    group_words = column[first : first + m]
                else:
                    for j in range(m):
                        words[j] = column[np.uint64(block[j])]
                    group_words = words
                at = add_group(
                    group_words, features, at, block_labels, block_weights, m, offsets, strides,
                    hist,
                )  # fmt: skip
        segment = next_of(taken, place, len(spans), segment)


@plain
def _add_pairs(words, first, n_columns, pairs, n, offsets, hist):
    """Columns that share words, for rows that have two channels each."""
    mask = np.uint64(255)
    for k in range(n_columns):
        shift = np.uint64(8 * (first[k] & 3))
        base = np.uint64(2 * offsets[first[k]])
        for j in range(n):
            cell = base + np.uint64(2) * ((np.uint64(words[j]) >> shift) & mask)
            hist[cell] += pairs[np.uint64(j), np.uint64(0)]
            hist[cell + np.uint64(1)] += pairs[np.uint64(j), np.uint64(1)]


@plain
def _add_by_pairs(packed, features, offsets, rows, channels, room, hist):
    """As ``_add_vectors`` for two channels, which are read block by block as labels are."""
    words, pairs = room[1], room[4]
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        m = len(block)
        for j in range(m):
            row = np.uint64(block[j])
            pairs[j, 0], pairs[j, 1] = channels[row, np.uint64(0)], channels[row, np.uint64(1)]
        at = np.int64(0)
        while at < len(features):
            group, stop = features[at] >> 2, at
            while stop < len(features) and features[stop] >> 2 == group:
                stop += 1
            for j in range(m):
                words[j] = packed[group, np.uint64(block[j])]
            _add_pairs(words, features[at:stop], stop - at, pairs, m, offsets, hist)
            at = stop


@plain
def _add_vectors(packed, features, offsets, rows, channels, words, hist):
    """Add listed rows, block by block: their channels are read once for all features."""
    n_channels = channels.shape[1]
    for start in range(0, len(rows), DENSE_ROWS):
        block, group = rows[start : start + DENSE_ROWS], np.int64(-1)
        for f in features:
            if f >> 2 != group:
                group = f >> 2
                for j in range(len(block)):
                    words[j] = packed[group, np.uint64(block[j])]
            shift, base = np.uint32(8 * (f & 3)), np.uint64(offsets[f])
            for j in range(len(block)):
                bin_ = np.uint64((words[np.uint64(j)] >> shift) & np.uint32(255))
                own = hist[(base + bin_) * np.uint64(n_channels) :]
                added = channels[np.uint64(block[j])]
                for c in range(n_channels):
                    own[c] += added[c]


@plain
def add_dense(packed, features, offsets, rows, spans, taken, channels, room, hist):
    """Add rows that have a vector of channels each."""
    segment = next_of(taken, 0, len(spans), np.int64(-1))
    while segment < len(spans):
        own = rows[spans[segment, 0] : spans[segment, 1]]
        if channels.shape[1] == 2:
            _add_by_pairs(packed, features, offsets, own, channels, room, hist)
        else:
            _add_vectors(packed, features, offsets, own, channels, room[1], hist)
        segment = next_of(taken, 0, len(spans), segment)
