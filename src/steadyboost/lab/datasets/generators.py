"""Artificial classification problems with known answers, drawn with NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_FEATURE_KINDS = ("informative", "redundant", "repeated", "useless")


def check_size(n_samples: int) -> int:
    """Return ``n_samples`` if it is a positive whole number, else raise ``ValueError``."""
    if isinstance(n_samples, bool) or n_samples != int(n_samples) or n_samples < 1:
        raise ValueError(f"n_samples={n_samples!r} must be a whole number of at least 1")
    return int(n_samples)


def check_noise(noise: float) -> None:
    """Raise ``ValueError`` unless ``noise`` is a probability."""
    if not 0 <= noise <= 1:
        raise ValueError(f"noise={noise!r} must be a probability between 0 and 1")


def make_long_servedio(
    n_samples: int = 4000,
    *,
    noise: float = 0.0,
    return_clean: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, ...]:
    """Draw the problem of Long and Servedio on which convex boosters fail under noise.

    The 21 binary features of an example all equal its label y (a quarter of the rows,
    "large margin"), or the first 11 do and the last 10 do not (a quarter, "pullers"), or 5
    random ones of the first 11 and 6 random ones of the last 10 do (half, "penalizers").
    A majority vote over the features is always right.

    Parameters
    ----------
    n_samples : int, default=4000
        Number of rows.
    noise : float, default=0.0
        Probability with which each label is flipped.
    return_clean : bool, default=False
        Also return the labels before flipping.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        Zeros and ones.
    y : ndarray of shape (n_samples,)
        Labels 0 and 1, flipped with probability ``noise``.
    y_clean : ndarray of shape (n_samples,)
        True labels; only if ``return_clean``.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_long_servedio
    >>> X, y = make_long_servedio(400, random_state=0)
    >>> bool(((X.sum(axis=1) > 10) == y).all())
    True
    """
    n_samples = check_size(n_samples)
    check_noise(noise)
    rng = np.random.default_rng(random_state)
    clean = rng.integers(2, size=n_samples)
    agrees = _long_servedio_agreement(n_samples, rng)
    X = np.where(agrees, clean[:, None], 1 - clean[:, None])
    y = np.where(rng.random(n_samples) < noise, 1 - clean, clean)
    return (X, y, clean) if return_clean else (X, y)


def _long_servedio_agreement(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Mark which of the 21 features equal the label, in shuffled exact quarters."""
    group = rng.permutation(np.arange(n_samples) % 4)
    agrees = np.ones((n_samples, 21), dtype=bool)
    agrees[group == 1, 11:] = False
    penalizer = np.flatnonzero(group >= 2)
    for columns, n_agree in ((slice(0, 11), 5), (slice(11, 21), 6)):
        width = columns.stop - columns.start
        pattern = np.tile(np.arange(width) < n_agree, (len(penalizer), 1))
        agrees[penalizer, columns] = rng.permuted(pattern, axis=1)
    return agrees


def make_madelon_like(
    n_test: int = 10_000, *, random_state: int | np.random.Generator | None = None
) -> Bunch:
    """Draw a random multiclass problem of the Madelon family together with its data.

    The size of the problem is drawn uniformly: 2 to 10 informative, 0 to 5 redundant, 0 to
    5 repeated and 0 to 5 useless features, 2 to 5 classes of 2 to 5 clusters each, 200 to
    3000 training rows of which a fraction between 0 and 0.25 redraws its label from all
    classes. Features are shifted and scaled at random. Test labels are clean.

    Parameters
    ----------
    n_test : int, default=10000
        Number of test rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    problem : Bunch
        ``X_train``, ``y_train``, ``y_train_clean``, ``X_test``, ``y_test`` and the drawn
        ``n_informative``, ``n_redundant``, ``n_repeated``, ``n_useless``, ``n_classes``,
        ``n_clusters_per_class``, ``noise`` and ``n_train``.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_madelon_like
    >>> problem = make_madelon_like(500, random_state=0)
    >>> problem.X_train.shape[0] == problem.n_train
    True
    """
    from sklearn.utils import Bunch

    n_test = check_size(n_test)
    rng = np.random.default_rng(random_state)
    drawn = _draw_madelon_parameters(rng)
    n = drawn["n_train"]
    X, y = _draw_madelon_rows(n + n_test, drawn, rng)
    redrawn = rng.integers(drawn["n_classes"], size=n)
    y_train = np.where(rng.random(n) < drawn["noise"], redrawn, y[:n])
    return Bunch(
        X_train=X[:n], y_train=y_train, y_train_clean=y[:n], X_test=X[n:], y_test=y[n:], **drawn
    )


def _draw_madelon_parameters(rng: np.random.Generator) -> dict:
    """Draw sizes until the clusters fit on the corners of the informative cube."""
    while True:
        drawn: dict = {
            "n_informative": int(rng.integers(2, 11)),
            "n_redundant": int(rng.integers(0, 6)),
            "n_repeated": int(rng.integers(0, 6)),
            "n_useless": int(rng.integers(0, 6)),
            "n_classes": int(rng.integers(2, 6)),
            "n_clusters_per_class": int(rng.integers(2, 6)),
            "noise": float(rng.uniform(0, 0.25)),
            "n_train": int(rng.integers(200, 3001)),
        }
        if drawn["n_classes"] * drawn["n_clusters_per_class"] <= 2 ** drawn["n_informative"]:
            return drawn


def _draw_madelon_rows(
    n_samples: int, drawn: dict, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    return make_classification(
        n_samples,
        n_features=sum(drawn[f"n_{kind}"] for kind in _FEATURE_KINDS),
        n_informative=drawn["n_informative"],
        n_redundant=drawn["n_redundant"],
        n_repeated=drawn["n_repeated"],
        n_classes=drawn["n_classes"],
        n_clusters_per_class=drawn["n_clusters_per_class"],
        flip_y=0.0,  # the caller flips labels, in the training part only
        shift=None,
        scale=None,
        random_state=int(rng.integers(2**31)),
    )
