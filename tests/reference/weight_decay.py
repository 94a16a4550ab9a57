"""Weight Decay (Rätsch, Onoda & Müller 1998), as reconstructed: 001 prints an ill-posed form.

With s_i the sum of alpha_r N W_r(i) over the rounds so far, including the one that is being added,
and zeta_i = s_i^2, the cost is the mean of exp(-y_i H(x_i) - C zeta_i). The weights of the next
round are in proportion to the summands. The step is the first root of the slope of the cost on
[0, 5], or 5 where there is none: zeta grows with the step, so that the cost may fall, rise, and
fall again.
"""

import numpy as np
from reference.adaboost import PERFECT, Round, distribution, error_of, half_log_odds, no_edge

LARGEST_STEP = 5.0
LOOKS = 1001


def weight_decay(learner, X, y, n_rounds, C=1e-4, prior=None, rate=1.0):
    """A perfect round takes AdaBoost's step and is the last."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    H, s, rounds = np.zeros(len(y)), np.zeros(len(y)), []
    for _ in range(n_rounds):
        weights = distribution(-y * H - C * s**2, prior)
        hypothesis = learner(X, y, weights)
        votes = hypothesis(X)
        error = error_of(weights, votes, y)
        if no_edge(error):
            break
        # N W, where a row of weight 2 is two rows with half of its weight each.
        v = np.divide(weights * prior.sum(), prior, out=np.zeros(len(y)), where=prior > 0)
        perfect = error <= PERFECT
        step = (
            half_log_odds(error, prior.sum())
            if perfect
            else first_root(y * H, y * votes, s, v, C, prior)
        )
        H, s = H + rate * step * votes, s + rate * step * v
        rounds.append(Round(weights, error, rate * step, H, hypothesis))
        if perfect:
            break
    return rounds


def slope(step, margin, u, s, v, C, prior):
    """Derivative of the cost by the step, up to a positive factor."""
    logs = -margin - step * u - C * (s + step * v) ** 2
    return distribution(logs, prior) @ (-u - 2 * C * (s + step * v) * v)


def first_root(*state):
    """Look at many steps in turn for the first whose slope is not negative; then bisect."""
    looks = np.linspace(0, LARGEST_STEP, LOOKS)
    rising = [i for i, step in enumerate(looks) if slope(step, *state) >= 0]
    if not rising:
        return LARGEST_STEP
    low, high = looks[rising[0] - 1], looks[rising[0]]
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if slope(middle, *state) >= 0 else (middle, high)
    return high
