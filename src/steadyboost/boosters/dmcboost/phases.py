"""Direct optimisation of the training error, then of the smallest margins.

A :class:`DirectSearch` is what a run keeps between rounds; all of it follows from the stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadyboost.boosters.dmcboost.breakpoints import exponential_losses
from steadyboost.boosters.dmcboost.curve_search import best_of_curve
from steadyboost.boosters.dmcboost.error_scorer import ErrorSplitScorer
from steadyboost.boosters.dmcboost.linesearch import choose_interval, merging_width, whole_weights
from steadyboost.boosters.dmcboost.margin_scorer import MarginSplitScorer
from steadyboost.boosters.dmcboost.margin_search import margin_lines
from steadyboost.boosters.dmcboost.margin_state import (
    MarginState,
    SearchSample,
    bottom_edges,
    bottom_shares,
)
from steadyboost.boosters.dmcboost.search_tree import LineSearchScorer, search_tree
from steadyboost.boosters.dmcboost.step_search import find_step
from steadyboost.ensemble.stages import Stage
from steadyboost.learners.base import Answer, Question
from steadyboost.learners.tree_answer import TreeAnswer
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import Parallelism, grow_tree
from steadyboost.trees.histograms.row_statistics import FixedPointSums, parts

if TYPE_CHECKING:
    from steadyboost.ensemble.loop import Boosting, Round

ROUNDING = 1e-12  # a change below this is none


@dataclass(frozen=True)
class Direct:
    """How a booster optimises: its trees, and the settings of the second phase.

    ``tree`` is None where another learner answers; ``bottom`` is a weight of rows; ``ascends`` says
    whether there is a second phase.
    """

    tree: TreeParams | None
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
    """Sizes of steps, added in turn as rounds add them: not so by ``sum`` from Python 3.12 on."""
    return float(np.cumsum([0.0, *(abs(stage.step) for stage in stages)])[-1])


class DirectSearch:
    """Both phases on the rows of a run, from the stages that it has."""

    def __init__(self, run: "Boosting", direct: Direct, phase: int = 1):
        rows = run.rows
        self.run, self.direct = run, direct
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        self.sample = SearchSample(
            rows.data.binned,  # type: ignore[arg-type]  # None where another learner answers
            rows.y,
            rows.n_classes,
            weights,
            whole_weights(rows.sample_weight, len(rows)),
            rows.workers.n_threads,
            rows.workers.run,
        )
        self.pending: list[Move] = []
        phases = [stage.extra["phase"] for stage in run.stages]
        self.phase = max([phase, *phases])
        self.return_to_stages()

    def return_to_stages(self) -> None:
        """Forget what was tried beyond the stages of the run."""
        stages = self.run.stages
        self.scores = np.array(self.run.rows.scores, order="C")
        self.margin_state = MarginState(self.sample, self.scores)
        self.scale = total_step(stages)
        self.edge = self.margin_state.bottom(self.direct.bottom)[1]
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
            if self.error <= 0 or self.idle >= self.direct.patience:
                if not self.run.stages:  # an ensemble is never empty
                    self.run.warn_of_no_edge(self.pending[0].error)
                    self.accept(self.pending[0])
                self.pending, self.phase = [], 2
                self.return_to_stages()
            else:
                t = len(self.run.stages) + len(self.pending)
                move = self.descend(self.run.round(t))
                self.apply(move)
                self.note_error(move.error)
                self.pending.append(move)
        return self.phase == 1

    def pending_ends_well(self) -> bool:
        return bool(self.pending) and self.idle == 0

    def round(self, round_: "Round") -> bool:
        """One round of the run; whether it must be the last."""
        if self.is_descending():
            self.accept(self.pending.pop(0))
            return not (self.direct.ascends or self.is_descending())
        if not self.direct.ascends:
            return True  # the one round of an ensemble that is never empty
        move = self.ascend(round_)
        self.apply(move)
        self.note_margin(move.margin)
        self.accept(move)
        return self.idle >= self.direct.patience

    def apply(self, move: Move) -> None:
        self.margin_state.move(move.votes, move.step)
        self.scale += abs(move.step)
        move.error, move.margin = self.error_and_margin()

    def error_and_margin(self) -> tuple[float, float]:
        """The training error, where ties are errors, and the mean bottom margin."""
        bottom, total = self.direct.bottom, float(self.sample.whole.sum())
        right, self.edge, margin = self.margin_state.bottom(bottom)
        return (total - right) / total, margin / (bottom * self.scale)

    def accept(self, move: Move) -> None:
        extra = {"phase": self.phase, "margin": move.margin}
        info = {"phase": self.phase, "g": move.margin, "interval": list(move.interval)}
        stage = Stage(move.answer, move.question.code, move.step, move.error, extra)
        self.run.questions = [move.question]
        self.run.accept(stage, move.votes, info)

    def ask(self, weights: np.ndarray, round_: "Round") -> tuple[Question, Answer, np.ndarray]:
        """What the booster's own learner answers, where it has one."""
        run, question = self.run, self.question(weights)
        counts = round_.draw_counts(run.rows, question.weights) if run.booster.resample else None
        rows = run.rows
        found = run.learner.answer(rows.data, question, counts, round_.seed, rows.workers)
        return question, *found

    def view(self, round_: "Round") -> tuple[SearchSample, MarginState]:
        """Rows that a tree is grown on: all of them, or a bootstrap."""
        if not self.run.booster.resample:
            return self.sample, self.margin_state
        counts = round_.draw_counts(self.run.rows, self.sample.weights)
        rows = np.flatnonzero(counts)
        drawn = self.sample.take(rows, counts[rows].astype(float), counts[rows])
        return drawn, MarginState(drawn, self.scores[rows])

    def searched(
        self, sample: SearchSample, scorer: LineSearchScorer, weights: np.ndarray
    ) -> tuple[Question, Answer, np.ndarray]:
        """A tree whose splits are scored by line searches."""
        growth = self.direct.tree
        assert growth is not None
        tree, labels, votes = search_tree(sample, scorer, growth.max_depth, growth.max_leaf_nodes)
        answer = TreeAnswer(tree, np.maximum(labels, 0))  # the root has none of its own
        whole = sample is self.sample
        return self.question(weights), answer, votes if whole else self.votes_of(answer)

    def question(self, weights: np.ndarray) -> Question:
        k = self.sample.n_classes
        return Question(self.sample.y, weights / weights.sum(), k, np.ones(k))

    def votes_of(self, answer: Answer) -> np.ndarray:
        return answer.votes(self.run.rows.data)

    def descend(self, round_: "Round") -> Move:
        """Phase I: a hypothesis, and the step of least error along it."""
        if self.direct.tree is None:
            found = self.ask(exponential_losses(self.sample, self.margin_state)[1], round_)
        else:
            sample, margin_state = self.view(round_)
            scorer = ErrorSplitScorer(sample, margin_state, self.scale)
            weights = scorer.tallies[-1] if sample is self.sample else self.sample.weights
            found = self.searched(sample, scorer, weights)
        whole, spans = self.sample.whole, self.margin_state.parts
        rows = self.scores, self.sample.y, *self.margin_state.arrays, found[2], whole
        low, high, right = best_of_curve(rows, merging_width(self.scale), self.sample.run, spans)
        at, _, step = choose_interval(right, low, high, False)
        begin = high[at - 1] if at > 0 else -np.inf
        end = low[at] if at < len(low) else np.inf
        step = self.run.booster.learning_rate * float(step)
        return Move(*found, step, (float(begin), float(end)))

    def ascend(self, round_: "Round") -> Move:
        """Phase II: a hypothesis, and the step of the largest bottom margin, plus epsilon."""
        direct, sample = self.direct, self.sample
        shares = bottom_shares(self.margin_state.margins, sample.weights, self.edge, sample.run)
        if direct.tree is None:
            found = self.ask(shares, round_)
        elif direct.gradient:
            found = self.by_edges(shares, round_)
        else:
            found = self.by_margins(shares, *self.view(round_))
        begin, end = self.best_step(found[2])
        step = self.run.booster.learning_rate * (begin + direct.epsilon * self.unit)
        return Move(*found, step, (begin, end))

    def by_margins(
        self, shares: np.ndarray, sample: SearchSample, margin_state: MarginState
    ) -> tuple[Question, Answer, np.ndarray]:
        """The tree with the largest bottom margin after its best step."""
        bottom = self.direct.bottom * (sample.weights.sum() / self.sample.weights.sum())
        width = self.direct.tol * self.unit
        scorer = MarginSplitScorer(
            sample, margin_state, self.scale, bottom, width, self.last_step()
        )
        return self.searched(sample, scorer, shares)

    def last_step(self) -> float:
        """That of the last round of phase II, without epsilon; 0 before there is one."""
        stage = self.run.stages[-1]
        if stage.extra["phase"] == 1:
            return 0.0
        rate = self.run.booster.learning_rate
        return max(0.0, float(stage.step) / rate - self.direct.epsilon * self.unit)

    def by_edges(self, shares: np.ndarray, round_: "Round") -> tuple[Question, Answer, np.ndarray]:
        """The tree with the largest total edge over the rows at the bottom."""
        sample, growth = self.sample, self.direct.tree
        assert growth is not None
        question = self.question(shares)
        if self.run.booster.resample:
            shares = round_.draw_counts(self.run.rows, question.weights).astype(float)
        rows = np.flatnonzero(shares > 0)
        edges = np.empty((len(rows), sample.n_classes + 1), dtype=np.int64)
        # A power of two: whole weights stay whole, and equal splits equal.
        whole = 2.0 ** float(np.ceil(np.log2(edges.shape[1] * shares.sum())))
        of = self.scores, sample.y, self.margin_state.arrays
        spans = parts(len(rows), sample.n_parts)
        sample.run(lambda at: bottom_edges(*of, rows[at], shares, whole, edges[at]), spans)
        own, sums = sample.binned.take(rows), FixedPointSums.of_fixed(edges, whole)
        parallel = Parallelism(sample.n_threads, sample.run)
        tree, _ = grow_tree(own, sums, growth, parallel=parallel)
        answer = TreeAnswer(tree, tree.value[:, :-1].argmax(axis=1).astype(np.int32))
        return question, answer, self.votes_of(answer)

    def best_step(self, votes: np.ndarray) -> tuple[float, float]:
        sample, direct = self.sample, self.direct

        def lines_of(at: slice) -> tuple[np.ndarray, ...]:
            own = self.scores, sample.y, *self.margin_state.arrays, votes
            scores, y, *rival_scores, named = (np.ascontiguousarray(array[at]) for array in own)
            lines = tuple(np.empty(len(y)) for _ in range(3))
            margin_lines(scores, y, tuple(rival_scores), named, 1.0, *lines)
            return lines

        problem = direct.bottom, self.scale, self.scale, direct.tol * self.unit
        found = find_step(lines_of, sample.weights, problem, self.last_step(), sample.run)
        return float(found[0]), float(found[1])


def best_round(stages: Sequence[Stage]) -> int:
    """How many stages to keep: up to the largest bottom margin, where there is a second phase."""
    first = sum(stage.extra["phase"] == 1 for stage in stages)
    margins = [stage.extra["margin"] for stage in stages]
    kept, best = max(first, 1), margins[max(first, 1) - 1]
    for t in range(kept, len(stages)):
        if margins[t] > best + ROUNDING:
            kept, best = t + 1, margins[t]
    return kept
