"""The hooks of a booster: the lines of a paper's pseudocode."""

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
    """What a booster may say; the loop asks.

    A booster is ``log_weights`` and ``step``; also ``question``, where it asks for something else
    than the classes, and ``add`` and ``probabilities``, where it is not a weighted vote.
    """

    stops_when_perfect: ClassVar[bool] = True  # or go on, with a clipped error
    weighting: ClassVar[type[Weighting]] = Weighting  # how weights follow from the stages
    has_memory: ClassVar[bool] = False  # whether it remembers more of a row than its scores
    takes_label_sets: ClassVar[bool] = False  # whether rows may have several labels
    spreads: ClassVar[bool] = True  # whether rows may be spread over machines
    does_without: ClassVar[tuple[str, ...]] = ()  # shared parameters that it has no use for
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
        """Logarithm of each row's weight, (n,), up to a constant, from the scores as they stand."""
        raise NotImplementedError

    def check_costs(self, costs: Any, y: np.ndarray) -> np.ndarray | None:
        """What the labels of each row cost, as passed to ``fit``; most boosters know of none."""
        return None

    def classes_in(self, y: np.ndarray) -> np.ndarray:
        """The labels that there are."""
        return np.unique(y)

    def prepare(self) -> None:
        """Set what follows from the classes alone, before there are rows."""

    def n_outputs(self) -> int:
        """Columns of scores."""
        return self.n_classes_

    def n_columns(self, n_rounds: int | None = None) -> int:
        """Those, and after them what else ``add`` keeps of a row in so many rounds (None: all)."""
        return self.n_outputs()

    def n_parts(self, t: int) -> int:
        """Answers in the stage of round t, from 0, where a stage has several."""
        return self.n_outputs()

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        """The subproblems that are boosted in parallel; by default one, on the rows as they are."""
        return [rows]

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Set what is chosen from the training rows before the first round."""

    def n_rounds(self) -> int:
        """Rounds at the most."""
        return self.n_estimators

    def rounds_name(self) -> str:
        """The parameter that says so."""
        return "n_estimators"

    def finish(self, run: "Boosting") -> None:
        """Set what is known only after the last round."""

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
        """Which rows the scores get wrong."""
        return self.probabilities(scores).argmax(axis=1) != y

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """What ``decision_function`` gives for scores."""
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores.copy()

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities from scores."""
        return softmax(scores)
