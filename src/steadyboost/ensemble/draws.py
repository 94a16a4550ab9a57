"""Bootstraps of rows that are drawn block by block, as numpy would draw all of them at once.

numpy draws a number for row after row, and the last one takes the rest; so do blocks here, each of
which takes the next blocks for one more row. The draws are the same but for the rounding of shares.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.training_state import RowChunk, TrainingState


class Left(NamedTuple):
    """What a block hands on: the state of chance, and the draws, share and rows that are left."""

    state: Any
    draws: int
    share: float
    rows: int


def draw_counts(rows: TrainingState, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How often each row is in a bootstrap drawn by the weights.

    Draws go from row to row, and so, where rows are spread over machines, from one to the next.
    """
    counts = np.zeros(len(weights), dtype=np.int64)
    shares = weights / rows.sum(weights)

    def draw(block: RowChunk, left: Left) -> Left:
        rng.bit_generator.state = left.state
        own = shares[block.rows]
        parts = own / max(left.share, own.sum(), np.finfo(float).tiny)
        if left.rows > len(block):
            parts = np.append(parts, max(0.0, 1.0 - parts.sum()))
        drawn = rng.multinomial(left.draws, parts)[: len(block)]
        counts[block.rows] = drawn
        return Left(
            rng.bit_generator.state,
            left.draws - int(drawn.sum()),
            left.share - float(own.sum()),
            left.rows - len(block),
        )

    rows.in_turn(draw, Left(rng.bit_generator.state, rows.n_all, 1.0, rows.n_all))
    return counts
