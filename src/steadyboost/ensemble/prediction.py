"""Predictions and fitted attributes of a booster, computed from its stages."""

import os
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.ensemble.costs import CostSensitive, check_cost_matrix, min_expected_cost
from steadyboost.ensemble.history import History
from steadyboost.ensemble.hooks import Hooks
from steadyboost.ensemble.packed_forest import PackedStages, pack_stages
from steadyboost.ensemble.validation import check_table, is_dask, is_stream
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Answers, Data
from steadyboost.learners.foreign import ForeignAnswer
from steadyboost.preprocessing.sparse import by_rows

if TYPE_CHECKING:
    from steadyboost.ensemble.stages import Stage
    from steadyboost.preprocessing.encoder import Encoder

PREDICT_ROWS = 8192  # rows whose bins and scores stay in the cache over all stages


def distributed_package() -> Any:
    """:mod:`steadyboost.distributed`, imported when it is needed, as it imports this package."""
    return import_module("steadyboost.distributed")


def streaming_package() -> Any:
    """:mod:`steadyboost.streaming`, imported when it is needed; it needs pyarrow."""
    try:
        return import_module("steadyboost.streaming")
    except ModuleNotFoundError as error:
        raise ImportError(
            "Tables are read as streams by pyarrow: pip install 'steadyboost[arrow]'."
        ) from error


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of (model, X) for Dask collections and for streams.

    It then returns a lazy Dask array, or predicts batch by batch.
    """

    @wraps(method)
    def on_any(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if is_dask(X):
            return distributed_package().lazily(self, method.__name__, X, *arguments, **options)
        if is_stream(X):
            return streaming_package().predicted(self, method.__name__, X, *arguments, **options)
        return method(self, X, *arguments, **options)

    return on_any


def _hypothesis(answer: Any) -> Any:
    """The public form of an answer; a list if there is one for each label."""
    if isinstance(answer, Answers):
        return [_hypothesis(one) for one in answer.answers]
    return answer.estimator if isinstance(answer, ForeignAnswer) else answer


class FittedBooster(Hooks, CostSensitive):
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
        """Transform the scores of new rows, in chunks that stay in the cache."""
        X = by_rows(self._encoded(X))
        # In column order, as scores are: blocks of rows are then copied column by column.
        out = np.empty((X.shape[0], n_columns()), order="F")
        # Threads share the chunks, so that each chunk is scored on one thread.
        alone, stages = Workers(1), pack_stages(self, self.stages_)
        features = self._features_of(stages)

        def score_block(start: int) -> None:
            block = slice(start, start + PREDICT_ROWS)
            data = self._data(X[block], alone, features)  # only features that are looked at
            own = self._initial_scores(data)
            stages.add(data, own)
            out[block] = transform(own[:, : self.n_outputs()])

        with Workers.of_jobs(self.n_jobs) as workers:
            workers.run(score_block, range(0, len(out), PREDICT_ROWS))
        return out

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        X = self._encoded(X)
        with Workers.of_jobs(self.n_jobs) as workers:
            data = self._data(X, workers, self._features_of(pack_stages(self, self.stages_)))
        scores = self._initial_scores(data)
        for stage in self.stages_:
            self.add(scores, stage, stage.answer.votes(data))
            yield scores

    def _features_of(self, stages: PackedStages) -> np.ndarray | None:
        """Features that predictions look at; None for all."""
        used = stages.features
        return None if used is None else np.union1d(used, self.initial_features())

    def _initial_scores(self, data: Data) -> np.ndarray:
        scores = np.zeros((len(data), self.n_columns(len(self.stages_))), order="F")
        self.add_initial_scores(data, scores)
        return scores

    def _label(self, proba: np.ndarray) -> np.ndarray:
        return self.classes_.take(self.answers(proba))

    @lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, (n, k); with two classes their difference, (n,)."""
        return self.decision(self._scores(X))

    @lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, (n, k)."""
        return self._by_block(X, self.class_probabilities, lambda: self.n_classes_)

    @lazily
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, (n, k)."""
        with np.errstate(divide="ignore"):  # ln(0) is -inf
            return np.log(self.predict_proba(X))

    @lazily
    def predict(self, X: Any, cost_matrix: Any = None) -> np.ndarray:
        """The most probable class of each row, or that of least expected cost; the first of equals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        cost_matrix : array-like of shape (k, k), default=None
            ``cost_matrix[t, p]`` is the cost of predicting class p where the true class is t, in
            the order of ``classes_``; the class of least expected cost is predicted. By default
            the matrix that was passed to ``fit``, if any.

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

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose label is predicted.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or stream
            Rows.
        y : array-like of shape (n_samples,), or str
            Labels; of a stream, the name of their column.
        sample_weight : array-like of shape (n_samples,), or str, default=None
            Weights of the rows; of a stream, the name of their column.

        Returns
        -------
        score : float
            Accuracy.
        """
        if is_stream(X, y):
            return streaming_package().score(self, X, y, sample_weight)
        return super().score(X, y, sample_weight=sample_weight)  # type: ignore[misc]

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The decision function after each round."""
        for scores in self._staged_scores(X):
            yield self.decision(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Class probabilities after each round."""
        for scores in self._staged_scores(X):
            yield self.class_probabilities(scores)

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
        """Number of rounds in the model."""
        return len(self.stages_)

    @property
    def estimators_(self) -> list[Any]:
        """The weak hypotheses: grown trees, or fitted scikit-learn estimators.

        Where several problems are boosted in parallel, or there is one question per label, an
        entry is the list of their hypotheses, None where there is none.
        """
        return [_hypothesis(stage.answer) for stage in self.stages_]

    @property
    def estimator_weights_(self) -> np.ndarray:
        """Step of each weak hypothesis."""
        return np.array([stage.step for stage in self.stages_])

    @property
    def estimator_errors_(self) -> np.ndarray:
        """Weighted training error of each hypothesis in its round."""
        return np.array([stage.error for stage in self.stages_])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the decrease of impurity, weighted by the steps."""
        check_is_fitted(self, "stages_")
        n = self._encoder.n_columns
        total = np.zeros(n)
        for part in (part for stage in self.stages_ for part in stage.parts if part):
            total += abs(part.step) * part.answer.importances(n)
        total = self._encoder.by_feature(total)
        return total / total.sum() if total.sum() > 0 else total
