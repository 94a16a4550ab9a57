"""Classes, encoder and binner from summaries of partitions; partitions as bins."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from steadyboost.distributed.quantile_sketch import QuantileSketch
from steadyboost.ensemble.costs import weighted_by_stakes
from steadyboost.ensemble.validation import (
    LabelSet,
    Sample,
    as_weights,
    check_labels,
    check_table,
    check_weight_sizes,
    drop_zero_weights,
    n_rows,
    take_rows,
)
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import (
    DATE_PARTS,
    Encoder,
    count_values,
    date_columns,
    each_column,
    holds_dates,
    most_frequent,
    numeric_column,
    raw_column,
)
from steadyboost.preprocessing.sparse import compress
from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.data.binning import MAX_BINS

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier


class LabelCounts(NamedTuple):
    """Labels of the rows of positive weight of a partition, and how often each occurs."""

    n_rows: int
    labels: np.ndarray
    counts: np.ndarray
    n_columns: int  # of labels; 0 where a row has one label
    n_passed: int  # rows of any weight


def sample_of(booster: "BoostingClassifier", number: int, y: Any, weights: Any) -> Sample:
    """The labels of a partition, checked, with weights; row indices stand in for the rows."""
    n = n_rows(y)
    rows = np.arange(n)
    if n == 0:
        return Sample(rows, np.asarray(y), None)
    labels = check_labels(y, rows, booster.takes_label_sets)
    if weights is None:
        return Sample(rows, labels, None)
    if n_rows(weights) != n:
        raise ValueError(
            f"sample_weight has {n_rows(weights)} rows in partition {number}, but y has {n}."
        )
    # The check refuses weights that are all zero, which those of one partition may be.
    one_more = np.append(weights, 1.0)
    known = as_weights(one_more, n + 1)
    check_weight_sizes(known[:-1], f"in partition {number}")
    return drop_zero_weights(Sample(rows, labels, known[:-1]))


def count_labels(booster: "BoostingClassifier", number: int, y: Any, weights: Any) -> LabelCounts:
    """Count the labels of a partition."""
    labels = sample_of(booster, number, y, weights).y
    if labels.ndim == 2:
        none = np.empty(0), np.empty(0, dtype=int)
        return LabelCounts(len(labels), *none, labels.shape[1], n_rows(y))
    return LabelCounts(len(labels), *np.unique(labels, return_counts=True), 0, n_rows(y))


def merge_labels(partitions: Sequence[LabelCounts]) -> LabelSet:
    """The labels of all partitions; a single one may lack some of them."""
    present = [own for own in partitions if own.n_rows]
    if not present:
        raise ValueError(
            "X has 0 rows of positive weight in all partitions, while a minimum of 1 is required."
        )
    widths = {own.n_columns for own in present}
    if len(widths) > 1:
        raise ValueError(f"y has partitions of {sorted(widths)} columns; pass the same in each.")
    labels = np.concatenate([own.labels for own in present])
    known, place = np.unique(labels, return_inverse=True)
    counts = np.bincount(place, np.concatenate([own.counts for own in present]), len(known))
    return LabelSet(known, counts.astype(int), widths.pop())


def encode_labels(
    booster: "BoostingClassifier", number: int, y: Any, weights: Any, labels: LabelSet
) -> np.ndarray:
    """The labels of a partition as small integers; indicators for multilabel targets."""
    own = sample_of(booster, number, y, weights).y
    if labels.n_columns:
        return own.astype(np.int8)
    return np.searchsorted(labels.known, own).astype(np.min_scalar_type(len(labels.known)))


@dataclass(frozen=True)
class RowSelection:
    """Which rows of a partition are training rows, and the weights of their classes."""

    labels: np.ndarray | None = None  # of all partitions
    class_weights: np.ndarray | None = None
    held: np.ndarray | None = None  # which rows of positive weight are validation rows

    def sample(
        self, booster: "BoostingClassifier", number: int, part: Sequence[Any], held: bool = False
    ) -> Sample:
        """Training or validation rows: checked, and all of positive weight."""
        X, y, weights, costs = part
        if n_rows(X) != n_rows(y):
            raise ValueError(
                f"X has {n_rows(X)} rows in partition {number}, but y has {n_rows(y)}."
            )
        kept = sample_of(booster, number, y, weights)
        if self.held is not None:
            chosen = np.flatnonzero(self.held == held)
            kept = kept.take(chosen)
        if self.labels is not None and self.class_weights is not None and not held:
            by_class = self.class_weights[np.searchsorted(self.labels, kept.y)]
            kept = kept._replace(
                weights=by_class if kept.weights is None else kept.weights * by_class
            )
            kept = drop_zero_weights(kept)
        rows = kept.X
        if len(rows):
            X = check_table(booster, X, reset=False)
        own_costs = None if costs is None else np.asarray(costs, dtype=float)[rows]
        return Sample(rows_of(X, rows), kept.y, kept.weights, own_costs, numbers=rows)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix or a data frame; without a copy if all."""
    return X if len(rows) == n_rows(X) else take_rows(rows, X)[0]


