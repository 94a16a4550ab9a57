"""Boosters that ask a yes-or-no question about each label, as soft-max boosting and AdaBoost.MH do.

A hypothesis h(x, y) is -1 or 1 for each row and label: one weak hypothesis per label, grown side by
side from the same binned rows, or one tree that answers for all labels at once. Rows may have one
label each, or any set of labels (an indicator matrix).
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from sklearn.utils import Tags

from steadyboost.boosters.families.binary import SIGNS
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.loop import Boosting, Round
from steadyboost.ensemble.scores import add_votes
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.learners.base import Answer, Question
from steadyboost.learners.many import Answers, answers_at_once
from steadyboost.learners.tree import Tree
from steadyboost.trees.growth.sharded import add_up
from steadyboost.trees.histograms.fixed_point import rounded
from steadyboost.trees.histograms.row_statistics import parts
from steadyboost.trees.jit import kernel


@kernel
def _sum_sizes(values):
    """Sum of the absolute values; four sums, so that none waits for the last."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = len(values) - len(values) % 4
    for i in range(0, whole, 4):
        first += abs(values[i])
        second += abs(values[i + 1])
        third += abs(values[i + 2])
        fourth += abs(values[i + 3])
    for i in range(whole, len(values)):
        first += abs(values[i])
    return first + second + third + fourth


