"""Soft labels: a row with a distribution of labels becomes a weighted copy for each label."""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.validation import Sample, label_array, n_rows
from steadyboost.preprocessing.encoder import as_frame

TOLERANCE = 1e-6  # of the sum of a row's probabilities


class SoftLabels(NamedTuple):
    """Distributions of labels, (n, k), and the sorted classes that their columns stand for."""

    proba: np.ndarray
    classes: np.ndarray


def soft_labels(distribution: Any, y: Any, X: Any) -> SoftLabels:
    """Check distributions that were passed to ``fit``; the classes of their columns."""
    if isinstance(distribution, SoftLabels):
        return distribution
    names = _column_names(distribution)
    try:
        soft = np.asarray(distribution, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError("label_distribution must be an array of numbers.") from error
    if soft.ndim != 2 or soft.shape[0] != n_rows(X):
        raise ValueError(
            f"label_distribution has shape {soft.shape} for {n_rows(X)} rows; pass a row for each "
            "and a column for each class."
        )
    _check_values(soft)
    classes = _classes(soft.shape[1], names, y)
    order = np.argsort(classes, kind="stable")
    soft, classes = soft[:, order], classes[order]
    never = soft.sum(axis=0) == 0
    if never.any():
        raise ValueError(
            f"label_distribution gives class {classes[never].tolist()[0]!r} no probability in any "
            "row; leave out its column."
        )
    return SoftLabels(soft / soft.sum(axis=1, keepdims=True), classes)


def _column_names(distribution: Any) -> np.ndarray | None:
    frame = as_frame(distribution)
    if frame is None:
        return None
    listed = getattr(distribution, "columns", frame.columns)  # pandas also has names of other types
    return np.asarray(list(listed))


def _check_values(soft: np.ndarray) -> None:
    bad = ~np.isfinite(soft).all(axis=1) | (soft < 0).any(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"label_distribution has {soft[row].tolist()} in row {row}; pass probabilities, which "
            "are finite and not negative."
        )
    sums = soft.sum(axis=1)
    off = np.abs(sums - 1) > TOLERANCE
    if off.any():
        row = int(off.argmax())
        raise ValueError(
            f"label_distribution sums to {sums[row]:.6g} in row {row}; rows must sum to 1: divide "
            "counts by their sum, and leave out rows without any."
        )


def _classes(k: int, names: np.ndarray | None, y: Any) -> np.ndarray:
    """What the columns stand for: the classes in y, the names of columns, or 0, 1, ..."""
    if y is None:
        return np.arange(k) if names is None else names
    found = np.unique(label_array(y))
    if len(found) != k:
        raise ValueError(
            f"label_distribution has {k} columns, but y has {len(found)} classes, which name the "
            "columns in sorted order; pass y=None and a data frame with the classes as columns."
        )
    return found


def most_probable(soft: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The label of each row where it must have one, as for folds and validation rows."""
    return classes[soft.argmax(axis=1)]


def with_copies(sample: Sample, classes: np.ndarray) -> Sample:
    """A copy of each row for each label of positive probability, with its share of the weight.

    The same rows, in the same order and without weights, where each row has one label.
    """
    soft = sample.distribution
    assert soft is not None
    place, label = np.nonzero(soft)
    if len(place) == len(soft):
        return sample._replace(y=classes[label], distribution=None)
    copies = sample._replace(distribution=None).take(place)
    share = soft[place, label]
    weights = share if copies.weights is None else copies.weights * share
    return copies._replace(y=classes[label], weights=weights)


def rows_of_copies(numbers: Any) -> np.ndarray | None:
    """For each copy the number of its row among the rows that were copied; None without copies.

    ``numbers`` are those of :class:`~steadyboost.ensemble.training_state.TrainingState`.
    """
    if isinstance(numbers, slice):
        return None
    distinct, row_of = np.unique(numbers, return_inverse=True)
    return None if len(distinct) == len(numbers) else row_of
