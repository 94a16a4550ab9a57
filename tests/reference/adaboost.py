"""Discrete AdaBoost as 001, section 3.1 has it, eqs. (1) to (3); and what its relatives share.

Labels and votes are -1 and +1. ``learner(X, y, weights)`` returns a function from rows to votes.
Weights are made anew in each round from H by the literal formula, in logarithms, so that nothing
underflows. The weights of the user, ``prior``, count as copies of rows. Nothing here is shared with
the package.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PERFECT = 1e-12  # an error, or an edge, below this is rounding


@dataclass
class Round:
    """What a round saw and did: ``H`` has the scores of the training rows after it."""

    weights: np.ndarray
    error: float
    alpha: float
    H: np.ndarray
    hypothesis: Callable
    C: float = 1.0


def adaboost(learner, X, y, n_rounds, prior=None, rate=1.0):
    """Weights by eq. (2), steps by eq. (3); a perfect round is the last."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    H, rounds = np.zeros(len(y)), []
    for _ in range(n_rounds):
        weights = distribution(-y * H, prior)
        hypothesis = learner(X, y, weights)
        error = error_of(weights, hypothesis(X), y)
        if no_edge(error):
            break
        alpha = rate * half_log_odds(error, prior.sum())
        H = H + alpha * hypothesis(X)
        rounds.append(Round(weights, error, alpha, H, hypothesis))
        if error <= PERFECT:
            break
    return rounds


def weighted_vote(rounds, X):
    """Eq. (1) for any rows; 0 where there are no rounds."""
    H = np.zeros(len(X))
    for round_ in rounds:
        H = H + round_.alpha * round_.hypothesis(X)
    return H


def distribution(logs, prior):
    """Weights in proportion to ``prior * exp(logs)`` that add up to 1."""
    weights = prior * np.exp(logs - logs[prior > 0].max())
    return weights / weights.sum()


def error_of(weights, votes, y):
    return weights[votes != y].sum()


def no_edge(error):
    return error >= 0.5 - PERFECT


def half_log_odds(error, mass):
    """Eq. (3); without errors, as if half a row were wrong."""
    if error <= PERFECT:
        error = 1 / (2 * mass)
    return 0.5 * np.log((1 - error) / error)
