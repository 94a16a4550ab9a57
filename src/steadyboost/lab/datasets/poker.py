"""Poker hands: uniform draws of five cards and their ranks."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from steadyboost.lab.datasets.generators import check_size

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
