"""A fitted booster as a sum of trees of comparisons, and the link from scores to probabilities.

A node of a grown tree sends a set of bins to the left, with a bin of its own for missing values.
Bins are in the order of the values, so that any such set is a union of intervals: as many
comparisons as these have ends.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.adaboost_m2 import AdaBoostM2Classifier
from steadyboost.boosters.adaboost_mh import AdaBoostMHClassifier
from steadyboost.boosters.ecoc import ECOCClassifier
from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.families.output_codes import OutputCodeClassifier
from steadyboost.boosters.families.voting import VotingClassifier
from steadyboost.boosters.gdmcboost import GDMCBoostClassifier
from steadyboost.boosters.softmax_boost import SoftmaxBoostClassifier
from steadyboost.ensemble.hooks import Hooks
from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.learners.base import Answer, Answers
from steadyboost.learners.tree import TreeAnswer
from steadyboost.trees.growth.tree import GrownTree


@dataclass(frozen=True)
class ModelTree:
    """A tree of the model: its round and subproblem, and what each node adds to the scores.

    ``values`` are (nodes, columns of scores); only those of leaves mean anything.
    """

    round: int
    part: int
    tree: GrownTree
    values: np.ndarray

    @property
    def adds_to(self) -> int:
        """The largest number of scores that a leaf adds to."""
        return int((self.values[self.tree.is_leaf] != 0).sum(axis=1).max())


def feature_names(model: Any) -> list[str]:
    """Column names of the training table, or x0, x1, ... where it had none."""
    known = getattr(model, "feature_names_in_", None)
    return (
        [f"x{f}" for f in range(model.n_features_in_)] if known is None else list(map(str, known))
    )


def column_names(model: Any) -> list[str]:
    """Names of the columns of :func:`encode`: those of the features, or parts of their dates."""
    return model._encoder.column_names(feature_names(model))


def check_booster(model: Any) -> None:
    """Raise an error for anything but a fitted booster."""
    if not isinstance(model, FittedBooster):
        raise ValueError(
            f"model={type(model).__name__} is not a booster of steadyboost; pass a fitted one."
        )
    check_is_fitted(model, "stages_")


def check_model(model: Any, form: str) -> None:
    """Raise ``ValueError`` for a model that cannot be exported."""
    check_booster(model)
    if model.n_columns(len(model.stages_)) > model.n_outputs():
        raise ValueError(
            f"{type(model).__name__} sends rows through a branching program, which {form} cannot "
            "express: its scores are not a sum over trees. Export another booster, or use save()."
        )
    for _, _, answer in hypotheses_of(model):
        if not isinstance(answer, TreeAnswer):
            raise ValueError(_not_a_tree(answer, form))


def _not_a_tree(answer: Answer, form: str) -> str:
    kind = type(getattr(answer, "estimator", answer)).__name__
    if kind == "C45Answer":
        return (
            f"C45 sends a row with a missing value down every branch in part, which {form} cannot "
            "express; "
            "fit with estimator=Tree(max_depth=None), or use save()."
        )
    return (
        f"The weak learner {kind} is not from steadyboost, so its hypotheses cannot be written "
        f"as {form}; fit with estimator=Tree(), Stump(), AttributeTest() or DecisionRule()."
    )


def hypotheses_of(model: FittedBooster) -> Iterator[tuple[int, int, Answer]]:
    """Round, subproblem and hypothesis, in the order in which they are added."""
    for t, stage in enumerate(model.stages_):
        own = stage.answer
        for p, answer in enumerate(own.answers if isinstance(own, Answers) else (own,)):
            if answer is not None:
                yield t, p, answer


def model_trees(model: FittedBooster) -> list[ModelTree]:
    """All trees, in the order in which they are added."""
    return [
        ModelTree(t, p, answer.tree, added(model, t, p, answer, answer.label))
        for t, p, answer in hypotheses_of(model)
        if isinstance(answer, TreeAnswer)
    ]


def added(
    model: FittedBooster, t: int, p: int, answer: Answer, votes: np.ndarray, start: float = 0.0
) -> np.ndarray:
    """What votes of a hypothesis add to scores of ``start``, by ``add`` of the booster."""
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
    """Whether what a stage adds does not depend on the scores."""
    t, p, answer = next(hypotheses_of(model))
    assert isinstance(answer, TreeAnswer)
    first, later = (added(model, t, p, answer, answer.label, start) for start in (0.0, 1.0))
    return bool(np.allclose(first, later, rtol=1e-9, atol=1e-12))


def check_additive(model: Any, form: str) -> None:
    """Raise ``ValueError`` for a booster whose scores are not a sum over trees."""
    check_model(model, form)
    if not is_additive(model):
        raise ValueError(
            f"What a tree of {type(model).__name__} adds depends on the scores before it, which "
            f"{form}, a sum over trees, cannot express; to_onnx can."
        )


LARGEST = float(np.finfo(np.float64).max)  # NaN alone is not <= this threshold
# Of one tree: sets of categories become chains of comparisons, with copies of the nodes below.
MOST_NODES = 200_000
LEAST_MASS = 1e-12  # SHAP divides by the cover of a node, which must not be 0


class SplitIntervals(NamedTuple):
    """A split of a column as intervals of its values that go left and right in turn.

    The values up to ``thresholds[j]`` that are above those before it go left if ``left[j]``; the
    last entry of ``left`` is for those above all thresholds. ``shares`` are the shares of an
    interval in the bins of its side.
    """

    column: int
    thresholds: list[float]
    left: list[bool]
    missing_left: bool
    shares: list[float]


IntervalsOf = Callable[[GrownTree, int], SplitIntervals]


@dataclass(frozen=True)
class FeatureBins:
    """Cut points of the columns, and the values of categorical ones."""

    cuts: Sequence[np.ndarray]
    categories: Sequence[list[Any] | None]

    @classmethod
    def of(cls, model: Any) -> "FeatureBins":
        return cls(model._binner.cuts, model._encoder.column_categories)

    def goes_left(self, tree: GrownTree, node: int) -> np.ndarray:
        """Whether each bin of the node's column goes left; the last is for missing values."""
        bits = np.unpackbits(tree.left_bitset[node].view(np.uint8), bitorder="little")
        return bits[: len(self.cuts[tree.feature[node]]) + 2].astype(bool)

    def codes_left(self, tree: GrownTree, node: int) -> np.ndarray:
        """For each category, in the encoder's order, whether it goes left; then missing values."""
        feature = int(tree.feature[node])
        n_codes = len(self.categories[feature] or ())
        bins = np.searchsorted(self.cuts[feature], np.arange(n_codes))
        left = self.goes_left(tree, node)
        return np.append(left[bins], left[-1])

    def runs(self, tree: GrownTree, node: int) -> SplitIntervals:
        """The split of a node by the intervals of encoded values that go left."""
        feature = int(tree.feature[node])
        left = self.goes_left(tree, node)
        known, cuts = left[:-1], self.cuts[feature]
        ends = np.flatnonzero(known[1:] != known[:-1])
        sides = known[np.append(ends, len(known) - 1)]
        lengths = np.diff(np.concatenate([[-1], ends, [len(known) - 1]]))
        whole = np.where(sides, lengths[sides].sum(), lengths[~sides].sum())
        shares = (lengths / whole).tolist()
        return SplitIntervals(feature, cuts[ends].tolist(), sides.tolist(), bool(left[-1]), shares)


