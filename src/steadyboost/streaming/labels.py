"""Labels and weights of a stream: small integers, which stay in memory."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.utils.multiclass import check_classification_targets

from steadyboost.ensemble.validation import LabelSet, as_weights, check_weight_sizes
from steadyboost.streaming.source import Source


class Roles(NamedTuple):
    """Columns of a source: features, labels, and weights, if there are any."""

    features: list[str]
    target: str
    weights: str | None

    @classmethod
    def of(cls, source: Source, y: Any, sample_weight: Any, suffix: str = "") -> "Roles":
        """The roles that the arguments of ``fit`` give; all other columns are features."""
        for name, value in ((f"y{suffix}", y), (f"sample_weight{suffix}", sample_weight)):
            if value is None and name.startswith("sample_weight"):
                continue
            if not isinstance(value, str):
                raise ValueError(
                    f"{name} is of type {type(value).__name__}, but {source.name} is read as a "
                    "stream; pass the name of one of its columns."
                )
            source.need([value], name)
        apart = {y, sample_weight}
        features = [name for name in source.names if name not in apart]
        if not features:
            raise ValueError(f"{source.name} has no columns besides {sorted(filter(None, apart))}.")
        return cls(features, y, sample_weight)

    @property
    def others(self) -> list[str]:
        """The columns that are no features."""
        return [self.target, *filter(None, [self.weights])]


class StreamLabels(NamedTuple):
    """Labels of all rows as indices of the sorted ``known`` ones, and weights, if any."""

    codes: np.ndarray
    known: np.ndarray
    weights: np.ndarray | None

    @property
    def label_set(self) -> LabelSet:
        return LabelSet(self.known, np.bincount(self.codes, minlength=len(self.known)), 0)

    def check_same(self, column: pa.ChunkedArray, start: int, name: str) -> None:
        """Raise an error unless the rows from ``start`` on have these labels when read again."""
        indices, values = distinct_labels(column, name)
        own = self.codes[start : start + len(indices)]
        places = np.searchsorted(self.known, values).clip(max=len(self.known) - 1)
        same = len(own) == len(indices) and bool(np.isin(values, self.known).all())
        if not same or not np.array_equal(places[indices], own):
            raise ValueError(
                f"{name} gave other rows when it was read again, from row {start} on; sort it, or "
                "write it to a Parquet file and pass its path."
            )

    def check_number(self, n: int, name: str) -> None:
        """Raise an error unless the first pass has read ``n`` rows, too."""
        if n != len(self.codes):
            raise ValueError(
                f"{name} gave {len(self.codes)} rows at first and {n} when it was read again; pass "
                "a table that can be read twice, or a pyarrow.RecordBatchReader, which is copied."
            )


class LabelReader:
    """Collects the labels and weights of batches."""

    def __init__(self, roles: Roles):
        self.roles = roles
        self._places: dict[Any, int] = {}  # of labels, in the order in which they appear
        self._known: list[np.ndarray] = []  # the same labels, as arrays
        self._codes: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []

    def add(self, batch: pa.Table) -> np.ndarray | None:
        """Take in a batch; the weights of its rows, if there are any."""
        places = self._encoded(batch[self.roles.target])
        self._codes.append(places.astype(np.min_scalar_type(len(self._places))))
        if self.roles.weights is None:
            return None
        own = batch[self.roles.weights].to_numpy().astype(float)
        # The check refuses weights that are all zero, which those of one batch may be.
        weights = as_weights(np.append(own, 1.0), len(own) + 1)[:-1]
        check_weight_sizes(weights, "in a batch")
        self._weights.append(weights)
        return weights

    def _encoded(self, column: pa.ChunkedArray) -> np.ndarray:
        """Indices of the labels of a batch."""
        indices, values = distinct_labels(column, self.roles.target)
        places = np.empty(len(values), dtype=np.int32)
        for k, value in enumerate(values.tolist()):
            places[k] = self._places.setdefault(value, len(self._places))
        self._known.append(values)
        return places[indices]

    def labels(self) -> StreamLabels:
        """Labels of all rows that were read."""
        if not self._codes or not self._places:
            raise ValueError("X has 0 rows (shape=(0, ...)), while a minimum of 1 is required.")
        known = np.unique(np.concatenate(self._known))
        place_of = {value: place for place, value in enumerate(known.tolist())}
        final = np.array([place_of[value] for value in self._places], dtype=np.int32)
        codes = np.empty(sum(map(len, self._codes)), dtype=np.int32)
        start = 0
        while self._codes:  # the parts are let go one by one
            own = self._codes.pop(0)
            codes[start : start + len(own)] = final[own]
            start += len(own)
        weights = np.concatenate(self._weights) if self._weights else None
        if weights is not None and not weights.any():
            raise ValueError(
                f"sample_weight={self.roles.weights!r} is zero for every row; give at least one a "
                "positive weight."
            )
        return StreamLabels(codes, known, weights)


def distinct_labels(column: pa.ChunkedArray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The index of each row's label among the distinct ones, and these."""
    missing = f"y={name!r} contains missing labels (None or NaN); drop those rows."
    if column.null_count:
        raise ValueError(missing)
    plain = column.combine_chunks()
    coded = plain if pa.types.is_dictionary(plain.type) else plain.dictionary_encode()
    values = coded.dictionary.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(missing)
    if values.dtype.kind == "O":
        values = np.array(values.tolist())  # text as text: model files hold no objects
    # Twice, as labels that occur once only would draw a warning.
    check_classification_targets(np.tile(values, 2))
    return coded.indices.to_numpy(zero_copy_only=False), values


def labels_of(source: Source, roles: Roles) -> StreamLabels:
    """Labels and weights alone, by a pass over their columns."""
    reader = LabelReader(roles)
    for batch in source.batches(roles.others):
        reader.add(batch)
    return reader.labels()
