"""All stages of an ensemble, added to the scores of new rows.

Where every stage is a tree, this takes one compiled call, the batched form of
:meth:`~steadyboost.ensemble.hooks.Hooks.add` for boosters that leave it as it is: the same sums in
the same order, bit for bit, without Python between stages.
"""

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING, Protocol, cast
from weakref import WeakKeyDictionary

import numpy as np

from steadyboost.ensemble.hooks import Hooks
from steadyboost.learners.base import Data
from steadyboost.learners.many import single
from steadyboost.learners.tree_answer import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.apply import PlaceScratch, add_trees
from steadyboost.trees.prediction.leaf_sums import LeafSums, features_of, pack_trees

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage


class PackedStages(Protocol):
    """Stages in a form that can be added to scores at once."""

    @property
    def features(self) -> np.ndarray | None:
        """Those that any tree looks at; None where not all answers are trees."""
        ...

    def add(self, data: Data, scores: np.ndarray) -> None:
        """Add the stages to the scores of rows."""
        ...


class StageByStage:
    """Stages of any kind, added one at a time."""

    def __init__(self, booster: Hooks, stages: Sequence["Stage"]):
        self.booster, self.stages = booster, stages

    @property
    def features(self) -> np.ndarray | None:
        answers = [answer for stage in self.stages for answer in single(stage.answer)]
        trees = [answer.tree.feature for answer in answers if isinstance(answer, TreeAnswer)]
        return np.unique(np.concatenate(trees)) if 0 < len(trees) == len(answers) else None

    def add(self, data: Data, scores: np.ndarray) -> None:
        for stage in self.stages:
            self.booster.add(scores, stage, stage.answer.votes(data))


class PackedVotes:
    """Trees and what their votes add; ``one_each`` where a vote counts for its own class only."""

    def __init__(self, stages: Sequence["Stage"], one_each: bool):
        answers = [cast(TreeAnswer, stage.answer) for stage in stages]
        codes = [stage.code for stage in stages]
        heights = [1 if one_each else len(code) for code in codes]
        steps = np.repeat([stage.step for stage in stages], heights)
        self.tables = np.concatenate(codes).reshape(len(steps), -1) * steps[:, None]
        trees, votes = [answer.tree for answer in answers], [answer.label for answer in answers]
        self.forest = pack_trees(trees, votes, heights)
        self.one_each, self.stages = one_each, list(stages)

    def is_of(self, stages: Sequence["Stage"]) -> bool:
        return len(stages) == len(self.stages) and all(map(is_, stages, self.stages))

    @property
    def features(self) -> np.ndarray:
        return features_of(self.forest)

    def add(self, data: Data, scores: np.ndarray) -> None:
        assert data.binned is not None
        scratch = PlaceScratch.allocate()
        for packed, feature, own in data.binned.with_scores(self.forest.feature, scores):
            forest = self.forest._replace(feature=feature)
            add_trees(packed, forest, self.tables, self.one_each, scratch, own)


class PackedLeafValues:
    """Trees that add the values of their leaves, each to columns of its own."""

    def __init__(self, parts: Sequence[tuple[GrownTree, int]]):
        self._sums = LeafSums(*zip(*parts, strict=True))

    @property
    def features(self) -> np.ndarray:
        return self._sums.features

    def add(self, data: Data, scores: np.ndarray) -> None:
        assert data.binned is not None
        self._sums.add(data.binned, scores)


# The last packed form of each model. Not an attribute: prediction must not change the model.
_KNOWN: WeakKeyDictionary[Hooks, PackedVotes] = WeakKeyDictionary()


def pack_stages(booster: Hooks, stages: Sequence["Stage"]) -> "PackedStages":
    """The stages in the fastest form that supports them."""
    leaves = booster.leaf_parts(stages)
    if leaves is not None:
        return PackedLeafValues(leaves)
    known = _KNOWN.get(booster)
    if known is not None and known.is_of(stages):
        return known
    dimensions = {stage.code.ndim for stage in stages}
    plain = type(booster).add is Hooks.add and len(dimensions) == 1
    if plain and all(isinstance(stage.answer, TreeAnswer) for stage in stages):
        made = _KNOWN[booster] = PackedVotes(stages, dimensions == {1})
        return made
    return StageByStage(booster, stages)
