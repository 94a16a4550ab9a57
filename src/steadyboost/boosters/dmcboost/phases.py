"""Both phases of DMCBoost: descent on the training error, then ascent on the smallest margins.

A :class:`DirectSearch` is the state between rounds; all of it follows from the stages. The number
of rows at the bottom is chosen on held-out rows (``compare_bottoms``).
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyboost.boosters.dmcboost.error_line_search import (
    best_of_curve,
    choose_interval,
    exponential_losses,
    merging_width,
)
from steadyboost.boosters.dmcboost.error_splits import ErrorSplitScorer
from steadyboost.boosters.dmcboost.margin_line_search import (
    MarginLines,
    MarginProblem,
    find_step,
    lines_along,
)
from steadyboost.boosters.dmcboost.margin_splits import MarginSplitScorer
from steadyboost.boosters.dmcboost.margin_state import (
    MarginState,
    SearchSample,
    as_integer_weights,
    bottom_edges,
    bottom_shares,
)
from steadyboost.boosters.dmcboost.search_tree import LineSearchScorer, search_tree
from steadyboost.ensemble.loop import Boosting, RoundResult, answer_to
from steadyboost.ensemble.rounds import Round, Seeds
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import split_off
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Answer, Learner, Question
from steadyboost.learners.tree import TreeAnswer
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.parallel import Parallelism, split_evenly

ROUNDING = 1e-12  # a change below this is none
LARGEST_SCALE = 1e12  # of the sum of the steps: beyond, rounding of scores would hide single steps


Hypothesis = tuple[Question, Answer, np.ndarray]  # what was asked, the answer, and its votes


@dataclass(frozen=True)
class SearchOptions:
    """How a booster optimises: its trees, its steps, and the settings of the second phase.

    ``tree`` is None where another learner answers; ``bottom`` is a weight of rows; ``ascends`` says
    whether there is a second phase.
    """

    tree: TreeParams | None
    resample: bool
    learning_rate: float
    seed: int
    bottom: float
    gradient: bool
    epsilon: float
    tol: float
    patience: int
    ascends: bool


@dataclass
class Move:
    """A round that may be taken: its hypothesis, and the step with the interval it is from."""

    question: Question
    answer: Answer
    votes: np.ndarray
    step: float
    interval: tuple[float, float]
    error: float = 0.0
    margin: float = 0.0


def total_step(stages: Sequence[Stage]) -> float:
    """Sum of the absolute steps, in order: ``sum`` rounds differently from Python 3.12 on."""
    return float(np.cumsum([0.0, *(abs(stage.step) for stage in stages)])[-1])


class DirectSearch:
    """Both phases, from the stages that there are; each round that it returns is one more.

    Rounds of phase I are tried ahead of those that are returned: none is, unless one of the next
    lowers the error.
    """

    def __init__(
        self,
        rows: TrainingState,
        learner: Learner,
        options: SearchOptions,
        stages: Sequence[Stage],
        phase: int = 1,
    ):
        self.rows, self.learner, self.options = rows, learner, options
        self.stages, self.seeds = list(stages), Seeds(options.seed)
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        self.sample = SearchSample(
            rows.data.binned,  # type: ignore[arg-type]  # None where another learner answers
            rows.y,
            rows.n_classes,
            weights,
            as_integer_weights(rows.sample_weight, len(rows)),
            rows.workers.n_threads,
            rows.workers.run,
        )
        self.pending: list[Move] = []
        self.phase = max([phase, *(stage.extra["phase"] for stage in stages)])
        self.return_to_stages()

    def return_to_stages(self) -> None:
        """Reset to the stages, without the rounds that were tried beyond them."""
        stages = self.stages
        # In row order: line searches compare the scores of one row after the other.
        self.scores = np.array(self.rows.scores, order="C")
        self.margin_state = MarginState(self.sample, self.scores)
        self.scale = total_step(stages)
        self.edge = self.margin_state.bottom(self.options.bottom)[1]
        first = [stage for stage in stages if stage.extra["phase"] == 1]
        second = [stage for stage in stages if stage.extra["phase"] == 2]
        self.unit = total_step(first)
        self.error, self.idle = 1.0, 0
        for stage in first:
            self.note_error(stage.error)
        if self.phase == 2:
            margins = [stage.extra["margin"] for stage in stages]
            self.margin, self.idle = margins[len(first) - 1], 0
            for stage in second:
                self.note_margin(stage.extra["margin"])

    def note_error(self, error: float) -> None:
        better = error < self.error - ROUNDING
        self.error, self.idle = (error, 0) if better else (self.error, self.idle + 1)

    def note_margin(self, margin: float) -> None:
        better = margin > self.margin + ROUNDING
        self.margin, self.idle = (margin, 0) if better else (self.margin, self.idle + 1)

    def is_descending(self) -> bool:
        """Whether the next round is one of phase I: whether one of the next lowers the error.

        Rounds are tried until one does, and none is taken if ``patience`` rounds do not.
        """
        while self.phase == 1 and not self.pending_ends_well():
            if self.error <= 0 or self.idle >= self.options.patience or self.is_too_large():
                self.end_first_phase()
            else:
                t = len(self.stages) + len(self.pending)
                move = self.descend(self.seeds.round(t))
                self.apply(move)
                self.note_error(move.error)
                self.pending.append(move)
        return self.phase == 1

    def end_first_phase(self) -> None:
        """Go on with phase II, without the rounds that did not lower the error."""
        self.phase = 2
        if self.stages:  # otherwise the first round that was tried is kept, with a warning
            self.pending = []
            self.return_to_stages()

    def is_too_large(self) -> bool:
        """Whether the scores leave the range of arithmetic: a large learning rate doubles them."""
        return self.scale > LARGEST_SCALE

    def pending_ends_well(self) -> bool:
        return bool(self.pending) and self.idle == 0

    def round(self, round_: Round) -> RoundResult:
        """The next round: of phase I while one of the next lowers the error, then of phase II."""
        if self.is_descending() or not self.stages:
            no_edge = self.phase == 2
            return self.take(self.pending.pop(0), 1, no_edge)
        move = self.ascend(round_)
        self.apply(move)
        self.note_margin(move.margin)
        return self.take(move, 2)

    def is_done(self) -> bool:
        """Whether the last phase has ended."""
        if self.phase == 2 and self.options.ascends:
            return self.idle >= self.options.patience or self.is_too_large()
        return not (self.options.ascends or self.is_descending())

    def apply(self, move: Move) -> None:
        self.margin_state.move(move.votes, move.step)
        self.scale += abs(move.step)
        move.error, move.margin = self.error_and_margin()

    def error_and_margin(self) -> tuple[float, float]:
        """The training error, where ties are errors, and the mean bottom margin."""
        bottom, total = self.options.bottom, float(self.sample.integer_weights.sum())
        right, self.edge, margin = self.margin_state.bottom(bottom)
        return (total - right) / total, margin / (bottom * self.scale)

    def take(self, move: Move, phase: int, no_edge: bool = False) -> RoundResult:
        """Make a round that was tried the next stage."""
        extra = {"phase": phase, "margin": move.margin}
        info = {"phase": phase, "g": move.margin, "interval": list(move.interval)}
        stage = Stage(move.answer, move.question.code, move.step, move.error, extra)
        self.stages.append(stage)
        return RoundResult(stage, move.votes, [move.question], info, no_edge)

    def fit_learner(self, weights: np.ndarray, round_: Round) -> Hypothesis:
        """Fit the booster's own weak learner, if it has one."""
        question = self.question(weights)
        return question, *answer_to(
            question, self.rows, self.learner, round_, self.options.resample
        )

    def view(self, round_: Round) -> tuple[SearchSample, MarginState]:
        """Rows that a tree is grown on: all of them, or a bootstrap."""
        if not self.options.resample:
            return self.sample, self.margin_state
        counts = round_.draw_counts(self.rows, self.sample.weights)
        rows = np.flatnonzero(counts)
        drawn = self.sample.take(rows, counts[rows].astype(float), counts[rows])
        return drawn, MarginState(drawn, self.scores[rows])

    def grow(
        self, sample: SearchSample, scorer: LineSearchScorer, weights: np.ndarray
    ) -> Hypothesis:
        """A tree whose splits are scored by line searches."""
        growth = self.options.tree
        assert growth is not None
        tree, labels, votes = search_tree(sample, scorer, growth.max_depth, growth.max_leaf_nodes)
        answer = TreeAnswer(tree, np.maximum(labels, 0))  # the root has none of its own
        whole = sample is self.sample
        return self.question(weights), answer, votes if whole else self.votes_of(answer)

    def question(self, weights: np.ndarray) -> Question:
        k = self.sample.n_classes
        return Question(self.sample.y, weights / weights.sum(), k, np.ones(k))

    def votes_of(self, answer: Answer) -> np.ndarray:
        return answer.votes(self.rows.data)

    def descend(self, round_: Round) -> Move:
        """Phase I: a hypothesis, and the step of least error along it."""
        if self.options.tree is None:
            found = self.fit_learner(exponential_losses(self.sample, self.margin_state)[1], round_)
        else:
            sample, margin_state = self.view(round_)
            scorer = ErrorSplitScorer(sample, margin_state, self.scale)
            weights = scorer.row_losses.total if sample is self.sample else self.sample.weights
            found = self.grow(sample, scorer, weights)
        whole, spans = self.sample.integer_weights, self.margin_state.parts
        width, run = merging_width(self.scale), self.sample.run
        low, high, right = best_of_curve(self.margin_state.rows, found[2], whole, width, run, spans)
        at, _, step = choose_interval(right, low, high, False)
        # The outermost intervals are half-lines.
        begin = high[at - 1] if at > 0 else -np.inf
        end = low[at] if at < len(low) else np.inf
        step = self.options.learning_rate * float(step)
        return Move(*found, step, (float(begin), float(end)))

    def ascend(self, round_: Round) -> Move:
        """Phase II: a hypothesis, and the step of the largest bottom margin, plus epsilon."""
        options, sample = self.options, self.sample
        shares = bottom_shares(self.margin_state.margins, sample.weights, self.edge, sample.run)
        if options.tree is None:
            found = self.fit_learner(shares, round_)
        elif options.gradient:
            found = self.tree_by_edges(shares, round_)
        else:
            found = self.tree_by_margins(shares, *self.view(round_))
        begin, end = self.best_step(found[2])
        step = self.options.learning_rate * (begin + options.epsilon * self.unit)
        return Move(*found, step, (begin, end))

    def tree_by_margins(
        self, shares: np.ndarray, sample: SearchSample, margin_state: MarginState
    ) -> Hypothesis:
        """The tree with the largest bottom margin after its best step."""
        bottom = self.options.bottom * (sample.weights.sum() / self.sample.weights.sum())
        width = self.options.tol * self.unit
        scorer = MarginSplitScorer(
            sample, margin_state, self.scale, bottom, width, self.last_step()
        )
        return self.grow(sample, scorer, shares)

    def last_step(self) -> float:
        """That of the last round of phase II, without epsilon; 0 before there is one."""
        stage = self.stages[-1]
        if stage.extra["phase"] == 1:
            return 0.0
        rate = self.options.learning_rate  # undone, with epsilon, to give the search its own step
        return max(0.0, float(stage.step) / rate - self.options.epsilon * self.unit)

    def tree_by_edges(self, shares: np.ndarray, round_: Round) -> Hypothesis:
        """The tree with the largest total edge over the rows at the bottom."""
        sample, growth = self.sample, self.options.tree
        assert growth is not None
        question = self.question(shares)
        if self.options.resample:
            shares = round_.draw_counts(self.rows, question.weights).astype(float)
        rows = np.flatnonzero(shares > 0)
        edges = np.empty((len(rows), sample.n_classes + 1), dtype=np.int64)  # the last: the mass
        # A power of two: integer weights stay integers, and equal splits equal.
        scale = 2.0 ** float(np.ceil(np.log2(edges.shape[1] * shares.sum())))
        scored, spans = self.margin_state.rows, split_evenly(len(rows), sample.n_parts)
        sample.run(lambda at: bottom_edges(scored, rows[at], shares, scale, edges[at]), spans)
        own, sums = sample.binned.take(rows), FixedPointSums.of_fixed(edges, scale)
        parallel = Parallelism(sample.n_threads, sample.run)
        tree, _ = grow_tree(own, sums, growth, parallel=parallel)
        answer = TreeAnswer(tree, tree.value[:, :-1].argmax(axis=1).astype(np.int32))
        return question, answer, self.votes_of(answer)

    def best_step(self, votes: np.ndarray) -> tuple[float, float]:
        sample, options, rows = self.sample, self.options, self.margin_state.rows

        def lines_of(at: slice) -> MarginLines:
            return lines_along(rows.at(at).contiguous(), np.ascontiguousarray(votes[at]), 1.0)

        problem = MarginProblem(options.bottom, self.scale, self.scale, options.tol * self.unit)
        found = find_step(lines_of, sample.weights, problem, self.last_step(), sample.run)
        return float(found.begin), float(found.end)