@dataclass(frozen=True)
class ThresholdTree:
    """A tree of comparisons: values up to the threshold go left, as do gaps if ``missing_left``.

    ``left`` and ``right`` are -1 at leaves; ``origin`` is the node of the grown tree that a leaf
    comes from; ``cover`` is the share of the round's weight that reaches a node.
    """

    column: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    origin: np.ndarray
    cover: np.ndarray

    @property
    def is_leaf(self) -> np.ndarray:
        return self.left < 0


class ValueRange(NamedTuple):
    """The values of a column that can reach a node: above ``low``, up to ``high``, perhaps gaps."""

    low: float = -np.inf
    high: float = np.inf
    gaps: bool = True


class PendingNode(NamedTuple):
    """A node of the grown tree to be copied: where to, its share of the weight, what reaches it."""

    place: int
    node: int
    share: float
    reach: dict[int, ValueRange]


class ThresholdTreeBuilder:
    """Copies a grown tree, node by node, as comparisons, without those that have no effect.

    A set of categories becomes a chain of comparisons, with copies of the nodes below. A copy only
    compares with values that can reach it, so that a column has no more thresholds than bins.
    """

    def __init__(self, tree: GrownTree, runs_of: IntervalsOf):
        self.tree, self.runs_of = tree, runs_of
        self.nodes: list[list[Any]] = []  # the fields of a ThresholdTree
        self.waiting: list[PendingNode] = []

    def build(self) -> ThresholdTree:
        mass = leaf_masses(self.tree)
        self.reserve(0, 1.0, {})
        while self.waiting:
            one = self.waiting.pop()
            if self.tree.children[one.node, 0] == one.node:
                self.nodes[one.place][5:] = one.node, mass[one.node] * one.share
            else:
                self.split(one)
            self.check_size()
        return self.finished()

    def reserve(self, node: int, share: float, reach: dict[int, ValueRange]) -> int:
        """Append a node for the copy of another; its index."""
        self.waiting.append(PendingNode(len(self.nodes), node, share, reach))
        return self.chain()

    def chain(self) -> int:
        """Append a node that continues the chain of comparisons of its parent; its index."""
        self.nodes.append([0, 0.0, -1, -1, False, -1, 0.0])
        return len(self.nodes) - 1

    def split(self, one: PendingNode) -> None:
        """Write a chain of comparisons, each of which separates one interval of values."""
        runs = self.runs_of(self.tree, one.node)
        within = one.reach.get(runs.column, ValueRange())
        runs = _with_gaps(_narrowed(runs, within))
        left, right = self.tree.children[one.node].tolist()
        sides = [left if goes else right for goes in runs.left]
        if not runs.thresholds:  # all go the same way
            self.waiting.append(one._replace(node=sides[0]))
            return
        gap, last = runs.left.index(runs.missing_left), len(runs.thresholds)
        bounds = [within.low, *runs.thresholds, within.high]

        def copy(run: int) -> int:
            own = ValueRange(bounds[run], bounds[run + 1], within.gaps and run == gap)
            reach = {**one.reach, runs.column: own}
            return self.reserve(sides[run], one.share * runs.shares[run], reach)

        place = one.place
        for j, threshold in enumerate(runs.thresholds):
            below, above = copy(j), copy(last) if j == last - 1 else self.chain()
            self.nodes[place][:5] = runs.column, threshold, below, above, j == gap
            place = above

    def check_size(self) -> None:
        if len(self.nodes) > MOST_NODES:
            raise ValueError(
                f"A tree has more than {MOST_NODES:,} comparisons, because its sets of categories "
                "have many parts; use shallower trees, or fewer categories."
            )

    def finished(self) -> ThresholdTree:
        kinds = (np.int64, float, np.int64, np.int64, bool, np.int64, float)
        fields = zip(zip(*self.nodes, strict=True), kinds, strict=True)
        tree = ThresholdTree(*(np.array(values, dtype=kind) for values, kind in fields))
        for node in range(len(tree.left) - 1, -1, -1):  # children come after their parent
            if tree.left[node] >= 0:
                tree.cover[node] = tree.cover[tree.left[node]] + tree.cover[tree.right[node]]
        return tree


