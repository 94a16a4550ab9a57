"""Bootstraps of rows that are drawn block by block, as numpy would draw all of them at once."""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.core.rows import Block, Rows
from steadyboost.trees.jit import kernel


@kernel
def _draw_block(rng, shares, n_left, share_left, is_last, out):
    """How often each row of a block is drawn, from what earlier blocks have left.

    The last row of all takes the rest, as in numpy's ``multinomial``: the same draws, to the bit.
    """
    n_drawn = len(shares) - 1 if is_last else len(shares)
    for i in range(n_drawn):
        out[i] = rng.binomial(n_left, min(shares[i] / share_left, 1.0)) if n_left > 0 else 0
        n_left -= out[i]
        share_left -= shares[i]
    if is_last:
        out[n_drawn] = n_left
    return n_left, share_left


class Left(NamedTuple):
    """What a block hands on: the state of chance, and the draws, share and rows that are left."""

    state: Any
    draws: int
    share: float
    rows: int


def draw_counts(rows: Rows, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How often each row is in a bootstrap drawn by the weights.

    Draws go from row to row, and so, where rows are spread over machines, from one to the next.
    """
    counts = np.zeros(len(weights), dtype=np.int64)
    shares = weights / rows.sum(weights)

    def draw(block: Block, left: Left) -> Left:
        rng.bit_generator.state = left.state
        own, is_last = block.rows, left.rows == len(block)
        n, share = _draw_block(rng, shares[own], left.draws, left.share, is_last, counts[own])
        return Left(rng.bit_generator.state, int(n), float(share), left.rows - len(block))

    rows.in_turn(draw, Left(rng.bit_generator.state, rows.n_all, 1.0, rows.n_all))
    return counts
