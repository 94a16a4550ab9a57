"""AdaBoost.OC. Schapire (1997); papers/003, Fig. 3, and papers/000, Fig. 1."""

from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.output_codes import CLIP, OutputCodeClassifier
from steadyboost.learners.base import Question
from steadyboost.parameters import StrOptions


class AdaBoostOCClassifier(OutputCodeClassifier):
    """AdaBoost with output codes: boosting of k classes by a learner of two.

    Each round splits the labels in two colours and trains the weak learner to tell the colours
    apart, on rows weighted by how well the scores tell their label from those of the other
    colour. An answer counts for all labels of its colour.

    Parameters
    ----------
    alpha : {"pseudoloss", "error"}, default="pseudoloss"
        The step: ``ln((1 - e) / e) / 2`` with the pseudoloss ``e = 1/2 - (1/2 - error) U`` [1]_,
        or with the weighted error itself, as in [2]_, which is not Schapire's algorithm unless U,
        the weight that the colouring separates, is 1.
    coloring : {"balanced", "random", "greedy", "maxcut"}, callable or array-like, \
default="balanced"
        How labels are coloured: an even split at random, fair coins, hill climbing to U >= 1/2,
        the maximum cut, a function of (affinity, rng), or one row of 0 and 1 per round.
    {shared_parameters}

    Notes
    -----
    ``history_`` has, per round, the colouring, U, the error and the pseudoloss.

    References
    ----------
    .. [1] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.
    .. [2] R. Jin, J. Zhang (2007). Multi-class learning by smoothed boosting. Machine Learning 67,
       207-227.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, Stump
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(Stump(), n_estimators=50, random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [StrOptions({"pseudoloss", "error"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        alpha: str = "pseudoloss",
        coloring: Any = "balanced",
        **shared: Any,
    ):
        super().__init__(estimator, coloring=coloring, **shared)
        self.alpha = alpha

    def step(self, question: Question, error: float) -> float:
        """003, Fig. 2 and eq. (4); 000, Fig. 1. Beyond 1/2 the step is negative: h is flipped."""
        pseudoloss = 0.5 - (0.5 - error) * question.info["U"]
        question.info["pseudoloss"] = pseudoloss
        loss = np.clip(pseudoloss if self.alpha == "pseudoloss" else error, CLIP, 1 - CLIP)
        return float(np.log((1 - loss) / loss) / 2)
