"""Bootstraps drawn chunk by chunk, with the counts that one multinomial draw would give.

NumPy draws a binomial count for one row after another, and the last row takes the rest. The chunks
do the same, with the mass of the later chunks as one more row at the end of each: the counts agree
up to the rounding of that mass.
"""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.training_state import RowChunk, TrainingState


class Left(NamedTuple):
    """State passed from chunk to chunk: the generator, and the draws, mass and rows left."""

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
