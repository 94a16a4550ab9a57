"""The boosting loop: weight the rows, fit a weak hypothesis, choose its step, add it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from steadyboost.ensemble.history import History
from steadyboost.ensemble.rounds import Round, Seeds
from steadyboost.ensemble.scores import PERFECT, weighted_error, worth
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.weighting import Weighting
from steadyboost.ensemble.workers import Workers
from steadyboost.interruptions import interrupts_heard, keeps_rounds
from steadyboost.learners.base import Answer, Learner, Question, stacked

if TYPE_CHECKING:
    from steadyboost.ensemble.callbacks import Callback
    from steadyboost.ensemble.estimator import BoostingClassifier
    from steadyboost.ensemble.hooks import Hooks


NOT_MADE: Any = object()  # in place of the state of a booster


class RoundResult(NamedTuple):
    """What a round found; the loop alone adds it to the ensemble.

    If it has no edge, its stage is kept only if the ensemble would be empty otherwise. A stage
    without votes is added to the training scores when these are first needed.
    """

    stage: Stage
    votes: np.ndarray | None
    questions: Sequence[Question]  # of this round, with the weights of the rows
    info: dict[str, Any]  # entries for the history
    no_edge: bool = False


def fit_stage(
    booster: "Hooks", rows: TrainingState, learner: Learner, round_: Round
) -> RoundResult:
    """A round of ordinary boosting: weight the rows, fit a hypothesis, choose its step."""
    question = booster.question(rows, round_)
    answer, votes = answer_to(question, rows, learner, round_, booster.resample)
    error = error_of(rows, question, votes)
    step = booster.step_on(rows, question, votes, error)
    factor = 1.0 if step is None else booster.learning_rate * step
    stage = Stage(answer, question.code, factor, error, question.extra)
    return RoundResult(stage, votes, [question], question.info, step is None)


def fit_only_class(
    rows: TrainingState, learner: Learner, round_: Round, resample: bool
) -> RoundResult:
    """A round on data with a single class, which every hypothesis predicts."""
    question = Question(rows.y, np.full(len(rows), 1 / rows.n_all), 1, np.ones(1))
    answer, votes = answer_to(question, rows, learner, round_, resample)
    stage = Stage(answer, question.code, 1.0, error_of(rows, question, votes))
    return RoundResult(stage, votes, [question], {})


def answer_to(
    question: Question,
    rows: TrainingState,
    learner: Learner,
    round_: Round,
    resample: bool,
    workers: Workers | None = None,
) -> tuple[Answer, np.ndarray]:
    """Fit the weak learner to a question; its answer, and the votes of that on all rows."""
    counts = round_.draw_counts(rows, question.weights) if resample else None
    return learner.answer(rows.data, question, counts, round_.seed, workers or rows.workers)


def error_of(rows: TrainingState, question: Question, votes: np.ndarray) -> float:
    """Weighted error of the votes, or the pseudoloss where sets of labels were asked for."""
    edges = question.edges
    if edges is not None and question.form == "set":
        total = rows.total(lambda chunk: worth(edges[chunk.rows], votes[chunk.rows], question.code))
        return (1 - float(total)) / 2
    weights, labels, targets = question.weights, question.labels(votes), question.targets
    return float(
        rows.total(
            lambda chunk: weighted_error(
                weights[chunk.rows], labels[chunk.rows], targets[chunk.rows]
            )
        )
    )


def join_results(
    results: dict[int, RoundResult], n_subproblems: int, rows: TrainingState
) -> RoundResult:
    """One result from those of the open subproblems, by their indices."""
    if n_subproblems == 1:
        return results[0]
    no_edge = all(result.no_edge for result in results.values())
    kept = {p: one.stage for p, one in results.items() if no_edge or not one.no_edge}
    votes = {p: one.votes for p, one in results.items()}
    return RoundResult(
        Stage.joined([kept.get(p) for p in range(n_subproblems)]),
        stacked([votes.get(p) for p in range(n_subproblems)], len(rows)),
        [question for one in results.values() for question in one.questions],
        mean_info([one.info for one in results.values()]),
        no_edge,
    )


def mean_info(infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Entries for the history, averaged over the subproblems."""
    return {name: float(np.mean([info[name] for info in infos])) for name in infos[0]}


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
    keep: int | None = None  # number of stages to keep, set by a callback such as EarlyStopping
    questions: list[Question] = field(default_factory=list)  # of the last round, with weights
    booster_state: Any = NOT_MADE  # of a booster that keeps more than scores
    over: bool = False  # whether no further round is possible

    def __post_init__(self) -> None:
        booster, several = self.booster, self.rows.n_classes > 1
        booster.begin()
        self.rows.start(booster.weighting(booster) if several else Weighting(booster))
        self.subproblems = booster.subproblems(self.rows) if several else [self.rows]
        others = [state for state in (self.validation, *self.subproblems) if state is not self.rows]
        for state in filter(None, others):
            state.start(Weighting(booster))
        # Indices of those in which there is more to learn.
        self.open_subproblems = list(range(len(self.subproblems)))

    def state(self) -> Any:
        """What the booster keeps between rounds, made on first use from the rows and the stages."""
        # Not a cached_property: before Python 3.12 these have one lock for all instances, and
        # several workers of a process that make their states wait for each other in an allreduce.
        if self.booster_state is NOT_MADE:
            several = self.rows.n_classes > 1
            make = self.booster.make_state
            self.booster_state = make(self.rows, self.learner, self.stages) if several else None
        return self.booster_state

    @property
    def weights(self) -> np.ndarray:
        """Weights of the rows in the last round, averaged over the subproblems.

        Before the first round, they are the user's weights, scaled to a mean of 1.
        """
        if not self.questions:
            own = self.rows.sample_weight
            return np.ones(len(self.rows)) if own is None else own / own.mean()
        return np.mean([question.weights for question in self.questions], axis=0)

    def run(self, callbacks: Sequence["Callback"]) -> None:
        """Boost until a callback stops it, no edge is left, or ``n_rounds`` are done."""
        callbacks = self.begin(callbacks)
        try:
            stop = self.is_done() or len(self.stages) >= self.n_rounds
            while not stop:
                with interrupts_heard():
                    self.over = self.one_round()
                # All callbacks are called, also after one of them has asked to stop.
                requests = [callback.on_round(self) for callback in callbacks]
                stop = self.over or any(requests) or len(self.stages) >= self.n_rounds
        except KeyboardInterrupt:
            if not (self.stages and keeps_rounds()):
                raise
            self.booster_state = NOT_MADE  # this one may be halfway through a round
            warnings.warn(
                f"Interrupted: the model holds the {len(self.stages)} rounds that were finished.",
                UserWarning,
                stacklevel=2,
            )
        finally:
            for callback in callbacks:
                callback.on_end(self)
        self.drop_stages()
        state = None if self.booster_state is NOT_MADE else self.booster_state
        self.booster.finish(self.rows, self.stages, state)

    def begin(self, callbacks: Sequence["Callback"]) -> list["Callback"]:
        """Call ``on_begin`` and replay existing stages; the callbacks in the order of a round.

        A callback that is ``outermost`` begins first, as it may restore stages from a file, and
        comes last in each round, as it saves what the others have recorded.
        """
        outer = [callback for callback in callbacks if getattr(callback, "outermost", False)]
        inner = [callback for callback in callbacks if callback not in outer]
        for callback in outer:
            callback.on_begin(self)
        if self.stages and np.any(self.stages[0].extra.get("no_edge")):
            self.stages.clear()  # start again: the learner may be a better one now
            self.history.clear()
        self.replay()
        for callback in inner:
            callback.on_begin(self)
        return [*inner, *outer]

    def drop_stages(self) -> None:
        """Keep the stages that a callback has chosen; if none has, those the booster chooses."""
        kept = self.keep
        if kept is None and self.rows.n_classes > 1:
            kept = self.booster.best_round(self.stages)
        if kept is not None and kept < len(self.stages):
            del self.stages[kept:]
            self.booster_state = NOT_MADE

    def is_done(self) -> bool:
        """Whether nothing is left to learn."""
        if not self.open_subproblems:
            return True
        several = self.rows.n_classes > 1 and bool(self.stages)
        return several and self.booster.is_done(self.rows, self.stages, self.state())

    def close_subproblems(self) -> None:
        """Keep open those that had an edge in the last stage and were not perfect."""
        ends = self.booster.stops_when_perfect or self.rows.n_classes == 1
        parts = enumerate(self.stages[-1].parts)
        left = [p for p, part in parts if part and not (ends and part.error <= PERFECT)]
        # A booster may answer several questions in one subproblem, such as one for each label.
        self.open_subproblems = left if len(self.subproblems) > 1 else [0] * bool(left)

    def replay(self) -> None:
        """Recompute the scores from existing stages (warm start, resume)."""
        for t, stage in enumerate(self.stages):
            if self.booster.has_memory:
                for p, subproblem in enumerate(self.subproblems):
                    self.booster.question(subproblem, self.round_of(self.seeds.round(t), p))
                self.remember(stage)
            for state in filter(None, (self.rows, self.validation)):
                state.weighting.replay(state, stage, stage.answer.votes(state.data))
        if self.stages:
            self.close_subproblems()

    def remember(self, stage: Stage) -> None:
        """Let the booster update its per-row memory, subproblem by subproblem."""
        for subproblem, part in zip(self.subproblems, stage.parts, strict=True):
            if part is not None:
                self.booster.remember(subproblem, part)

    def round_of(self, round_: Round, p: int) -> Round:
        """The round of a subproblem, with a seed of its own if there are several."""
        return round_.of(p) if len(self.subproblems) > 1 else round_

    def one_round(self) -> bool:
        """One round of each open subproblem; whether it must be the last."""
        self.rows.workers.check()
        round_, open_ = self.seeds.round(len(self.stages)), self.open_subproblems
        state = self.state()  # made before the threads start, which share it

        def boost(p: int) -> RoundResult:
            booster, rows, own = self.booster, self.subproblems[p], self.round_of(round_, p)
            if rows.n_classes == 1:
                return fit_only_class(rows, self.learner, own, booster.resample)
            return booster.boost(rows, self.learner, own, state)

        found = self.rows.workers.parallel_map(boost, open_)
        results = dict(zip(open_, found, strict=True))
        result = join_results(results, len(self.subproblems), self.rows)
        self.questions = list(result.questions)
        if result.no_edge and self.stages:
            return True
        if result.no_edge:
            self.warn_of_no_edge(float(np.mean(result.stage.error)))
            extra = {**result.stage.extra, "no_edge": True}
            result = result._replace(stage=replace(result.stage, extra=extra))
        self.accept(result)
        return result.no_edge or self.is_done()

    def warn_of_no_edge(self, error: float) -> None:
        """Warn that the only round has no edge; it is kept, as an ensemble is never empty."""
        warnings.warn(
            f"The first weak hypothesis has no edge (weighted error {error:.3g}): the model is "
            "this hypothesis alone. Use a stronger estimator, such as a deeper tree.",
            ConvergenceWarning,
            stacklevel=2,
        )

    def accept(self, result: RoundResult) -> None:
        """Add the stage of a round to the scores, the ensemble and the history."""
        stage = result.stage
        if self.booster.has_memory:
            self.remember(stage)
        self.rows.add(stage, result.votes)
        if self.validation is not None:
            self.validation.add(stage, stage.answer.votes(self.validation.data))
        self.stages.append(stage)
        self.close_subproblems()
        error, step = stage.error, stage.step
        if isinstance(error, np.ndarray) or isinstance(step, np.ndarray):  # of several subproblems
            parts = [(part.error, part.step) for part in stage.parts if part]
            error, step = np.mean(parts, axis=0)
        record = {"round": len(self.stages), "error": float(error), "step": float(step)}
        self.history.append({**record, **result.info})

    def proba(self, rows: TrainingState) -> np.ndarray:
        """Class probabilities of rows from their current scores."""
        rows.flush()
        proba = self.booster.class_probabilities
        return np.concatenate(rows.each(lambda chunk: proba(chunk.scores)))

    def error_on(self, rows: TrainingState) -> float:
        """Weighted error of the current ensemble on rows; with costs, the share of the stakes."""
        rows.flush()

        def in_chunk(chunk: RowChunk) -> np.ndarray:
            losses = self.booster.losses(chunk.scores, chunk.y)
            weights = None if rows.sample_weight is None else rows.sample_weight[chunk.rows]
            if weights is None:
                return np.array([losses.sum(), len(losses)], dtype=float)
            return np.array([(weights * losses).sum(), weights.sum()])

        lost, total = rows.total(in_chunk)
        return float(lost / total)
