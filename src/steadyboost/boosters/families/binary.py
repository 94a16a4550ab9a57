"""Boosters for two classes, on any number of them.

With two classes there is one problem, whose score H says how sure the second class is. With more,
each column of a matrix of bits makes two classes of them: one-against-all, or an output code. All
problems share the binned rows and are boosted side by side.
"""

from math import ceil, log2
from typing import Any, ClassVar

import numpy as np

from steadyboost.ensemble.codes.codes import (
    balanced_code,
    bch_like_code,
    check_code,
    dense_random_code,
    exhaustive_code,
)
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.model_io.fields import Check, bits
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import add_votes, one_against_all, softmax
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Question
from steadyboost.parameters import StrOptions
from steadyboost.trees.jit import kernel

CODES = {"balanced": balanced_code, "dense": dense_random_code, "bch": bch_like_code}
SIGNS = np.array([[-1.0], [1.0]])  # answers 0 and 1, as y in the papers


@kernel
def _against(scores, y, out):
    for i in range(len(y)):
        out[i] = -scores[i, 0] if y[i] else scores[i, 0]


def against(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-y H of each row: how much the score speaks against the label."""
    out = np.empty(len(y))
    _against(scores, y, out)
    return out


def _distinct(bits: np.ndarray) -> np.ndarray:
    """The columns but for those that ask again what another one asks."""
    first = np.unique(bits ^ bits[0], axis=1, return_index=True)[1]
    return bits[:, np.sort(first)]


class BinaryBoostingClassifier(BoostingClassifier):
    """Base of boosters that are defined for two classes; adds ``strategy``."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strategy": [StrOptions({"ovr", "exhaustive", *CODES}), "array-like"],
    }

    needed_fields: ClassVar[tuple[str, ...]] = ("bits_",)
    adds_votes = False  # each subproblem adds to its own column

    def __init__(self, estimator: Any = None, *, strategy: Any = "ovr", **shared: Any):
        super().__init__(estimator, **shared)
        self.strategy = strategy

    def fitted_fields(self) -> dict[str, Check]:
        k = self.n_classes_
        n_problems = 1 if k <= 2 else k if self._is_ovr() else None
        return {**super().fitted_fields(), "bits_": bits(k, n_problems)}

    def has_parts(self) -> bool:
        return True

    def n_parts(self, t: int) -> int:
        """An answer per problem, where there are several."""
        return self.n_outputs() if self.n_outputs() > 1 else 0

    def prepare(self) -> None:
        """The bits of each class, (k, problems)."""
        k = self.n_classes_
        if k <= 2:
            self.bits_ = np.arange(k, dtype=np.int8)[:, None]
        elif not isinstance(self.strategy, str):
            self.bits_ = check_code(self.strategy, k)
        elif self.strategy == "ovr":
            self.bits_ = np.eye(k, dtype=np.int8)
        else:
            self.bits_ = self._code(k, ceil(10 * log2(k)))

    def _code(self, k: int, n_bits: int) -> np.ndarray:
        """One of the named codes; BCH codes are never longer than all splits of the classes."""
        all_fit = 2 ** (k - 1) - 1 <= n_bits
        if self.strategy == "exhaustive" or (self.strategy == "bch" and all_fit):
            return exhaustive_code(k)
        return _distinct(CODES[self.strategy](k, n_bits, np.random.default_rng(self._seed)))

    def n_outputs(self) -> int:
        return self.bits_.shape[1]

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        if self.n_outputs() == 1:
            return [rows]
        columns = self.bits_.T.astype(np.int32)
        return [rows.subproblem(p, bits[rows.y]) for p, bits in enumerate(columns)]

    def question(self, rows: TrainingState, round_: Round) -> Question:
        rows.weigh(self.weigh_chunk)
        return Question(rows.y, rows.weights, 2, SIGNS)

    def add(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Each subproblem adds to its own column."""
        for p, part in enumerate(stage.parts):
            if part is not None:
                own = votes if votes.ndim == 1 else votes[:, p]
                self.add_answer(scores[:, p : p + 1], part, own)

    def add_answer(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """H gains the step times h."""
        add_votes(scores, votes, stage.code, stage.step)

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """H; with more than two classes, a score per class from all subproblems."""
        if self.n_classes_ <= 2:
            return scores[:, 0].copy()  # ``scores`` change in the next stage of a staged prediction
        return scores.copy() if self._is_ovr() else scores @ self.bits_.T.astype(float)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The exponential loss is least where H is half the log-odds.

        One-against-all normalises the probability that each problem gives its own class. For
        other codes, the bits of a class are as likely as if they were independent.
        """
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        if not self._is_ovr():
            return softmax(2 * scores @ self.bits_.T.astype(float))
        return one_against_all(scores)

    def _is_ovr(self) -> bool:
        return self.n_classes_ > 2 and isinstance(self.strategy, str) and self.strategy == "ovr"
