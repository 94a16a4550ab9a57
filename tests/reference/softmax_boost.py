"""Soft-max boosting as papers/004 has it: eq. (2) to (8), Algorithm 2 and section 5.1.

``hypotheses[t][y]`` has the answers, -1 and +1, of round t's tree for label y to all rows, or None
if the label was not drawn. ``costs[i][y]`` is c_i(y), ``shares`` is p(x). Where pairs are drawn,
``chance(t)`` has a round's generators of rows and of labels. Nothing is shared with the package.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Trace:
    """Of each round: weights by label (None if not asked), step, and the scores after it."""

    weights: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    scores: list = field(default_factory=list)


def rule(psi):
    """Eq. (2), for one row."""
    raised = [np.exp(s - max(psi)) for s in psi]
    return [r / sum(raised) for r in raised]


def centred(psi, c):
    """Costs of a row less what the rule pays on average."""
    paid = sum(g * cost for g, cost in zip(rule(psi), c, strict=True))
    return [cost - paid for cost in c]


def risk(scores, costs, shares):
    """Eq. (4)."""
    rows = zip(scores, costs, shares, strict=True)
    return sum(p * np.dot(rule(psi), c) for psi, c, p in rows)


def gradient(scores, costs):
    """Proposition 2."""
    rows = zip(scores, costs, strict=True)
    return np.array([np.multiply(rule(psi), centred(psi, c)) for psi, c in rows])


def inner(a, b, shares):
    """<a, b>_N."""
    return sum(p * np.dot(x, y) for x, y, p in zip(a, b, shares, strict=True))


def all_pairs(scores, costs, shares):
    """Eq. (7): every pair with its probability and its centred cost."""
    for i, (psi, c) in enumerate(zip(scores, costs, strict=True)):
        for z, (g, delta) in enumerate(zip(rule(psi), centred(psi, c), strict=True)):
            yield i, z, shares[i] * g, delta


def drawn_pairs(scores, costs, shares, n_draws, rng, label_rng):
    """Eq. (8): M pairs, the rows first and then, in their order, the labels by bisection."""
    bounds = np.cumsum(shares)
    if np.ptp(shares) == 0:
        rows = np.sort(rng.integers(len(shares), size=n_draws))
    else:
        rows = np.sort(np.searchsorted(bounds, rng.random(n_draws) * bounds[-1], side="right"))
    chances = label_rng.random(n_draws)
    for i, chance in zip(rows, chances, strict=True):
        z = int(np.searchsorted(np.cumsum(rule(scores[i])), chance, side="right"))
        yield i, z, 1 / n_draws, centred(scores[i], costs[i])[z]


def sm_boost(hypotheses, costs, shares, *, chance=None, n_draws=None, step="sampled", rate=1.0):
    """Algorithm 2; ``step`` is "sampled" (section 5.1), "theory" (Theorem 1) or a number."""
    n, k = np.shape(costs)
    scores, trace = np.zeros((n, k)), Trace()
    for t, trees in enumerate(hypotheses):
        if chance is None:
            pairs = list(all_pairs(scores, costs, shares))
        else:
            pairs = list(drawn_pairs(scores, costs, shares, n_draws, *chance(t)))
        h = np.array([np.zeros(n) if f is None else f for f in trees], dtype=float).T
        edge = sum(p * delta * h[i, z] for i, z, p, delta in pairs)  # R_M(h)
        if step == "theory":
            norm = inner(h, h, shares)
            edge = inner(gradient(scores, costs), h, shares) / norm
        elif step != "sampled":
            edge = step
        scores = scores - rate * edge * h
        trace.weights.append(weights_by_label(pairs, n, k))
        trace.steps.append(rate * edge)
        trace.scores.append(scores)
    return trace


def weights_by_label(pairs, n, k):
    """|centred cost| of the pairs of each label, normalised."""
    weights = np.zeros((n, k))
    for i, z, p, delta in pairs:
        weights[i, z] += p * abs(delta)
    totals = weights.sum(axis=0)
    return [w / total if total > 0 else None for w, total in zip(weights.T, totals, strict=True)]


def sets_of_labels(hypotheses, has, costs, shares, *, chance=None, n_draws=None):
    """Each label is a problem of yes and no with scores F and -F, and one tree for both.

    ``has[i][l]`` says whether row i has label l, ``costs[i][l]`` what being wrong about it costs.
    The rows drawn are the same for all labels.
    """
    n, L = np.shape(has)
    F, trace = np.zeros((n, L)), Trace()
    for t, trees in enumerate(hypotheses):
        rng, label_rng = (None, None) if chance is None else chance(t)
        rows = None if rng is None else np.sort(rng.integers(n, size=n_draws))
        steps = [
            label_edge(F[:, l], has[:, l], costs[:, l], shares, h, rows, label_rng)
            for l, h in enumerate(trees)
        ]
        F = F - np.array(steps) * np.array(trees, dtype=float).T
        trace.steps.append(steps)
        trace.scores.append(F)
    return trace


def label_edge(F, has, costs, shares, h, rows, rng):
    """R_M of one label: costs of no and yes, each times what the hypothesis says of it."""
    table = [(c, 0.0) if y else (0.0, c) for y, c in zip(has, costs, strict=True)]
    psi = np.column_stack([-F, F])
    if rows is None:
        pairs = all_pairs(psi, table, shares)
    else:
        chances = rng.random(len(rows))
        labels = [int(u >= rule(psi[i])[0]) for i, u in zip(rows, chances, strict=True)]
        pairs = [
            (i, z, 1 / len(rows), centred(psi[i], table[i])[z])
            for i, z in zip(rows, labels, strict=True)
        ]
    return sum(p * delta * (h[i] if z else -h[i]) for i, z, p, delta in pairs)
