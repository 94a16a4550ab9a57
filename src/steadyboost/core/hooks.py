"""The hooks of a booster: the lines of a paper's pseudocode."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steadyboost.core.rows import Rows
from steadyboost.core.scores import add_votes, softmax
from steadyboost.learners.base import Learner, Question

if TYPE_CHECKING:
    from steadyboost.core.loop import Boosting, Round, Stage


class Hooks:
    """What a booster may say; the loop asks.

    A booster is ``log_weights`` and ``step``; also ``question``, where it asks for something else
    than the classes, and ``add`` and ``probabilities``, where it is not a weighted vote.
    """

    stops_when_perfect: ClassVar[bool] = True  # or go on, with a clipped error
    weighs_pairs: ClassVar[bool] = False  # whether it weighs (row, label) pairs
    n_estimators: int
    n_classes_: int

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Logarithm of each row's weight, (n,), up to a constant, from the scores as they stand."""
        raise NotImplementedError

    def tune(self, rows: Rows, learner: Learner) -> None:
        """Set what is chosen from the training rows before the first round."""

    def n_rounds(self) -> int:
        """Rounds at the most."""
        return self.n_estimators

    def finish(self, run: "Boosting") -> None:
        """Set what is known only after the last round."""

    def question(self, rows: Rows, round_: "Round") -> Question:
        """What the weak learner is asked; by default to name the class of weighted rows."""
        rows.weigh(self.log_weights)
        return Question(rows.y, rows.weights, self.n_classes_, np.ones(self.n_classes_))

    def step(self, question: Question, error: float) -> float | None:
        """How much an answer with this weighted error counts; None if it has no edge."""
        raise NotImplementedError

    def add(self, scores: np.ndarray, stage: "Stage", votes: np.ndarray) -> None:
        """Add a stage to the scores, in training and in prediction alike."""
        add_votes(scores, votes, stage.code, stage.step)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities from scores."""
        return softmax(scores)
