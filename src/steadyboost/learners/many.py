"""Answers to several questions about the same rows."""

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from steadyboost.learners.base import Answer, Data, Learner
from steadyboost.learners.tree import Tree


@dataclass(frozen=True)
class Answers:
    """One answer per question; None where a question was not asked any more."""

    answers: tuple[Answer | None, ...]

    def votes(self, data: Data) -> np.ndarray:
        """(n, questions): a column per question, of zeros where there is no answer."""
        return stacked([None if a is None else a.votes(data) for a in self.answers], len(data))

    def importances(self, n_features: int) -> np.ndarray:
        given = [a.importances(n_features) for a in self.answers if a is not None]
        return np.mean(given, axis=0) if given else np.zeros(n_features)


def single(answer: Answer) -> list[Answer]:
    """The answers that one is made of, or the one itself."""
    if isinstance(answer, Answers):
        return [one for one in answer.answers if one is not None]
    return [answer]


def stacked(columns: list[np.ndarray | None], n: int) -> np.ndarray:
    """Votes as columns."""
    out = np.zeros((n, len(columns)), dtype=np.int32, order="F")
    for p, votes in enumerate(columns):
        if votes is not None:
            out[:, p] = votes
    return out


def answers_at_once(learner: Learner) -> TypeGuard[Tree]:
    """Whether a learner's ``answer_each`` stands for its ``answer``."""
    return isinstance(learner, Tree) and type(learner).answer is Tree.answer and not learner.draws
