"""The hooks of a booster: the steps of a paper's pseudocode that the loop calls."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steadyboost.ensemble.loop import RoundResult, fit_stage
from steadyboost.ensemble.model_io.checks import MAX_SCORE
from steadyboost.ensemble.model_io.fields import Check, Numbers
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import add_votes, softmax
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.weighting import Weighting
from steadyboost.learners.base import Data, Learner, Question
from steadyboost.trees.growth.tree import GrownTree

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage


class Hooks:
    """Methods that a booster overrides; the loop calls them.

    Most boosters override ``log_weights`` and ``step``; also ``question``, if the weak learner is
    asked for anything but the class, and ``add`` and ``probabilities``, if the ensemble is not a
    weighted vote.
    """

    stops_when_perfect: ClassVar[bool] = True  # otherwise boosting goes on, with a clipped error
    weighting: ClassVar[type[Weighting]] = Weighting  # how weights follow from the stages
    adds_votes: ClassVar[bool] = True  # whether ``add`` adds step * code[vote], as it does here
    has_memory: ClassVar[bool] = False  # whether it keeps per-row state other than the scores
    takes_label_sets: ClassVar[bool] = False  # whether rows may have several labels
    spreads: ClassVar[bool] = True  # whether it trains on distributed rows where they are
    does_without: ClassVar[tuple[str, ...]] = ()  # names of common parameters that it does not have
    without_effect: ClassVar[tuple[str, ...]] = ()  # names of common parameters that it ignores
    not_in_files: ClassVar[tuple[str, ...]] = ()  # fitted attributes that model files leave out
    needed_fields: ClassVar[tuple[str, ...]] = ()  # fitted attributes that prediction needs
    needed_extra: ClassVar[tuple[str, ...]] = ()  # values of a stage that prediction needs
    adds_leaf_values: ClassVar[bool] = (
        False  # whether answers are trees whose leaf values are added to the scores
    )
    n_estimators: int
    learning_rate: float
    resample: bool
    n_classes_: int

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a subclass that overrides what a faster path assumes and does not say so."""
        super().__init_subclass__(**options)
        changed = [name for name in cls.weighting.assumes if name in vars(cls)]
        if changed and "weighting" not in vars(cls):
            raise TypeError(
                f"{cls.__name__} overrides {', '.join(changed)}, which {cls.weighting.__name__} "
                "counts on; set its class attribute weighting, for example to "
                "steadyboost.ensemble.weighting.Weighting."
            )
        if cls.adds_votes and "add" in vars(cls) and "adds_votes" not in vars(cls):
            raise TypeError(
                f"{cls.__name__} overrides add, but prediction would add weighted votes; set its "
                "class attribute adds_votes to False."
            )

    # The algorithm: what a paper's pseudocode says of a round

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Logarithm of each row's weight, (n,), up to a constant, from the current scores."""
        raise NotImplementedError

    def weigh_chunk(self, chunk: RowChunk) -> np.ndarray:
        """Logarithms of the weights of a chunk of rows."""
        return self.log_weights(chunk.scores, chunk.y)

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """What the weak learner is asked; by default the class of each weighted row."""
        rows.weighting.weigh(rows)
        code = np.ones(self.n_classes_)
        n, scale = self.n_classes_, rows.weighting.fixed_point_scale
        return Question(rows.y, rows.weights, n, code, total=1.0, fixed_point_scale=scale)

    def step(self, question: Question, error: float) -> float | None:
        """Step size of an answer with this weighted error; None if it has no edge."""
        raise NotImplementedError

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        """Step size, for boosters that need more than the error to compute it.

        The step of a perfect answer would be infinite; if boosting stops there, it is that of an
        answer that misclassifies half a row.
        """
        return self.step(question, rows.floored(error) if self.stops_when_perfect else error)

    def add(self, scores: np.ndarray, stage: "Stage", votes: np.ndarray) -> None:
        """Add a stage to the scores, in training and in prediction alike."""
        add_votes(scores, votes, stage.code, stage.step)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities from scores."""
        return softmax(scores)

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """The decision function for the given scores."""
        # A copy, as ``scores`` change in the next stage of a staged prediction.
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores.copy()

    def wrong(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Boolean mask of the rows that the scores misclassify."""
        return self.probabilities(scores).argmax(axis=1) != y

    # Before the first round

    def check_costs(self, costs: Any, y: np.ndarray) -> np.ndarray | None:
        """Validate the costs that were passed to ``fit``; None if the booster takes none."""
        return None

    def classes_in(self, y: np.ndarray) -> np.ndarray:
        """The distinct labels, sorted."""
        return np.unique(y)

    def prepare(self) -> None:
        """Set attributes that depend only on the classes, before the data is seen."""

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Choose hyperparameters from the training data before the first round."""

    def begin(self) -> None:
        """Reset attributes of an earlier fit that training must not see, such as a best round.

        Called at the start of every run, including a warm start.
        """

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        """The subproblems that are boosted in parallel; by default one, on the rows as they are."""
        return [rows]

    def n_rounds(self) -> int:
        """Maximum number of rounds."""
        return self.n_estimators

    def rounds_name(self) -> str:
        """Name of the parameter for the maximum number of rounds."""
        return "n_estimators"

    def add_initial_scores(self, data: Data, scores: np.ndarray) -> None:
        """Add scores that rows have before the first round; by default none."""

    def initial_features(self) -> np.ndarray:
        """Features that :meth:`add_initial_scores` looks at."""
        return np.arange(0)

    # Rounds that are more than a question, an answer and a step

    def make_state(self, rows: TrainingState, learner: Learner, stages: Sequence["Stage"]) -> Any:
        """State between rounds other than the scores; a function of the rows and the stages.

        The loop makes it when it is first needed and passes it to the hooks below, which may
        change it.
        """
        return None

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: Any
    ) -> RoundResult:
        """One round of a subproblem; by default, fit an answer and choose its step."""
        return fit_stage(self, rows, learner, round_)

    def remember(self, rows: TrainingState, stage: "Stage") -> None:
        """Update the per-row memory, while the weights are still those of this round."""

    def is_done(self, rows: TrainingState, stages: Sequence["Stage"], state: Any) -> bool:
        """Whether to stop, although the last round had an edge."""
        return False

    def best_round(self, stages: Sequence["Stage"]) -> int:
        """How many of the stages to keep, if no callback has chosen."""
        return len(stages)

    def finish(self, rows: TrainingState, stages: Sequence["Stage"], state: Any) -> None:
        """Set fitted attributes after the last round.

        ``state`` is None if it was never made, or if stages were dropped after it was.
        """

    # The shape of scores and stages

    def n_outputs(self) -> int:
        """Number of columns of the scores."""
        return self.n_classes_

    def n_columns(self, n_rounds: int | None = None) -> int:
        """Columns of the scores and of scratch space that ``add`` needs (None: for all rounds)."""
        return self.n_outputs()

    def has_parts(self) -> bool:
        """Whether a stage has an answer for each of several questions."""
        return False

    def n_parts(self, t: int) -> int:
        """Number of answers in the stage of round t (from 0), if a stage has several."""
        return self.n_outputs()

    def leaf_parts(self, stages: Sequence["Stage"]) -> list[tuple[GrownTree, int]] | None:
        """Trees with their first score columns, if ``add`` adds leaf values; otherwise None."""
        return None

    def pruning(self) -> tuple[Any, ...]:
        """What :meth:`leaf_parts` depends on besides the stages; never changed in place."""
        return ()

    # Model files

    def fitted_fields(self) -> dict[str, Check]:
        """Checks of the fitted attributes in a model file, by name."""
        k = self.n_classes_
        return {"cost_matrix_": Numbers((k, k), 0, MAX_SCORE)}

    def stage_fields(self) -> dict[str, Check]:
        """Checks of step, error, code and extra values of a stage in a model file, by name."""
        return {
            "step": Numbers(..., -MAX_SCORE, MAX_SCORE, "f"),
            "error": Numbers(..., kinds="f", missing=True),
            "code": Numbers(..., -MAX_SCORE, MAX_SCORE, "biuf"),
            "no_edge": Numbers(..., 0, 1, "biuf"),
        }

    def updated_fields(self, values: dict[str, Any]) -> dict[str, Any]:
        """Convert fitted attributes from a model file of an older version."""
        return values

    def check_stage(self, stage: "Stage") -> None:
        """Raise a ``ValueError`` if a stage from a model file cannot be used for prediction."""
