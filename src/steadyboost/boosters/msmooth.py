"""MSmoothBoost. Jin & Zhang (2007); papers/000, Fig. 2."""

from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.output_codes import CLIP, Damping, OutputCodeClassifier
from steadyboost.ensemble.model_io.fields import Check, Numbers, records
from steadyboost.ensemble.scores import log_one_plus_exp
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.tuning import race
from steadyboost.learners.base import Learner, Question
from steadyboost.parameters import LARGE, StrOptions, non_negative

GRID = tuple(k / 10 for k in range(11))


class MSmoothBoostClassifier(OutputCodeClassifier):
    """AdaBoost.OC with smaller weights for rows whose label the scores contradict.

    A pair of a row and a wrong label weighs ``mu(y) mu(l)``: much where the two labels compete,
    little where the scores are sure of either, as they are of rows with a wrong label.

    Parameters
    ----------
    smoothing : float or "auto", default="auto"
        The paper's lambda. 0 is AdaBoost.OC with ``alpha="error"``; the larger, the less weight
        for rows that look mislabelled. "auto" chooses from 0, 0.1, ... 1 on a held-out fifth of
        the training rows, then trains on all of them. The values share the binned rows and race:
        the worse half drops out at 1/8, 1/4 and 1/2 of the rounds.
    coloring : {"balanced", "random", "greedy", "maxcut"}, callable or array-like, \
default="balanced"
        How labels are coloured; see :class:`~steadyboost.AdaBoostOCClassifier`.
    {shared_parameters}
    smoothing_ : float
        The smoothing that was used.
    smoothing_path_ : list of dict
        With "auto", the held-out error of each value and the rounds it ran, best first.

    References
    ----------
    .. [1] R. Jin, J. Zhang (2007). Multi-class learning by smoothed boosting. Machine Learning 67,
       207-227.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import MSmoothBoostClassifier, Stump
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MSmoothBoostClassifier(Stump(), smoothing=0.5, n_estimators=50, random_state=0)
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "smoothing": [non_negative(), StrOptions({"auto"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        smoothing: float | str = "auto",
        coloring: Any = "balanced",
        **shared: Any,
    ):
        super().__init__(estimator, coloring=coloring, **shared)
        self.smoothing = smoothing

    def fitted_fields(self) -> dict[str, Check]:
        own: dict[str, Check] = {"smoothing_": Numbers((), 0, LARGE), "smoothing_path_": records}
        return {**super().fitted_fields(), **own}

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Section 4: lambda by the error on a fifth of the rows, ties to the smallest."""
        if self.smoothing == "auto":
            self.smoothing_path_ = race(self, rows, learner, "smoothing_", GRID)
            self.smoothing_ = self.smoothing_path_[0]["value"]
        else:
            self.__dict__.pop("smoothing_path_", None)  # of an earlier fit
            self.smoothing_ = float(self.smoothing)

    def damping(self) -> Damping | None:
        """Eqs. (5) and (8): mu(y_i) mu(l) has exp(F(y_i)) + lambda * the rest below it, twice."""
        if self.smoothing_ == 0:
            return None
        log_smoothing = np.log(self.smoothing_)
        return lambda against: -2 * log_one_plus_exp(against + log_smoothing)

    def code(self, colors: np.ndarray) -> np.ndarray:
        """Labels in the code of -1 and +1: F(l) gains the step times f(l) h(x)."""
        return 2 * super().code(colors) - 1

    def step(self, question: Question, error: float) -> float:
        """Fig. 2, line 7; it minimises the bound (10), and tau itself only for lambda = 0."""
        error = float(np.clip(error, CLIP, 1 - CLIP))
        return float(np.log((1 - error) / error) / 4)
