"""The estimator that every booster is: scikit-learn's surface over the one loop."""

from collections.abc import Sequence
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags

from steadyboost.ensemble.callbacks import Callback, default_callbacks
from steadyboost.ensemble.collections import distributed_package, is_dask
from steadyboost.ensemble.docs import with_shared_parameters
from steadyboost.ensemble.history import History
from steadyboost.ensemble.loop import Boosting, Seeds
from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.ensemble.sklearn_callbacks import (
    CallbackSupportMixin,
    SklearnCallbacks,
    with_callbacks,
)
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import (
    Sample,
    check_labels,
    check_table,
    check_weights,
    class_indices,
    seed_from,
    set_aside,
    with_class_weight,
    without_weightless,
)
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data, Learner
from steadyboost.learners.foreign import ForeignLearner
from steadyboost.learners.tree import Tree
from steadyboost.parameters import HasMethods, Interval, StrOptions
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder, categorical_mask


def _full_signature(cls: Any) -> Signature:
    """The parameters of ``__init__`` with, in place of ``**shared``, those that it passes on."""
    own = signature(cls.__init__)
    named = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    if len(named) < len(own.parameters):
        inherited = signature(cls.__mro__[1].__init__).parameters
        known = {*own.parameters, *cls.does_without}
        named += [p for name, p in inherited.items() if name not in known]
    return own.replace(parameters=named)


