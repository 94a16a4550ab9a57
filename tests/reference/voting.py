"""Bagging and Arc-x4, counted vote by vote. Nothing here is shared with the package."""

import numpy as np


def votes_of(hypotheses, k):
    """How many hypotheses named each class, row by row: (rounds, n, k), after each round."""
    tally, after = np.zeros((len(hypotheses[0]), k)), []
    for h in hypotheses:
        for i, vote in enumerate(h):
            tally[i, vote] += 1
        after.append(tally.copy())
    return after


def arc_x4(hypotheses, y, prior=None):
    """Weights and errors of each round: 1 + m**4 for a row that was wrong m times (Breiman 1998).

    ``hypotheses`` may be a list, or a function of the weights that is asked 10 times.
    """
    prior = np.ones(len(y)) if prior is None else prior
    wrong, all_weights, errors = np.zeros(len(y)), [], []
    for said in [hypotheses] * 10 if callable(hypotheses) else hypotheses:
        weights = prior * (1 + wrong**4)
        weights = weights / weights.sum()
        h = said(weights) if callable(said) else said
        all_weights.append(weights)
        errors.append(weights[h != y].sum())
        wrong = wrong + (h != y)
    return all_weights, errors


def out_of_bag(hypotheses, bags, y, k):
    """Shares of the votes by hypotheses that did not see a row, and the accuracy of these votes.

    ``bags`` has, for each round, how often each row was drawn.
    """
    shares, right = np.full((len(y), k), np.nan), []
    for i in range(len(y)):
        votes = [h[i] for h, bag in zip(hypotheses, bags, strict=True) if bag[i] == 0]
        if votes:
            counts = [votes.count(l) for l in range(k)]
            shares[i] = np.array(counts) / len(votes)
            right.append(int(np.argmax(counts)) == y[i])
    return shares, np.mean(right)
