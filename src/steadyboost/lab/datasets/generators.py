"""Artificial classification problems: Long and Servedio, Madelon, Breiman, and poker hands."""

from __future__ import annotations

from itertools import combinations
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


# Segments of a seven-segment display, in the order top, upper left, upper right,
# middle, lower left, lower right, bottom; row k lights up digit k.
_LED_SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)

# Peaks (1-based) of the two triangles that each waveform class mixes.
_WAVEFORM_PEAKS = np.array([[7, 15], [7, 11], [15, 11]])


def make_waveform(
    n_samples: int = 5000, *, random_state: int | np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw Breiman's waveform problem: 21 features, three equally likely classes.

    Each class is a random convex mixture of two of three triangular waves of height 6,
    plus standard normal noise. The best possible error rate is about 14 %.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
    y : ndarray of shape (n_samples,)
        Labels 0, 1 and 2, numbered as in the UCI data.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X.shape
    (300, 21)
    """
    n_samples = check_size(n_samples)
    rng = np.random.default_rng(random_state)
    y = rng.integers(3, size=n_samples)
    peak = _WAVEFORM_PEAKS[y][:, :, None]
    waves = np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0)
    mix = rng.random((n_samples, 1))
    X = mix * waves[:, 0] + (1 - mix) * waves[:, 1] + rng.normal(size=(n_samples, 21))
    return X, y


def make_led(
    n_samples: int = 1000,
    *,
    noise: float = 0.1,
    n_irrelevant: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw digits on a faulty seven-segment display: ten equally likely classes.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.1
        Probability with which each segment is inverted; at 0.1 the best possible error rate
        is about 26 %.
    n_irrelevant : int, default=0
        Number of random binary features appended (17 in Breiman's harder version).
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 7 + n_irrelevant)
        Zeros and ones.
    y : ndarray of shape (n_samples,)
        Digits 0 to 9.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_led
    >>> X, y = make_led(100, noise=0.0, random_state=0)
    >>> sorted(set(X[y == 1].sum(axis=1).tolist()))
    [2]
    """
    n_samples = check_size(n_samples)
    check_noise(noise)
    if n_irrelevant < 0:
        raise ValueError(f"n_irrelevant={n_irrelevant!r} must be 0 or more")
    rng = np.random.default_rng(random_state)
    y = rng.integers(10, size=n_samples)
    segments = _LED_SEGMENTS[y] ^ (rng.random((n_samples, 7)) < noise)
    return np.hstack([segments, rng.integers(2, size=(n_samples, n_irrelevant))]), y


def make_twonorm(
    n_samples: int = 7400, *, random_state: int | np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw Breiman's twonorm problem: two unit normals in 20 dimensions.

    Class 0 has mean (a, ..., a), class 1 (-a, ..., -a), with a = 2 / sqrt(20). The best
    possible error rate is 2.3 %.

    Parameters
    ----------
    n_samples : int, default=7400
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_twonorm
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> bool(((X.sum(axis=1) < 0) == y).mean() > 0.95)
    True
    """
    n_samples = check_size(n_samples)
    rng = np.random.default_rng(random_state)
    y = rng.integers(2, size=n_samples)
    mean = (1 - 2 * y[:, None]) * 2 / np.sqrt(20)
    return mean + rng.normal(size=(n_samples, 20)), y


def make_ringnorm(
    n_samples: int = 7400, *, random_state: int | np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw Breiman's ringnorm problem: a wide normal around a narrow one, 20 dimensions.

    Class 0 has mean 0 and covariance 4 I, class 1 mean (a, ..., a) and covariance I, with
    a = 2 / sqrt(20). The best possible error rate is about 1.3 %.

    Parameters
    ----------
    n_samples : int, default=7400
        Number of rows.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_ringnorm
    >>> X, y = make_ringnorm(1000, random_state=0)
    >>> bool(X[y == 0].std() > 1.5 * X[y == 1].std())
    True
    """
    n_samples = check_size(n_samples)
    rng = np.random.default_rng(random_state)
    y = rng.integers(2, size=n_samples)
    scale, mean = 2 - y[:, None], y[:, None] * 2 / np.sqrt(20)
    return mean + scale * rng.normal(size=(n_samples, 20)), y


# The number of equal pairs among the ten pairs of cards names the hand uniquely.
_LABEL_OF_EQUAL_PAIRS = np.array([0, 1, 2, 3, 6, -1, 7])


def make_poker(
    n_samples: int = 25_010, *, random_state: int | np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw uniform five-card hands and label them as in the UCI poker data.

    Each hand is drawn without replacement from 52 cards; hands are independent. The UCI
    training rows are not such a sample: they hold rare hands more often.

    Parameters
    ----------
    n_samples : int, default=25010
        Number of hands.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
        Columns S1, C1, ..., S5, C5: suit (1 to 4) and rank (1 = ace to 13 = king).
    y : ndarray of shape (n_samples,)
        Labels 0 to 9, see `poker_label`.

    Examples
    --------
    >>> from steadyboost.lab.datasets import make_poker
    >>> X, y = make_poker(1000, random_state=0)
    >>> X.shape
    (1000, 10)
    """
    n_samples = check_size(n_samples)
    cards = _draw_hands(n_samples, np.random.default_rng(random_state))
    X = np.empty((n_samples, 10), dtype=np.int64)
    X[:, 0::2] = cards // 13 + 1
    X[:, 1::2] = cards % 13 + 1
    return X, poker_label(X)


def _draw_hands(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw five different cards 0 to 51 per row, in random order."""
    cards = np.empty((n_samples, 5), dtype=np.int64)
    for j in range(5):
        card = rng.integers(52 - j, size=n_samples)
        # The draw counts the cards left; stepping over taken ones in rising order names it.
        for taken in np.sort(cards[:, :j], axis=1).T:
            card += card >= taken
        cards[:, j] = card
    return cards


def poker_label(X: np.ndarray) -> np.ndarray:
    """Rank poker hands as in the UCI data.

    Parameters
    ----------
    X : array-like of shape (n_samples, 10)
        Columns S1, C1, ..., S5, C5: suit (1 to 4) and rank (1 = ace to 13 = king).

    Returns
    -------
    y : ndarray of shape (n_samples,)
        0 nothing, 1 one pair, 2 two pairs, 3 three of a kind, 4 straight, 5 flush, 6 full
        house, 7 four of a kind, 8 straight flush, 9 royal flush. The ace counts low or high
        in a straight.

    Examples
    --------
    >>> from steadyboost.lab.datasets import poker_label
    >>> poker_label([[1, 10, 1, 11, 1, 12, 1, 13, 1, 1]]).tolist()
    [9]
    """
    X = np.asarray(X).astype(np.int64)
    if X.ndim != 2 or X.shape[1] != 10:
        raise ValueError(f"X has shape {X.shape}; pass the 10 columns S1, C1, ..., S5, C5")
    suits, ranks = X[:, 0::2], X[:, 1::2]
    equal_pairs = sum(ranks[:, i] == ranks[:, j] for i, j in combinations(range(5), 2))
    low, high = ranks.min(axis=1), ranks.max(axis=1)
    # Five different ranks from the ace up can only sum to 47 as ace, 10, jack, queen, king.
    ace_high = (equal_pairs == 0) & (low == 1) & (ranks.sum(axis=1) == 47)
    straight = ((equal_pairs == 0) & (high - low == 4)) | ace_high
    flush = (suits == suits[:, :1]).all(axis=1)
    named = _LABEL_OF_EQUAL_PAIRS[equal_pairs]
    return np.select([flush & ace_high, flush & straight, flush, straight], [9, 8, 5, 4], named)
