"""FindDecRule: one conjunction of attribute tests."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from steadyboost.learners.attribute_test import sums_of
from steadyboost.learners.base import Data, Question, Threads
from steadyboost.learners.tree import TreeAnswer, answer_by
from steadyboost.parameters import Interval
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.rules.decision_rule import RuleStatistics, grow_rule


class DecisionRule(BaseEstimator):
    """One rule for the whole problem, a conjunction of attribute tests: FindDecRule.

    Tests are ``<=`` and ``>`` for numeric columns and ``==`` for categorical ones; a missing
    value passes none. On a random part of the rows the rule grows by the test that lowers the
    entropy of those inside and those outside the rule most. On the rest it is pruned back to the
    first tests that make the least weighted error, or in
    :class:`~steadyboost.AdaBoostM2Classifier` the least pseudoloss. All rows then decide what it
    answers inside and outside.

    A rule may lose all its tests and become a constant. Boosters that stop at a hypothesis
    without an edge (SAMME, AdaBoost.M1, AdaBoost.M2) stop there.

    Parameters
    ----------
    grow_fraction : float, default=2/3
        Share of the rows (of non-zero weight) that the rule grows on; 1 for no pruning.
    max_tests : int or None, default=None
        Most tests that a rule grows to; None for no limit.

    References
    ----------
    .. [1] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.
    .. [2] Y. Freund, R. E. Schapire (1996). Experiments with a new boosting algorithm. ICML.
    .. [3] W. W. Cohen (1995). Fast effective rule induction. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, DecisionRule
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(DecisionRule(), n_estimators=50, random_state=0)
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    uses_bins = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "grow_fraction": [Interval(Real, 0, 1, closed="right")],
        "max_tests": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, *, grow_fraction: float = 2 / 3, max_tests: int | None = None):
        self.grow_fraction = grow_fraction
        self.max_tests = max_tests

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[TreeAnswer, np.ndarray]:
        """Grow a rule and prune it, on parts of the rows that ``seed`` draws."""
        assert data.binned is not None
        sums = sums_of(question, counts)
        evidence = RuleStatistics(data.binned, sums, threads.n_threads, threads.run)
        tree = grow_rule(evidence, *self._part(sums, seed), self.max_tests)
        answer = answer_by(tree, question)
        return answer, answer.votes(data)

    def _part(self, sums: FixedPointSums, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to grow and to prune on, each ascending."""
        mass = sums.weights if sums.channels is None else sums.channels[:, -1]
        rows = np.flatnonzero(mass).astype(np.int32)
        n_grown = max(1, round(self.grow_fraction * len(rows)))
        drawn = np.random.default_rng(seed).permutation(rows)
        return np.sort(drawn[:n_grown]), np.sort(drawn[n_grown:])
