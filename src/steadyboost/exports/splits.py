"""Splits of binned columns as comparisons with thresholds.

A node of a grown tree sends a set of bins to the left, with a bin of its own for gaps. Bins follow
the values, so that any such set is a union of intervals: as many comparisons as it has ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.trees.growth.tree import GrownTree

LARGEST = float(np.finfo(np.float64).max)  # no number is above: only a gap is not below it
MOST_NODES = 200_000  # of a tree whose sets of categories have become comparisons
LEAST_MASS = 1e-12


class Runs(NamedTuple):
    """Where the values of a column go: left or right in turn, as they pass the thresholds.

    The values up to ``thresholds[j]`` that are above those before it go left if ``left[j]``; the
    last entry of ``left`` is for those above all. ``shares`` are the parts of a side's bins.
    """

    column: int
    thresholds: list[float]
    left: list[bool]
    missing_left: bool
    shares: list[float]


RunsOf = Callable[[GrownTree, int], Runs]


@dataclass(frozen=True)
class FeatureBins:
    """What is known of the columns: cuts between bins, and the values of categorical ones."""

    cuts: Sequence[np.ndarray]
    categories: Sequence[list[Any] | None]

    @classmethod
    def of(cls, model: Any) -> "FeatureBins":
        return cls(model._binner.cuts, model._encoder.categories)

    def goes_left(self, tree: GrownTree, node: int) -> np.ndarray:
        """For each bin of the node's column whether it goes left; the last is for gaps."""
        bits = np.unpackbits(tree.left_bitset[node].view(np.uint8), bitorder="little")
        return bits[: len(self.cuts[tree.feature[node]]) + 2].astype(bool)

    def codes_left(self, tree: GrownTree, node: int) -> np.ndarray:
        """For each category, in the order of the encoder, whether it goes left; then gaps."""
        feature = int(tree.feature[node])
        n_codes = len(self.categories[feature] or ())
        bins = np.searchsorted(self.cuts[feature], np.arange(n_codes))
        left = self.goes_left(tree, node)
        return np.append(left[bins], left[-1])

    def runs(self, tree: GrownTree, node: int) -> Runs:
        """The split of a node by the intervals of encoded values that go left."""
        feature = int(tree.feature[node])
        left = self.goes_left(tree, node)
        known, cuts = left[:-1], self.cuts[feature]
        ends = np.flatnonzero(known[1:] != known[:-1])
        sides = known[np.append(ends, len(known) - 1)]
        lengths = np.diff(np.concatenate([[-1], ends, [len(known) - 1]]))
        whole = np.where(sides, lengths[sides].sum(), lengths[~sides].sum())
        shares = (lengths / whole).tolist()
        return Runs(feature, cuts[ends].tolist(), sides.tolist(), bool(left[-1]), shares)


