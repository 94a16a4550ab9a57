"""epsilon-Boost. Rosset, Zhu & Hastie (2002); papers/001, section 2."""

from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.binary import BinaryBoostingClassifier, against
from steadyboost.ensemble.scores import ROUNDING
from steadyboost.learners.base import Question
from steadyboost.parameters import factor


class EpsilonBoostClassifier(BinaryBoostingClassifier):
    """AdaBoost with the same small step for every hypothesis.

    Small steps follow the path of L1-regularised solutions, so that stopping early regularises.
    With trees, set ``resample=True``: the weights move so slowly that a deterministic tree would
    repeat itself.

    Parameters
    ----------
    epsilon : float, default=0.1
        The step.
    {strategy}
    {shared_parameters}
    {bits}

    References
    ----------
    .. [1] S. Rosset, J. Zhu, T. Hastie (2004). Boosting as a regularized path to a maximum margin
       classifier. Journal of Machine Learning Research 5, 941-973.
    .. [2] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import EpsilonBoostClassifier, Stump
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = EpsilonBoostClassifier(Stump(), epsilon=0.1, n_estimators=50).fit(X, y)
    >>> model.estimator_weights_[:3]
    array([0.1, 0.1, 0.1])
    """

    stops_when_perfect = False  # a step of this size does not end anything

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [factor()],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        epsilon: float = 0.1,
        strategy: Any = "ovr",
        **shared: Any,
    ):
        super().__init__(estimator, strategy=strategy, **shared)
        self.epsilon = epsilon

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        return against(scores, y)

    def step(self, question: Question, error: float) -> float | None:
        return None if error >= 0.5 - ROUNDING else float(self.epsilon)
