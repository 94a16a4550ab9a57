"""How the probability mass of rows moves through the layers of a branching program.

Node i of layer l is reached by i steps to the right out of l. ``mass[row, i]`` is how likely a row
is there, in column order; ``routes[i]`` has the probabilities of a step to the right after the
answers 0 and 1. Kernels take the columns, each of them contiguous, as rows.
"""

import numpy as np

from steadyboost.ensemble.scores import ROUNDING
from steadyboost.trees.jit import kernel

ABSENT = 1e-280  # a share of a class that is none: later layers could not tell it from zero
MIN_DIVISOR = 1e-300  # mass of one side, where it is a divisor
LAYER_ROWS = 1024  # that go through a layer together: their mass at two nodes stays in the cache


@kernel
def add_class_shares(mass, y, shares, out):
    """Add each class's share of the mass at each node to ``out``, (nodes, 2); four sums each."""
    lanes = np.empty((4, 2))
    for node in range(len(out)):
        lanes[:] = 0
        for i in range(len(y)):
            lanes[np.uint64(i & 3), np.uint64(y[i])] += mass[node, i] * shares[i]
        for c in range(2):
            out[node, c] += lanes[0, c] + lanes[1, c] + lanes[2, c] + lanes[3, c]


@kernel
def weigh_nodes(mass, y, shares, nodes, class_shares, start, out, on_average):
    """Weights of a block's rows, from ``start`` on, at each of the nodes.

    They are their mass, with the classes balanced. Also adds them, times how much of the rows is
    there, to ``on_average``.
    """
    for j in range(len(nodes)):
        node = nodes[j]
        zero, one = 0.5 / class_shares[node, 0], 0.5 / class_shares[node, 1]
        reached = (class_shares[node, 0] + class_shares[node, 1]) / 2
        for i in range(len(y)):
            weight = mass[node, i] * shares[i] * (one if y[i] else zero)
            out[j, start + i] = weight
            on_average[start + i] += reached * weight


@kernel
def add_mistakes(weights, votes, nodes, y, start, out):
    """Add the weight of each class that is taken for the other, at each of the nodes.

    ``y`` are the labels of a block's rows, from ``start`` on.
    """
    lanes = np.empty((4, 2))
    for j in range(len(nodes)):
        node = nodes[j]
        lanes[:] = 0
        for i in range(len(y)):
            wrong = np.float64(votes[node, start + i] != y[i])
            lanes[np.uint64(i & 3), np.uint64(y[i])] += weights[j, start + i] * wrong
        for c in range(2):
            out[node, c] += lanes[0, c] + lanes[1, c] + lanes[2, c] + lanes[3, c]


@kernel
def _move(mass, routes, votes):
    """One layer: from the right, so that a node's mass is taken before more arrives."""
    last = len(routes) - 1
    for start in range(0, mass.shape[1], LAYER_ROWS):
        rows = slice(start, min(start + LAYER_ROWS, mass.shape[1]))
        for back in range(last + 1):
            node = last - back
            zero, one = routes[node, 0], routes[node, 1]
            own, next_, said = mass[node, rows], mass[node + 1, rows], votes[node, rows]
            for i in range(len(own)):
                right = one if said[i] else zero
                here = own[i]
                next_[i] += here * right
                own[i] = here * (1 - right)


@kernel
def _half_log_odds(mass, n_nodes, least, rounding, out):
    """Half the log-odds of the right half, i >= l / 2; a tie goes right."""
    right = np.zeros(mass.shape[1])
    left = np.zeros(mass.shape[1])
    for node in range(n_nodes):
        side = right if 2 * node >= n_nodes - 1 else left
        for i in range(len(side)):
            side[i] += mass[node, i]
    for i in range(len(out)):
        if abs(right[i] - left[i]) <= rounding:
            out[i] = rounding
        else:
            out[i] = 0.5 * (np.log(max(right[i], least)) - np.log(max(left[i], least)))


def push(mass: np.ndarray, routes: np.ndarray, votes: np.ndarray, score: np.ndarray) -> None:
    """Move mass through one layer, from the root if it is the first; write the score after it.

    The score is half the log-odds of being in the right half.
    """
    n_nodes = len(routes)
    if n_nodes == 1:
        mass[:, 0] = 1
    mass[:, n_nodes] = 0
    _move(mass.T, routes, votes.T)
    _half_log_odds(mass.T, n_nodes + 1, MIN_DIVISOR, ROUNDING, score)


def routes_of(class_shares: np.ndarray, mistakes: np.ndarray) -> np.ndarray:
    """Probabilities of a step to the right, (nodes, 2), from what each class is mistaken for.

    At a node with both classes, half of the balanced weight goes right. Votes for 1, of weight r,
    do so with probability 1/(2r) if they are too many, and are joined by others if too few. A pure
    node sends everything to the side of its class.

    r - 1/2 is the difference of the mistakes, and so exact where there are hardly any. It counts as
    zero if it may be rounding: this would leave traces of a class, which balancing would blow up.
    """
    excess = mistakes[:, 0] - mistakes[:, 1]
    excess[np.abs(excess) <= ROUNDING] = 0
    routes = np.empty((len(excess), 2))
    routes[:, 0] = np.maximum(-excess, 0) / (0.5 - np.minimum(excess, 0))
    routes[:, 1] = 0.5 / (0.5 + np.maximum(excess, 0))
    there = class_shares > ABSENT
    pure = ~there.all(axis=1)
    routes[pure] = (there[pure, 1] & ~there[pure, 0])[:, None]
    return routes
