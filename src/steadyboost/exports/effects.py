"""Which values of which columns speak for a class, by the trees of a fitted booster.

A node of a tree divides the rows that reach it; the score of a class in a child, less that in the
node, is what the tested column adds there (Saabas, 2014). Summed over nodes, each weighted by the
share of the rows that reach it, this is a number for each value of a column and each class.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.steadyboost.classifier import (
    SteadyBoostClassifier,
    round_of,
    trees_of,
)
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.exports.column_text import ColumnText, column_texts
from steadyboost.exports.trees import (
    FeatureBins,
    check_additive,
    decision_matrix,
    leaf_masses,
    model_trees,
)
from steadyboost.trees.growth.tree import GrownTree

NEAR_BEST = 0.5  # of the largest contribution of a column: values that are named with the best
MOST_NAMED = 3  # categories


class ColumnEffect(NamedTuple):
    """Values of a column that speak for a class, and the mean of what they add to its score."""

    column: str
    values: str
    contribution: float

    def __str__(self) -> str:
        return f"{self.column} {self.values} ({self.contribution:+.2g})"


class WeighedTree(NamedTuple):
    """A tree with the scores of the classes (nodes, k) and the share of the rows at each node."""

    tree: GrownTree
    scores: np.ndarray
    mass: np.ndarray


def class_effects(model: Any, top: int = 3) -> dict[Any, list[ColumnEffect]]:
    """The columns, and their values, that speak most for each class.

    Parameters
    ----------
    model : booster
        A fitted booster that adds up trees, or SteadyBoostClassifier, of which the forests are
        asked: contributions are then to the share of the class, else to its score, per round.
    top : int, default=3
        Columns of each class.

    Returns
    -------
    effects : dict of label to list of ColumnEffect
        For each class, the largest contributions first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.exports import class_effects
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SAMMEClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> class_effects(model)[0][0].column
    'petal length (cm)'
    """
    columns, bins = column_texts(model), FeatureBins.of(model)
    classes = model.classes_.tolist()
    totals = [np.zeros((len(cuts) + 2, len(classes))) for cuts in bins.cuts]
    for weighed in _weighed_trees(model):
        _add_effects(weighed, bins, totals)
    found = {}
    for place, label in enumerate(classes):
        effects = [
            _effect(column, total[:, place], bins, f)
            for f, (column, total) in enumerate(zip(columns, totals, strict=True))
        ]
        ranked = sorted((own for own in effects if own), key=lambda own: -own.contribution)
        found[label] = ranked[:top]
    return found


def _weighed_trees(model: Any) -> Iterator[WeighedTree]:
    if isinstance(model, SteadyBoostClassifier):
        yield from _of_forests(model)
        return
    check_additive(model, "a sum of columns")
    matrix = decision_matrix(model) / len(model.stages_)
    if matrix.shape[1] == 1:  # one number for two classes
        matrix = np.hstack([-matrix, matrix]) if model.n_classes_ == 2 else matrix
    for one in model_trees(model):
        tree, mass = one.tree, leaf_masses(one.tree)
        sums = one.values @ matrix * mass[:, None]
        for node in range(len(tree.children) - 1, -1, -1):  # children come after their parent
            if not tree.is_leaf[node]:
                below = tree.children[node]
                sums[node], mass[node] = sums[below].sum(axis=0), mass[below].sum()
        yield WeighedTree(tree, sums / mass[:, None], mass)


def _of_forests(model: SteadyBoostClassifier) -> Iterator[WeighedTree]:
    """The trees of the forests, pruned as in predictions; scores are shares of the classes."""
    forests = [place for place in model._members.places if isinstance(place.member, ForestMember)]
    for stage in model.stages_:
        for place in forests:
            (tree,) = trees_of(stage)[place.trees]
            if tree is None:
                continue
            mass = tree.value.sum(axis=1)
            pruned = place.member.pruned(0, round_of(stage), tree)
            assert pruned is not None
            # Nodes that were cut off have the shares of their leaf: they add nothing.
            scores = pruned.value / (len(forests) * len(model.stages_))
            yield WeighedTree(pruned, scores, mass / mass[0])


def _add_effects(one: WeighedTree, bins: FeatureBins, totals: list[np.ndarray]) -> None:
    """Add what each bin of the tested columns adds to the scores of the classes."""
    tree = one.tree
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        gained = one.scores[tree.children[node]] - one.scores[node]
        if gained.any():
            side = 1 - bins.goes_left(tree, node).astype(int)
            totals[tree.feature[node]] += one.mass[node] * gained[side]


def _effect(text: ColumnText, by_bin: np.ndarray, bins: FeatureBins, f: int) -> ColumnEffect | None:
    """The bins of a column that speak for a class, in words; None if there are none."""
    best = int(by_bin.argmax())
    most = float(by_bin[best])
    if most <= 0:
        return None
    good = by_bin >= NEAR_BEST * most
    categories = bins.categories[f]
    if best == len(by_bin) - 1:
        words = "missing"
    elif categories is not None:
        codes = np.flatnonzero(good[np.searchsorted(bins.cuts[f], np.arange(len(categories)))])
        named = [str(categories[code]) for code in codes[:MOST_NAMED]]
        words = "= " + " or ".join([*named, *(["..."] if len(codes) > MOST_NAMED else [])])
    else:
        words = _range(good[:-1], best, bins.cuts[f], text)
    return ColumnEffect(text.name, words, most)


def _range(good: np.ndarray, best: int, cuts: np.ndarray, text: ColumnText) -> str:
    """The interval of values around the best bin, whose neighbours are good as well."""
    bad = np.flatnonzero(~good)
    first = int(bad[bad < best].max(initial=-1)) + 1
    last = int(bad[bad > best].min(initial=len(good))) - 1
    if first == 0 and last == len(good) - 1:
        return "not missing"
    low = None if first == 0 else float(cuts[first - 1])
    return text.interval(low, None if last == len(good) - 1 else float(cuts[last]))
