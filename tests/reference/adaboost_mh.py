"""AdaBoost.MH as papers/004 prints it, Algorithm 3; predictions by argmax of psi (NOTES, D).

``hypotheses[t]`` has the answers of round t, -1 and +1, (n, k); ``has[i][y]`` says whether row i
has label y. Weights are multiplied from round to round. Nothing here is shared with the package.
"""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Trace:
    """Of each round: weights before it, edge, step, and scores after it."""

    weights: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    scores: list = field(default_factory=list)


def adaboost_mh(hypotheses, has, prior=None):
    """Steps are artanh of the edge; ``prior`` has the weights of the rows."""
    n, k = np.shape(has)
    c = np.where(has, -1.0, 1.0)
    prior = np.ones(n) if prior is None else np.asarray(prior, dtype=float)
    weights = np.repeat(prior[:, None], k, axis=1) / (prior.sum() * k)
    psi, trace = np.zeros((n, k)), Trace()
    for h in hypotheses:
        edge = sum(
            w * a * b for w, a, b in zip(weights.ravel(), h.ravel(), -c.ravel(), strict=True)
        )
        step = 0.5 * math.log((1 + edge) / (1 - edge))
        psi = psi + step * h
        trace.weights.append(weights)
        trace.edges.append(edge)
        trace.steps.append(step)
        trace.scores.append(psi)
        weights = weights * np.exp(step * c * h)
        weights = weights / weights.sum()
    return trace
