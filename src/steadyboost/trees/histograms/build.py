"""The histogram of a node: by labels or channels, of dense or sparse rows, of features or bundles.

Where rows are counted, the counts of the bins follow the sums.
"""

import numpy as np

from steadyboost.trees.data.binned import Bins
from steadyboost.trees.data.bundling import (
    add_marginals,
    add_vector_marginals,
    bundles_pay,
    label_stride,
)
from steadyboost.trees.histograms.dense import (
    BLOCK,
    BuildScratch,
    Columns,
    add_channels,
    add_labels,
    add_transposed,
    transposing_pays,
)
from steadyboost.trees.histograms.row_statistics import RowStatistics
from steadyboost.trees.histograms.sparse import add_sparse_rows
from steadyboost.trees.jit import kernel


def build_scratch(bins: Bins, stats: RowStatistics, n_rows: int) -> BuildScratch:
    """What building histograms of up to so many rows writes to; sparse rows need nothing."""
    dense, size = bins.sparse is None, min(BLOCK, n_rows)
    n_bins = int(bins.layout.offsets[-1]) if dense else 0
    if bins.bundles is not None:
        n_bins = max(n_bins, int(bins.bundles.offsets[-1]))
    n_pairs = size if dense and stats.channels is not None and stats.n_channels == 2 else 0
    return BuildScratch(
        np.empty(int(label_stride(n_bins)) * stats.n_channels, dtype=np.int64),
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
    """Add weights by label, of which there are ``width``, in the order that takes least time."""
    n_bins = columns.offsets[-1]
    if transposing_pays(len(rows), len(columns.features), n_bins * width):
        stride = label_stride(n_bins)
        by_label = scratch.other_order[: stride * width]
        by_label[:] = 0
        strides = (np.uint64(1), np.uint64(stride))
        add_labels(columns, rows, labels, weights, strides, scratch, by_label)
        add_transposed(by_label, n_bins, stride, width, hist)
    else:
        strides = (np.uint64(width), np.uint64(1))
        add_labels(columns, rows, labels, weights, strides, scratch, hist)


@kernel
def _add_bundled_weights(bundles, offsets, rows, labels, weights, width, scratch, hist):
    """As ``_add_weights``, from the histograms of bundles."""
    columns = Columns(bundles.packed, bundles.columns, bundles.offsets)
    stride = label_stride(bundles.offsets[-1])
    by_label = scratch.other_order[: stride * width]
    by_label[:] = 0
    strides = (np.uint64(1), np.uint64(stride))
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
