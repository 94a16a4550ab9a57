"""The best split of a node by the bottom margin: every cut, every two labels, each by itself.

Only rows of weight 1 and columns of ordered bins. The margin after a step is computed from the
scores, and the best step is found by golden section, as the mean is quasi-concave.
"""

import numpy as np

GOLDEN = (np.sqrt(5) - 1) / 2
SECTIONS = 36  # of the scale: far below what a bisection to 1e-6 can see


def numerators(scores, y):
    """(still, moving) of each label: the numerator of a row that is named so after a step t is

    the smaller of ``still`` and ``moving - t``, and ``gap + t`` if the label is its own.
    """
    n, k = scores.shape
    rows = np.arange(n)
    own, others = scores[rows, y], scores.copy()
    others[rows, y] = -np.inf
    still = np.empty((k, n))
    for label in range(k):
        rest = others.copy()
        rest[:, label] = -np.inf
        still[label] = own - rest.max(axis=1)
    return still, own - scores.T, own - others.max(axis=1)


def after(tables, y, labels, steps):
    """Numerators of rows named ``labels``, for an array of steps."""
    still, moving, gap = tables
    rows = np.arange(len(y))
    t = np.asarray(steps)[..., None]
    named = np.maximum(labels, 0)
    values = np.minimum(still[named, rows], moving[named, rows] - t)
    values = np.where(labels == y, gap + t, values)
    return np.where(labels < 0, gap, values)


def largest_margins(tables, y, votes, bottom, scale):
    """The largest mean of the ``bottom`` smallest margins along each row of ``votes``."""

    def mean(t):
        values = after(tables, y, votes, t)
        smallest = np.partition(values, bottom - 1, axis=-1)[..., :bottom]
        return smallest.mean(axis=-1) / (scale + t)

    low, high = np.zeros(len(votes)), np.full(len(votes), scale)
    best = mean(low)
    for _ in range(SECTIONS):
        width = GOLDEN * (high - low)
        a, b = high - width, low + width
        at_a, at_b = mean(a), mean(b)
        best = np.maximum(best, np.maximum(at_a, at_b))
        low, high = np.where(at_a < at_b, a, low), np.where(at_a < at_b, high, b)
    return best


def best_split(scores, y, votes, rows, bins, bottom, scale):
    """The largest margin of a split of some rows; ``votes`` are those of all others."""
    tables, k, top = numerators(scores, y), scores.shape[1], -np.inf
    pairs = np.array([(l, r) for l in range(k) for r in range(k)])
    for f in range(bins.shape[1]):
        for cut in np.unique(bins[rows, f])[:-1]:
            left = bins[rows, f] <= cut
            tried = np.repeat(votes[None], len(pairs), axis=0)
            tried[:, rows] = np.where(left, pairs[:, :1], pairs[:, 1:])
            top = max(top, largest_margins(tables, y, tried, bottom, scale).max())
    return top
