"""The state of a tree's growth: lists of rows, a stack of open nodes, and scratch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyboost.trees.c45.cases import AnyData, Nodes, longer

# Entries of ``Work.counts``: nodes made, nodes on the stack, places wanted in the lists.
N_NODES, N_OPEN, N_PLACES = 0, 1, 2


class Work(NamedTuple):
    """Where the growth of a tree stands, and room to work in.

    Attributes
    ----------
    lists : int32 array (1 + n_continuous, places)
        Rows of the open nodes: in row order, then by each continuous attribute.
    weights : float64 array (places,)
        Weights of the cases in the first list.
    stack : int64 array (capacity, 3)
        Open nodes, each with the begin and the end of its segment.
    counts : int64 array (3,)
        See ``N_NODES``, ``N_OPEN`` and ``N_PLACES``.
    hand, hand_weights : arrays (places,)
        One list while it is dealt out.
    weight : float64 array (n_rows,)
        Weights in the node at hand.
    tests : float64 array (3, n_features)
        Gain, split information and cut of each attribute.
    sides, table : float64 arrays
        Class weights of the two sides of a cut, and of the values of a discrete attribute.
    """

    lists: np.ndarray
    weights: np.ndarray
    stack: np.ndarray
    counts: np.ndarray
    hand: np.ndarray
    hand_weights: np.ndarray
    weight: np.ndarray
    tests: np.ndarray
    sides: np.ndarray
    table: np.ndarray


def start_work(data: AnyData, order: np.ndarray, row_weights: np.ndarray) -> Work:
    """Lists of the rows of positive weight, and room to work in."""
    rows = np.flatnonzero(row_weights > 0.0).astype(np.int32)
    lists = np.empty((order.shape[0] + 1, rows.size), np.int32)
    lists[0] = rows
    for j, by_value in enumerate(order):
        lists[j + 1] = by_value[row_weights[by_value] > 0.0]
    return Work(
        lists=lists,
        weights=row_weights[rows],
        stack=np.zeros((256, 3), np.int64),
        counts=np.zeros(3, np.int64),
        hand=np.empty(rows.size, np.int32),
        hand_weights=np.empty(rows.size),
        weight=np.empty(row_weights.size),
        tests=np.empty((3, data.n_values.size)),
        sides=np.empty((2, data.n_classes)),
        table=np.empty((data.n_values.max(initial=0) + 2, data.n_classes)),
    )


def with_room(nodes: Nodes, work: Work, n_branches: int) -> tuple[Nodes, Work]:
    """Make room for what the compiled code stopped for."""
    n_nodes, n_places = work.counts[N_NODES] + n_branches, work.counts[N_PLACES]
    if n_nodes > work.stack.shape[0]:
        nodes = Nodes(*(longer(array, n_nodes) for array in nodes))
        work = work._replace(stack=longer(work.stack, n_nodes))
    if n_places > work.weights.size:
        hand, weights = longer(work.hand, n_places), longer(work.weights, n_places)
        lists = np.ascontiguousarray(longer(work.lists.T, n_places).T)
        work = work._replace(
            lists=lists, weights=weights, hand=hand, hand_weights=np.empty_like(weights)
        )
    return nodes, work
