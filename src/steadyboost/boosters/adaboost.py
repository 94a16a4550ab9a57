"""AdaBoost. Freund & Schapire (1997); papers/001, section 3.1."""

import numpy as np

from steadyboost.boosters.families.binary import BinaryBoostingClassifier, against
from steadyboost.ensemble.scores import ROUNDING, log_odds
from steadyboost.learners.base import Question


class AdaBoostClassifier(BinaryBoostingClassifier):
    """Discrete AdaBoost: each round weighs rows by ``exp(-y H)``, and adds half its log-odds.

    The score H falls out of minimising the exponential loss one hypothesis at a time. Wrong
    labels gain weight without limit: it is the baseline that other boosters are measured against.
    With trees that can fit the rows, set ``resample=True``: a perfect tree would end its problem.

    Parameters
    ----------
    {strategy}
    {shared_parameters}
    {bits}

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line
       learning and an application to boosting. Journal of Computer and System Sciences 55,
       119-139.
    .. [2] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import AdaBoostClassifier, Stump
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoostClassifier(Stump(), n_estimators=100).fit(X, y).score(X, y)
    1.0
    """

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Eq. (2): exp(-y H)."""
        return against(scores, y)

    def step(self, question: Question, error: float) -> float | None:
        """Eq. (3)."""
        return None if error >= 0.5 - ROUNDING else -log_odds(error) / 2
