"""Rows as bins: what they have in common however they are stored, and four columns to a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from steadyboost.trees.joint import NOT_JOINED, Joint, join_columns


class BinnedRows:
    """Rows as bins; of each feature the number of bins, and whether one more is for gaps."""

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
    def layout(self) -> tuple[np.ndarray, ...]:
        return self.offsets, self.n_bins, self.has_missing, self.categorical

    @cached_property
    def growth_layout(self) -> tuple[np.ndarray | None, ...]:
        """None for categories where there are none: growth is compiled without them then."""
        return (*self.layout[:3], self.categorical if self.categorical.any() else None)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that tells these rows from others."""
        raise NotImplementedError

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> tuple:
        """What growth takes; ``n_channels`` is what it adds up, where that is known."""
        raise NotImplementedError

    def joint(self, n_channels: int) -> Joint:
        """Columns that join several features, for sums of so many channels."""
        return NOT_JOINED

    def n_read(self, n_rows: int, n_features: int) -> int:
        """Bins that are read for a histogram of so many rows and features."""
        raise NotImplementedError

    def unpacked(self, feature: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Stretches of rows as packed bins, and the places in them of the features of nodes."""
        raise NotImplementedError

    def with_scores(
        self, feature: np.ndarray, scores: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """As ``unpacked``, with the scores of the stretch in column order, to be added to."""
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

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple, np.ndarray]:
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
    _joint: dict[int, Joint] = field(default_factory=dict, init=False, repr=False, compare=False)
    _bins: dict[int, tuple] = field(default_factory=dict, init=False, repr=False, compare=False)

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

    def group(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple, np.ndarray]:
        return self.packed, features, self.layout, np.arange(self.n_features)

    def take(self, rows: np.ndarray) -> "Binned":
        packed = np.take(self.packed, rows, axis=1)
        return Binned(packed, self.n_bins, self.has_missing, self.categorical)

    @classmethod
    def joined(cls, parts: Sequence["Binned"]) -> "Binned":
        packed = np.concatenate([part.packed for part in parts], axis=1)
        missing = np.bitwise_or.reduce([part.has_missing for part in parts])
        return Binned(packed, parts[0].n_bins, missing, parts[0].categorical)

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> tuple:
        """What growth takes; columns are joined for ``n_channels``, if it is given.

        None for joint columns where there are none: growth is compiled without them then.
        """
        if features is not None:
            return self.packed, features, self.growth_layout, None
        if n_channels not in self._bins:
            joint = self.joint(n_channels) if n_channels > 0 else NOT_JOINED
            every = self.packed, np.arange(self.n_features), self.growth_layout
            self._bins[n_channels] = *every, joint if len(joint[3]) else None
        return self._bins[n_channels]

    def joint(self, n_channels: int) -> Joint:
        if n_channels not in self._joint:
            widths = np.diff(self.offsets)
            self._joint[n_channels] = join_columns(self.packed, widths, n_channels)
        return self._joint[n_channels]
