"""Any scikit-learn classifier as a weak learner."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from steadyboost.learners.base import Data, Question, Threads


@dataclass(frozen=True)
class ForeignAnswer:
    """A fitted scikit-learn classifier."""

    estimator: Any
    n_labels: int | None = None  # vote by the probabilities of so many labels

    def votes(self, data: Data) -> np.ndarray:
        if self.n_labels is None:
            return np.asarray(self.estimator.predict(data.X)).astype(np.int32)
        votes = np.zeros((len(data), self.n_labels), order="F")
        votes[:, self.estimator.classes_] = self.estimator.predict_proba(data.X)
        return votes

    def importances(self, n_features: int) -> np.ndarray:
        if isinstance(self.estimator, DummyClassifier):
            return np.zeros(n_features)
        return self.estimator.feature_importances_


@dataclass
class ForeignLearner:
    """Fits a clone of ``estimator`` to each question, weighted where it takes weights."""

    estimator: Any
    uses_bins = False

    def __post_init__(self) -> None:
        self.takes_weights = has_fit_parameter(self.estimator, "sample_weight")
        if not self.takes_weights:
            warnings.warn(
                f"{type(self.estimator).__name__} does not take sample_weight: each round trains "
                "on a sample drawn by the weights instead (as resample=True does).",
                UserWarning,
                stacklevel=5,  # the user's call of fit
            )

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[ForeignAnswer, np.ndarray]:
        X, y, weights = data.X, question.targets, question.weights
        if counts is None and self.takes_weights:
            used = slice(None) if weights.all() else np.flatnonzero(weights)
            options = {"sample_weight": weights[used]}
        else:
            used, options = self._drawn(weights, counts, seed), {}
        only_one = question.edges is None and (y[used] == y[used][0]).all()
        # Many classifiers raise an error if there is one class only.
        estimator = DummyClassifier() if only_one else self._fresh(seed)
        estimator.fit(X[used], y[used], **options)
        by_probability = question.edges is not None and question.form != "label"
        answer = ForeignAnswer(estimator, question.n_answers if by_probability else None)
        return answer, answer.votes(data)

    def _drawn(self, weights: np.ndarray, counts: np.ndarray | None, seed: int) -> np.ndarray:
        if counts is None:
            counts = np.random.default_rng(seed).multinomial(len(weights), weights / weights.sum())
        return np.repeat(np.arange(len(counts)), counts)

    def _fresh(self, seed: int) -> Any:
        """A clone with every random_state set, as scikit-learn's ensembles do."""
        estimator = clone(self.estimator)
        seeds = np.random.RandomState(seed)
        states = sorted(
            name
            for name in estimator.get_params()
            if name == "random_state" or name.endswith("__random_state")
        )
        values = [seed, *seeds.randint(np.iinfo(np.int32).max, size=len(states))]
        return estimator.set_params(**dict(zip(states, map(int, values), strict=False)))
