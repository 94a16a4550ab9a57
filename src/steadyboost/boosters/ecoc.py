"""Error-correcting output codes. Dietterich & Bakiri (1995); papers/003, section 3."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.output_codes import CLIP
from steadyboost.ensemble.codes.codes import (
    CodeDistance,
    balanced_code,
    bch_like_code,
    check_code,
    code_distance,
    dense_random_code,
    exhaustive_code,
)
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.model_io.fields import Check, Numbers, bits, instance_of
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import log_odds, softmax
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Learner, Question
from steadyboost.parameters import LARGE, StrOptions

CODES = {"balanced": balanced_code, "dense": dense_random_code, "bch": bch_like_code}


class ECOCClassifier(BoostingClassifier):
    """One binary hypothesis per bit of a code of the classes; the nearest codeword wins.

    Parameters
    ----------
    code : {"balanced", "dense", "exhaustive", "bch"} or array-like of shape (k, bits), \
default="balanced"
        Random even splits of the classes; the best of many random codes; all splits (up to 11
        classes); a BCH code; or your own matrix of 0 and 1. ``n_estimators`` is the number of
        bits, except where the code itself says.
    decoding : {"hamming", "weighted"}, default="hamming"
        Each bit counts alike, or by half the log-odds of its hypothesis being right.
    {shared_parameters}
    code_ : ndarray of shape (k, bits)
        The code; row k is the codeword of class k.
    code_distance_ : CodeDistance
        Least and mean Hamming distance of its rows, least distance of its columns (also to
        complements), and how many wrong bits it corrects.

    References
    ----------
    .. [1] T. G. Dietterich, G. Bakiri (1995). Solving multiclass learning problems via
       error-correcting output codes. Journal of Artificial Intelligence Research 2, 263-286.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from steadyboost import ECOCClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ECOCClassifier(code="bch", n_estimators=31, random_state=0).fit(X, y)
    >>> model.code_distance_.n_correctable
    7
    """

    stops_when_perfect = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "code": [StrOptions({*CODES, "exhaustive"}), "array-like"],
        "decoding": [StrOptions({"hamming", "weighted"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: Any = "balanced",
        decoding: str = "hamming",
        **shared: Any,
    ):
        super().__init__(estimator, **shared)
        self.code = code
        self.decoding = decoding

    def fitted_fields(self) -> dict[str, Check]:
        return {
            **super().fitted_fields(),
            "code_": bits(self.n_classes_, None),
            "code_distance_": instance_of(CodeDistance),
            "_bit_log_odds": Numbers((), -LARGE, LARGE, "f"),
        }

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        k, bits = self.n_classes_, self.n_estimators
        self._bit_log_odds = 1.0
        if k == 1:
            self.code_ = np.zeros((1, 1), dtype=np.int8)
        elif not isinstance(self.code, str):
            self.code_ = check_code(self.code, k)
        elif self.code == "exhaustive" or k == 2:
            self.code_ = exhaustive_code(k)
        else:
            try:
                self.code_ = CODES[self.code](k, bits, np.random.default_rng(self._seed))
            except ValueError as error:
                told = f"n_estimators={bits} is n_bits, the length of the code of {k} classes"
                raise ValueError(f"{told}: {error}") from None
        self.code_distance_ = code_distance(self.code_) if k > 1 else None

    def finish(self, rows: TrainingState, stages: Sequence[Stage], state: Any) -> None:
        error = np.mean([stage.error for stage in stages])
        self._bit_log_odds = log_odds(1 - float(np.clip(error, CLIP, 0.5 - CLIP)))

    def n_rounds(self) -> int:
        bits = self.code_.shape[1]
        is_drawn = isinstance(self.code, str) and self.code in CODES and self.n_classes_ > 2
        # A warm start may change n_estimators after a code was drawn; others say their length.
        return min(bits, self.n_estimators) if is_drawn else bits

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Bits do not know of each other: all rows alike."""
        return np.zeros(len(y))

    def question(self, rows: TrainingState, round_: Round) -> Question:
        rows.weigh(self.weigh_chunk)
        colors = self.code_[:, round_.t]
        code = np.array([colors == 0, colors == 1], dtype=float)
        return Question(colors[rows.y].astype(np.int32), rows.weights, 2, code)

    def step(self, question: Question, error: float) -> float:
        if self.decoding == "hamming":
            return 1.0
        return -log_odds(float(np.clip(error, CLIP, 1 - CLIP))) / 2

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """As if bits were right independently: each at its own rate, or all at the mean rate."""
        return softmax((2 if self.decoding == "weighted" else self._bit_log_odds) * scores)
