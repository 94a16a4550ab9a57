"""Binned rows in compressed columns: for tables that are mostly zeros, such as texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from steadyboost.trees.data.binned import (
    Binned,
    BinnedRows,
    Bins,
    Layout,
    SparseColumns,
    SparseEntries,
)
from steadyboost.trees.histograms.sparse import sort_by_row, unpack

CHUNK_BINS = 1 << 20  # that are unpacked at once for some rows
GROUP_BINS = 1 << 24  # that are unpacked at once for some features
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
        """With the entries row by row, which histograms read: made when a tree is grown."""
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
        """Rows are read whole, whatever the features."""
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
