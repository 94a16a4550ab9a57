"""What a fitted booster can do: predict, stage by stage or at once, and tell of its stages."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.core.history import History
from steadyboost.core.hooks import Hooks
from steadyboost.core.inputs import check_table
from steadyboost.core.workers import Workers
from steadyboost.learners.base import Data
from steadyboost.learners.foreign import ForeignAnswer
from steadyboost.learners.sparse import by_rows
from steadyboost.learners.tree import TreeAnswer

if TYPE_CHECKING:
    from steadyboost.core.loop import Stage
    from steadyboost.learners.prepare import Encoder

PREDICT_ROWS = 16_384  # rows whose bins and scores stay in the cache over all stages


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

    def _features_used(self) -> np.ndarray | None:
        """Features that any tree looks at (and 0, which stands at leaves); None if unknown."""
        trees = [s.answer.tree.feature for s in self.stages_ if isinstance(s.answer, TreeAnswer)]
        return np.unique(np.concatenate(trees)) if len(trees) == len(self.stages_) else None

    def _encoded(self, X: Any) -> Any:
        check_is_fitted(self, "stages_")
        return self._encoder.encode(check_table(self, X, reset=False))

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of new rows, in blocks that stay in the cache over all stages."""
        X = by_rows(self._encoded(X))
        scores = np.zeros((X.shape[0], self.n_classes_), order="F")
        alone, features = Workers(1), self._features_used()

        def score_block(start: int) -> None:
            block = slice(start, start + PREDICT_ROWS)
            data = self._data(X[block], alone, features)
            own = np.zeros((len(data), self.n_classes_), order="F")
            for stage in self.stages_:
                self.add(own, stage, stage.answer.votes(data))
            scores[block] = own

        with Workers(self.n_jobs) as workers:
            workers.run(score_block, range(0, len(scores), PREDICT_ROWS))
        return scores

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        X = self._encoded(X)
        with Workers(self.n_jobs) as workers:
            data = self._data(X, workers, self._features_used())
        scores = np.zeros((len(data), self.n_classes_), order="F")
        for stage in self.stages_:
            self.add(scores, stage, stage.answer.votes(data))
            yield scores

    def _decision(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores.copy()

    def _label(self, proba: np.ndarray) -> np.ndarray:
        return self.classes_.take(proba.argmax(axis=1))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, (n, k); with two classes their difference, (n,)."""
        return self._decision(self._scores(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, (n, k)."""
        return self.probabilities(self._scores(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, (n, k)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; the first of equals."""
        return self._label(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The decision function after each round."""
        for scores in self._staged_scores(X):
            yield self._decision(scores)

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
        from steadyboost.core.model_file import save_model  # it knows all boosters, this does not

        save_model(self, path, overwrite=overwrite)

    @property
    def n_iter_(self) -> int:
        """Rounds that the model holds."""
        return len(self.stages_)

    @property
    def estimators_(self) -> list[Any]:
        """The weak hypotheses: grown trees, or fitted scikit-learn estimators."""
        answers = [stage.answer for stage in self.stages_]
        return [a.estimator if isinstance(a, ForeignAnswer) else a for a in answers]

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
        for stage in self.stages_:
            total += abs(stage.step) * stage.answer.importances(self.n_features_in_)
        return total / total.sum() if total.sum() > 0 else total
