"""What rows of bins have in common, however they are stored."""

from typing import Any

import numpy as np


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
    def layout(self) -> tuple[np.ndarray, ...]:
        return self.offsets, self.n_bins, self.has_missing, self.categorical

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that tells these rows from others."""
        raise NotImplementedError

    def bins(self, features: np.ndarray | None = None, n_channels: int = 0) -> tuple[Any, ...]:
        """What growth takes, with the features to use (all).

        Columns may be joined for labels in ``n_channels`` channels, if it is given.
        """
        raise NotImplementedError

    def n_read(self, n_rows: int, n_features: int) -> int:
        """Bins that are read for a histogram of so many rows and features."""
        raise NotImplementedError

    def leaves(self, tree: Any) -> np.ndarray:
        """Leaf of each row in a grown tree."""
        raise NotImplementedError

    def take(self, rows: np.ndarray) -> "BinnedRows":
        """Some of the rows, ascending."""
        raise NotImplementedError