@dataclass(frozen=True)
class ThresholdTree:
    """A tree of comparisons: values up to the threshold go left, gaps where ``missing_left`` says.

    ``left`` and ``right`` are -1 at leaves; ``origin`` is the node of the grown tree that a leaf
    comes from; ``cover`` is the share of the round's weight that gets to a node.
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


class Reach(NamedTuple):
    """Which values of a column get to a node: above ``low``, up to ``high``, and gaps or not."""

    low: float = -np.inf
    high: float = np.inf
    gaps: bool = True


class Waiting(NamedTuple):
    """A node that is to be copied to a place: all or a share of it, and what gets there."""

    place: int
    node: int
    share: float
    reach: dict[int, Reach]


class Planting:
    """Copies a grown tree, node by node, as comparisons, but for those that can change nothing.

    A set of categories takes a chain of comparisons, with copies of what is below. Copies ask only
    for values that get there, so that a column is not cut more often than it has bins.
    """

    def __init__(self, tree: GrownTree, runs_of: RunsOf):
        self.tree, self.runs_of = tree, runs_of
        self.nodes: list[list[Any]] = []  # the fields of a ThresholdTree
        self.waiting: list[Waiting] = []

    def plant(self) -> ThresholdTree:
        mass = leaf_masses(self.tree)
        self.reserve(0, 1.0, {})
        while self.waiting:
            one = self.waiting.pop()
            if self.tree.children[one.node, 0] == one.node:
                self.nodes[one.place][5:] = one.node, mass[one.node] * one.share
            else:
                self.split(one)
            self.check_size()
        return self.planted()

    def reserve(self, node: int, share: float, reach: dict[int, Reach]) -> int:
        """A place for the copy of a node."""
        self.waiting.append(Waiting(len(self.nodes), node, share, reach))
        return self.chain()

    def chain(self) -> int:
        """A place for a comparison that goes on with its parent's."""
        self.nodes.append([0, 0.0, -1, -1, False, -1, 0.0])
        return len(self.nodes) - 1

    def split(self, one: Waiting) -> None:
        """A chain of comparisons, each of which takes off one run of values."""
        runs = self.runs_of(self.tree, one.node)
        within = one.reach.get(runs.column, Reach())
        runs = _with_gaps(_narrowed(runs, within))
        left, right = self.tree.children[one.node].tolist()
        sides = [left if goes else right for goes in runs.left]
        if not runs.thresholds:  # all go the same way
            self.waiting.append(one._replace(node=sides[0]))
            return
        gap, last = runs.left.index(runs.missing_left), len(runs.thresholds)
        bounds = [within.low, *runs.thresholds, within.high]

        def copy(run: int) -> int:
            own = Reach(bounds[run], bounds[run + 1], within.gaps and run == gap)
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

    def planted(self) -> ThresholdTree:
        kinds = (np.int64, float, np.int64, np.int64, bool, np.int64, float)
        fields = zip(zip(*self.nodes, strict=True), kinds, strict=True)
        tree = ThresholdTree(*(np.array(values, dtype=kind) for values, kind in fields))
        for node in range(len(tree.left) - 1, -1, -1):  # children come after their parent
            if tree.left[node] >= 0:
                tree.cover[node] = tree.cover[tree.left[node]] + tree.cover[tree.right[node]]
        return tree


def _narrowed(runs: Runs, within: Reach) -> Runs:
    """The runs of the values that are there."""
    first = sum(threshold <= within.low for threshold in runs.thresholds)
    inside = [at for at in runs.thresholds if within.low < at < within.high]
    kept = slice(first, first + len(inside) + 1)
    left, shares = runs.left[kept], runs.shares[kept]
    whole = {
        side: sum(part for part, own in zip(shares, left, strict=True) if own == side)
        for side in set(left)
    }
    return Runs(
        runs.column,
        inside,
        left,
        runs.missing_left if within.gaps else left[0],
        [part / whole[side] for part, side in zip(shares, left, strict=True)],
    )


def _with_gaps(runs: Runs) -> Runs:
    """Where gaps alone go the other way, all numbers are below a threshold, and gaps are not."""
    if runs.thresholds or runs.missing_left == runs.left[0]:
        return runs
    sides = [runs.left[0], runs.missing_left]
    return runs._replace(thresholds=[LARGEST], left=sides, shares=[1.0, 1.0])


def leaf_masses(tree: GrownTree) -> np.ndarray:
    """Share of the round's weight in each leaf; above 0, for what divides by it."""
    value = tree.value
    mass = value.sum(axis=1) if (value >= 0).all() else value[:, -1]  # or edges, then the mass
    mass = np.maximum(mass, LEAST_MASS) * tree.is_leaf
    return mass / mass.sum()


def threshold_tree(tree: GrownTree, runs_of: RunsOf) -> ThresholdTree:
    """A grown tree as comparisons; ``runs_of(tree, node)`` says how a node splits."""
    return Planting(tree, runs_of).plant()


def encode(model: FittedBooster, X: Any) -> np.ndarray:
    """Rows as the numbers that the trees of a model see.

    Categories become codes, in the order of their values, and all that is missing, or was not
    known in training, NaN. SHAP and treelite take rows in this form.

    Parameters
    ----------
    model : booster
        A fitted booster.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    numbers : ndarray of shape (n_samples, n_features)
        In float64.

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
