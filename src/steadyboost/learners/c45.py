"""C4.5 as a weak learner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from steadyboost.learners.base import Data, Question, Threads
from steadyboost.parameters import Interval, factor
from steadyboost.preprocessing.sparse import compress, dense_blocks
from steadyboost.trees.c45.cases import SparseCases
from steadyboost.trees.c45.fit import C45Options, grow_c45, presort
from steadyboost.trees.c45.tree import C45Tree


def by_column(data: Data) -> Any:
    """The rows in column order, which C4.5 reads without copying them again."""
    if issparse(data.X):
        table = compress(data.X)
        return SparseCases.sort(table.starts, table.rows, table.values, table.n_rows)
    return np.require(data.X, np.float64, ["F", "W"])


def n_values_of(data: Data) -> np.ndarray:
    if data.n_values is None:
        return np.zeros(data.X.shape[1], dtype=np.int64)
    return data.n_values


def order_of(data: Data) -> np.ndarray | None:
    return None if issparse(data.X) else presort(data.once(by_column), n_values_of(data))


def _entropy(weights: np.ndarray) -> np.ndarray:
    """Weighted entropy of each row of class weights, in nats."""
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.ones_like(weights), where=weights > 0)
    return -(weights * np.log(shares)).sum(axis=1)


@dataclass(frozen=True)
class C45Answer:
    """A C4.5 tree; votes for the likeliest class or, if ``by_share``, by the shares of all."""

    tree: C45Tree
    by_share: bool = False

    def votes(self, data: Data) -> np.ndarray:
        if self.by_share:
            # In column order, as the scores that they are added to.
            return np.asfortranarray(self._apply(C45Tree.distribution, data))
        return self._apply(C45Tree.predict, data).astype(np.int32)

    def _apply(self, method: Callable[[C45Tree, Any], np.ndarray], data: Data) -> np.ndarray:
        """A method of the tree, applied to blocks of dense rows if the data are sparse."""
        if not issparse(data.X):
            return method(self.tree, data.once(by_column))
        lean, used = self.tree.lean()
        return np.concatenate([method(lean, block) for block in dense_blocks(data.X, used)])

    def importances(self, n_features: int) -> np.ndarray:
        """Share of each attribute in the decrease of the weighted class entropy."""
        tree, out = self.tree, np.zeros(n_features)
        entropy = _entropy(tree.class_weights)
        for node in np.flatnonzero(tree.attribute >= 0):
            first = tree.first_child[node]
            below = entropy[first : first + tree.n_branches[node]].sum()
            # A test that subtree raising has moved up may have no gain here.
            out[tree.attribute[node]] += max(entropy[node] - below, 0.0)
        return out / out.sum() if out.sum() > 0 else out

    def to_text(self, feature_names: Sequence[str], class_names: Sequence[str]) -> str:
        """The tree as C4.5 prints it; values of categorical columns appear as codes."""
        return self.tree.to_text(feature_names, class_names)


class C45(BaseEstimator):
    """Quinlan's C4.5, release 8, on weighted rows.

    It works on the values themselves, not on bins: thresholds are values of the training rows,
    categorical columns branch to each of their values, and a row with a missing value goes down
    all branches in part. Weights are rescaled to add up to the number of rows.
    :class:`~steadyboost.AdaBoostM2Classifier` gets the shares of the classes as votes.

    Parameters
    ----------
    confidence : float, default=0.25
        C4.5's CF, in (0, 1]: the smaller, the more is pruned.
    min_cases : float, default=2.0
        At least two branches of a test must have this weight.
    prune : bool, default=True
        Whether to prune.
    subtree_raising : bool, default=True
        Whether pruning may replace a test by its largest branch.
    mdl_correction : bool, default=True
        Whether a threshold pays for having been chosen among many.
    gain_ratio : bool, default=True
        Whether to choose tests by gain ratio rather than by gain.

    References
    ----------
    .. [1] J. R. Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
    .. [2] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import AdaBoostM1Classifier, C45
    >>> iris = load_iris()
    >>> model = AdaBoostM1Classifier(C45(), n_estimators=1).fit(iris.data, iris.target)
    >>> names = ["sepal length", "sepal width", "petal length", "petal width"]
    >>> print(model.estimators_[0].to_text(names, iris.target_names))
    petal width <= 0.6 : setosa (50.0/1.4)
    petal width > 0.6 :
    |   petal width > 1.7 : virginica (46.0/2.6)
    |   petal width <= 1.7 :
    |   |   petal length <= 4.9 : versicolor (48.0/2.6)
    |   |   petal length > 4.9 :
    |   |   |   petal width <= 1.5 : virginica (3.0/1.1)
    |   |   |   petal width > 1.5 : versicolor (3.0/2.1)
    """

    uses_bins = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "confidence": [Interval(Real, 0, 1, closed="right")],
        "min_cases": [factor()],
        "prune": ["boolean"],
        "subtree_raising": ["boolean"],
        "mdl_correction": ["boolean"],
        "gain_ratio": ["boolean"],
    }

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_cases: float = 2.0,
        prune: bool = True,
        subtree_raising: bool = True,
        mdl_correction: bool = True,
        gain_ratio: bool = True,
    ):
        self.confidence = confidence
        self.min_cases = min_cases
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.mdl_correction = mdl_correction
        self.gain_ratio = gain_ratio

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[C45Answer, np.ndarray]:
        """Grow a tree; ``seed`` is not used."""
        weights = question.weights if counts is None else counts
        tree = grow_c45(
            data.once(by_column),
            n_values_of(data),
            question.targets,
            weights * (len(weights) / weights.sum()),  # C4.5 counts cases
            question.n_answers,
            C45Options(**self.get_params()),
            data.once(order_of),
        )
        answer = C45Answer(tree, by_share=question.edges is not None and question.form != "label")
        return answer, answer.votes(data)
