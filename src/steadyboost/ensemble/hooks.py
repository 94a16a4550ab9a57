"""The hooks of a booster: the steps of a paper's pseudocode that the loop calls."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steadyboost.ensemble.scores import add_votes, softmax
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.weighting import Weighting
from steadyboost.learners.base import Learner, Question
from steadyboost.trees.growth.tree import GrownTree

if TYPE_CHECKING:
    from steadyboost.ensemble.loop import Boosting, Round
    from steadyboost.ensemble.stages import Stage


class Hooks:
    """Methods that a booster overrides; the loop calls them.

    A booster is ``log_weights`` and ``step``; also ``question``, where it asks for something else
    than the classes, and ``add`` and ``probabilities``, where it is not a weighted vote.
    """

    stops_when_perfect: ClassVar[bool] = True  # or go on, with a clipped error
    weighting: ClassVar[type[Weighting]] = Weighting  # how weights follow from the stages
    has_memory: ClassVar[bool] = False  # whether it keeps per-row state other than the scores
    takes_label_sets: ClassVar[bool] = False  # whether rows may have several labels
    spreads: ClassVar[bool] = True  # whether it supports distributed rows
    does_without: ClassVar[tuple[str, ...]] = ()  # common parameters that it does not have
    n_estimators: int
    n_classes_: int

    def __init_subclass__(cls, **options: Any) -> None:
        """A subclass that overrides what a weighting counts on must name its own weighting."""
        super().__init_subclass__(**options)
        changed = [name for name in cls.weighting.assumes if name in vars(cls)]
        if changed and "weighting" not in vars(cls):
            raise TypeError(
                f"{cls.__name__} overrides {', '.join(changed)}, which {cls.weighting.__name__} "
                "counts on; set its class attribute weighting, for example to "
                "steadyboost.ensemble.weighting.Weighting."
            )

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Logarithm of each row's weight, (n,), up to a constant, from the current scores."""
        raise NotImplementedError

    def check_costs(self, costs: Any, y: np.ndarray) -> np.ndarray | None:
        """What the labels of each row cost, as passed to ``fit``; most boosters know of none."""
        return None

    def classes_in(self, y: np.ndarray) -> np.ndarray:
        """The distinct labels, sorted."""
        return np.unique(y)

    def prepare(self) -> None:
        """Set attributes that depend only on the classes, before the data is seen."""

    def n_outputs(self) -> int:
        """Number of columns of the scores."""
        return self.n_classes_

    def n_columns(self, n_rounds: int | None = None) -> int:
        """``n_outputs``, and the columns that ``add`` uses in ``n_rounds`` rounds (None: all)."""
        return self.n_outputs()

    def n_parts(self, t: int) -> int:
        """Answers in the stage of round t, from 0, where a stage has several."""
        return self.n_outputs()

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        """The subproblems that are boosted in parallel; by default one, on the rows as they are."""
        return [rows]

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Choose hyperparameters from the training data before the first round."""

    def n_rounds(self) -> int:
        """Maximum number of rounds."""
        return self.n_estimators

    def rounds_name(self) -> str:
        """Name of the parameter for the maximum number of rounds."""
        return "n_estimators"

    def finish(self, run: "Boosting") -> None:
        """Set fitted attributes after the last round."""

    def boost(self, run: "Boosting", round_: "Round") -> bool:
        """One round; whether it must be the last. By default: ask, decide on the step, add."""
        return run.ask_all(round_)

    def is_done(self, run: "Boosting") -> bool:
        """Whether nothing is left to learn."""
        return not run.open_subproblems()

    def weigh_block(self, block: RowChunk) -> np.ndarray:
        """Logarithms of the weights of a chunk of rows."""
        return self.log_weights(block.scores, block.y)

    def weigh(self, rows: TrainingState) -> None:
        """Set the weights of the next round."""
        rows.weighting.weigh(rows)

    def question(self, rows: TrainingState, round_: "Round") -> Question:
        """What the weak learner is asked; by default to name the class of weighted rows."""
        self.weigh(rows)
        code = np.ones(self.n_classes_)
        n, scale = self.n_classes_, rows.weighting.fixed_point_scale
        return Question(rows.y, rows.weights, n, code, total=1.0, whole=scale)

    def step(self, question: Question, error: float) -> float | None:
        """How much an answer with this weighted error counts; None if it has no edge."""
        raise NotImplementedError

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        """As ``step``, for boosters that look at more than the error.

        A perfect answer would count infinitely: where it is the last, it counts as one that is
        wrong in half a row.
        """
        return self.step(question, rows.floored(error) if self.stops_when_perfect else error)

    def remember(self, rows: TrainingState, stage: "Stage") -> None:
        """Keep what later rounds need beside the scores; the weights are still the round's own."""

    def add(self, scores: np.ndarray, stage: "Stage", votes: np.ndarray) -> None:
        """Add a stage to the scores, in training and in prediction alike."""
        add_votes(scores, votes, stage.code, stage.step)

    def leaf_parts(self, stages: Sequence["Stage"]) -> list[tuple[GrownTree, int]] | None:
        """Trees and first columns, where ``add`` adds the values of leaves; None elsewhere."""
        return None

    def wrong(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Boolean mask of the rows that the scores misclassify."""
        return self.probabilities(scores).argmax(axis=1) != y

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """The decision function for the given scores."""
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores.copy()

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities from scores."""
        return softmax(scores)
