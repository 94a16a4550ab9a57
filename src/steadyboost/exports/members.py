"""A fitted booster as trees and what their leaves add to the scores."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.learners.base import Answer
from steadyboost.learners.many import Answers
from steadyboost.learners.tree_answer import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree


@dataclass(frozen=True)
class Member:
    """A tree of the model: its round and problem, and what each node adds to the scores.

    ``values`` are (nodes, columns of scores); only those of leaves mean anything.
    """

    round: int
    part: int
    tree: GrownTree
    values: np.ndarray

    @property
    def adds_to(self) -> int:
        """Scores that a leaf adds to, at the most."""
        return int((self.values[self.tree.is_leaf] != 0).sum(axis=1).max())


def check_model(model: Any, form: str) -> None:
    """Refuse what cannot be exported, before any work is done."""
    if not isinstance(model, FittedBooster):
        raise ValueError(
            f"model={type(model).__name__} is not a booster of steadyboost; pass a fitted one."
        )
    check_is_fitted(model, "stages_")
    if model.n_columns(len(model.stages_)) > model.n_outputs():
        raise ValueError(
            f"{type(model).__name__} sends rows through a branching program, which {form} cannot "
            "express: its scores are no sum over trees. Export another booster, or use save()."
        )
    for _, _, answer in answers_of(model):
        if not isinstance(answer, TreeAnswer):
            raise ValueError(_not_a_tree(answer, form))


def _not_a_tree(answer: Answer, form: str) -> str:
    kind = type(getattr(answer, "estimator", answer)).__name__
    if kind == "C45Answer":
        return (
            f"C45 sends a row with a gap down every branch in part, which {form} cannot express; "
            "fit with estimator=Tree(max_depth=None), or use save()."
        )
    return (
        f"The weak learner {kind} is not of steadyboost, so that its hypotheses cannot be written "
        f"as {form}; fit with estimator=Tree(), Stump(), AttributeTest() or DecisionRule()."
    )


def answers_of(model: FittedBooster) -> Iterator[tuple[int, int, Answer]]:
    """Round, problem and hypothesis, in the order in which they are added."""
    for t, stage in enumerate(model.stages_):
        own = stage.answer
        for p, answer in enumerate(own.answers if isinstance(own, Answers) else (own,)):
            if answer is not None:
                yield t, p, answer


def members(model: FittedBooster) -> list[Member]:
    """All trees, in the order in which they are added."""
    return [
        Member(t, p, answer.tree, added(model, t, p, answer, answer.label))
        for t, p, answer in answers_of(model)
        if isinstance(answer, TreeAnswer)
    ]


def added(
    model: FittedBooster, t: int, p: int, answer: Answer, votes: np.ndarray, start: float = 0.0
) -> np.ndarray:
    """What votes of a hypothesis add to scores of ``start``, by the booster's own rule."""
    stage = model.stages_[t]
    if isinstance(stage.answer, Answers):
        n_parts = len(stage.answer.answers)
        alone = tuple(answer if q == p else None for q in range(n_parts))
        stage = replace(stage, answer=Answers(alone))
        own, votes = votes, np.zeros((len(votes), n_parts), dtype=np.int32, order="F")
        votes[:, p] = own
    scores = np.full((len(votes), model.n_outputs()), start, order="F")
    model.add(scores, stage, votes)
    return scores - start


def is_additive(model: FittedBooster) -> bool:
    """Whether a stage adds the same whatever the scores are."""
    t, p, answer = next(answers_of(model))
    assert isinstance(answer, TreeAnswer)
    first, later = (added(model, t, p, answer, answer.label, start) for start in (0.0, 1.0))
    return bool(np.allclose(first, later, rtol=1e-9, atol=1e-12))


def need_additive(model: Any, form: str) -> None:
    """Refuse boosters whose scores are not a sum over trees."""
    check_model(model, form)
    if not is_additive(model):
        raise ValueError(
            f"What a tree of {type(model).__name__} adds depends on the scores before it, so that "
            f"{form}, which adds up trees, cannot express it; to_onnx can."
        )