@kernel
def _sum_answered(values, votes):
    """As _sum_sizes: a yes counts as it is, a no with minus."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = len(values) - len(values) % 4
    for i in range(0, whole, 4):
        first += values[i] if votes[i] else -values[i]
        second += values[i + 1] if votes[i + 1] else -values[i + 1]
        third += values[i + 2] if votes[i + 2] else -values[i + 2]
        fourth += values[i + 3] if votes[i + 3] else -values[i + 3]
    for i in range(whole, len(values)):
        first += values[i] if votes[i] else -values[i]
    return first + second + third + fourth


@kernel
def _masses(worths, start, stop, out):
    """What is at stake for each label in some of the rows."""
    for label in range(len(out)):
        out[label] = _sum_sizes(worths[label, start:stop])


@kernel
def _edges(worths, votes, start, stop, out):
    """What the answers about each label are worth in some of the rows."""
    for label in range(len(out)):
        out[label] = _sum_answered(worths[label, start:stop], votes[label, start:stop])


@kernel
def _take_apart(worths, masses, targets, weights):
    """Signs as targets, sizes as weights, over the masses."""
    for label in range(len(masses)):
        for i in range(worths.shape[1]):
            targets[label, i] = worths[label, i] > 0
            weights[label, i] = abs(worths[label, i]) / masses[label]


def indicator(y: np.ndarray, n_labels: int) -> np.ndarray:
    """Which rows have each label, (labels, n)."""
    if y.ndim == 2:
        return np.ascontiguousarray((y != 0).T)
    return y == np.arange(n_labels)[:, None]


def _total(rows: TrainingState, function: Any, *arrays: np.ndarray) -> np.ndarray:
    """Sum over the chunks of the per-label results of a kernel."""

    def in_block(block: RowChunk) -> np.ndarray:
        out = np.empty(len(arrays[0]))
        function(*arrays, block.rows.start, block.rows.stop, out)
        return out

    return rows.allreduce([in_block(block) for block in rows.blocks], add_up)


class LabelResult(NamedTuple):
    """Question and answer for one label, and the edge of the answer; 0 if there is none."""

    question: Question | None
    answer: Answer | None
    edge: float
    mass: float


class LabelwiseClassifier(BoostingClassifier):
    """Base of boosters with a question per label; they say what answers are worth, and the step."""

    takes_label_sets = True
    code: ClassVar[np.ndarray] = SIGNS  # what no and yes add to a label's score
    multilabel_: bool = False

    def worths(self, rows: TrainingState, round_: Round) -> np.ndarray:
        """What a yes to each label is worth in each row, (n, k) in column order; a no is minus it.

        The weak learner is asked for the sign, and the size is the weight of the row.
        """
        raise NotImplementedError

    def steps(
        self, rows: TrainingState, votes: np.ndarray, found: list[LabelResult], error: Any
    ) -> Any:
        """How much the answers count: a number, or one for each label; None without an edge."""
        raise NotImplementedError

    def errors(self, found: list[LabelResult]) -> Any:
        """Share of the weight on which the hypothesis is wrong."""
        mass = sum(one.mass for one in found)
        edge = sum(one.edge for one in found)
        return max(0.0, (1 - edge / mass) / 2) if mass > 0 else 0.5

    def boost(self, run: Boosting, round_: Round) -> bool:
        """Fit the labels in parallel: one call per label, or one call per thread for its share."""
        rows = run.rows
        worths = self.worths(rows, round_).T
        votes = np.zeros(worths.shape, dtype=np.int32)
        one_by_one = self.resample or rows.workers.is_distributed
        at_once = answers_at_once(run.learner) and not one_by_one
        n_calls = min(rows.workers.n_threads, len(worths)) if at_once else len(worths)
        ask = partial(self.ask_labels, run, worths, votes, round_.split(len(worths)), at_once)
        asked = rows.workers.parallel_map(ask, parts(len(worths), n_calls))
        found = [one for some in asked for one in some]
        run.questions = [one.question for one in found if one.question is not None]
        answers = Answers(tuple(one.answer for one in found))
        error, votes = self.errors(found), votes.T
        return self.settle(run, answers, votes, error, self.steps(rows, votes, found, error))

    def ask_labels(
        self,
        run: Boosting,
        worths: np.ndarray,
        votes: np.ndarray,
        rounds: list[Round],
        at_once: bool,
        at: slice,
    ) -> list[LabelResult]:
        """Put the questions of some labels, unless nothing is at stake."""
        rows, own, said = run.rows, worths[at], votes[at]
        masses = _total(rows, _masses, own)
        targets, weights = np.empty(own.shape, dtype=np.int32), np.empty(own.shape)
        _take_apart(own, rounded(np.where(masses > 0, masses, 1.0)), targets, weights)
        pairs = zip(targets, weights, strict=True)
        questions = [Question(target, weight, 2, self.code) for target, weight in pairs]
        alone = rows.workers.alone()  # labels have a thread each, so that no tree needs more
        answers: list[Any]
        if at_once:
            tree = cast(Tree, run.learner)
            answers, said[:] = tree.answer_each(rows.data, targets, weights, alone)
        else:
            answers = [
                self.ask_label(run, question, said[j], rounds[at.start + j]) if masses[j] else None
                for j, question in enumerate(questions)
            ]
        edges = _total(rows, _edges, own, said)
        return [
            LabelResult(question, answer, edge, mass)
            if mass > 0
            else LabelResult(None, None, 0.0, 0.0)
            for question, answer, edge, mass in zip(
                questions, answers, edges.tolist(), masses.tolist(), strict=True
            )
        ]

    def ask_label(self, run: Boosting, question: Question, votes: np.ndarray, own: Round) -> Answer:
        """Put the question of one label."""
        rows = run.rows
        counts = own.draw_counts(rows, question.weights) if self.resample else None
        alone = rows.workers.alone()
        answer, votes[:] = run.learner.answer(rows.data, question, counts, own.seed, alone)
        return answer

    def settle(
        self, run: Boosting, answer: Answer, votes: np.ndarray, error: Any, step: Any
    ) -> bool:
        """Add a hypothesis with a step; without one, stop. Whether this round is the last."""
        if step is None and run.stages:
            return True
        extra = {}
        if step is None:
            run.warn_of_no_edge(float(np.mean(error)))
            extra["no_edge"] = True
        factor = 1.0 if step is None else self.learning_rate * step
        run.accept(Stage(answer, self.code, factor, error, extra), votes, {})
        return step is None or run.is_done()

    def add(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Each answer adds to the score of its own label."""
        if not isinstance(stage.answer, Answers):
            return super().add(scores, stage, votes)
        steps = np.broadcast_to(stage.step, scores.shape[1]).tolist()
        for label, answer in enumerate(stage.answer.answers):
            if answer is not None:
                own = scores[:, label : label + 1]
                add_votes(own, votes[:, label], stage.code, steps[label])
        return None

    # Sets of labels

    def classes_in(self, y: np.ndarray) -> np.ndarray:
        self.multilabel_ = y.ndim == 2
        return np.arange(y.shape[1]) if self.multilabel_ else super().classes_in(y)

    def _class_indices(self, y: np.ndarray, name: str) -> np.ndarray:
        if (y.ndim == 2) == self.multilabel_ and (y.ndim == 1 or y.shape[1] == self.n_classes_):
            return y if self.multilabel_ else super()._class_indices(y, name)
        known = f"an indicator matrix of {self.n_classes_} labels" if self.multilabel_ else "labels"
        raise ValueError(
            f"{name} has shape {y.shape}, but the model is being fitted to {known}; pass the same "
            "kind."
        )

    def wrong(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """A set is wrong if any label of it is."""
        if not self.multilabel_:
            return super().wrong(scores, y)
        return ((scores > 0) != (y != 0)).any(axis=1)

    def decision(self, scores: np.ndarray) -> np.ndarray:
        return scores.copy() if self.multilabel_ else super().decision(scores)

    def _label(self, proba: np.ndarray) -> np.ndarray:
        return (proba > 0.5).astype(int) if self.multilabel_ else super()._label(proba)

    def _cheapest(self, X: Any, cost_matrix: Any) -> np.ndarray:
        if self.multilabel_:
            raise ValueError(
                "cost_matrix is between classes, but the model was fitted to several labels per "
                "row; compare predict_proba with a threshold per label instead."
            )
        return super()._cheapest(X, cost_matrix)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
