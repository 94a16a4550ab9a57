"""What columns, classes, tests and answers are called."""

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.exports.splits import FeatureBins, Runs
from steadyboost.learners.many import Answers
from steadyboost.trees.growth.tree import GrownTree


def feature_names(model: Any) -> list[str]:
    """Those of the training table, or x0, x1 ..."""
    known = getattr(model, "feature_names_in_", None)
    return (
        [f"x{f}" for f in range(model.n_features_in_)] if known is None else list(map(str, known))
    )


def listed(names: list[str], last: str = "or") -> str:
    """A, B or C."""
    return f" {last} ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])


@dataclass(frozen=True)
class Tests:
    """The two sides of a split in words; gaps are told of where training had any."""

    bins: FeatureBins
    names: list[str]
    has_missing: np.ndarray
    digits: int

    @classmethod
    def of(cls, model: Any, digits: int) -> "Tests":
        return cls(FeatureBins.of(model), feature_names(model), model._binner.has_missing, digits)

    def sides(self, tree: GrownTree, node: int, settled: Set[int] = frozenset()) -> tuple[str, str]:
        """What holds on the left, and on the right; ``settled`` columns cannot have a gap there."""
        feature = int(tree.feature[node])
        runs = self.bins.runs(tree, node)
        if not runs.thresholds:
            return self._gaps_alone(feature, runs)
        if self.bins.categories[feature] is not None:
            texts = self._sets(feature, self.bins.codes_left(tree, node)[:-1])
        else:
            texts = [self._ranges(feature, runs, side) for side in (True, False)]
        if self.has_missing[feature] and feature not in settled:
            texts[0 if runs.missing_left else 1] += " or missing"
        return texts[0], texts[1]

    def settles(self, tree: GrownTree, node: int) -> tuple[Set[int], Set[int]]:
        """Columns about whose gaps nothing is left to say on the left, and on the right."""
        own, runs = frozenset([int(tree.feature[node])]), self.bins.runs(tree, node)
        if not runs.thresholds:
            return own, own
        return (frozenset(), own) if runs.missing_left else (own, frozenset())

    def _gaps_alone(self, feature: int, runs: Runs) -> tuple[str, str]:
        sides = [f"{self.names[feature]} {what}" for what in ("is known", "is missing")]
        return (sides[0], sides[1]) if runs.left[0] else (sides[1], sides[0])

    def _sets(self, feature: int, left: np.ndarray) -> list[str]:
        """The smaller set by its values, the other by not being in it."""
        name = self.names[feature]
        values = [_plain(value) for value in self.bins.categories[feature] or ()]
        swapped = bool(2 * left.sum() > len(left))
        few = [value for value, own in zip(values, left != swapped, strict=True) if own]
        if len(few) == 1:
            texts = [f"{name} = {few[0]}", f"{name} != {few[0]}"]
        else:
            inside = "{" + ", ".join(few) + "}"
            texts = [f"{name} in {inside}", f"{name} not in {inside}"]
        return texts[::-1] if swapped else texts

    def _ranges(self, feature: int, runs: Runs, side: bool) -> str:
        """The intervals of one side."""
        name = self.names[feature]
        ends = [None, *(self._number(at) for at in runs.thresholds), None]
        texts = []
        for (low, high), own in zip(pairwise(ends), runs.left, strict=True):
            if own == side:
                below = f"{name} <= {high}" if low is None else f"{low} < {name} <= {high}"
                texts.append(f"{name} > {low}" if high is None else below)
        return listed(texts)

    def _number(self, value: float) -> str:
        """One digit behind the point at least: below 2013.5 is not below 2014."""
        whole = len(f"{abs(value):.0f}")
        return f"{value:.{max(self.digits, min(whole + 1, 17))}g}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def answer_name(model: Any, part: int, values: np.ndarray) -> str:
    """The classes that an answer speaks for, by what it adds to the scores."""
    names = [str(label) for label in model.classes_.tolist()]
    if isinstance(model, SteadyBoostClassifier) and len(names) > 1:
        return _member_answer(model, part, values, names)
    if model.n_outputs() == len(names) > 1 and not _is_one_of_many(model):
        return _favoured(names, values)
    if isinstance(model, BinaryBoostingClassifier):
        bits = model.bits_[:, part] if len(names) > 1 else np.ones(1)
    else:
        bits = np.arange(len(names)) == part
    return _group(names, bits.astype(bool) == (values[part] > 0))


def _member_answer(
    model: SteadyBoostClassifier, part: int, values: np.ndarray, names: list[str]
) -> str:
    """What a leaf of a booster adds to a class, or the favourite of a forest's leaf."""
    shape = model._shape
    if part < shape.n_folds * shape.width:
        return f"{names[1] if shape.width == 1 else names[part % shape.width]} {values[part]:+.3g}"
    votes = values[shape.forest(part - shape.n_folds * shape.width)]
    return f"{names[int(votes.argmax())]} ({votes.max() / (votes.sum() or 1.0):.0%})"


def _is_one_of_many(model: Any) -> bool:
    """Whether each column of scores has trees of its own, which say yes or no."""
    return isinstance(model.stages_[0].answer, Answers)


def _favoured(names: list[str], values: np.ndarray) -> str:
    distinct = np.unique(np.round(values, 12))
    if len(distinct) > 2:
        return ", ".join(f"{name} {value:+.3g}" for name, value in zip(names, values, strict=True))
    return _group(names, values > distinct.mean() if len(distinct) == 2 else np.ones(len(names)))


def _group(names: list[str], inside: np.ndarray) -> str:
    """Some of the classes, or all but a few."""
    inside = inside.astype(bool)
    chosen = [name for name, own in zip(names, inside, strict=True) if own]
    others = [name for name, own in zip(names, inside, strict=True) if not own]
    if not others or not chosen:
        return "any class" if chosen else "no class"
    if len(chosen) == 1 or len(chosen) <= len(others):
        return listed(chosen)
    return f"not {listed(others)}"
