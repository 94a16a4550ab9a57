"""Validation of the arguments of ``fit`` and ``predict``."""

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from math import ceil
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import train_test_split
from sklearn.utils import (
    check_array,
    check_random_state,
    compute_class_weight,
    compute_sample_weight,
    get_tags,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    check_consistent_length,
    check_non_negative,
    column_or_1d,
    validate_data,
)

from steadyboost.preprocessing.encoder import as_frame, text_array
from steadyboost.preprocessing.sparse import check_structure

# Sums, squares and products of weights within these bounds neither overflow nor underflow.
LARGEST_WEIGHT, SMALLEST_WEIGHT = 2.0**150, 2.0**-150


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask itself is not needed to find out."""
    return hasattr(X, "__dask_graph__")


def is_stream(X: Any, y: Any = None) -> bool:
    """Whether X is read in batches: a path, an Arrow stream, or a table with its own labels."""
    if isinstance(X, (str, os.PathLike)) or isinstance(y, str):
        return True
    if hasattr(X, "__array__"):  # an array, a column or a table in memory
        return False
    gives = ("__arrow_c_stream__", "collect_batches", "to_batches")  # the latter: lazy tables
    return any(hasattr(X, name) for name in gives) and as_frame(X) is None


class Sample(NamedTuple):
    """Checked rows, their labels and weights (None: all equal), and costs of labels, if any.

    Labels are (n,), or (n, labels) with 1 where a row has the label. ``distribution`` (n, k) are
    the probabilities of the labels of each row, where labels are soft; ``verified`` (n,) marks
    rows whose label is known to be right, and ``given`` (n,) are the labels before they were
    corrected, if known. ``numbers`` are the indices of the rows in what the user passed, None for
    all of them.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    costs: np.ndarray | None = None
    distribution: np.ndarray | None = None
    verified: np.ndarray | None = None
    given: np.ndarray | None = None
    numbers: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Sample":
        """The listed rows."""
        numbers = rows if self.numbers is None else self.numbers[rows]
        return Sample(*take_rows(rows, *self[:-1]))._replace(numbers=numbers)


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check ``X``: data frames are returned as they are, all else as numeric or sparse arrays."""
    check_columns(X)
    if is_stream(X):
        raise ValueError(
            f"X is of type {type(X).__name__}, which is read as a stream by fit, predict, "
            "predict_proba, decision_function and score alone; pass rows in memory here."
        )
    if as_frame(X) is None:
        refuse_complex(X, "X")
        if issparse(X):
            check_structure(X)
        tags = get_tags(estimator).input_tags
        if issparse(X) and not tags.sparse:
            raise ValueError(
                f"X is sparse, but {type(estimator.estimator).__name__} does not take sparse "
                "input; pass X.toarray(), or another estimator, such as steadyboost.Tree."
            )
        finite = "allow-nan" if tags.allow_nan else True
        with floats_of("X"):
            table = validate_data(
                estimator, X, reset=reset, accept_sparse=("csr", "csc"), ensure_all_finite=finite
            )
            # Lists of large integers, for example, are objects.
            table = table.astype(np.float64) if table.dtype.kind == "O" else table
        if table.dtype.kind not in "biuf":
            raise ValueError(f"X is an array of {table.dtype}; convert it to numbers.")
        return table
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if n_rows(X) == 0:
        raise ValueError("X has 0 rows (shape=(0, ...)), while a minimum of 1 is required.")
    return X


@contextmanager
def floats_of(name: str) -> Iterator[None]:
    """Raise a ``ValueError`` that names the argument if an integer is too large for a float."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} has an integer that is too large for a float.") from error


def check_columns(X: Any) -> None:
    """Raise an error for a data frame without columns, or with two columns of one name."""
    names = getattr(X, "columns", None)
    if names is None or not hasattr(names, "__len__"):
        return
    names = list(names)
    if not all(isinstance(name, Hashable) for name in names):
        names = list(X.column_names)  # pyarrow's columns are the columns themselves
    if not names:
        raise ValueError("X has 0 features (shape=(n, 0)), while a minimum of 1 is required.")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"X has several columns of the name {twice!r}; rename all but one.")


def text_labels(y: Any) -> Any:
    """Texts as an array in which one long text does not take memory in every entry; else y."""
    values = y
    if not isinstance(y, (list, tuple, np.ndarray)):
        series = nw.from_native(y, series_only=True, pass_through=True)
        if not isinstance(series, nw.Series) or series.dtype != nw.String:
            return y
        values = series.to_list()
    if isinstance(values, np.ndarray) or not all(isinstance(label, str) for label in values):
        return y
    return text_array(values) if len(values) else y


def label_array(y: Any) -> np.ndarray:
    """Labels as an array; see :func:`text_labels`."""
    return np.asarray(text_labels(y))


def refuse_complex(values: Any, name: str) -> None:
    """Raise an error for complex numbers, which have no order."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        # the first words are those that scikit-learn asks for
        raise ValueError(f"Complex data not supported: {name} has numbers without an order.")


def check_label_types(labels: Any) -> None:
    """Raise an error for a list or an array of objects with labels of several types."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind != "O":
        return
    kinds = {_type_of_label(label) for label in np.ravel(np.asarray(labels, dtype=object)).tolist()}
    if len(kinds) > 1:
        raise TypeError(
            f"y has labels of several types: {', '.join(sorted(kinds))}; convert them to one of "
            "them, for example all to str."
        )


def _type_of_label(label: Any) -> str:
    """The name of its type; one name for all numbers."""
    if isinstance(label, Real) and not isinstance(label, (bool, np.bool_)):
        return "number"
    return "str" if isinstance(label, str) else type(label).__name__