def _narrowed(runs: SplitIntervals, within: ValueRange) -> SplitIntervals:
    """The intervals of a split, restricted to the values that reach the node."""
    first = sum(threshold <= within.low for threshold in runs.thresholds)
    inside = [at for at in runs.thresholds if within.low < at < within.high]
    kept = slice(first, first + len(inside) + 1)
    left, shares = runs.left[kept], runs.shares[kept]
    whole = {
        side: sum(part for part, own in zip(shares, left, strict=True) if own == side)
        for side in set(left)
    }
    return SplitIntervals(
        runs.column,
        inside,
        left,
        runs.missing_left if within.gaps else left[0],
        [part / whole[side] for part, side in zip(shares, left, strict=True)],
    )


def _with_gaps(runs: SplitIntervals) -> SplitIntervals:
    """A split of missing values against all others: a threshold that only NaN is not below."""
    if runs.thresholds or runs.missing_left == runs.left[0]:
        return runs
    sides = [runs.left[0], runs.missing_left]
    return runs._replace(thresholds=[LARGEST], left=sides, shares=[1.0, 1.0])


def leaf_masses(tree: GrownTree) -> np.ndarray:
    """Share of the round's weight in each leaf, at least ``LEAST_MASS``."""
    value = tree.value
    mass = value.sum(axis=1) if (value >= 0).all() else value[:, -1]  # or edges, then the mass
    mass = np.maximum(mass, LEAST_MASS) * tree.is_leaf
    return mass / mass.sum()


