"""Binned rows: dense, with four columns to a word, or sparse, in compressed columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from steadyboost.trees.data.bundling import NO_BUNDLES, FeatureBundles, bundle_features
from steadyboost.trees.jit import kernel


class Layout(NamedTuple):
    """Where the bins of each feature are in a histogram.

    Feature f has the cells ``offsets[f]`` to ``offsets[f + 1]``, ``n_bins[f]`` of them for values
    and one more for missing values where ``has_missing[f]``.
    """

    offsets: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: (
        np.ndarray | None
    )  # None without categories: the code that orders them is not compiled then


class SparseColumns(NamedTuple):
    """Feature f is in ``bins[k]`` in row ``rows[k]`` for k from ``starts[f]`` to ``starts[f + 1]``.

    Rows ascend within a feature; all other rows are in its bin ``zero_bins[f]``.
    """

    starts: np.ndarray
    rows: np.ndarray
    bins: np.ndarray
    zero_bins: np.ndarray


class SparseEntries(NamedTuple):
    """The stored entries of sparse rows, by column and by row.

    Row i has the histogram cells ``cells[row_starts[i]]`` to ``cells[row_starts[i + 1]]``.
    """

    columns: SparseColumns
    row_starts: np.ndarray
    cells: np.ndarray


class Bins(NamedTuple):
    """Binned rows as kernels take them: dense words, or ``sparse`` entries.

    ``packed[f // 4, i]`` holds feature f of row i in byte ``f % 4``; ``features`` are those to use.
    numba leaves out the code for ``bundles`` or ``sparse`` where they are None, if kernels take
    them as arguments of their own.
    """

    packed: np.ndarray
    features: np.ndarray
    layout: Layout
    bundles: FeatureBundles | None
    sparse: SparseEntries | None


class BinnedRows:
    """Binned rows, dense or sparse, with the number of bins of each feature."""

    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray
    offsets: np.ndarray  # first histogram cell of each feature, and the end of the last

    def __post_init__(self) -> None:
        widths = self.n_bins + self.has_missing
        object.__setattr__(self, "offsets", np.concatenate([[0], np.cumsum(widths)]))

    @property
    def n_rows(self) -> int:
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        return len(self.n_bins)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    @property
    def layout(self) -> Layout:
        return Layout(self.offsets, self.n_bins, self.has_missing, self.categorical)

    @cached_property
    def growth_layout(self) -> Layout:
        """The layout for growth, which is compiled without categories where there are none."""
        return self.layout if self.categorical.any() else self.layout._replace(categorical=None)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays that identify these rows."""
        raise NotImplementedError

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> Bins:
        """The bins as growth takes them; ``n_channels`` of its histograms, if known."""
        raise NotImplementedError

    def bundles(self, n_channels: int) -> FeatureBundles:
        """Bundles of features for histograms of ``n_channels``; none by default."""
        return NO_BUNDLES

    def n_read(self, n_rows: int, n_features: int) -> int:
        """Number of bins that are read to build a histogram of ``n_rows`` and ``n_features``."""
        raise NotImplementedError

    def unpacked(self, feature: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Chunks of rows as packed bins, and the indices in these of the features of nodes."""
        raise NotImplementedError

    def with_scores(
        self, feature: np.ndarray, scores: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """As ``unpacked``, with the scores of the chunk in column order, to be added to."""
        for rows, packed, places in self.unpacked(feature):
            own = np.asfortranarray(scores[rows])
            yield packed, places, own
            if not np.may_share_memory(own, scores):
                scores[rows] = own

    def column(self, feature: int) -> tuple[np.ndarray, int]:
        """Packed bins of all rows that contain a feature, and its index in them."""
        raise NotImplementedError

    @property
    def n_groups(self) -> int:
        """Smallest number of groups in which to unpack all features."""
        raise NotImplementedError

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, Layout, np.ndarray]:
        """Packed bins of all rows; the indices of features in them; their layout; all features."""
        raise NotImplementedError

    def leaves(self, tree: Any) -> np.ndarray:
        """Leaf of each row in a grown tree."""
        out = np.empty(self.n_rows, dtype=np.int32)
        for rows, packed, feature in self.unpacked(tree.feature):
            out[rows] = replace(tree, feature=feature).apply(packed)
        return out

    def take(self, rows: np.ndarray) -> "BinnedRows":
        """Some of the rows, ascending."""
        raise NotImplementedError

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> "BinnedRows":
        """The rows of all parts, concatenated."""
        raise NotImplementedError


@dataclass(frozen=True)
class Binned(BinnedRows):
    """Rows as bins: ``packed[f // 4, i]`` holds feature f of row i in byte ``f % 4``."""

    packed: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray
    offsets: np.ndarray = field(init=False)
    _bundles: dict[int, FeatureBundles] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _bins: dict[int, Bins] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        return self.packed.shape[1]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (self.packed,)

    def n_read(self, n_rows: int, n_features: int) -> int:
        return n_rows * n_features

    def unpacked(self, feature: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        yield slice(0, self.n_rows), self.packed, feature

    def column(self, feature: int) -> tuple[np.ndarray, int]:
        return self.packed, feature

    @property
    def n_groups(self) -> int:
        return 1

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, Layout, np.ndarray]:
        return self.packed, features, self.layout, np.arange(self.n_features)

    def take(self, rows: np.ndarray) -> "Binned":
        packed = np.take(self.packed, rows, axis=1)
        return Binned(packed, self.n_bins, self.has_missing, self.categorical)

    @classmethod
    def joined(cls, parts: Sequence["Binned"]) -> "Binned":
        packed = np.concatenate([part.packed for part in parts], axis=1)
        missing = np.bitwise_or.reduce([part.has_missing for part in parts])
        return Binned(packed, parts[0].n_bins, missing, parts[0].categorical)

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> Bins:
        """The bins as growth takes them; features are bundled if ``n_channels`` is given."""
        if features is not None:
            return Bins(self.packed, features, self.growth_layout, None, None)
        if n_channels not in self._bins:
            bundles = self.bundles(n_channels) if n_channels > 0 else NO_BUNDLES
            every = self.packed, np.arange(self.n_features), self.growth_layout
            self._bins[n_channels] = Bins(*every, bundles if len(bundles.members) else None, None)
        return self._bins[n_channels]

    def bundles(self, n_channels: int) -> FeatureBundles:
        if n_channels not in self._bundles:
            widths = np.diff(self.offsets)
            self._bundles[n_channels] = bundle_features(self.packed, widths, n_channels)
        return self._bundles[n_channels]


@kernel
def sort_by_row(columns, offsets, starts, cells):
    """Write the entries row by row; ``starts`` has one entry more than there are rows, all zero."""
    for row in columns.rows:
        starts[row + 1] += 1
    for i in range(1, len(starts)):
        starts[i] += starts[i - 1]
    place = starts.copy()
    for f in range(len(columns.starts) - 1):
        for k in range(columns.starts[f], columns.starts[f + 1]):
            row = columns.rows[k]
            cells[place[row]] = offsets[f] + columns.bins[k]
            place[row] += 1


@kernel
def _first_entry(rows, start, stop, row):
    """The first of a column's entries that is not before ``row``."""
    while start < stop:
        middle = (start + stop) // 2
        if rows[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def unpack(columns, features, first, out):
    """Bins of some features as dense rows have them, four to a word, from row ``first`` on."""
    starts, rows, bins, zero_bins = columns
    n = out.shape[1]
    for group in range(len(out)):
        own = features[4 * group : 4 * group + 4]
        word = np.uint32(0)
        for j in range(len(own)):
            word |= np.uint32(zero_bins[own[j]]) << np.uint32(8 * j)
        out[group, :] = word
        for j in range(len(own)):
            f, shift = own[j], np.uint32(8 * j)
            flip = np.uint32(zero_bins[f])
            k = _first_entry(rows, starts[f], starts[f + 1], first)
            while k < starts[f + 1] and rows[k] < first + n:
                out[group, rows[k] - first] ^= (np.uint32(bins[k]) ^ flip) << shift
                k += 1


@kernel
def column_of(packed, sparse, feature):
    """Packed bins of all rows that contain a feature, and its index in them."""
    if sparse is None:
        return packed, np.int64(feature)
    out = np.empty((1, len(sparse.row_starts) - 1), dtype=np.uint32)
    unpack(sparse.columns, np.full(1, feature, dtype=np.int64), 0, out)
    return out, np.int64(0)


# Bins that are unpacked at once, which bounds memory: for a chunk of rows, in prediction, and for a
# group of features, in growth.
CHUNK_BINS = 1 << 20
GROUP_BINS = 1 << 24
NOT_PACKED = np.empty((0, 0), dtype=np.uint32)


@dataclass(frozen=True)
class SparseBinned(BinnedRows):
    """Rows as bins: feature f is in bin ``codes[k]`` in row ``rows[k]``, k from ``starts[f]`` on.

    Rows ascend within a feature; in all other rows it is in bin ``zero_bins[f]``.
    """

    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    zero_bins: np.ndarray
    n: int
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray
    offsets: np.ndarray = field(init=False)

    @property
    def n_rows(self) -> int:
        return self.n

    @property
    def columns(self) -> SparseColumns:
        return SparseColumns(self.starts, self.rows, self.codes, self.zero_bins)

    @cached_property
    def entries(self) -> SparseEntries:
        """The entries by column and by row; histograms read the latter. Made for the first tree."""
        starts = np.zeros(self.n + 1, dtype=np.int64)
        cells = np.empty(len(self.rows), dtype=np.uint32)
        sort_by_row(self.columns, self.offsets, starts, cells)
        return SparseEntries(self.columns, starts, cells)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (*self.columns, np.array(self.n))

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> Bins:
        features = np.arange(self.n_features) if features is None else features
        return Bins(NOT_PACKED, features, self.growth_layout, None, self.entries)

    def n_read(self, n_rows: int, n_features: int) -> int:
        """The stored entries of the rows: rows are read completely, whatever the features."""
        return len(self.rows) * n_rows // max(self.n, 1)

    def unpacked(self, feature: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Only the features of the nodes are unpacked, for some rows at a time."""
        used, places = np.unique(feature, return_inverse=True)
        n_groups = (len(used) + 3) // 4
        step = max(1, CHUNK_BINS // (4 * n_groups))
        for start in range(0, self.n, step):
            rows = slice(start, min(start + step, self.n))
            packed = np.empty((n_groups, rows.stop - start), dtype=np.uint32)
            unpack(self.columns, used.astype(np.int64), start, packed)
            yield rows, packed, places.astype(feature.dtype)

    def column(self, feature: int) -> tuple[np.ndarray, int]:
        packed = np.empty((1, self.n), dtype=np.uint32)
        unpack(self.columns, np.array([feature]), 0, packed)
        return packed, 0

    @property
    def n_groups(self) -> int:
        return -(-self.n * self.n_features // GROUP_BINS)

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, Layout, np.ndarray]:
        packed = np.empty(((len(features) + 3) // 4, self.n), dtype=np.uint32)
        unpack(self.columns, features, 0, packed)
        shapes = (self.n_bins[features], self.has_missing[features], self.categorical[features])
        own = Binned(packed, *shapes)
        return packed, np.arange(len(features)), own.layout, features

    @classmethod
    def joined(cls, parts: Sequence["SparseBinned"]) -> "SparseBinned":
        before = np.cumsum([0, *(part.n for part in parts)])
        feature = [np.repeat(np.arange(part.n_features), np.diff(part.starts)) for part in parts]
        order = np.argsort(np.concatenate(feature), kind="stable")
        rows = [part.rows + start for part, start in zip(parts, before.tolist(), strict=False)]
        return replace(
            parts[0],
            starts=sum((part.starts for part in parts[1:]), parts[0].starts),
            rows=np.concatenate(rows)[order].astype(np.int32),
            codes=np.concatenate([part.codes for part in parts])[order],
            n=int(before[-1]),
            has_missing=np.bitwise_or.reduce([part.has_missing for part in parts]),
        )

    def take(self, rows: np.ndarray) -> "SparseBinned":
        """Some of the rows, ascending."""
        place = np.full(self.n, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        taken = place[self.rows] >= 0
        starts = np.concatenate([[0], np.cumsum(taken)])[self.starts]
        return replace(
            self,
            starts=starts,
            rows=place[self.rows[taken]],
            codes=self.codes[taken],
            n=len(rows),
        )
