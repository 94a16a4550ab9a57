"""What a fitted booster can do: predict, stage by stage or at once, and tell of its stages."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.collections import lazily
from steadyboost.ensemble.costs import check_cost_matrix, min_expected_cost
from steadyboost.ensemble.history import History
from steadyboost.ensemble.hooks import Hooks
from steadyboost.ensemble.packed_forest import pack_stages
from steadyboost.ensemble.validation import check_table
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data
from steadyboost.learners.foreign import ForeignAnswer
from steadyboost.learners.many import Answers
from steadyboost.preprocessing.sparse import by_rows

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage
    from steadyboost.preprocessing.encoder import Encoder

PREDICT_ROWS = 8192  # rows whose bins and scores stay in the cache over all stages


def _hypothesis(answer: Any) -> Any:
    """What a user sees of an answer: a list where it is one per label."""
    if isinstance(answer, Answers):
        return [_hypothesis(one) for one in answer.answers]
    return answer.estimator if isinstance(answer, ForeignAnswer) else answer


class FittedBooster(Hooks):
    """Prediction and fitted attributes, from ``stages_`` alone."""

    stages_: list["Stage"]
    history_: History
    classes_: np.ndarray
    n_features_in_: int
    n_jobs: int | None
    _encoder: "Encoder"

    def _data(self, X: Any, workers: Workers, features: np.ndarray | None = None) -> Data:
        raise NotImplementedError

    def _encoded(self, X: Any) -> Any:
        check_is_fitted(self, "stages_")
        return self._encoder.encode(check_table(self, X, reset=False))

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of new rows."""
        return self._by_block(X, lambda scores: scores, self.n_outputs)

    def _by_block(
        self,
        X: Any,
        transform: Callable[[np.ndarray], np.ndarray],
        n_columns: Callable[[], int],
    ) -> np.ndarray:
        """A transform of the scores of new rows, chunk by chunk, so that they stay in the cache."""
        X = by_rows(self._encoded(X))
        out = np.empty((X.shape[0], n_columns()), order="F")
        alone, stages = Workers(1), pack_stages(self, self.stages_)

        def score_block(start: int) -> None:
            block = slice(start, start + PREDICT_ROWS)
            data = self._data(X[block], alone, stages.features)
            own = np.zeros((len(data), self.n_columns(len(self.stages_))), order="F")
            stages.add(data, own)
            out[block] = transform(own[:, : self.n_outputs()])

        with Workers(self.n_jobs) as workers:
            workers.run(score_block, range(0, len(out), PREDICT_ROWS))
        return out

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        X = self._encoded(X)
        with Workers(self.n_jobs) as workers:
            data = self._data(X, workers, pack_stages(self, self.stages_).features)
        scores = np.zeros((len(data), self.n_columns(len(self.stages_))), order="F")
        for stage in self.stages_:
            self.add(scores, stage, stage.answer.votes(data))
            yield scores

    def _label(self, proba: np.ndarray) -> np.ndarray:
        return self.classes_.take(proba.argmax(axis=1))

    @lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, (n, k); with two classes their difference, (n,)."""
        return self.decision(self._scores(X))

    @lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, (n, k)."""
        return self._by_block(X, self.probabilities, lambda: self.n_classes_)

    @lazily
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, (n, k)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @lazily
    def predict(self, X: Any, cost_matrix: Any = None) -> np.ndarray:
        """The most probable class of each row; the first of equals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        cost_matrix : array-like of shape (k, k), default=None
            ``cost_matrix[t, p]``: what it costs to answer class p where the truth is class t, in
            the order of ``classes_``. The answer is then the class of the least expected cost.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Predicted labels; an indicator matrix, where the model was fitted to one.
        """
        if cost_matrix is None:
            return self._label(self.predict_proba(X))
        check_is_fitted(self, "stages_")
        return self._cheapest(X, cost_matrix)

    def _cheapest(self, X: Any, cost_matrix: Any) -> np.ndarray:
        costs = check_cost_matrix(cost_matrix, len(self.classes_))  # before the work of predicting
        return self.classes_.take(min_expected_cost(self.predict_proba(X), costs))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The decision function after each round."""
        for scores in self._staged_scores(X):
            yield self.decision(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Class probabilities after each round."""
        for scores in self._staged_scores(X):
            yield self.probabilities(scores)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions after each round."""
        for proba in self.staged_predict_proba(X):
            yield self._label(proba)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
        """Write the model to a file that :func:`steadyboost.load` reads; no pickle inside."""
        from steadyboost.ensemble.model_io.file import (
            save_model,  # it knows all boosters, this does not
        )

        save_model(self, path, overwrite=overwrite)

    @property
    def n_iter_(self) -> int:
        """Rounds that the model holds."""
        return len(self.stages_)

    @property
    def estimators_(self) -> list[Any]:
        """The weak hypotheses: grown trees, or fitted scikit-learn estimators.

        Where several problems are boosted side by side, or there is one question per label, an
        entry is the list of their hypotheses, None where there is none.
        """
        return [_hypothesis(stage.answer) for stage in self.stages_]

    @property
    def estimator_weights_(self) -> np.ndarray:
        """How much each hypothesis counts."""
        return np.array([stage.step for stage in self.stages_])

    @property
    def estimator_errors_(self) -> np.ndarray:
        """Weighted training error of each hypothesis in its round."""
        return np.array([stage.error for stage in self.stages_])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the decrease of impurity, weighted by the steps."""
        check_is_fitted(self, "stages_")
        total = np.zeros(self.n_features_in_)
        for part in (part for stage in self.stages_ for part in stage.parts if part):
            total += abs(part.step) * part.answer.importances(self.n_features_in_)
        return total / total.sum() if total.sum() > 0 else total
