"""Binned rows: what they have in common however they are stored, and four columns to a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from steadyboost.trees.data.bundling import NO_BUNDLES, FeatureBundles, bundle_features


class Layout(NamedTuple):
    """Where the bins of each feature are in a histogram.

    Feature f has the cells ``offsets[f]`` to ``offsets[f + 1]``, ``n_bins[f]`` of them for values
    and one more for missing values where ``has_missing[f]``.
    """

    offsets: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray
    categorical: np.ndarray | None  # None for no categories: their order is not compiled then


class SparseColumns(NamedTuple):
    """Feature f is in ``bins[k]`` in row ``rows[k]`` for k from ``starts[f]`` to ``starts[f + 1]``.

    Rows ascend within a feature; in all other rows it is in its ``zero_bins[f]``.
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
    What is None is not compiled: kernels that depend on it take it as an argument of its own.
    """

    packed: np.ndarray
    features: np.ndarray
    layout: Layout
    bundles: FeatureBundles | None
    sparse: SparseEntries | None


class BinnedRows:
    """Binned rows; of each feature the number of bins, and whether values are missing."""

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
        """All that tells these rows from others."""
        raise NotImplementedError

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> Bins:
        """What growth takes; ``n_channels`` is what it adds up, where that is known."""
        raise NotImplementedError

    def bundles(self, n_channels: int) -> FeatureBundles:
        """Bundles of features, for sums of so many channels."""
        return NO_BUNDLES

    def n_read(self, n_rows: int, n_features: int) -> int:
        """Bins that are read for a histogram of so many rows and features."""
        raise NotImplementedError

    def unpacked(self, feature: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Chunks of rows as packed bins, and the places in them of the features of nodes."""
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
        """Packed bins of all rows that have a feature, and its place in them."""
        raise NotImplementedError

    @property
    def n_groups(self) -> int:
        """Groups of features that ``group`` is asked for, at the least."""
        raise NotImplementedError

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, Layout, np.ndarray]:
        """Packed bins of all rows, the places of features in them, layout and names of places."""
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
        """The rows of all parts, one after the other, in arrays of their own."""
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
        """What growth takes; features are bundled for ``n_channels``, if it is given."""
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
