"""All stages of an ensemble, added to the scores of new rows.

Where every stage is a tree, this takes one compiled call, the batched form of
:meth:`~steadyboost.ensemble.hooks.Hooks.add` for boosters that add weighted votes (``adds_votes``):
the same sums in the same order, bit for bit, without Python between stages.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, cast
from weakref import WeakKeyDictionary

import numpy as np

from steadyboost.ensemble.hooks import Hooks
from steadyboost.learners.base import Data, single
from steadyboost.learners.tree import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.apply import MOST_LEAVES, LeafScratch
from steadyboost.trees.prediction.compact import CompactForest, is_plain
from steadyboost.trees.prediction.forest import LeafSums, add_trees, features_of, pack_trees

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage

LeafPart = tuple[GrownTree, int]  # a tree, and the first column that its leaves add to


class PackedStages(Protocol):
    """Stages in a form that adds all of them to the scores in one call."""

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

    def is_of(self, stages: Sequence["Stage"], pruning: tuple[Any, ...]) -> bool:
        return len(stages) == len(self.stages) and all(
            a is b for a, b in zip(stages, self.stages, strict=True)
        )

    @property
    def features(self) -> np.ndarray:
        return features_of(self.forest)

    def add(self, data: Data, scores: np.ndarray) -> None:
        assert data.binned is not None
        scratch = LeafScratch.allocate()
        for packed, feature, own in data.binned.with_scores(self.forest.feature, scores):
            forest = self.forest._replace(feature=feature)
            add_trees(packed, forest, self.tables, self.one_each, scratch, own)


class PackedLeafValues:
    """Trees that add the values of their leaves, each to columns of its own."""

    def __init__(self, booster: Hooks, stages: Sequence["Stage"], parts: Sequence[LeafPart]):
        self.stages, self.pruning = list(stages), booster.pruning()
        self._sums: list[LeafSums | CompactForest] = []
        others: list[LeafPart] = []
        for _, group in groupby(sorted(parts, key=_columns), key=_columns):
            own = list(group)
            if _compact_pays(own):
                self._sums.append(CompactForest(*zip(*own, strict=True)))
            else:
                others += own
        if others:
            self._sums.append(LeafSums(*zip(*others, strict=True)))

    def is_of(self, stages: Sequence["Stage"], pruning: tuple[Any, ...]) -> bool:
        now, then = (*stages, *pruning), (*self.stages, *self.pruning)
        return len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))

    @property
    def features(self) -> np.ndarray:
        return np.unique(np.concatenate([sums.features for sums in self._sums]))

    def add(self, data: Data, scores: np.ndarray) -> None:
        assert data.binned is not None
        for sums in self._sums:
            sums.add(data.binned, scores)


def _columns(part: LeafPart) -> tuple[int, int]:
    """The columns that a tree adds to: the first, and how many."""
    tree, first = part
    return first, tree.value.shape[1]


def _compact_pays(parts: Sequence[LeafPart]) -> bool:
    """Whether the compact form of these trees is faster: it is for deep ones.

    All of them or none, so that the columns are summed in the order of the stages.
    """
    deep = any(len(tree.feature) >= 2 * MOST_LEAVES for tree, _ in parts)
    return deep and all(is_plain(tree) for tree, _ in parts)


# The last packed form of each model. Not an attribute: prediction must not change the model.
_KNOWN: WeakKeyDictionary[Hooks, PackedVotes | PackedLeafValues] = WeakKeyDictionary()


def pack_stages(booster: Hooks, stages: Sequence["Stage"]) -> "PackedStages":
    """The stages in the fastest form that supports them."""
    known = _KNOWN.get(booster)  # predictions on small batches must not pack again
    if known is not None and known.is_of(stages, booster.pruning()):
        return known
    leaves = booster.leaf_parts(stages)
    if leaves is not None:
        _KNOWN[booster] = packed = PackedLeafValues(booster, stages, leaves)
        return packed
    dimensions = {stage.code.ndim for stage in stages}
    plain = booster.adds_votes and len(dimensions) == 1  # one table layout for all stages
    if plain and all(isinstance(stage.answer, TreeAnswer) for stage in stages):
        made = _KNOWN[booster] = PackedVotes(stages, dimensions == {1})
        return made
    return StageByStage(booster, stages)
