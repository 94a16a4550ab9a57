"""FindAttrTest: one test of one attribute."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from steadyboost.learners.base import Data, Question, Threads
from steadyboost.learners.tree import TreeAnswer, answer_by
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.rules.attribute_test import grow_test


def sums_of(question: Question, counts: np.ndarray | None) -> FixedPointSums:
    """The sums for a question: of weighted labels, or of edges."""
    if question.edges is not None:
        edges = question.edges
        return FixedPointSums.of_channels(edges if counts is None else edges * counts[:, None])
    weights = question.weights if counts is None else counts.astype(float)
    return FixedPointSums.of_labels(question.targets, weights, question.n_answers)


class AttributeTest(BaseEstimator):
    """One test of one attribute, the best of all: FindAttrTest.

    A categorical column is compared with one of its values, a numeric one with a threshold (a
    cut of its bins); where training rows have missing values, these are a third answer. The
    test minimises the weighted error, or in :class:`~steadyboost.AdaBoostM2Classifier` the
    pseudoloss, over all tests.

    :class:`~steadyboost.Stump` differs: it splits categories in two sets, sends missing values
    to one of the sides, and minimises an impurity.

    References
    ----------
    .. [1] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.
    .. [2] Y. Freund, R. E. Schapire (1996). Experiments with a new boosting algorithm. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, AttributeTest
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(AttributeTest(), n_estimators=50, random_state=0)
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    uses_bins = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[TreeAnswer, np.ndarray]:
        """The best test and its votes; ``seed`` is not used."""
        assert data.binned is not None
        sums = sums_of(question, counts)
        tree = grow_test(data.binned, sums, threads.n_threads, threads.run)
        answer = answer_by(tree, question)
        return answer, answer.votes(data)