def threshold_tree(tree: GrownTree, runs_of: IntervalsOf) -> ThresholdTree:
    """A grown tree as comparisons; ``runs_of(tree, node)`` gives the split of a node."""
    return ThresholdTreeBuilder(tree, runs_of).build()


def encode(model: FittedBooster, X: Any) -> np.ndarray:
    """Rows as the numbers that the trees of a model split on.

    Categories become codes, in the order of their values; dates become days since 1970-01-01 and,
    where they vary, year, month, weekday and hour; missing values and categories that were not seen
    in training become NaN. SHAP and treelite take rows in this form.

    Parameters
    ----------
    model : booster
        A fitted booster.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    numbers : ndarray of shape (n_samples, n_columns)
        In float64: a column for each feature, and for each part of dates.

    Examples
    --------
    >>> import pandas as pd
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.exports import encode
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 4.0], "colour": ["red", "blue", "red", None]})
    >>> encode(SAMMEClassifier(n_estimators=1).fit(X, [0, 1, 0, 1]), X)
    array([[ 1.,  1.],
           [ 2.,  0.],
           [nan,  1.],
           [ 4., nan]])
    """
    encoded = model._encoded(X)
    dense = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    return np.asarray(dense, dtype=np.float64)


@dataclass(frozen=True)
class Link:
    """Probabilities as a function of ``scores @ matrix``.

    ``"softmax"``, ``"sigmoid"``, ``"shares"`` (divided by their sum), or ``"against"``: one class
    against the rest, from half the log-odds, then normalised.
    """

    kind: str
    matrix: np.ndarray


def _softmax(factor: float, model: Any) -> Link:
    return Link("softmax", factor * np.eye(model.n_outputs()))


def _binary(model: Any) -> Link:
    """With a single class its probability is 1."""
    if model.n_classes_ == 1:
        return _softmax(1.0, model)
    if model._is_ovr():
        return Link("against", np.eye(model.n_outputs()))
    return Link("softmax", 2.0 * model.bits_.T)


def _labelwise(one_label: str, factor: float, model: Any) -> Link:
    """Labels of a set have a probability each; probabilities of classes sum to one."""
    if model.multilabel_:
        return Link("sigmoid", 2.0 * np.eye(model.n_outputs()))
    return Link(one_label, factor * np.eye(model.n_outputs()))


def _ecoc(model: Any) -> Link:
    return _softmax(2.0 if model.decoding == "weighted" else model._bit_log_odds, model)


LINKS: dict[Callable, Callable[[Any], Link]] = {
    Hooks.probabilities: lambda model: _softmax(1.0, model),
    OutputCodeClassifier.probabilities: lambda model: _softmax(2.0, model),
    AdaBoostM2Classifier.probabilities: lambda model: _softmax(2.0, model),
    GDMCBoostClassifier.probabilities: lambda model: _softmax(2.0, model),
    ECOCClassifier.probabilities: _ecoc,
    VotingClassifier.probabilities: lambda model: Link("shares", np.eye(model.n_outputs())),
    BinaryBoostingClassifier.probabilities: _binary,
    AdaBoostMHClassifier.probabilities: lambda model: _labelwise("against", 1.0, model),
    SoftmaxBoostClassifier.probabilities: lambda model: _labelwise("softmax", 1.0, model),
}


def link_of(model: FittedBooster) -> Link:
    """The link of a booster, looked up by its ``probabilities``."""
    rule = LINKS.get(type(model).probabilities)
    if rule is None:
        raise ValueError(
            f"{type(model).__name__}.probabilities is not known to the exports; add it to "
            "steadyboost.exports.trees.LINKS."
        )
    return rule(model)


def decision_matrix(model: FittedBooster) -> np.ndarray:
    """The matrix by which scores are multiplied to give ``decision_function``."""
    points = np.eye(model.n_outputs())
    decided, thrice = model.decision(points), model.decision(3 * points)
    if not np.allclose(3 * decided, thrice):
        raise ValueError(
            f"The decision function of {type(model).__name__} is not linear in the sums over its "
            "trees, as this format requires; use to_onnx."
        )
    return decided[:, None] if decided.ndim == 1 else decided
