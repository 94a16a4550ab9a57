"""Feature bundling: columns of few bins are combined, so that one addition serves several.

Columns of 4 and 13 bins make a bundle of 52 bins, whose histogram has those of both as marginal
sums. Sums are of integers, so nothing is lost. The bin of a bundle is
``bin_a + n_a * (bin_b + n_b * ...)``.
"""

from typing import NamedTuple

import numpy as np

from steadyboost.trees.jit import kernel

MAX_WIDTH = 256  # bins of a bundle: one fits a byte
MAX_CELLS = 4096  # bins times channels: the histograms of several bundles stay in the cache
BUNDLING_PAYS = 2  # additions that must be saved for each one that the marginal sums cost
CACHE_LINE = 8  # integers of 64 bits


class FeatureBundles(NamedTuple):
    """Bundles of features, as binned columns of their own.

    ``members`` has a row (bundle, feature, stride) for each feature.
    """

    packed: np.ndarray
    columns: np.ndarray
    offsets: np.ndarray
    members: np.ndarray


NO_BUNDLES = FeatureBundles(
    np.empty((0, 0), dtype=np.uint32),
    np.empty(0, dtype=np.int64),
    np.zeros(1, dtype=np.int64),
    np.empty((0, 3), dtype=np.int64),
)


@kernel
def label_stride_of(n_bins):
    """Cells from one label to the next in a histogram that is label by label.

    An odd number of cache lines: with a power of two the same bins of all labels would be in the
    same few sets of the cache.
    """
    return np.int64(CACHE_LINE * (((n_bins + CACHE_LINE - 1) // CACHE_LINE) | 1))


@kernel
def _add_member(packed, member, shift, out):
    """Add a column's bins, times its stride, to the byte of a bundle."""
    _, feature, stride = member
    words, own_shift = packed[feature >> 2], np.uint32(8 * (feature & 3))
    for i in range(len(out)):
        bin_ = (words[i] >> own_shift) & np.uint32(255)
        out[i] += (bin_ * np.uint32(stride)) << np.uint32(shift)


def plan(widths: np.ndarray, n_channels: int) -> tuple[np.ndarray, list[int]]:
    """Which columns to bundle: (bundle, feature, stride) of each, and the widths of the bundles.

    The widest first, each into the first bundle that it still fits.
    """
    limit = min(MAX_WIDTH, MAX_CELLS // n_channels)
    # Widest first, as in bin packing: narrow columns fill what is left.
    bundled: list[int] = []
    members = []
    for feature in np.argsort(-widths, kind="stable").tolist():
        width = int(widths[feature])
        bundle = 0
        while bundle < len(bundled) and bundled[bundle] * width > limit:
            bundle += 1
        if bundle == len(bundled):
            bundled.append(1)
        members.append((bundle, feature, bundled[bundle]))
        bundled[bundle] *= width
    return np.array(members, dtype=np.int64).reshape(-1, 3), bundled


def bundle_features(packed: np.ndarray, widths: np.ndarray, n_channels: int) -> FeatureBundles:
    """Bundle the columns; NO_BUNDLES if that would not pay for these rows."""
    members, bundled = plan(widths, n_channels)
    n = packed.shape[1]
    if not pays(n, len(widths) - len(bundled), sum(bundled) * n_channels):
        return NO_BUNDLES
    out = np.zeros(((len(bundled) + 3) // 4, n), dtype=np.uint32)
    for member in members:
        _add_member(packed, tuple(member), 8 * (member[0] % 4), out[member[0] // 4])
    return FeatureBundles(out, np.arange(len(bundled)), np.cumsum([0, *bundled]), members)


def pays(n_rows: int, n_saved: int, n_cells: int) -> bool:
    """Whether bundles save more additions than the marginal sums of their cells cost."""
    return n_rows * n_saved > BUNDLING_PAYS * n_cells


@kernel
def bundles_pay(bundles, n_rows, n_features, n_channels):
    """Whether to use the bundles for a node with ``n_rows``."""
    if len(bundles.members) != n_features:  # not all of them are needed
        return False
    n_saved = n_features - len(bundles.columns)
    return n_rows * n_saved > BUNDLING_PAYS * bundles.offsets[-1] * n_channels


@kernel
def add_marginals(bundles, bundle_hist, offsets, n_channels, hist):
    """Add up histograms of single columns from those of bundles, which are label by label."""
    starts, members = bundles.offsets, bundles.members
    for k in range(len(members)):
        bundle, feature, stride = members[k]
        width = offsets[feature + 1] - offsets[feature]
        first, end, step = starts[bundle], starts[bundle + 1], stride * width
        for c in range(n_channels):
            own = bundle_hist[c * label_stride_of(starts[-1]) :][first:end]
            for bin_ in range(width):
                total, place = np.int64(0), bin_ * stride
                if stride * step < len(own):  # the longer loop is the inner one
                    for low in range(place, place + stride):
                        for cell in range(low, len(own), step):
                            total += own[np.uint64(cell)]
                else:
                    for start in range(place, len(own), step):
                        for cell in range(start, start + stride):
                            total += own[np.uint64(cell)]
                hist[(offsets[feature] + bin_) * n_channels + c] += total


@kernel
def add_vector_marginals(bundles, bundle_sums, offsets, n_channels, sums):
    """As ``add_marginals``, of histograms in which the channels of a cell are adjacent."""
    starts, members = bundles.offsets, bundles.members
    for k in range(len(members)):
        bundle, feature, stride = members[k]
        width = offsets[feature + 1] - offsets[feature]
        first, end = starts[bundle], starts[bundle + 1]
        for start in range(first, end, stride * width):
            for bin_ in range(width):
                out = sums[(offsets[feature] + bin_) * n_channels :]
                for low in range(stride):
                    cell = (start + bin_ * stride + low) * n_channels
                    for c in range(n_channels):
                        out[c] += bundle_sums[cell + c]


@kernel
def unbundle(bundles, sums, offsets):
    """The sums of single features, from those of bundles."""
    n_channels = sums.shape[1]
    out = np.zeros((offsets[-1], n_channels))
    add_vector_marginals(bundles, sums.ravel(), offsets, n_channels, out.ravel())
    return out
