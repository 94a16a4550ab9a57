"""The boosting loop: weight the rows, fit a weak hypothesis, choose its step, add it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from steadyboost.ensemble.history import History
from steadyboost.ensemble.rounds import Round, Seeds
from steadyboost.ensemble.scores import PERFECT, weighted_error, worth
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.weighting import Weighting
from steadyboost.learners.base import Answer, Learner, Question
from steadyboost.learners.many import stacked

if TYPE_CHECKING:
    from steadyboost.ensemble.callbacks import Callback
    from steadyboost.ensemble.estimator import BoostingClassifier


def mean_info(results: Sequence["RoundResult"]) -> dict[str, Any]:
    """Entries for the history, averaged over the subproblems."""
    if len(results) == 1:
        return results[0].question.info
    names = results[0].question.info
    return {name: float(np.mean([a.question.info[name] for a in results])) for name in names}


def only_question(rows: TrainingState, round_: Round) -> Question:
    """The question for data with a single class: uniform weights."""
    return Question(rows.y, np.full(len(rows), 1 / rows.n_all), 1, np.ones(1))


class RoundResult(NamedTuple):
    """A question and its answer; the step is None if the answer has no edge."""

    question: Question
    answer: Answer
    votes: np.ndarray
    error: float
    step: float | None

    def stage(self, factor: float) -> Stage | None:
        if self.step is None:
            return None
        question = self.question
        return Stage(self.answer, question.code, factor * self.step, self.error, question.extra)

    def unhelpful(self) -> Stage:
        """The stage of an answer without an edge, for an ensemble that would be empty otherwise."""
        extra = {**self.question.extra, "no_edge": True}
        return Stage(self.answer, self.question.code, 1.0, self.error, extra)


@dataclass
class Boosting:
    """A training run: the loop, and the state that callbacks can read."""

    booster: "BoostingClassifier"
    learner: Learner
    rows: TrainingState
    validation: TrainingState | None
    seeds: Seeds
    n_rounds: int
    stages: list[Stage] = field(default_factory=list)
    history: History = field(default_factory=History)
    keep: int | None = None  # rounds to keep, where a callback knows better than all
    questions: list[Question] = field(default_factory=list)  # of the last round, with weights
    booster_state: Any = None  # kept by the booster between rounds; a function of the stages
    over: bool = False  # whether the last round was the last that there can be

    def __post_init__(self) -> None:
        booster, several = self.booster, self.rows.n_classes > 1
        self.rows.start(booster.weighting(booster) if several else Weighting(booster))
        self.subproblems = booster.subproblems(self.rows) if several else [self.rows]
        others = [state for state in (self.validation, *self.subproblems) if state is not self.rows]
        for state in filter(None, others):
            state.start(Weighting(booster))

    @property
    def weights(self) -> np.ndarray:
        """Weights of the rows in the last round, averaged over the subproblems."""
        return np.mean([question.weights for question in self.questions], axis=0)

    def run(self, callbacks: Sequence["Callback"]) -> None:
        """Boost until a callback stops it, no edge is left, or ``n_rounds`` are done.

        A callback that is ``outermost`` begins first, as it may bring rounds that were done
        before, and comes last in each round, as it keeps what the others have recorded.
        """
        outer = [callback for callback in callbacks if getattr(callback, "outermost", False)]
        inner = [callback for callback in callbacks if callback not in outer]
        for callback in outer:
            callback.on_begin(self)
        if self.stages and np.any(self.stages[0].extra.get("no_edge")):
            self.stages.clear()  # ask again: the learner may be a better one
            self.history.clear()
        self.replay()
        for callback in inner:
            callback.on_begin(self)
        callbacks = [*inner, *outer]
        try:
            stop = self.is_done() or len(self.stages) >= self.n_rounds
            while not stop:
                self.over = self.one_round()
                wishes = [callback.on_round(self) for callback in callbacks]
                stop = self.over or any(wishes) or len(self.stages) >= self.n_rounds
        except KeyboardInterrupt:
            if not self.stages:
                raise
            warnings.warn(
                f"Interrupted: the model holds the {len(self.stages)} rounds that were finished.",
                UserWarning,
                stacklevel=2,
            )
        finally:
            for callback in callbacks:
                callback.on_end(self)
        if self.keep is not None:
            del self.stages[self.keep :]

    def is_done(self) -> bool:
        """Whether nothing is left to learn."""
        return self.booster.is_done(self)

    def open_subproblems(self) -> list[int]:
        """Indices of the subproblems that had an edge in the last round and were not perfect."""
        if not self.stages:
            return list(range(len(self.subproblems)))
        ends = self.booster.stops_when_perfect or self.rows.n_classes == 1
        parts = enumerate(self.stages[-1].parts)
        return [p for p, part in parts if part and not (ends and part.error <= PERFECT)]

    def replay(self) -> None:
        """Recompute the scores from existing stages (warm start, resume)."""
        for t, stage in enumerate(self.stages):
            if self.booster.has_memory:
                for p, subproblem in enumerate(self.subproblems):
                    self.booster.question(subproblem, self.round_of(self.round(t), p))
                self.remember(stage)
            for state in filter(None, (self.rows, self.validation)):
                state.weighting.replay(state, stage, stage.answer.votes(state.data))

    def remember(self, stage: Stage) -> None:
        for subproblem, part in zip(self.subproblems, stage.parts, strict=True):
            if part is not None:
                self.booster.remember(subproblem, part)

    def round(self, t: int) -> Round:
        return Round(t, self.seeds[t])

    def round_of(self, round_: Round, p: int) -> Round:
        """The round of a subproblem, with a seed of its own if there are several."""
        return round_.of(p) if len(self.subproblems) > 1 else round_

    def one_round(self) -> bool:
        """One round; whether it must be the last."""
        round_ = self.round(len(self.stages))
        return self.booster.boost(self, round_) if self.rows.n_classes > 1 else self.ask_all(round_)

    def ask_all(self, round_: Round) -> bool:
        """One round of each open subproblem; whether none is left."""
        n_subproblems, left = len(self.subproblems), self.open_subproblems()
        pairs = [(self.subproblems[p], self.round_of(round_, p)) for p in left]
        results = self.rows.workers.parallel_map(lambda pair: self.ask(*pair), pairs)
        self.questions = [one.question for one in results]
        parts: list[Stage | None] = [None] * n_subproblems
        votes: list[np.ndarray | None] = [None] * n_subproblems
        for p, one in zip(left, results, strict=True):
            parts[p], votes[p] = one.stage(self.booster.learning_rate), one.votes
        edge = any(parts)
        if not edge:
            if self.stages:
                return True
            self.warn_of_no_edge(results[0].error)
            parts = [one.unhelpful() for one in results]
        together = results[0].votes if n_subproblems == 1 else stacked(votes, len(self.rows))
        self.accept(Stage.joined(parts), together, mean_info(results))
        return not edge or self.is_done()

    def ask(self, rows: TrainingState, round_: Round) -> RoundResult:
        """Fit the weak learner to a subproblem's question, and choose the step of its answer."""
        booster = self.booster
        question = (booster.question if rows.n_classes > 1 else only_question)(rows, round_)
        counts = round_.draw_counts(rows, question.weights) if booster.resample else None
        answer, votes = self.learner.answer(rows.data, question, counts, round_.seed, rows.workers)
        error = self.error_of(rows, question, votes)
        if rows.n_classes == 1:  # the only class is always right
            return RoundResult(question, answer, votes, error, 1.0)
        step = booster.step_on(rows, question, votes, error)
        return RoundResult(question, answer, votes, error, step)

    def error_of(self, rows: TrainingState, question: Question, votes: np.ndarray) -> float:
        """Weighted error of the votes, or the pseudoloss where sets of labels were asked for."""
        edges = question.edges
        if edges is not None and question.form == "set":
            total = rows.total(
                lambda block: worth(edges[block.rows], votes[block.rows], question.code)
            )
            return (1 - float(total)) / 2
        said = question.weights, question.labels(votes), question.targets
        return float(rows.total(lambda block: weighted_error(*(part[block.rows] for part in said))))

    def warn_of_no_edge(self, error: float) -> None:
        """An ensemble is never empty: the round is kept, though it should be dropped."""
        warnings.warn(
            f"The first weak hypothesis has no edge (weighted error {error:.3g}): the model is "
            "this hypothesis alone. Use a stronger estimator, such as a deeper tree.",
            ConvergenceWarning,
            stacklevel=2,
        )

    def accept(self, stage: Stage, votes: np.ndarray | None, info: dict[str, Any]) -> None:
        """Add a stage to the scores, the list and the history.

        Without votes, the stage is pending: it is added to the training scores on first use.
        """
        if self.booster.has_memory:
            self.remember(stage)
        self.rows.add(stage, votes)
        if self.validation is not None:
            self.validation.add(stage, stage.answer.votes(self.validation.data))
        self.stages.append(stage)
        error, step = stage.error, stage.step
        if isinstance(error, np.ndarray) or isinstance(step, np.ndarray):
            parts = [(part.error, part.step) for part in stage.parts if part]
            error, step = np.mean(parts, axis=0)
        record = {"round": len(self.stages), "error": float(error), "step": float(step)}
        self.history.append({**record, **info})

    def proba(self, rows: TrainingState) -> np.ndarray:
        """Class probabilities of rows from their current scores."""
        rows.flush()
        return np.concatenate(rows.each(lambda block: self.booster.probabilities(block.scores)))

    def error_on(self, rows: TrainingState) -> float:
        """Weighted error of the current ensemble on rows."""
        rows.flush()

        def in_block(block: RowChunk) -> np.ndarray:
            wrong = self.booster.wrong(block.scores, block.y)
            weights = None if rows.sample_weight is None else rows.sample_weight[block.rows]
            if weights is None:
                return np.array([wrong.sum(), len(wrong)], dtype=float)
            return np.array([weights[wrong].sum(), weights.sum()])

        wrong, total = rows.total(in_block)
        return float(wrong / total)