class BoostingClassifier(CallbackSupportMixin, FittedBooster, ClassifierMixin, BaseEstimator):
    """Base of all boosters: an estimator with the hooks of a booster.

    The hooks are those of :class:`~steadyboost.ensemble.hooks.Hooks`. The loop, trees,
    validation, stopping, progress and persistence are here and below, once.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:
            cls.__doc__ = with_shared_parameters(cls.__doc__, cls.does_without)
        if "__init__" in cls.__dict__:
            cls.__init__.__signature__ = _full_signature(cls)  # type: ignore[attr-defined]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), HasMethods(["answer"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "resample": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "callbacks": [list, tuple, None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        resample: bool = False,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int = 255,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.resample = resample
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> "BoostingClassifier":
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; NaN or null is a missing value, what a sparse matrix leaves out is 0.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Rows to watch (and to stop early on) instead of a part of X.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        held_out = None if X_val is None and y_val is None else (X_val, y_val, sample_weight_val)
        return self._fit(X, y, sample_weight, held_out)

    def _fit(self, X: Any, y: Any, sample_weight: Any, held_out: Any, costs: Any = None) -> Any:
        """Fit to rows whose labels may have costs, watching rows that are held out, if any."""
        self._validate_params()
        going_on = self.warm_start and hasattr(self, "stages_")
        if not going_on:
            self.__dict__.pop("stages_", None)  # a fit that fails must not mix two models
        if is_dask(X):
            return distributed_package().fit(self, X, y, sample_weight, held_out, costs)
        X = check_table(self, X, reset=not going_on)
        labels = check_labels(y, X, self.takes_label_sets)
        weights, costs = check_weights(sample_weight, X), self.check_costs(costs, labels)
        sample = Sample(X, labels, weights, costs)
        learner = self._learner()
        if not going_on:
            self._seed = seed_from(self.random_state)
        with Workers(self.n_jobs) as workers:
            train, watched = self._split(without_weightless(sample), held_out)
            rows = self._training_rows(train, learner, workers, going_on)
            rows.n_passed = len(labels)
            validation = None if watched is None else self._validation_rows(watched, workers)
            if not going_on:
                self.tune(rows, learner)
            callbacks = default_callbacks(self.get_params(deep=False))
            if hasattr(self, "_skl_callbacks"):
                callbacks.append(SklearnCallbacks(train.X, train.y))
            self._boost(learner, rows, validation, callbacks, going_on)
        return self

    def _split(self, sample: Sample, held_out: Any) -> tuple[Sample, Sample | None]:
        """Rows to train on and rows to watch; none of them weigh nothing."""
        if held_out is not None:
            X, y, weights = held_out
            if X is None or y is None:
                raise ValueError("X_val and y_val belong together: pass both or neither.")
            X = check_table(self, X, reset=False)
            labels = check_labels(y, X, self.takes_label_sets)
            return sample, without_weightless(Sample(X, labels, check_weights(weights, X)))
        if not self.early_stopping:
            return sample, None
        return set_aside(sample, self.validation_fraction, self._seed)

    def _training_rows(
        self, sample: Sample, learner: Learner, workers: Workers, going_on: bool
    ) -> TrainingState:
        weights = with_class_weight(sample.weights, self.class_weight, sample.y)
        X, y, weights, costs, numbers = without_weightless(sample._replace(weights=weights))
        if not going_on:
            self._learn_tables(X, y)
        table = self._encoder.encode(X)
        if learner.uses_bins and self._binner is None:
            self._learn_bins(table, weights, workers)
        indices = self._class_indices(y, "y")
        data = self._data(table, workers)
        n_columns = self.n_columns()
        return TrainingState(
            data,
            indices,
            self.n_classes_,
            weights,
            workers,
            n_columns,
            costs=costs,
            numbers=numbers,
        )

    def _learn_tables(self, X: Any, y: np.ndarray) -> None:
        """Classes and categories: what turns a user's table into numbers."""
        self.classes_ = self.classes_in(y)
        self.n_classes_ = len(self.classes_)
        self.prepare()
        self._encoder = Encoder.learn(X, categorical_mask(X, self.categorical_features))
        self._binner: Binner | None = None

    def _learn_bins(self, table: Any, weights: Any, workers: Workers) -> None:
        self._binner = Binner.learn(
            table,
            self._encoder.is_categorical,
            weights,
            self.max_bins,
            workers.run,
        )

    def _validation_rows(self, sample: Sample, workers: Workers) -> TrainingState:
        data = self._data(self._encoder.encode(sample.X), workers)
        indices = self._class_indices(sample.y, "y_val")
        return TrainingState(
            data, indices, self.n_classes_, sample.weights, workers, self.n_columns()
        )

    def _class_indices(self, y: np.ndarray, name: str) -> np.ndarray:
        return class_indices(y, self.classes_, name)

    def _learner(self) -> Learner:
        if self.estimator is None:
            return self._default_learner()
        if hasattr(self.estimator, "answer"):
            self.estimator._validate_params()
            return self.estimator
        return ForeignLearner(self.estimator)

    def _default_learner(self) -> Learner:
        return Tree(max_depth=3)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        foreign = self.estimator is not None and not hasattr(self.estimator, "answer")
        takes = get_tags(self.estimator).input_tags if foreign else None
        tags.input_tags.allow_nan = takes is None or takes.allow_nan
        tags.input_tags.sparse = takes is None or takes.sparse
        return tags

    def _data(self, X: Any, workers: Workers, features: np.ndarray | None = None) -> Data:
        binned = None if self._binner is None else self._binner.bin(X, workers.run, features)
        return Data(X, binned, self._encoder.n_values)

    def _boost(
        self,
        learner: Learner,
        rows: TrainingState,
        validation: TrainingState | None,
        callbacks: Sequence[Callback],
        going_on: bool,
    ) -> None:
        run = Boosting(
            self,
            learner,
            rows,
            validation,
            Seeds(self._seed),
            self.n_rounds(),
            list(self.stages_) if going_on else [],
            self.history_[: len(self.stages_)] if going_on else History(),
        )
        self._complete(run, callbacks, going_on)

    def _complete(self, run: Boosting, callbacks: Sequence[Callback], going_on: bool) -> None:
        """Run, and keep what was finished, whatever happens."""
        if going_on and run.n_rounds < len(run.stages):
            raise ValueError(
                f"{self.rounds_name()}={run.n_rounds} is below the {len(run.stages)} rounds that "
                "warm_start=True goes on from; raise it, or set warm_start=False."
            )
        try:
            run.run(callbacks)
            self.finish(run)
        finally:
            if run.stages:
                self.stages_, self.history_ = run.stages, run.history
