"""Weight Decay. Raetsch, Onoda & Mueller (1998); papers/001, section 2."""

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from steadyboost.boosters.families.binary import BinaryBoostingClassifier, against
from steadyboost.ensemble.scores import PERFECT, ROUNDING, log_odds
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import RowChunk, TrainingState, scale_of
from steadyboost.learners.base import Question
from steadyboost.parameters import non_negative
from steadyboost.trees.jit import kernel

LARGEST_STEP, N_STRETCHES = 5.0, 50  # where the sign of the slope is looked at, and how often


@kernel
def _slope(step, terms, C):
    """d cost / d step, e_i (-u_i - 2 C (s_i + step v_i) v_i), after the shift of its exponents."""
    base, agree, past, mass = terms
    top = -np.inf
    for i in range(len(base)):
        memory = past[i] + step * mass[i]
        top = max(top, base[i] - step * agree[i] - C * memory * memory)
    total = 0.0
    for i in range(len(base)):
        memory = past[i] + step * mass[i]
        cost = np.exp(base[i] - step * agree[i] - C * memory * memory - top)
        total += cost * (-agree[i] - 2 * C * memory * mass[i])
    return top, total


def weight_of_one(rows: TrainingState) -> np.ndarray:
    """v = N W; a row of weight 2 is two rows, with half of its W each."""
    if rows.sample_weight is None:
        return rows.n_all * rows.weights
    return rows.weights / rows.sample_weight * rows.total_weight


class WeightDecayClassifier(BinaryBoostingClassifier):
    """AdaBoost with slack variables for rows that have already had much weight.

    Each row has a slack that grows with the weight it had in the rounds so far: rows that stay
    hard, as wrong labels do, lose weight again. The paper's form is ill-posed; this follows a
    reconstruction in which the slack is the square of the weight spent. With trees that can fit the
    rows, set ``resample=True``: a perfect tree would end its problem.

    Parameters
    ----------
    C : float, default=1e-4
        How much slack counts; 0 is AdaBoost. The slack grows with the square of the rounds:
        1e-4 suits 100 of them.
    {strategy}
    {shared_parameters}
    {bits}

    References
    ----------
    .. [1] G. Raetsch, T. Onoda, K.-R. Mueller (1998). An improvement of AdaBoost to avoid
       overfitting. ICONIP.
    .. [2] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann (2003). A new boosting algorithm
       using input-dependent regularizer. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import Stump, WeightDecayClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(WeightDecayClassifier(Stump(), n_estimators=50).fit(X, y).score(X, y), 2)
    0.99
    """

    has_memory = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [non_negative()],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        C: float = 1e-4,
        strategy: Any = "ovr",
        **shared: Any,
    ):
        super().__init__(estimator, strategy=strategy, **shared)
        self.C = C

    def weigh_chunk(self, chunk: RowChunk) -> np.ndarray:
        """exp(-y H - C zeta), where zeta is the square of s, the weight spent on a row so far."""
        logs = against(chunk.scores, chunk.y)
        return logs if chunk.memory is None else logs - self.C * chunk.memory**2

    def remember(self, rows: TrainingState, stage: Stage) -> None:
        """s gains the step times N W."""
        spent = stage.step * weight_of_one(rows)
        for chunk in rows.chunks:
            own = spent[chunk.rows]
            chunk.memory = own if chunk.memory is None else chunk.memory + own

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        """Where the cost stops falling along the hypothesis, up to ``LARGEST_STEP``."""
        if error >= 0.5 - ROUNDING:
            return None
        if error <= PERFECT or self.C == 0:
            return -log_odds(rows.floored(error)) / 2
        return self.first_root(rows, self.terms(rows, question, votes))

    def terms(
        self, rows: TrainingState, question: Question, votes: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Of each row: ln(weight exp(-y H)), u = y h, s, and v = N W."""
        base, past = np.empty(len(rows)), np.zeros(len(rows))
        for chunk in rows.chunks:
            base[chunk.rows] = against(chunk.scores, chunk.y)
            past[chunk.rows] = 0.0 if chunk.memory is None else chunk.memory
        if rows.sample_weight is not None:
            base += np.log(rows.sample_weight)
        agree = np.where(votes == question.targets, 1.0, -1.0)
        return base, agree, past, weight_of_one(rows)

    def first_root(self, rows: TrainingState, terms: tuple[np.ndarray, ...]) -> float:
        """Of the cost's slope: first to a stretch of the steps, then to rounding."""

        def in_chunk(chunk: RowChunk, step: float) -> tuple[float, float]:
            return _slope(step, tuple(term[chunk.rows] for term in terms), self.C)

        def slope(step: float) -> float:
            return rows.allreduce(rows.each(lambda chunk: in_chunk(chunk, step)), scale_of)[1]

        before = 0.0
        if slope(before) >= 0:
            return before
        for after in np.linspace(0, LARGEST_STEP, N_STRETCHES + 1)[1:].tolist():
            if slope(after) >= 0:
                return float(brentq(slope, before, after, xtol=1e-15))  # to rounding
            before = after
        return LARGEST_STEP
