"""MartiBoost. Long & Servedio (2005); papers/004, section 5.5.1."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.families.binary import SIGNS, BinaryBoostingClassifier
from steadyboost.boosters.martiboost.mass import push
from steadyboost.boosters.martiboost.program import Layer, Program
from steadyboost.ensemble.loop import RoundResult
from steadyboost.ensemble.model_io.fields import Check, Numbers
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import ROUNDING
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Answers, Learner, Question
from steadyboost.learners.tree import Stump
from steadyboost.parameters import Interval


class MartiBoostClassifier(BinaryBoostingClassifier):
    """Martingale boosting: a branching program whose nodes are weak hypotheses.

    After l layers a row is at one of l + 1 nodes, by the number i of its steps to the right. Each
    node has a hypothesis of its own, trained on the rows that get there, with both classes of equal
    weight, and sends half of that weight right, by chance if need be. Rows weigh by where their
    answers lead them, not by how often these were wrong, and so wrong labels do not take over. The
    second class is named if at least half of the probability ends at ``i >= l / 2``.

    Parameters
    ----------
    n_layers : int or None, default=None
        Layers; L of them hold up to ``L (L + 1) / 2`` hypotheses per problem. None takes
        ``n_estimators``.
    randomized : bool, default=False
        Let each row take one random path, as the paper has it, instead of the majority of all
        paths. It concerns ``predict`` and ``staged_predict`` alone, which then draw labels by
        their probabilities: the same ones whenever the same rows are asked for.
    {strategy}
    estimator : object, default=None
        The weak learner: one of ours (:class:`~steadyboost.Tree`, :class:`~steadyboost.Stump`) or
        any scikit-learn classifier. By default ``Stump()``. Ours grow all trees of a layer in one
        compiled call, unless they draw features or rows.
    learning_rate : float, default=1.0
        Without effect: there are no steps to shrink.
    {shared_parameters}
    {bits}

    References
    ----------
    .. [1] P. M. Long, R. A. Servedio (2005). Martingale boosting. COLT, 79-94.
    .. [2] P. M. Long, R. A. Servedio (2008). Adaptive martingale boosting. NIPS, 977-984.
    .. [3] M. Geist (2015). Soft-max boosting. Machine Learning 100, 305-332.

    Examples
    --------
    >>> from steadyboost import MartiBoostClassifier
    >>> from steadyboost.lab.datasets import make_long_servedio
    >>> X, noisy, y = make_long_servedio(1000, noise=0.1, random_state=0, return_clean=True)
    >>> model = MartiBoostClassifier(n_layers=50).fit(X, noisy)
    >>> round(model.score(X, y), 2)
    0.94
    """

    needed_extra = ("routes", "mass")
    weighs_stakes = False  # nodes balance the classes, whatever these weigh
    stops_when_perfect = False  # layers, not hypotheses, are perfect
    without_effect = ("learning_rate",)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_layers": [Interval(Integral, 1, None, closed="left"), None],
        "randomized": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_layers: int | None = None,
        randomized: bool = False,
        strategy: Any = "ovr",
        **shared: Any,
    ):
        super().__init__(estimator, strategy=strategy, **shared)
        self.n_layers = n_layers
        self.randomized = randomized

    def _default_learner(self) -> Learner:
        return Stump()

    def n_rounds(self) -> int:
        return self.n_estimators if self.n_layers is None else self.n_layers

    def rounds_name(self) -> str:
        return "n_estimators" if self.n_layers is None else "n_layers"

    def n_columns(self, n_rounds: int | None = None) -> int:
        """The score of each problem, then its mass at each node of the widest layer."""
        n_layers = self.n_rounds() if n_rounds is None else n_rounds
        return self.n_outputs() * (n_layers + 2)

    def n_parts(self, t: int) -> int:
        return self.n_outputs() * (t + 1)

    def make_state(
        self, rows: TrainingState, learner: Learner, stages: Sequence[Stage]
    ) -> list[Program]:
        """The branching program of each binary problem."""
        workers = rows.workers if self.n_outputs() == 1 else rows.workers.alone()
        return [
            Program(rows, bits[rows.y], self._masses(rows, p), workers, is_new=not stages)
            for p, bits in enumerate(self.bits_.T.astype(np.int32))
        ]

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        """One: a layer holds the nodes of all binary problems."""
        return [rows]

    def _masses(self, rows: TrainingState, p: int) -> list[np.ndarray]:
        """The mass of problem p, chunk by chunk."""
        return [self._mass(chunk.scores, p) for chunk in rows.chunks]

    def _mass(self, scores: np.ndarray, p: int) -> np.ndarray:
        """The columns with the mass of problem p."""
        n_subproblems = self.n_outputs()
        width = scores.shape[1] // n_subproblems - 1
        return scores[:, n_subproblems + p * width :][:, :width]

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: list[Program]
    ) -> RoundResult:
        """A layer of each problem."""
        n_nodes = round_.t + 1
        votes = np.zeros((len(state) * n_nodes, len(rows)), dtype=np.int32)

        def grow(p: int) -> Layer:
            own = votes[p * n_nodes : (p + 1) * n_nodes]
            return state[p].grow(learner, self.resample, round_, p * n_nodes, own)

        layers = rows.workers.parallel_map(grow, range(len(state)))
        return RoundResult(
            self.stage(layers),
            votes.T,
            [
                Question(own.y, layer.weights, 2, SIGNS)
                for own, layer in zip(state, layers, strict=True)
            ],
            {"hypotheses": sum(layer.n_hypotheses for layer in layers)},
            # Later layers move mass even where their hypotheses have no edge.
            no_edge=round_.t == 0 and all(layer.error >= 0.5 - ROUNDING for layer in layers),
        )

    def is_done(self, rows: TrainingState, stages: Sequence[Stage], state: list[Program]) -> bool:
        """Whether every row is, in every problem, where later layers cannot change its label."""
        return all(program.is_settled(len(stages) + 1) for program in state)

    def stage_fields(self) -> dict[str, Check]:
        routes, mass = Numbers((None, 2), 0, 1, "f"), Numbers((None,), 0, 1, "f")
        return {**super().stage_fields(), "routes": routes, "mass": mass}

    def stage(self, layers: list[Layer]) -> Stage:
        """The nodes of all problems, problem by problem."""
        extra = {
            "routes": np.concatenate([layer.routes for layer in layers]),
            "mass": np.concatenate([layer.mass for layer in layers]),
        }
        answers = Answers(tuple(answer for layer in layers for answer in layer.answers))
        error = float(np.mean([layer.error for layer in layers]))
        return Stage(answers, SIGNS, 1.0, error, extra)

    def add(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Every problem moves its mass through its layer."""
        if not isinstance(stage.answer, Answers):  # one class only
            super().add(scores, stage, votes)
            return
        n_subproblems, n_nodes = self.n_outputs(), votes.shape[1] // self.n_outputs()
        for p in range(n_subproblems):
            at = slice(p * n_nodes, (p + 1) * n_nodes)
            push(self._mass(scores, p), stage.extra["routes"][at], votes[:, at], scores[:, p])

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """Half the log-odds of the right half; with more classes, as other problems' scores."""
        return super().decision(scores[:, : self.n_outputs()])

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The mass of the right half, normalised over the classes."""
        return super().probabilities(scores[:, : self.n_outputs()])

    def check_cost_matrix(self) -> None:
        super().check_cost_matrix()
        if self.randomized and self.cost_matrix_ is not None:
            raise ValueError(
                "randomized=True draws labels by their probabilities, where cost_matrix asks for "
                "the cheapest ones; set randomized=False."
            )

    def _label(self, proba: np.ndarray) -> np.ndarray:
        """Where a path ends is as likely as its mass says: one draw is a random path."""
        if not self.randomized:
            return super()._label(proba)
        draws = np.random.default_rng(self._seed).random((len(proba), 1))
        below = (proba.cumsum(axis=1)[:, :-1] <= draws).sum(axis=1)
        return self.classes_.take(below)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the decrease of impurity, weighted by the mass of the nodes."""
        check_is_fitted(self, "stages_")
        n = self._encoder.n_columns
        total = np.zeros(n)
        for stage in self.stages_:
            answers = stage.answer.answers if isinstance(stage.answer, Answers) else ()
            for answer, mass in zip(answers, stage.extra.get("mass", ()), strict=True):
                if answer is not None:
                    total += mass * answer.importances(n)
        total = self._encoder.by_feature(total)
        return total / total.sum() if total.sum() > 0 else total
