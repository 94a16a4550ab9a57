"""Boosters with a binary question for each label: soft-max boosting and AdaBoost.MH.

A hypothesis h(x, y) is -1 or 1 for each row and label: one weak hypothesis per label, grown side by
side from the same binned rows, or one tree that answers for all labels at once. Rows may have one
label each, or any set of labels (an indicator matrix).
"""

from functools import partial
from itertools import chain
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from sklearn.utils import Tags

from steadyboost.boosters.families.binary import SIGNS
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.loop import RoundResult, answer_to
from steadyboost.ensemble.model_io.fields import Check, truth
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import add_votes
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.learners.base import Answer, Answers, Learner, Question
from steadyboost.learners.tree import Tree, answers_at_once
from steadyboost.trees.histograms.row_statistics import round_to_40_bits
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import split_evenly, sum_in_order


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
    """Sum of the absolute worths of each label over some of the rows."""
    for label in range(len(out)):
        out[label] = _sum_sizes(worths[label, start:stop])


@kernel
def _edges(worths, votes, start, stop, out):
    """Sum of the worths of the answers about each label over some of the rows."""
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
        return np.ascontiguousarray((y != 0).T)  # each label is read as a row
    return y == np.arange(n_labels)[:, None]


def _total(rows: TrainingState, function: Any, *arrays: np.ndarray) -> np.ndarray:
    """Sum over the chunks of the per-label results of a kernel."""

    def in_chunk(chunk: RowChunk) -> np.ndarray:
        out = np.empty(len(arrays[0]))
        function(*arrays, chunk.rows.start, chunk.rows.stop, out)
        return out

    return rows.allreduce([in_chunk(chunk) for chunk in rows.chunks], sum_in_order)


class LabelResult(NamedTuple):
    """Question and answer for one label, and the edge of the answer; 0 if there is none."""

    question: Question | None
    answer: Answer | None
    edge: float
    mass: float


class LabelQuestions(NamedTuple):
    """A round's questions about all labels; ``votes`` are written to, a row for each label."""

    rows: TrainingState
    learner: Learner
    rounds: list[Round]  # one for each label
    worths: np.ndarray  # (labels, n)
    votes: np.ndarray  # (labels, n)
    at_once: bool  # whether the learner grows the trees of several labels in one call


class LabelwiseClassifier(BoostingClassifier):
    """Base of boosters with a question per label; they define ``worths`` and ``steps``."""

    needed_fields = ("multilabel_",)
    takes_label_sets = True
    adds_votes = False  # each answer adds to the score of its own label
    code: ClassVar[np.ndarray] = SIGNS  # what no and yes add to a label's score
    multilabel_: bool = False

    def has_parts(self) -> bool:
        return True

    def fitted_fields(self) -> dict[str, Check]:
        return {**super().fitted_fields(), "multilabel_": truth}

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

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: Any
    ) -> RoundResult:
        """Fit the labels in parallel: one call per label, or one call per thread for its share."""
        worths = self.worths(rows, round_).T
        votes = np.zeros(worths.shape, dtype=np.int32)
        # Bootstraps are drawn question by question, and batches of trees are not distributed.
        one_by_one = self.resample or rows.workers.is_distributed
        at_once = answers_at_once(learner) and not one_by_one
        n_calls = min(rows.workers.n_threads, len(worths)) if at_once else len(worths)
        asked = LabelQuestions(rows, learner, round_.split(len(worths)), worths, votes, at_once)
        spans = split_evenly(len(worths), n_calls)
        some = rows.workers.parallel_map(partial(self.ask_labels, asked), spans)
        found = list(chain.from_iterable(some))
        error = self.errors(found)
        step = self.steps(rows, votes.T, found, error)
        factor = 1.0 if step is None else self.learning_rate * step
        stage = Stage(Answers(tuple(one.answer for one in found)), self.code, factor, error)
        questions = [one.question for one in found if one.question is not None]
        return RoundResult(stage, votes.T, questions, {}, step is None)

    def ask_labels(self, asked: LabelQuestions, at: slice) -> list[LabelResult]:
        """Fit hypotheses for some labels, except those whose worths are all zero."""
        rows, own, said = asked.rows, asked.worths[at], asked.votes[at]
        masses = _total(rows, _masses, own)
        targets, weights = np.empty(own.shape, dtype=np.int32), np.empty(own.shape)
        # Rounded: a total may differ in its last bits between machines, and weights must not.
        _take_apart(own, round_to_40_bits(np.where(masses > 0, masses, 1.0)), targets, weights)
        pairs = zip(targets, weights, strict=True)
        questions = [Question(target, weight, 2, self.code) for target, weight in pairs]
        answers: list[Any]
        if asked.at_once:
            tree, alone = cast(Tree, asked.learner), rows.workers.alone()
            answers, said[:] = tree.answer_each(rows.data, targets, weights, alone)
        else:
            answers = [
                self.ask_label(asked, question, at.start + j) if masses[j] else None
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

    def ask_label(self, asked: LabelQuestions, question: Question, label: int) -> Answer:
        """Fit the hypothesis of one label, on one thread: labels are fitted in parallel."""
        rows, own = asked.rows, asked.rounds[label]
        alone = rows.workers.alone()
        answer, asked.votes[label] = answer_to(
            question, rows, asked.learner, own, self.resample, alone
        )
        return answer

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
        """A row is misclassified if any of its labels is (subset accuracy)."""
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

    def check_cost_matrix(self) -> None:
        if self.cost_matrix_ is not None and self.multilabel_:
            raise ValueError(
                "cost_matrix is between classes, but y has several labels per row; choose a "
                "threshold for each label of predict_proba instead."
            )
        super().check_cost_matrix()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
