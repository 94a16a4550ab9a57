"""What an audit is asked for, checked: rows to list, folds, groups, probabilities and labels."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np


class Folds(NamedTuple):
    """How rows are split for out-of-sample probabilities."""

    cv: Any
    groups: Any
    random_state: Any
    n_jobs: int | None


def check_flag(flag: Any, precision: float | None) -> None:
    if precision is not None:
        if not 0 < precision <= 1:
            raise ValueError(f"precision={precision!r} must be above 0 and at most 1.")
        return
    if flag == "auto":
        return
    is_number = isinstance(flag, Real) and not isinstance(flag, bool)
    if not is_number or flag < 0 or (not isinstance(flag, Integral) and flag >= 1):
        raise ValueError(
            f"flag={flag!r} must be 'auto', a number of rows or a share of the rows below 1."
        )


def check_groups(groups: Any, n: int) -> np.ndarray | None:
    if groups is None:
        return None
    named = np.asarray(groups)
    if named.shape != (n,):
        raise ValueError(
            f"groups has shape {named.shape} for {n} rows; pass one group for each row."
        )
    missing = int(sum(group is None or group != group for group in named.tolist()))
    if missing:
        raise ValueError(f"groups is missing for {missing} rows; give each row a group.")
    return named


def check_folds(folds: Folds, estimator: Any) -> None:
    if estimator is not None and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator={estimator!r} has no predict_proba; pass a classifier that gives "
            "probabilities."
        )
    cv = folds.cv
    if isinstance(cv, str) and cv == "oob":
        if estimator is None or "oob_score" not in estimator.get_params():
            raise ValueError(
                "cv='oob' needs an estimator with the parameter oob_score, such as "
                "RandomForestClassifier or BaggingClassifier."
            )
        if folds.groups is not None:
            raise ValueError(
                "groups cannot be kept together with cv='oob'; pass a number of folds."
            )
    elif isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        n_groups = None if folds.groups is None else len(np.unique(folds.groups))
        if n_groups is not None and n_groups < int(cv):
            raise ValueError(f"groups has {n_groups} groups for cv={cv} folds; pass a lower cv.")
    elif isinstance(cv, str | bytes) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ValueError(f"cv={cv!r} must be a number of folds, 2 or more, a splitter or 'oob'.")


def check_proba(pred_probs: Any) -> np.ndarray:
    """Out-of-sample probabilities as an array, or an error that names a row."""
    proba = np.asarray(pred_probs, dtype=float)
    if proba.ndim != 2 or proba.shape[1] < 2:
        raise ValueError(
            f"pred_probs has shape {proba.shape}; pass a row per sample and a column per class, "
            "at least two."
        )
    bad = ~np.isfinite(proba).all(axis=1) | (proba < 0).any(axis=1)
    if bad.any():
        raise ValueError(
            f"pred_probs has missing, infinite or negative values, first in row {bad.argmax()}; "
            "pass probabilities."
        )
    sums = proba.sum(axis=1)
    off = np.abs(sums - 1) > 1e-3
    if off.any():
        row = int(off.argmax())
        raise ValueError(
            f"pred_probs sums to {sums[row]:.4g} in row {row}; rows must sum to 1: divide each by "
            "its sum if it has scores."
        )
    return proba / sums[:, None]


def columns_of(labels: np.ndarray, k: int, classes: Any) -> np.ndarray:
    """The label of each column of probabilities."""
    if classes is not None:
        names = np.asarray(classes)
        if names.shape != (k,):
            raise ValueError(
                f"classes has {names.size} labels for {k} columns of pred_probs; name each column."
            )
        if len(np.unique(names)) < k or (np.sort(names) != names).any():
            raise ValueError("classes must be distinct and in sorted order, as in scikit-learn.")
        return names
    found = np.unique(labels)
    if len(found) == k:
        return found
    if labels.dtype.kind in "iu" and found.min() >= 0 and found.max() < k:
        return np.arange(k)
    raise ValueError(
        f"y has {len(found)} labels and pred_probs {k} columns; pass classes= to name the columns."
    )


def classes_of(labels: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Classes and class indices; each class has two rows that count."""
    classes, codes = np.unique(labels, return_inverse=True)
    counted = codes if weights is None else codes[weights > 0]
    counts = np.bincount(counted, minlength=len(classes))
    if len(classes) < 2:
        raise ValueError(f"y has the classes {classes.tolist()}; an audit needs at least two.")
    if counts.min() < 2:
        rare = ", ".join(repr(label) for label in classes[counts < 2][:5].tolist())
        raise ValueError(
            f"y has classes of fewer than two rows: {rare}; an audit needs two rows of each class. "
            "Merge such a class with another one, or leave its row out."
        )
    return classes, codes
