"""What boosters over (row, wrong label) pairs share: weights of pairs, and a coloured question.

AdaBoost.OC, AdaBoost.M2 and MSmoothBoost keep a distribution D(i, l) ~ exp(S(l) - S(y_i)) times a
factor of the row; a round needs a few sums over labels of it. Exponents are shifted row by row, and
factors are kept as logarithms, so that thousands of rounds neither overflow nor underflow.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from steadyboost.ensemble.codes.colorings import coloring_rule
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.scores import softmax
from steadyboost.ensemble.training_state import RowChunk, TrainingState, scale_of
from steadyboost.ensemble.weighting import SUMMED_ROWS, ExpScoreCache, PairWeighting
from steadyboost.learners.base import Question
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import sum_in_order
from steadyboost.trees.prediction.apply import take

Damping = Callable[[np.ndarray], np.ndarray]

TINY = 1e-250  # what a colouring separates is summed by logarithms below this
CLIP = 1e-10  # errors are kept so far from 0 and 1: their log-odds stay finite, below 24


@kernel
def _sum_by_label(values, factor, y, out):
    """Add up pair weights by (label, own label)."""
    for c in range(values.shape[1]):
        for i in range(len(y)):
            out[c, y[i]] += factor[i] * values[i, c]


@kernel
def _write_edges(values, factor, total, y, out):
    """Write edges chunk by chunk, as pairs are stored by column and edges by row."""
    k = values.shape[1]
    for start in range(0, len(y), SUMMED_ROWS):
        stop = min(start + SUMMED_ROWS, len(y))
        for c in range(k):
            for i in range(start, stop):
                out[i, c] = -factor[i] * values[i, c]
        for i in range(start, stop):
            out[i, k] = factor[i] * total[i]
            out[i, y[i]] = out[i, k]


def log_sum_exp(scores: np.ndarray) -> np.ndarray:
    """ln of the rows' sums of exp(scores)."""
    top = scores.max(axis=1)
    return top + np.log(np.exp(scores - top[:, None]).sum(axis=1))


class ChunkPairs:
    """A chunk's pairs: weight(i, l) = factor[i] * exp_scores.values[i, l]."""

    def __init__(self, chunk: RowChunk, colors: np.ndarray, damping: Damping | None):
        self.chunk = chunk
        self.exp_scores = chunk.exp_scores or ExpScoreCache(chunk.scores, chunk.y)
        self.total, self.other = self.exp_scores.sum_colors(colors)
        self.log_factor = self.exp_scores.shift - self.exp_scores.own
        if damping is not None:
            self.log_factor += damping(self.log_factor + np.log(self.total))
        if chunk.base is not None:
            self.log_factor += chunk.base
        self.factor = np.exp(self.log_factor - self.log_factor.max())

    def log_other(self, colors: np.ndarray) -> np.ndarray:
        """ln of each row's weight of the other colour, up to a constant of all rows."""
        scores, y = self.chunk.scores, self.chunk.y
        sides = np.array([log_sum_exp(scores[:, colors == color]) for color in (1, 0)])
        return self.log_factor - self.exp_scores.shift + sides[colors[y], np.arange(len(y))]


