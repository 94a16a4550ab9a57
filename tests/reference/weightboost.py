"""WeightBoost as 001, sections 3.2 and 3.3 have it, with the errata applied.

H_t(x) = H_{t-1}(x) + alpha_t q(|beta H_{t-1}(x)|) / C_t h_t(x), eq. (4), with alpha_t by eq. (8).
C_t is the mean of q over the training rows divided by ``normalize``, but at least 0.5: it becomes
so small that new rows, of which H knows little, would be thrown about. ``normalize=None`` has
C_t = 1.
"""

import numpy as np
from reference.adaboost import Round, distribution, error_of, half_log_odds, no_edge

LEAST_C = 0.5


def weightboost(
    learner, X, y, n_rounds, beta=0.5, q="exponential", p=1.0, normalize=None, prior=None, rate=1.0
):
    """Weights by eq. (7), or (11) where q is not the exponential; perfect rounds do not stop it."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    H, rounds = np.zeros(len(y)), []
    for _ in range(n_rounds):
        log_q = log_regularizer(q, p, np.abs(beta * H))
        weights = distribution(-y * H + log_q, prior)
        hypothesis = learner(X, y, weights)
        error = error_of(weights, hypothesis(X), y)
        if no_edge(error):
            break
        alpha = rate * half_log_odds(error, prior.sum())
        C = normalizer(np.exp(log_q), prior, normalize)
        H = H + alpha * np.exp(log_q) / C * hypothesis(X)
        rounds.append(Round(weights, error, alpha, H, hypothesis, C))
    return rounds


def log_regularizer(q, p, u):
    """ln q(u): of e^-u, of (1 + u)^-p, or of a function with values from 0 to 1."""
    if callable(q):
        with np.errstate(divide="ignore"):
            return np.log(q(u))
    return {"exponential": -u, "inverse_polynomial": -p * np.log1p(u)}[q]


def normalizer(factors, prior, normalize):
    """C_t, from the training rows alone."""
    if normalize is None:
        return 1.0
    return max((prior * factors).sum() / (normalize * prior.sum()), LEAST_C)


def weightboost_scores(rounds, X, beta=0.5, q="exponential", p=1.0):
    """H of any rows, by the recursion with the stored C_t."""
    H = np.zeros(len(X))
    for round_ in rounds:
        factors = np.exp(log_regularizer(q, p, np.abs(beta * H)))
        H = H + round_.alpha * factors / round_.C * round_.hypothesis(X)
    return H
