"""Bagging. Breiman (1996); papers/003, section 3."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.voting import VotingClassifier
from steadyboost.ensemble.model_io.fields import Check, share
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.soft_labels import rows_of_copies
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Learner


class BaggingClassifier(VotingClassifier):
    """Votes of hypotheses that were each trained on a bootstrap of the rows.

    Parameters
    ----------
    oob_score : bool, default=False
        Score each row by the hypotheses that did not see it.
    resample : bool, default=True
        Train on bootstraps; without, every round is the same unless the learner draws features
        or rows itself.
    {shared_parameters}
    oob_score_ : float
        Accuracy of the out-of-bag votes, of the rows that have any.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Shares of the out-of-bag votes, NaN for a row that was in every bag.

    References
    ----------
    .. [1] L. Breiman (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import BaggingClassifier, Tree
    >>> X, y = load_wine(return_X_y=True)
    >>> model = BaggingClassifier(Tree(max_depth=None), oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9
    True
    """

    stops_when_perfect = False
    without_effect = ("learning_rate",)  # all votes are equal

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "oob_score": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        oob_score: bool = False,
        resample: bool = True,
        **shared: Any,
    ):
        super().__init__(estimator, resample=resample, **shared)
        self.oob_score = oob_score

    def fitted_fields(self) -> dict[str, Check]:
        of_rows = share("rows", self.n_classes_, missing=True)
        own = {"oob_score_": share(missing=True), "oob_decision_function_": of_rows}
        return {**super().fitted_fields(), **own}

    def log_weights(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """All rows alike, whatever the votes."""
        return np.zeros(len(y))

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        if self.oob_score and not self.resample:
            raise ValueError("oob_score=True needs bootstraps; set resample=True.")
        if self.oob_score and rows_of_copies(rows.numbers) is not None:
            raise ValueError(
                "oob_score=True judges each row by bags without it, but with label_distribution a "
                "row is several weighted copies, which are drawn one by one; set oob_score=False."
            )
        if self.oob_score and rows.workers.is_distributed:
            raise ValueError(
                "oob_score=True keeps the votes of each row in one place, but X is spread over "
                "machines; set oob_score=False, and pass X_val and y_val to fit."
            )

    def finish(self, rows: TrainingState, stages: Sequence[Stage], state: Any) -> None:
        """Count the out-of-bag votes; a round's bootstrap can be drawn again from its seed."""
        if not self.oob_score:
            return
        rows.weigh(self.weigh_chunk)
        votes, seeds = np.zeros((len(rows), self.n_classes_)), Seeds(self._seed)
        for t, stage in enumerate(stages):
            out = np.flatnonzero(seeds.round(t).draw_counts(rows, rows.weights) == 0)
            votes[out, stage.answer.votes(rows.data)[out]] += 1
        total = votes.sum(axis=1, keepdims=True)
        shares = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 0)
        self.oob_decision_function_ = shares
        seen = total[:, 0] > 0
        self.oob_score_ = float(np.mean(votes[seen].argmax(axis=1) == rows.y[seen]))
