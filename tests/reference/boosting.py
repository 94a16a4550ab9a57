"""AdaBoost, AdaBoost.M1 and SAMME as their papers print them: weights multiplied round by round.

``rounds`` is a list of the weak hypotheses' votes, or a function from weights to votes that is
asked ``n_rounds`` times. Nothing here is shared with the package.
"""

from dataclasses import dataclass, field

import numpy as np

ROUNDING = 1e-12  # an edge below this is none


@dataclass
class Trace:
    """What each round saw and did: its weights, error and step, and the scores after it."""

    weights: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    scores: list = field(default_factory=list)


def samme(rounds, y, n_classes, n_rounds=None, weights=None):
    """SAMME (Zhu et al. 2009): a hypothesis must beat a guess among all classes."""

    def step_of(error):
        if error >= 1 - 1 / n_classes - ROUNDING:
            return None
        return np.log((1 - error) / error) + np.log(n_classes - 1)

    def update(weights, wrong, step):
        return weights * np.where(wrong, np.exp(step), 1.0)

    return _boost(rounds, y, n_classes, n_rounds, weights, step_of, update)


def adaboost_m1(rounds, y, n_classes, n_rounds=None, weights=None):
    """AdaBoost.M1 (Freund & Schapire 1997): beta multiplies the weights of rows that are right."""

    def step_of(error):
        return None if error >= 0.5 - ROUNDING else np.log(1 / _beta(error))

    def update(weights, wrong, step):
        return weights * np.where(wrong, 1.0, np.exp(-step))

    return _boost(rounds, y, n_classes, n_rounds, weights, step_of, update)


def adaboost(rounds, y, n_rounds=None, weights=None):
    """AdaBoost for labels and votes of -1 and 1; the scores are H."""
    weights = _distribution(weights, len(y))
    trace, H = Trace(), np.zeros(len(y))
    for t in range(n_rounds or len(rounds)):
        h = _ask(rounds, t, weights)
        error = weights[h != y].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        H = H + alpha * h
        _record(trace, weights, error, alpha, H)
        weights = _normalised(weights * np.exp(-alpha * y * h))
    return trace


def _boost(rounds, y, n_classes, n_rounds, weights, step_of, update):
    weights = _distribution(weights, len(y))
    trace, scores = Trace(), np.zeros((len(y), n_classes))
    for t in range(n_rounds or len(rounds)):
        votes = _ask(rounds, t, weights)
        wrong = votes != y
        error = weights[wrong].sum()
        step = step_of(error)
        if step is None and trace.steps:
            break
        scores = scores + (step or 1.0) * (votes[:, None] == np.arange(n_classes))
        _record(trace, weights, error, step or 1.0, scores)
        if step is None:
            break
        weights = _normalised(update(weights, wrong, step))
    return trace


def _ask(rounds, t, weights):
    return rounds(weights) if callable(rounds) else rounds[t]


def _record(trace, weights, error, step, scores):
    trace.weights.append(weights)
    trace.errors.append(error)
    trace.steps.append(step)
    trace.scores.append(scores)


def _beta(error):
    return error / (1 - error)


def _distribution(weights, n):
    return _normalised(np.ones(n) if weights is None else np.asarray(weights, dtype=float))


def _normalised(weights):
    return weights / weights.sum()
