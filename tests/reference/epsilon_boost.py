"""Epsilon-Boost (Friedman et al. 1998, as 001 compares with it): AdaBoost with one small step.

It stops where a hypothesis has no edge; a perfect round does not stop it.
"""

import numpy as np
from reference.adaboost import Round, distribution, error_of, no_edge


def epsilon_boost(learner, X, y, n_rounds, epsilon=0.1, prior=None):
    """Every step is ``epsilon``, for which 001 gives no value."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    H, rounds = np.zeros(len(y)), []
    for _ in range(n_rounds):
        weights = distribution(-y * H, prior)
        hypothesis = learner(X, y, weights)
        error = error_of(weights, hypothesis(X), y)
        if no_edge(error):
            break
        H = H + epsilon * hypothesis(X)
        rounds.append(Round(weights, error, epsilon, H, hypothesis))
    return rounds