class ColumnSummary(NamedTuple):
    """Quantiles of a numeric column or counts of categories, and whether values are missing.

    A column of dates has a summary for each of its parts.
    """

    distribution: QuantileSketch | Counter
    has_missing: bool
    date_part: str | None = None


def summarize_columns(sample: Sample, categorical: np.ndarray) -> list[ColumnSummary]:
    """Summaries of the columns of training rows."""
    if issparse(sample.X):
        return _summarize_sparse_columns(sample)
    columns = []
    for values, is_categorical in zip(each_column(sample.X), categorical.tolist(), strict=True):
        if is_categorical:
            counts = count_values(raw_column(values))
            columns.append(ColumnSummary(counts, counts.total() < len(sample.y)))
        elif holds_dates(values):
            columns += [
                _summarize_numbers(own, sample.weights, part)
                for part, own in date_columns(values).items()
            ]
        else:
            columns.append(_summarize_numbers(numeric_column(values), sample.weights))
    return columns


def _summarize_numbers(
    numbers: Any, weights: np.ndarray | None, part: str | None = None
) -> ColumnSummary:
    """The summary of a column of numbers, or of a part of dates."""
    numbers = np.asarray(numbers, dtype=np.float64)
    known = ~np.isnan(numbers)
    own = None if weights is None else weights[known]
    return ColumnSummary(QuantileSketch.of(numbers[known], own), not known.all(), part)


def _summarize_sparse_columns(sample: Sample) -> list[ColumnSummary]:
    """The same for compressed columns, whose other entries are zero."""
    table = compress(sample.X)
    weights = np.ones(table.n_rows) if sample.weights is None else sample.weights
    total, columns = weights.sum(), []
    for f in range(table.n_columns):
        rows, values = table.column(f)
        known = ~np.isnan(values)
        stored = QuantileSketch.of(values[known], weights[rows[known]])
        rest = float(total - weights[rows].sum())
        if len(rows) < table.n_rows:
            zeros = QuantileSketch(np.zeros(1), np.array([rest]))
            stored = QuantileSketch.merged([stored, zeros])
        columns.append(ColumnSummary(stored, not known.all()))
    return columns


def merge_summaries(parts: list[list[ColumnSummary]]) -> list[ColumnSummary]:
    """Summaries of the columns of several partitions."""
    merged = []
    for own in zip(*parts, strict=True):
        found = [column.distribution for column in own]
        if isinstance(found[0], Counter):
            both: Any = sum(found, Counter())
        else:
            both = QuantileSketch.merged(found)
        missing = any(column.has_missing for column in own)
        merged.append(ColumnSummary(both, missing, own[0].date_part))
    return merged


def learn_encoder_and_binner(columns: list[ColumnSummary], max_bins: int) -> tuple[Encoder, Binner]:
    """Categories and cut points from summaries of all rows."""
    categories: list[list[Any] | None] = []
    dates: list[Any] = []
    cuts, missing = [], []
    for distribution, has_missing, part in columns:
        if part not in (None, DATE_PARTS[0]):
            if _is_constant(distribution):
                continue
            dates[-1].append(part)
        else:
            kept = most_frequent(distribution) if isinstance(distribution, Counter) else None
            categories.append(kept)
            dates.append(None if part is None else [part])
        if isinstance(distribution, QuantileSketch):
            cuts.append(distribution.cuts(max_bins))
        else:
            cuts.append(np.arange(len(categories[-1] or ()) - 1) + 0.5)
            has_missing = has_missing or len(distribution) > MAX_BINS
        missing.append(has_missing)
    encoder = Encoder(categories, dates if any(dates) else None)
    return encoder, Binner(cuts, np.array(missing, dtype=np.int64), encoder.is_categorical)


def _is_constant(distribution: Any) -> bool:
    """Whether a part of dates is the same in all rows."""
    return len(distribution.values) < 2


class Partition(NamedTuple):
    """Rows of one partition as bins; ``rows`` are their places in what was passed."""

    number: int
    binned: BinnedRows
    y: np.ndarray
    weights: np.ndarray | None
    costs: np.ndarray | None
    rows: np.ndarray


def binned_partition(
    booster: "BoostingClassifier", number: int, sample: Sample, name: str = "y"
) -> Partition | None:
    """Encode and bin the rows of a partition, once per fit; None if there are none."""
    if not len(sample.y):
        return None
    assert booster._binner is not None
    y = booster._class_indices(sample.y, name)
    binned = booster._binner.bin(booster._encoder.encode(sample.X))
    stakes = booster.row_stakes(y, sample.costs)
    weights = weighted_by_stakes(sample.weights, stakes)
    assert sample.numbers is not None
    return Partition(number, binned, y, weights, sample.costs, sample.numbers)