def check_labels(y: Any, X: Any, several: bool = False) -> np.ndarray:
    """One label per row of X; or, if ``several`` are allowed, an indicator matrix."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    check_consistent_length(X, y)
    given, y = y, text_labels(y)
    try:
        has_columns = issparse(y) or np.asarray(y).ndim == 2
    except ValueError as error:
        raise ValueError("y has lists of several lengths; pass one label per row.") from error
    if several and has_columns:
        dense = y.toarray() if issparse(y) else np.asarray(y)
        if type_of_target(dense) == "multilabel-indicator":
            return (dense != 0).astype(np.int32)
    refuse_complex(y, "y")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O" and any(label is None or label != label for label in y.tolist()):
        raise ValueError("y contains missing labels (None or NaN); drop those rows.")
    check_label_types(given if isinstance(given, (list, tuple)) else y)
    check_classification_targets(y)
    return y


def n_rows(X: Any) -> int:
    """Rows of an array, a data frame, a sparse matrix, a list, or what can be made an array."""
    if getattr(X, "shape", None):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def as_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Finite, non-negative weights of ``n`` rows; a number stands for equal weights."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    refuse_complex(sample_weight, "sample_weight")
    with floats_of("sample_weight"):
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
    """Non-negative float weights, at least one of them positive, in range; None stays None."""
    if sample_weight is None:
        return None
    weights = as_weights(sample_weight, n_rows(X))
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row; give at least one a positive weight."
        )
    return in_range(weights, float(weights.max()))


def check_weight_sizes(weights: np.ndarray, where: str) -> None:
    """Raise an error for weights that would have to be scaled by others, which are elsewhere."""
    known = weights[weights > 0]
    if len(known) and not SMALLEST_WEIGHT <= known.min() <= known.max() <= LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight has values from {known.min():g} to {known.max():g} {where}; multiply "
            f"all weights by one number so that those above 0 are between {SMALLEST_WEIGHT:.0e} "
            f"and {LARGEST_WEIGHT:.0e}."
        )


def in_range(weights: np.ndarray, largest: float) -> np.ndarray:
    """Weights of which the sum is a number, given the largest of all rows.

    If it is extremely large or small, all weights are scaled by the same power of two, which is
    exact. Positive weights that are too small beside it to matter are raised to a lower
    bound: products with them must not become zero.
    """
    is_positive = weights > 0  # before the smallest ones become zero
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        weights = np.ldexp(weights, 1 - int(np.frexp(largest)[1]))
    if (weights >= SMALLEST_WEIGHT).all():
        return weights
    return np.where(is_positive, np.maximum(weights, SMALLEST_WEIGHT), 0.0)


def with_class_weight(
    weights: np.ndarray | None, class_weight: Any, y: np.ndarray
) -> np.ndarray | None:
    """Row weights multiplied by the class weights."""
    if class_weight is None:
        return weights
    if y.ndim == 2:
        raise ValueError(
            f"class_weight={class_weight!r} is for rows of one class each, but y has several "
            "labels per row; pass sample_weight instead."
        )
    by_class = compute_sample_weight(class_weight, y)
    check_class_weights(class_weight, by_class)
    by_class = in_range(by_class, float(by_class.max()))
    return by_class if weights is None else weights * by_class


def check_class_weights(class_weight: Any, by_class: np.ndarray) -> None:
    """Raise an error if class weights are negative or not finite, or all zero."""
    if not (np.isfinite(by_class).all() and (by_class >= 0).all() and by_class.any()):
        raise ValueError(
            f"class_weight={class_weight!r} has negative, missing or infinite weights, or is zero "
            "for every class; give each class a weight of 0 or more."
        )


class LabelSet(NamedTuple):
    """All labels, sorted, and their counts; empty for multilabel targets."""

    known: np.ndarray
    counts: np.ndarray
    n_columns: int


def class_weights_of(class_weight: Any, labels: LabelSet) -> np.ndarray | None:
    """The weight of each class; None if all are one."""
    if class_weight is None:
        return None
    if labels.n_columns:
        raise ValueError(
            f"class_weight={class_weight!r} is for rows of one class each, but y has several "
            "labels per row; pass sample_weight instead."
        )
    if class_weight == "balanced":
        present = labels.counts > 0
        shares = np.where(present, labels.counts, 1) * present.sum()
        return labels.counts.sum() / shares
    weights = compute_class_weight(class_weight, classes=labels.known, y=labels.known)
    check_class_weights(class_weight, weights)
    return in_range(weights, float(weights.max()))


def take_rows(rows: np.ndarray, *arrays: Any) -> list[Any]:
    """The listed rows of each array or data frame; None stays None."""

    def taken(array: Any) -> Any:
        frame = None if array is None else as_frame(array)
        return frame[rows].to_native() if frame is not None else array[rows]

    return [None if array is None else taken(array) for array in arrays]


def drop_zero_weights(sample: Sample) -> Sample:
    """The rows of positive weight."""
    if sample.weights is None or sample.weights.all():
        return sample
    return sample.take(np.flatnonzero(sample.weights))


def split_off(y: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and for validation, stratified where each class has enough rows.

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
    lost = ~np.isin(y[held], y[train])  # classes that would have no training row
    return np.sort(np.append(train, held[lost])), np.sort(held[~lost])


def held_out(labels: list[np.ndarray], fraction: float, seed: int) -> np.ndarray:
    """Boolean mask of the validation rows."""
    y = np.concatenate(labels)
    held = np.zeros(len(y), dtype=bool)
    held[split_off(y, fraction, seed)[1]] = True
    return held


def set_aside(sample: Sample, fraction: float, seed: int) -> tuple[Sample, Sample]:
    """Training rows, and validation rows for early stopping."""
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
    """Index of each label in the sorted classes."""
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
    """One integer, from which the seeds of all rounds are derived."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
