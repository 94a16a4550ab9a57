"""Boosters that ask a yes-or-no question about each label, as soft-max boosting and AdaBoost.MH do.

A hypothesis h(x, y) is -1 or 1 for each row and label: one weak hypothesis per label, grown side by
side from the same binned rows, or one tree that answers for all labels at once. Rows may have one
label each, or any set of labels (an indicator matrix).
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import Tags

from steadyboost.core.binary import SIGNS
from steadyboost.core.estimator import BoostingClassifier
from steadyboost.core.loop import Boosting, Round
from steadyboost.core.rows import Rows
from steadyboost.core.scores import add_votes
from steadyboost.core.stages import Stage
from steadyboost.learners.base import Answer, Question
from steadyboost.learners.many import Answers
from steadyboost.trees.histogram import rounded
from steadyboost.trees.jit import kernel
from steadyboost.trees.sharded import add_up


@kernel
def _edge(worth, votes):
    """What the answers to one question are worth: a yes counts as it is, a no with minus.

    Four sums, so that none waits for the last.
    """
    lanes = np.zeros(4)
    for i in range(len(worth)):
        lanes[np.uint64(i & 3)] += worth[i] if votes[i] else -worth[i]
    return lanes[0] + lanes[1] + lanes[2] + lanes[3]


@kernel
def _take_apart(worth, targets, weights):
    """Signs as targets, sizes as weights; returns what they add up to."""
    lanes = np.zeros(4)
    for i in range(len(worth)):
        targets[i] = worth[i] > 0
        weights[i] = abs(worth[i])
        lanes[np.uint64(i & 3)] += weights[i]
    return lanes[0] + lanes[1] + lanes[2] + lanes[3]


def indicator(y: np.ndarray, n_labels: int) -> np.ndarray:
    """Which labels each row has, (n, labels) in column order."""
    if y.ndim == 2:
        return np.asfortranarray(y != 0)
    return (y == np.arange(n_labels)[:, None]).T


class Found(NamedTuple):
    """What was asked about a label, and what the answer is worth; no answer is worth nothing."""

    question: Question | None
    answer: Answer | None
    edge: float
    mass: float


class LabelwiseClassifier(BoostingClassifier):
    """Base of boosters with a question per label; they say what answers are worth, and the step."""

    takes_label_sets = True
    code: ClassVar[np.ndarray] = SIGNS  # what no and yes add to a label's score
    multilabel_: bool = False

    def worths(self, rows: Rows, round_: Round) -> np.ndarray:
        """What a yes to each label is worth in each row, (n, k) in column order; a no is minus it.

        The weak learner is asked for the sign, and the size is the weight of the row.
        """
        raise NotImplementedError

    def steps(self, rows: Rows, votes: np.ndarray, found: list[Found], error: Any) -> Any:
        """How much the answers count: a number, or one for each label; None without an edge."""
        raise NotImplementedError

    def errors(self, found: list[Found]) -> Any:
        """Share of the weight on which the hypothesis is wrong."""
        mass = sum(one.mass for one in found)
        edge = sum(one.edge for one in found)
        return max(0.0, (1 - edge / mass) / 2) if mass > 0 else 0.5

    def boost(self, run: Boosting, round_: Round) -> bool:
        rows = run.rows
        worths = self.worths(rows, round_)
        votes = np.zeros(worths.shape, dtype=np.int32, order="F")
        ask = partial(self.ask_label, run, worths, votes)
        found = rows.workers.side_by_side(ask, list(enumerate(round_.split(self.n_classes_))))
        run.questions = [one.question for one in found if one.question is not None]
        answers = Answers(tuple(one.answer for one in found))
        error = self.errors(found)
        return self.settle(run, answers, votes, error, self.steps(rows, votes, found, error))

    def ask_label(
        self, run: Boosting, worths: np.ndarray, votes: np.ndarray, about: tuple[int, Round]
    ) -> Found:
        """Put the question of one label, unless nothing is at stake."""
        rows, (label, own) = run.rows, about
        worth, said = worths[:, label], votes[:, label]
        targets, weights = np.empty(len(worth), dtype=np.int32), np.empty(len(worth))

        def total(function: Any, *arrays: np.ndarray) -> float:
            cut = [[array[block.rows] for array in arrays] for block in rows.blocks]
            return float(rows.meet([function(*own) for own in cut], add_up))

        mass = total(_take_apart, worth, targets, weights)
        if mass == 0:
            return Found(None, None, 0.0, 0.0)
        weights /= rounded(mass)
        question = Question(targets, weights, 2, self.code)
        counts = own.draw_counts(rows, weights) if self.resample else None
        alone = rows.workers.alone()  # labels have a thread each, so that no tree needs more
        answer, said[:] = run.learner.answer(rows.data, question, counts, own.seed, alone)
        return Found(question, answer, total(_edge, worth, said), mass)

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
