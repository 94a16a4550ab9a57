"""The rows to compare on: as they are for our boosters, as numbers for other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.ensemble.validation import take_rows
from steadyboost.preprocessing.encoder import Encoder, as_frame, categorical_mask


@dataclass(frozen=True)
class Features:
    """``numbers`` has a code for each category and NaN for each gap; it is sparse where X is.

    Codes come from all rows: they name the categories, and know nothing of the labels.
    """

    X: Any
    numbers: Any
    categorical: np.ndarray

    @classmethod
    def read(cls, X: Any, categorical_features: Any = "from_dtype") -> Features:
        if as_frame(X) is None and not issparse(X):
            X = np.asarray(X)
        if getattr(X, "ndim", 2) != 2:
            raise ValueError(f"X has shape {X.shape}; pass a table of rows and columns.")
        mask = categorical_mask(X, categorical_features)
        return cls(X, Encoder.learn(X, mask).encode(X), mask)

    @property
    def n_rows(self) -> int:
        return self.numbers.shape[0]

    @property
    def n_columns(self) -> int:
        return self.numbers.shape[1]

    @property
    def has_gaps(self) -> bool:
        return not issparse(self.numbers) and bool(np.isnan(self.numbers.astype(float)).any())

    @property
    def categories(self) -> list[int]:
        """Numbers of the columns that are categories."""
        return np.flatnonzero(self.categorical).tolist()

    def rows(self, indices: np.ndarray, as_numbers: bool) -> Any:
        return self.numbers[indices] if as_numbers else take_rows(indices, self.X)[0]
