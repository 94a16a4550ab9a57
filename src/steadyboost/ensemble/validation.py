"""Checks of what a user passes, before any work is done."""

from math import ceil
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array, check_random_state, compute_sample_weight, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    check_consistent_length,
    check_non_negative,
    column_or_1d,
    validate_data,
)

from steadyboost.preprocessing.encoder import as_frame


class Sample(NamedTuple):
    """Checked rows, their labels and weights (None: all equal), and costs of labels, if any.

    Labels are (n,), or (n, labels) with 1 where a row has the label. ``numbers`` are the rows'
    places in what the user passed, None if these are all of it.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    costs: np.ndarray | None = None
    numbers: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Sample":
        """The listed rows."""
        numbers = rows if self.numbers is None else self.numbers[rows]
        return Sample(*take_rows(rows, *self[:-1]))._replace(numbers=numbers)


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A data frame as it is, all else as a numeric array, or sparse; names and width checked."""
    if as_frame(X) is None:
        tags = get_tags(estimator).input_tags
        if issparse(X) and not tags.sparse:
            raise ValueError(
                f"X is sparse, but {type(estimator.estimator).__name__} does not take sparse "
                "input; pass X.toarray(), or another estimator, such as steadyboost.Tree."
            )
        finite = "allow-nan" if tags.allow_nan else True
        return validate_data(
            estimator, X, reset=reset, accept_sparse=("csr", "csc"), ensure_all_finite=finite
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if n_rows(X) == 0:
        raise ValueError("X has 0 rows (shape=(0, ...)), while a minimum of 1 is required.")
    return X


def check_labels(y: Any, X: Any, several: bool = False) -> np.ndarray:
    """One label per row of X; or, if ``several`` are allowed, an indicator matrix."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    check_consistent_length(X, y)
    if several and (issparse(y) or np.asarray(y).ndim == 2):
        dense = y.toarray() if issparse(y) else np.asarray(y)
        if type_of_target(dense) == "multilabel-indicator":
            return (dense != 0).astype(np.int32)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O" and any(label is None or label != label for label in y.tolist()):
        raise ValueError("y contains missing labels (None or NaN); drop those rows.")
    check_classification_targets(y)
    return y


def n_rows(X: Any) -> int:
    """Rows of an array, a data frame, a sparse matrix or a list."""
    return X.shape[0] if getattr(X, "shape", None) else len(X)


def as_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Finite, non-negative weights of so many rows; a number stands for equal ones."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, float(sample_weight))
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but there are {n} rows; pass one weight for "
            "each row."
        )
    check_non_negative(weights, "`sample_weight`")
    return weights


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Non-negative float weights, at least one of them positive; None where all are equal."""
    if sample_weight is None:
        return None
    weights = as_weights(sample_weight, n_rows(X))
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row; give at least one a positive weight."
        )
    return weights


def with_class_weight(
    weights: np.ndarray | None, class_weight: Any, y: np.ndarray
) -> np.ndarray | None:
    """Row weights times those of the rows' classes."""
    if class_weight is None:
        return weights
    if y.ndim == 2:
        raise ValueError(
            f"class_weight={class_weight!r} is for rows of one class each, but y has several "
            "labels per row; pass sample_weight instead."
        )
    by_class = compute_sample_weight(class_weight, y)
    check_class_weights(class_weight, by_class)
    return by_class if weights is None else weights * by_class


def check_class_weights(class_weight: Any, by_class: np.ndarray) -> None:
    """Refuse weights that no class can have."""
    if not (np.isfinite(by_class).all() and (by_class >= 0).all() and by_class.any()):
        raise ValueError(
            f"class_weight={class_weight!r} has negative, missing or infinite weights, or is zero "
            "for every class; give each class a weight of 0 or more."
        )


def take_rows(rows: np.ndarray, *arrays: Any) -> list[Any]:
    """The listed rows of each array or data frame; None stays None."""

    def taken(array: Any) -> Any:
        frame = None if array is None else as_frame(array)
        return frame[rows].to_native() if frame is not None else array[rows]

    return [None if array is None else taken(array) for array in arrays]


def without_weightless(sample: Sample) -> Sample:
    """The rows that weigh anything."""
    if sample.weights is None or sample.weights.all():
        return sample
    return sample.take(np.flatnonzero(sample.weights))


def split_off(y: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and for validation, stratified where the classes have rows enough.

    Each class keeps a row in training. Sets of labels are not stratified.
    """
    n = len(y)
    n_held = min(ceil(fraction * n), n - 1)
    if n_held == 0:
        return np.arange(n), np.arange(0)
    if y.ndim == 2:
        order = np.random.RandomState(seed).permutation(n)
        return np.sort(order[n_held:]), np.sort(order[:n_held])
    counts = np.unique(y, return_counts=True)[1]
    enough = counts.min() >= 2 and min(n_held, n - n_held) >= len(counts)
    train, held = train_test_split(
        np.arange(n), test_size=n_held, random_state=seed, stratify=y if enough else None
    )
    lost = ~np.isin(y[held], y[train])
    return np.sort(np.append(train, held[lost])), np.sort(held[~lost])


def held_out(labels: list[np.ndarray], fraction: float, seed: int) -> np.ndarray:
    """Which of all rows are for validation."""
    y = np.concatenate(labels)
    held = np.zeros(len(y), dtype=bool)
    held[split_off(y, fraction, seed)[1]] = True
    return held


def set_aside(sample: Sample, fraction: float, seed: int) -> tuple[Sample, Sample]:
    """Rows to train on, and rows to stop early by."""
    if len(sample.y) < 2:
        raise ValueError(
            "early_stopping=True needs at least 2 rows to set some aside; got 1. "
            "Pass early_stopping=False."
        )
    train, held = split_off(sample.y, fraction, seed)
    if not len(held):
        raise ValueError(
            "early_stopping=True found no row to set aside: each class has to keep one. "
            "Pass X_val and y_val, or early_stopping=False."
        )
    return sample.take(train), sample.take(held)


def class_indices(y: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """The place of each label among the classes."""
    last = len(classes) - 1
    try:
        indices = np.searchsorted(classes, y).clip(max=last)
    except TypeError:  # labels of another type than the classes
        indices = np.zeros(len(y), dtype=int)
    unknown = np.unique(y[classes[indices] != y])
    if len(unknown):
        raise ValueError(
            f"{name} has labels that the training rows do not have: {unknown[:5].tolist()}; "
            f"known are {classes[:5].tolist()}. Drop those rows or add them to training."
        )
    return indices.astype(np.int32)


def seed_from(random_state: Any) -> int:
    """One integer from which every round's chance follows."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
