"""Label noise with known positions: turn some clean labels into wrong ones.

Recipes, with K classes in sorted order and m = round(rate * n_samples):

- "symmetric": m random rows get a uniformly drawn different label.
- "redraw": m random rows draw their label anew, uniformly from all K, so that on average
  m * (1 - 1 / K) labels change.
- "pair": m random rows of class k get class k + 1, those of the last class the first.
- "class_conditional": each row of class k draws its label from row k of the transition
  matrix.
- "feature_dependent": standardise the columns of X and take the mean row of each class.
  The margin of a row is its squared distance to the nearest mean of another class minus
  that to the mean of its own: the log-odds, up to a factor, of the nearest-mean model. Rows
  are ranked by margin, ties at random; q runs from 0 (smallest margin, most ambiguous) to
  1. Then m rows are drawn without replacement, each draw with probability proportional to
  exp(-4 q), and get the class of that nearest mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_KINDS = ("symmetric", "redraw", "pair", "class_conditional", "feature_dependent")
_STEEPNESS = 4.0


def corrupt(
    y: Any,
    rate: float | None,
    kind: str = "symmetric",
    *,
    X: Any = None,
    transition_matrix: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace some labels by wrong ones; the module documentation has the exact recipes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels: a list, array, pandas or polars Series.
    rate : float in [0, 1) or None
        Fraction of rows; "class_conditional" does not use it (pass None).
    kind : str, default="symmetric"
        "symmetric" (to any other class), "redraw" (to any class, perhaps the same), "pair"
        (to the next class), "class_conditional" (by ``transition_matrix``) or
        "feature_dependent" (ambiguous rows first, to the most similar other class).
    X : array-like of shape (n_samples, n_features), optional
        Numeric features, used by "feature_dependent".
    transition_matrix : array-like of shape (n_classes, n_classes), optional
        Probabilities of each class (rows, sorted) to turn into each class (columns).
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    noisy_labels : ndarray of shape (n_samples,)
        Labels of the dtype of ``numpy.asarray(y)``.
    mask : ndarray of bool, shape (n_samples,)
        True where the label has changed.

    Examples
    --------
    >>> from steadyboost.noise import corrupt
    >>> noisy, mask = corrupt(["a", "b", "c", "a"] * 5, 0.2, random_state=0)
    >>> int(mask.sum())
    4
    """
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r} is unknown; choose one of {', '.join(_KINDS)}")
    if transition_matrix is not None and kind != "class_conditional":
        raise ValueError(f"transition_matrix is not used by kind={kind!r}; leave it out")
    classes, codes = _encode(y)
    noisy = _draw(kind, codes, rate, X, transition_matrix, np.random.default_rng(random_state))
    return classes[noisy], noisy != codes


def _draw(
    kind: str, codes: np.ndarray, rate: float | None, X: Any, matrix: Any, rng: np.random.Generator
) -> np.ndarray:
    n, n_classes = len(codes), codes.max() + 1
    if kind == "class_conditional":
        return _by_matrix(codes, _check_matrix(matrix, n_classes), rng)
    n_flips = _count(rate, n)
    if kind == "feature_dependent":
        return _by_features(codes, n_flips, _check_features(X, n), rng)
    return _by_shift(codes, n_classes, n_flips, kind, rng)


def _by_shift(
    codes: np.ndarray, n_classes: int, n_flips: int, kind: str, rng: np.random.Generator
) -> np.ndarray:
    """Move random rows on by a random number of classes, around the end."""
    low, high = {"symmetric": (1, n_classes), "redraw": (0, n_classes), "pair": (1, 2)}[kind]
    rows = rng.choice(len(codes), n_flips, replace=False)
    noisy = codes.copy()
    noisy[rows] = (codes[rows] + rng.integers(low, high, size=n_flips)) % n_classes
    return noisy


def _by_matrix(codes: np.ndarray, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw each row's label from its row of the matrix, by inverting the distribution."""
    upper = np.cumsum(matrix, axis=1)
    # Rounding must not leave a gap at the top, nor give it to a class of probability 0.
    upper /= upper[:, -1:]
    draws = rng.random(len(codes))
    noisy = np.empty_like(codes)
    for k, bounds in enumerate(upper):
        noisy[codes == k] = np.searchsorted(bounds, draws[codes == k], side="right")
    return noisy


def _by_features(
    codes: np.ndarray, n_flips: int, X: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Flip ambiguous rows first, to the class with the nearest other mean."""
    n = len(codes)
    distances = _squared_distances(X, codes)
    own = distances[np.arange(n), codes]
    distances[np.arange(n), codes] = np.inf
    rank = np.empty(n)
    rank[np.lexsort((rng.random(n), distances.min(axis=1) - own))] = np.arange(n)
    # The m largest of log(weight) + Gumbel noise are m weighted draws without replacement.
    score = -_STEEPNESS * rank / max(n - 1, 1) + rng.gumbel(size=n)
    rows = np.argsort(-score)[:n_flips]
    noisy = codes.copy()
    noisy[rows] = distances[rows].argmin(axis=1)
    return noisy


def _squared_distances(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    scale = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    means = [Z[codes == k].mean(axis=0) for k in range(codes.max() + 1)]
    return np.column_stack([((Z - mean) ** 2).sum(axis=1) for mean in means])


def _encode(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and the class number of each row."""
    # Here, as making noise alone must not wait for the import of scikit-learn.
    from steadyboost.ensemble.validation import label_array

    labels = label_array(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; pass one label per row")
    n_missing = sum(map(_is_missing, labels.tolist()))
    if n_missing:
        raise ValueError(f"y has {n_missing} missing labels; drop those rows first")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError("y mixes types that cannot be sorted; convert it to strings") from error
    if len(classes) < 2:
        raise ValueError(f"y has the classes {classes.tolist()}; noise needs at least two")
    return classes, codes


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA refuses to be compared
        return True


def _count(rate: float | None, n_samples: int) -> int:
    if rate is None or not 0 <= rate < 1:
        raise ValueError(f"rate={rate!r} must be a fraction in [0, 1), such as 0.2 for 20 %")
    return round(rate * n_samples)


def _check_matrix(matrix: Any, n_classes: int) -> np.ndarray:
    if matrix is None:
        raise ValueError("transition_matrix=None; kind='class_conditional' needs the matrix")
    T = np.asarray(matrix, dtype=float)
    if T.shape != (n_classes, n_classes):
        raise ValueError(
            f"transition_matrix has shape {T.shape}; y has {n_classes} classes, so it must be "
            f"({n_classes}, {n_classes})"
        )
    if not ((T >= 0).all() and np.allclose(T.sum(axis=1), 1.0)):
        raise ValueError(
            f"transition_matrix has row sums {T.sum(axis=1).tolist()} and smallest entry "
            f"{T.min()}; rows must be probabilities that sum to 1"
        )
    return T


def _check_features(X: Any, n_samples: int) -> np.ndarray:
    if X is None:
        raise ValueError("X=None; kind='feature_dependent' needs the features")
    try:
        features = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError("X has values that are not numbers; encode or drop them") from error
    if features.ndim != 2 or len(features) != n_samples:
        raise ValueError(f"X has shape {features.shape}; y has {n_samples} rows, so must X")
    if not np.isfinite(features).all():
        raise ValueError("X has missing or infinite values; impute or drop them")
    return features