def best_round(stages: Sequence[Stage]) -> int:
    """How many stages to keep: up to the largest bottom margin, where there is a second phase."""
    first = sum(stage.extra["phase"] == 1 for stage in stages)
    margins = [stage.extra["margin"] for stage in stages]
    kept, best = max(first, 1), margins[max(first, 1) - 1]
    for t in range(kept, len(stages)):
        if margins[t] > best + ROUNDING:
            kept, best = t + 1, margins[t]
    return kept


def bottom_mass(bottom: Any, rows: TrainingState) -> float:
    """The weight of the rows at the bottom, from a share (float) or a number (int).

    Where weights are whole numbers they count rows, and so does the result.
    """
    weights = rows.sample_weight
    total = float(len(rows)) if weights is None else float(weights.sum())
    if not isinstance(bottom, float):
        if bottom > total:
            raise ValueError(
                f"bottom={bottom!r} is more than all rows, which weigh {total:g}; pass a share "
                "such as 0.25, or a smaller number."
            )
        return float(bottom)
    counts = weights is None or bool((weights == np.rint(weights)).all())
    return max(float(round(bottom * total)), 1.0) if counts else bottom * total


def compare_bottoms(
    booster: Any, rows: TrainingState, learner: Learner, values: Sequence[float]
) -> list[dict[str, Any]]:
    """Held-out error of each share of rows at the bottom, best first; one phase I serves all.

    Shares whose bottom margin stays negative have degenerated, and come last. ``phase_1`` is the
    held-out error of phase I alone, ``excess`` that of the share beyond it, in standard errors.
    """
    train, test = split_off(rows.y, 0.2, booster._seed)
    if not len(test) or rows.n_classes == 1:
        unknown = dict.fromkeys(("error", "margin", "phase_1", "excess"), np.nan)
        records = [{"value": value, **unknown, "rounds": 0} for value in values]
        return sorted(records, key=lambda record: abs(record["value"] - 0.25))

    def start(value: float, workers: Workers) -> Boosting:
        rival = copy.copy(booster)
        own = rows.take(train, workers)
        rival.bottom_ = bottom_mass(value, own)
        held_out, seeds = rows.take(test, workers), Seeds(booster._seed)
        return Boosting(rival, learner, own, held_out, seeds, booster.n_estimators)

    first = start(values[0], rows.workers)
    is_descending = first.state().is_descending
    while len(first.stages) < first.n_rounds and (is_descending() or not first.stages):
        first.one_round()

    def finish(value: float) -> dict[str, Any]:
        return _second_phase(start(value, Workers(1, rows.workers)), first, value)

    records = rows.workers.run(finish, list(values))
    return sorted(records, key=lambda record: (record["margin"] < 0, record["error"]))


def _second_phase(run: Boosting, first: Boosting, value: float) -> dict[str, Any]:
    """Go on from the stages of phase I; the held-out error of the best round."""
    run.stages = list(first.stages)
    run.replay()
    options = run.booster._search_options()
    search = DirectSearch(run.rows, run.learner, options, run.stages, phase=2)
    search.margin = search.error_and_margin()[1]  # that of phase I was for another bottom
    extra = {**run.stages[-1].extra, "margin": search.margin}
    run.stages[-1] = replace(run.stages[-1], extra=extra)
    run.booster_state = search
    assert run.validation is not None
    errors, over = [run.error_on(run.validation)], False
    while not over and len(run.stages) < run.n_rounds:
        over = run.one_round()
        errors.append(run.error_on(run.validation))
    kept = best_round(run.stages)
    error, before = errors[kept - len(first.stages)], errors[0]
    spread = np.sqrt(max(before * (1 - before), 1 / len(run.validation)) / len(run.validation))
    return {
        "value": value,
        "error": error,
        "margin": run.stages[kept - 1].extra["margin"],
        "rounds": kept,
        "phase_1": before,
        "excess": float((error - before) / spread),
    }