class PairDistribution:
    """A distribution over the (row, label) pairs of all rows, from the current scores.

    ``damping``, if any, gives the logarithm of a further factor of each row, from
    ``ln(sum over l of exp(S(l) - S(y_i)))``, how strongly the scores speak against its label.
    ``colors`` is the colouring that is going to be asked, where it is known already.
    """

    def __init__(
        self, rows: TrainingState, damping: Damping | None = None, colors: np.ndarray | None = None
    ):
        self.rows, self.colors = rows, colors
        first = np.zeros(rows.n_classes, dtype=np.int8) if colors is None else colors
        self.parts = rows.each(lambda chunk: ChunkPairs(chunk, first, damping))
        sums = [float((part.factor * part.total).sum()) for part in self.parts]
        tops = [float(part.log_factor.max()) for part in self.parts]
        top, total = rows.allreduce(list(zip(tops, sums, strict=True)), scale_of)
        for part, own in zip(self.parts, tops, strict=True):
            part.factor *= np.exp(own - top)
            part.factor /= total
        self.log_total = float(top + np.log(total))

    def _total(self, values: list) -> Any:
        """Sum over the chunks of all machines."""
        return self.rows.allreduce(values, sum_in_order)

    def _each(self, function: Callable[[ChunkPairs], np.ndarray | float | None]) -> list:
        return self.rows.workers.run(function, self.parts)

    def affinity(self) -> np.ndarray:
        """w(l, l') = sum of D(i, l) over the rows with label l' (003, section 2.3)."""
        k = self.rows.n_classes

        def of_part(part: ChunkPairs) -> np.ndarray:
            out = np.zeros((k, k))
            _sum_by_label(part.exp_scores.values, part.factor, part.chunk.y, out)
            return out

        return self._total(self._each(of_part))

    def weigh_rows(self, colors: np.ndarray) -> float:
        """Set the rows' weights to D(i) for a colouring; returns U, the weight that it separates.

        D(i) = sum of D(i, l) over the labels l of the other colour, divided by U (003, Fig. 3).
        """
        weights = self.rows.weights

        def of_part(part: ChunkPairs) -> float:
            own = weights[part.chunk.rows]
            if colors is not self.colors:
                part.total, part.other = part.exp_scores.sum_colors(colors)
            np.multiply(part.factor, part.other, out=own)
            return float(own.sum())

        separated = self._total(self._each(of_part))
        if separated < TINY:
            return self._weigh_rows_by_logarithms(colors)
        weights /= separated
        return separated

    def _weigh_rows_by_logarithms(self, colors: np.ndarray) -> float:
        """As ``weigh_rows``: U may be too small for a float, but the rows' shares of it are not."""
        rows, weights = self.rows, self.rows.weights
        logs = [part.log_other(colors) for part in self.parts]
        top = rows.allreduce([float(own.max()) for own in logs], max)
        for part, own in zip(self.parts, logs, strict=True):
            weights[part.chunk.rows] = np.exp(own - top)
        total = rows.sum(weights)
        weights /= total
        return float(np.exp(top + np.log(total) - self.log_total))

    def edges(self) -> np.ndarray:
        """A(i, l) = -D(i, l), and A(i, y_i) = the sum of D(i, .): what a vote for l is worth.

        The last column is the row's mass.
        """
        out = np.empty((len(self.rows), self.rows.n_classes + 1))

        def of_part(part: ChunkPairs) -> None:
            own = out[part.chunk.rows]
            _write_edges(part.exp_scores.values, part.factor, part.total, part.chunk.y, own)

        self._each(of_part)
        return out


class OutputCodeClassifier(BoostingClassifier):
    """Boosting with output codes: each round colours the labels and learns the colours."""

    weighting = PairWeighting
    stops_when_perfect = False  # one perfect colouring does not separate k classes

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "coloring": [str, callable, "array-like"],
    }

    def __init__(self, estimator: Any = None, *, coloring: Any = "balanced", **shared: Any):
        super().__init__(estimator, **shared)
        self.coloring = coloring

    def damping(self) -> Damping | None:
        """ln of a factor on a row's pairs, as a function of ln(sum of exp(S(l) - S(y)))."""
        return None

    def code(self, colors: np.ndarray) -> np.ndarray:
        """What the answers 0 and 1 add to each class's score, before the step."""
        return np.array([colors == 0, colors == 1], dtype=float)

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """003, Fig. 3, first four lines of the loop; 000, Fig. 2, lines 1 to 4."""
        k = self.n_classes_
        rule = coloring_rule(self.coloring, k)
        if rule.needs_affinity:
            pairs = PairDistribution(rows, self.damping())
            colors = rule.draw(round_.t, k, pairs.affinity(), round_.rng(Draw.COLORING))
        else:
            colors = rule.draw(round_.t, k, None, round_.rng(Draw.COLORING))
            pairs = PairDistribution(rows, self.damping(), colors)
        separated = pairs.weigh_rows(colors)
        info = {"U": separated, "coloring": colors.tolist()}
        targets = np.empty_like(rows.y)
        take(colors, rows.y, targets)
        return Question(targets, rows.weights, 2, self.code(colors), info)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The sum of exp(S(l) - S(y)) is least where S is half the log-probability."""
        return softmax(2 * scores)
