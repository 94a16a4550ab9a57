"""WeightBoost. Jin, Liu, Si, Carbonell & Hauptmann (2003); papers/001, sections 3.2 and 3.3."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.weightboost.factors import Exponential, Factor, Given, InversePolynomial
from steadyboost.ensemble.model_io.fields import Check, Numbers, records
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import ROUNDING, log_odds
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.tuning import race
from steadyboost.learners.base import Learner, Question
from steadyboost.parameters import LARGE, Interval, StrOptions, factor, non_negative

GRID = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # values of beta tried by "auto"
LEAST_NORMALIZER = 0.5  # else a fresh row, with H = 0, would get a factor of thousands


class WeightBoostClassifier(BinaryBoostingClassifier):
    """AdaBoost whose hypotheses count less where the score is already large.

    A hypothesis counts by ``q(beta |H|)``, which falls from 1 as the score H grows. Scores grow
    like a logarithm of the rounds, and so do those of wrong labels: they cannot take over. With
    more than two classes and ``strategy="ovr"`` this is BinBoost.Reg. With trees, set
    ``resample=True``, as the paper's experiments did: a deterministic tree would repeat itself.

    Parameters
    ----------
    beta : float or "auto", default=0.5
        How soon a sure score closes its ears; 0 is AdaBoost. "auto" chooses from 0, 0.1, 0.25,
        0.5, 1 and 2 on a held-out fifth of the training rows, then trains on all of them. The
        values share the binned rows and race: the worse half drops out at 1/8, 1/4 and 1/2 of
        the rounds; ties go to the smaller.
    regularizer : {"exponential", "inverse_polynomial"} or callable, default="exponential"
        q(u): ``exp(-u)``, ``(1 + u)**-power``, or a function of an array of u that gives numbers
        in [0, 1].
    power : float, default=1.0
        That of "inverse_polynomial".
    normalize : float or None, default=0.1
        Divide the factors by a number per round so that their mean over the training rows is
        this; None leaves them as they are.
    {strategy}
    {shared_parameters}
    {bits}
    beta_ : float
        The beta that was used.
    beta_path_ : list of dict
        With "auto", the held-out error of each value and the rounds it ran, best first.

    References
    ----------
    .. [1] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import Stump, WeightBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = WeightBoostClassifier(Stump(), beta=0.5, n_estimators=100).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    needed_fields = (*BinaryBoostingClassifier.needed_fields, "beta_")
    needed_extra = ("normalizer",)
    stops_when_perfect = False  # rows that are right still gain from more confidence

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "beta": [non_negative(), StrOptions({"auto"})],
        "regularizer": [StrOptions({"exponential", "inverse_polynomial"}), callable],
        "power": [factor()],
        "normalize": [Interval(Real, 0, 1, closed="right"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        beta: float | str = 0.5,
        regularizer: Any = "exponential",
        power: float = 1.0,
        normalize: float | None = 0.1,
        strategy: Any = "ovr",
        **shared: Any,
    ):
        super().__init__(estimator, strategy=strategy, **shared)
        self.beta = beta
        self.regularizer = regularizer
        self.power = power
        self.normalize = normalize

    def fitted_fields(self) -> dict[str, Check]:
        own: dict[str, Check] = {"beta_": Numbers((), 0, LARGE), "beta_path_": records}
        return {**super().fitted_fields(), **own}

    def stage_fields(self) -> dict[str, Check]:
        return {**super().stage_fields(), "normalizer": Numbers(..., LEAST_NORMALIZER, kinds="f")}

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        if self.beta == "auto":
            self.beta_path_ = race(self, rows, learner, "beta_", GRID)
            self.beta_ = self.beta_path_[0]["value"]
        else:
            self.__dict__.pop("beta_path_", None)  # of an earlier fit
            self.beta_ = float(self.beta)

    def factor(self) -> Factor:
        """The "input-dependent factor" of eq. (4), or another one of section 3.3."""
        if callable(self.regularizer):
            return Given(self.beta_, self.regularizer)
        if self.regularizer == "inverse_polynomial":
            return InversePolynomial(self.beta_, self.power)
        return Exponential(self.beta_)

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Eq. (7): exp(-y H) q."""
        return self.factor().log_weights(scores, y)

    def question(self, rows: TrainingState, round_: Round) -> Question:
        question = super().question(rows, round_)
        question.extra["normalizer"] = self.normalizer(rows)
        return question

    def normalizer(self, rows: TrainingState) -> float:
        """C_t: what makes the mean factor over the training rows equal to ``normalize``."""
        if self.normalize is None:
            return 1.0
        factor, weights = self.factor(), rows.sample_weight

        def in_chunk(chunk: RowChunk) -> np.ndarray:
            values = factor.values(chunk.scores)
            if weights is None:
                return np.array([values.sum(), len(values)])
            own = weights[chunk.rows]
            return np.array([values @ own, own.sum()])

        total, mass = rows.total(in_chunk)
        return max(LEAST_NORMALIZER, float(total / (self.normalize * mass)))

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        """Eq. (8)."""
        if error >= 0.5 - ROUNDING:
            return None
        return -log_odds(rows.floored(error)) / 2

    def add_answer(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Eq. (4), one term: H gains alpha q(beta |H|) / C_t h."""
        if stage.code.ndim == 1:  # one class only
            super().add_answer(scores, stage, votes)
        else:
            self.factor().add(scores, votes, stage.step / float(stage.extra["normalizer"]))
