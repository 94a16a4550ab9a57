"""MartiBoost as 004, section 5.5.1 and Long & Servedio (2005) have it, for labels 0 and 1.

``learner(X, y, weights)`` gives a function from rows to votes 0 and 1. Node (i, l) is reached by i
steps to the right in l; the probability of every row to be at a node is followed from layer to
layer, one row and one node at a time. The weights of the user, ``prior``, count as copies of rows.
Nothing here is shared with the package.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-12  # half of the weight, but for this, is half of it
ABSENT = 1e-280  # a share of a class that is none


@dataclass
class Node:
    """A node that rows reach: its hypothesis, and the chance to go right after each vote.

    A node with rows of one class only has no hypothesis.
    """

    hypothesis: Callable | None
    right: tuple[float, float]
    weights: np.ndarray | None = None
    ones: float | None = None

    def chances(self, X):
        """Of each row to go right."""
        votes = np.zeros(len(X), dtype=int) if self.hypothesis is None else self.hypothesis(X)
        return np.array([self.right[vote] for vote in votes])


def martiboost(learner, X, y, n_layers, prior=None):
    """Layers of nodes, each a dict from i to the node; unreached nodes are left out."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    prior = prior / np.where(y == 1, prior[y == 1].sum(), prior[y == 0].sum())
    layers, mass = [], {0: np.ones(len(y))}
    for _ in range(n_layers):
        layer = {i: _node(learner, X, y, prior * mass[i]) for i in sorted(mass)}
        mass = _step(layer, mass, X)
        layers.append(layer)
    return layers


def _node(learner, X, y, reaching):
    """Balance the classes, ask, and let half of the balanced weight go right."""
    zeros, ones = reaching[y == 0].sum(), reaching[y == 1].sum()
    if ones <= ABSENT:
        return Node(None, (0.0, 0.0))
    if zeros <= ABSENT:
        return Node(None, (1.0, 1.0))
    weights = np.where(y == 1, reaching / (2 * ones), reaching / (2 * zeros))
    hypothesis = learner(X, y, weights)
    votes = hypothesis(X)
    too_many = weights[(votes == 1) & (y == 0)].sum()
    too_few = weights[(votes == 0) & (y == 1)].sum()
    r = 0.5 + too_many - too_few
    if abs(too_many - too_few) <= ROUNDING:
        right = (0.0, 1.0)
    elif r > 0.5:
        right = (0.0, 1 / (2 * r))
    else:  # 1 - 1 / (2 (1 - r)), without the cancellation
        right = ((too_few - too_many) / (1 - r), 1.0)
    return Node(hypothesis, right, weights, r)


def _step(layer, mass, X):
    """The mass of each node of the next layer."""
    after = {}
    for i, node in layer.items():
        if i not in mass:  # training rows get there, but not these
            continue
        right = node.chances(X)
        for j, arriving in ((i, mass[i] * (1 - right)), (i + 1, mass[i] * right)):
            if arriving.any():
                after[j] = after.get(j, 0) + arriving
    return after


def masses(layers, X):
    """Where rows are after each layer: a list of dicts from i to the mass of each row."""
    mass, after = {0: np.ones(len(X))}, []
    for layer in layers:
        mass = _step(layer, mass, X)
        after.append(mass)
    return after


def right_mass(mass, n_layers):
    """The mass of i >= L / 2, which says how likely the label is 1."""
    n = len(next(iter(mass.values())))
    return sum((mass[i] for i in mass if i >= n_layers / 2), start=np.zeros(n))


def random_path(layers, x, rng):
    """The label at the end of one random path of one row."""
    i = 0
    for layer in layers:
        i += int(rng.random() < layer[i].chances(x[None])[0])
    return int(i >= len(layers) / 2)
