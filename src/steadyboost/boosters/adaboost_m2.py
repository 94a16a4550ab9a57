"""AdaBoost.M2. Freund & Schapire (1997); papers/003, Fig. 2."""

import numpy as np

from steadyboost.boosters.families.output_codes import CLIP, PairDistribution
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import ROUNDING, softmax
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.weighting import PairWeighting
from steadyboost.learners.base import Question


class AdaBoostM2Classifier(BoostingClassifier):
    """AdaBoost whose weak hypotheses name a set of plausible labels.

    A distribution over pairs of a row and a wrong label lets boosting focus on the labels that
    are hard to tell apart. Our trees and stumps choose splits and plausible sets that minimise
    the pseudoloss itself; a scikit-learn learner trains on the classes, and its probabilities say
    how plausible each label is. A round costs about k times one of
    :class:`~steadyboost.AdaBoostOCClassifier`, and gains more.

    Parameters
    ----------
    {shared_parameters}

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line
       learning and an application to boosting. Journal of Computer and System Sciences 55,
       119-139.
    .. [2] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostM2Classifier, Stump
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostM2Classifier(Stump(), n_estimators=20, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    weighting = PairWeighting
    stops_when_perfect = False

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """The pseudoloss is (1 - worth) / 2: y_i is worth the sum of D(i, .), l costs D(i, l)."""
        edges = PairDistribution(rows).edges()
        k = self.n_classes_
        # The mass as a contiguous array, as kernels take weights.
        return Question(rows.y, edges[:, k].copy(), k, np.ones((1, k)), edges=edges)

    def step(self, question: Question, error: float) -> float | None:
        """Fig. 2, with the pseudoloss as the error."""
        loss = float(np.clip(error, CLIP, 1 - CLIP))
        return None if loss >= 0.5 - ROUNDING else float(np.log((1 - loss) / loss) / 2)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The sum of exp(S(l) - S(y)) is least where S is half the log-probability."""
        return softmax(2 * scores)
