"""Breiman's artificial problems: waveform, LED display, twonorm and ringnorm."""

from __future__ import annotations

import numpy as np

from steadyboost.lab.datasets.generators import check_noise, check_size

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
