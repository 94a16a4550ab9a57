"""The base estimator of all boosters: scikit-learn's interface to the one loop."""

import re
from collections.abc import Sequence
from inspect import Parameter, Signature, cleandoc, signature
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags

from steadyboost.ensemble.callbacks import (
    Callback,
    CallbackSupportMixin,
    SklearnCallbacks,
    default_callbacks,
    with_callbacks,
)
from steadyboost.ensemble.costs import weighted_by_stakes
from steadyboost.ensemble.history import History
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.prediction import (
    FittedBooster,
    distributed_package,
    streaming_package,
)
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.soft_labels import most_probable, soft_labels, with_copies
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import (
    Sample,
    check_labels,
    check_table,
    check_weights,
    class_indices,
    drop_zero_weights,
    is_dask,
    is_stream,
    seed_from,
    set_aside,
    with_class_weight,
)
from steadyboost.ensemble.verified import as_codes
from steadyboost.ensemble.workers import Workers
from steadyboost.interruptions import interrupts_heard
from steadyboost.learners.base import Data, Learner
from steadyboost.learners.foreign import ForeignLearner
from steadyboost.learners.tree import Tree
from steadyboost.parameters import HasMethods, Interval, StrOptions, factor
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder, categorical_mask

SHARED_PARAMETERS = """\
estimator : object, default=None
    The weak learner: one of ours (:class:`~steadyboost.Tree`, :class:`~steadyboost.Stump`) or
    any scikit-learn classifier. One that does not take ``sample_weight`` is trained on
    samples drawn by the weights. By default ``Tree(max_depth=3)``.
n_estimators : int, default=100
    Maximum number of rounds.
learning_rate : float, default=1.0
    Shrinkage: a factor on the step of each round.
resample : bool, default=False
    Train each round on a bootstrap drawn by the weights, instead of on weighted rows.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, multiplied with ``sample_weight``.
categorical_features : "from_dtype", array-like or None, default="from_dtype"
    Columns to split by subsets of their values: names, indices or a mask. "from_dtype" takes
    the categorical and text columns of a data frame.
max_bins : int, default=255
    Maximum number of bins of a numeric column, besides one for missing values.
early_stopping : bool, default=False
    Stop when the error on held-out rows has stopped falling, and keep the best round.
validation_fraction : float, default=0.1
    Share of the rows held out, where ``fit`` is not given ``X_val`` and ``y_val``.
n_iter_no_change : int, default=10
    Rounds without improvement after which to stop early.
tol : float, default=1e-7
    Decrease of the validation error that counts as improvement.
callbacks : list of Callback or None, default=None
    Called after each round; see :mod:`steadyboost.callbacks`.
warm_start : bool, default=False
    Go on from the rounds of the last ``fit``.
n_jobs : int or None, default=None
    Number of threads; -1 for all processors. Results do not depend on it.
verbose : int, default=0
    1 shows a progress bar.
random_state : int, RandomState or None, default=None
    Seed of all random draws; an int gives the same model in each fit.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    The labels.
n_iter_ : int
    Number of rounds in the model.
estimators_ : list
    The weak hypotheses.
estimator_weights_, estimator_errors_ : ndarray of shape (n_iter_,)
    Their steps, and their weighted training errors.
feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each feature in the decrease of impurity.
history_ : History
    A record per round, with whatever callbacks added.
n_features_in_ : int
    Features seen in ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where ``X`` had names that are all strings."""


class LabelInfo(NamedTuple):
    """What may be known of the labels besides ``y``, all of it optional."""

    costs: Any = None  # of each label in each row
    distribution: Any = None  # soft labels: probabilities of the classes of each row
    verified: np.ndarray | None = None  # mask of the rows whose label is known to be right
    given: np.ndarray | None = None  # labels before those of verified rows were corrected


STRATEGY = """\
strategy : {"ovr", "balanced", "dense", "exhaustive", "bch"} or array-like of shape (k, bits), \
default="ovr"
    What to do with more than two classes: one problem per class, against all others; or one
    per bit of a code of the classes, as in :class:`~steadyboost.ECOCClassifier` (random codes
    have 10 log2(k) bits, or as many as are different); or your own matrix of 0 and 1. All
    problems share the binned rows and are boosted side by side. Two classes are one
    problem."""

BITS = """\
bits_ : ndarray of shape (k, problems)
    On which side of each problem a class is."""


def with_shared_parameters(doc: str, without: Sequence[str] = ()) -> str:
    """Fill in the shared parameters that the booster has and does not describe itself.

    The text is dedented, which Python itself does from 3.13 on.
    """
    doc = cleandoc(doc).replace("{strategy}", STRATEGY).replace("{bits}", BITS)
    entries = re.split(r"\n(?=\w)", SHARED_PARAMETERS)
    named = {entry.split(" :")[0]: entry for entry in entries}
    others = [
        entry for name, entry in named.items() if name not in without and f"\n{name} :" not in doc
    ]
    return doc.replace("{shared_parameters}", "\n".join(others))


def _full_signature(cls: Any) -> Signature:
    """The signature of ``__init__`` with ``**shared`` replaced by the inherited parameters."""
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
    validation, stopping, progress and persistence are the same for all boosters.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A booster lists the constraints of its own parameters only.
        inherited = super(cls, cls)._parameter_constraints
        cls._parameter_constraints = {**inherited, **cls._parameter_constraints}
        if cls.__doc__:
            cls.__doc__ = with_shared_parameters(cls.__doc__, cls.does_without)
        if "__init__" in cls.__dict__:
            cls.__init__.__signature__ = _full_signature(cls)  # type: ignore[attr-defined]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), HasMethods(["answer"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [factor()],
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
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        *,
        cost_matrix: Any = None,
        label_distribution: Any = None,
    ) -> "BoostingClassifier":
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; NaN or null is a missing value, what a sparse matrix leaves out is 0.
            Or a table that need not fit into memory: the path of a Parquet file or folder, a
            pyarrow Dataset, a polars LazyFrame, or any Arrow stream; ``y`` and ``sample_weight``
            are then names of its columns.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Validation rows, for early stopping and callbacks, instead of a part of X.
        cost_matrix : array-like of shape (k, k), default=None
            ``cost_matrix[t, p]`` is the cost of predicting class p where the true class is t, in
            the order of ``classes_``. Rows are then weighted by the stake of their class, its
            largest cost minus its smallest, and ``predict`` minimises the expected cost.
        label_distribution : array-like of shape (n_samples, n_classes), default=None
            Soft labels: probabilities of the classes of each row, which sum to 1. The columns are
            the sorted classes in ``y``; without ``y``, the names of the columns of a data frame,
            or 0, 1, ... A row counts as a copy for each class, weighted by its probability.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        held_out = None if X_val is None and y_val is None else (X_val, y_val, sample_weight_val)
        known = {"cost_matrix": cost_matrix, "distribution": label_distribution}
        return self._fit(X, y, sample_weight, held_out, **known)

    @interrupts_heard()
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        held_out: Any,
        *,
        cost_matrix: Any = None,
        **label_info: Any,
    ) -> Any:
        """Fit, with validation rows if there are any; ``label_info`` as in :class:`LabelInfo`."""
        self._validate_params()
        info = LabelInfo(**label_info)
        going_on = self.warm_start and hasattr(self, "stages_")
        if not going_on:
            self.__dict__.pop("stages_", None)  # a fit that fails must not mix two models
        self.set_cost_matrix(cost_matrix)
        if info.distribution is not None and (is_dask(X) or is_stream(X, y)):
            raise ValueError(
                "label_distribution is for rows in memory; of distributed or streamed rows pass a "
                "copy for each of their labels, weighted by sample_weight."
            )
        if is_dask(X):
            return distributed_package().fit(self, X, y, sample_weight, held_out, info.costs)
        if is_stream(X, y):
            return streaming_package().fit(self, X, y, sample_weight, held_out, info.costs)
        X = check_table(self, X, reset=not going_on)
        sample, soft_classes = self._sample(X, y, sample_weight, info)
        learner = self._learner()
        if not going_on:
            self._seed = seed_from(self.random_state)
        with Workers.of_jobs(self.n_jobs) as workers:
            train, watched = self._split(drop_zero_weights(sample), held_out)
            if soft_classes is not None:
                train = with_copies(train, soft_classes)
                if watched is not None and watched.distribution is not None:
                    watched = with_copies(watched, soft_classes)
            rows = self._training_rows(train, learner, workers, going_on)
            rows.n_passed = len(sample.y)
            validation = None if watched is None else self._validation_rows(watched, workers)
            self._train(rows, validation, learner, (train.X, train.y), going_on)
        return self

    def _train(
        self,
        rows: TrainingState,
        validation: TrainingState | None,
        learner: Learner,
        passed: tuple[Any, Any],
        going_on: bool,
    ) -> None:
        """Tune and boost; ``passed`` are X and y for callbacks of scikit-learn."""
        if not going_on:
            self.tune(rows, learner)
        callbacks = default_callbacks(self.get_params(deep=False))
        if hasattr(self, "_skl_callbacks"):
            callbacks.append(SklearnCallbacks(*passed))
        self._boost(learner, rows, validation, callbacks, going_on)

    def _sample(
        self, X: Any, y: Any, sample_weight: Any, info: LabelInfo
    ) -> tuple[Sample, np.ndarray | None]:
        """Checked rows; with soft labels also the classes."""
        weights, checked = check_weights(sample_weight, X), (info.verified, info.given)
        if info.distribution is None:
            labels = check_labels(y, X, self.takes_label_sets)
            costs = self.check_costs(info.costs, labels)
            return Sample(X, labels, weights, costs, None, *checked), None
        if info.costs is not None:
            raise ValueError(
                "costs and label_distribution both say what each label is worth; pass one of them."
            )
        soft, classes = soft_labels(info.distribution, y, X)
        labels = most_probable(soft, classes)
        return Sample(X, labels, weights, None, soft, *checked), classes

    def _split(self, sample: Sample, held_out: Any) -> tuple[Sample, Sample | None]:
        """Training and validation rows, without rows of weight zero."""
        if held_out is not None:
            X, y, weights = held_out
            if X is None or y is None:
                raise ValueError("X_val and y_val belong together: pass both or neither.")
            X = check_table(self, X, reset=False)
            labels = check_labels(y, X, self.takes_label_sets)
            return sample, drop_zero_weights(Sample(X, labels, check_weights(weights, X)))
        if not self.early_stopping:
            return sample, None
        return set_aside(sample, self.validation_fraction, self._seed)

    def _training_rows(
        self, sample: Sample, learner: Learner, workers: Workers, going_on: bool
    ) -> TrainingState:
        weights = with_class_weight(sample.weights, self.class_weight, sample.y)
        sample = drop_zero_weights(sample._replace(weights=weights))
        X, y, weights, costs, _, verified, given, numbers = sample
        if not going_on:
            self._learn_tables(X, y)
        self.check_cost_matrix()
        table = self._encoder.encode(X)
        # A warm start may switch from a scikit-learn estimator to a learner that needs bins.
        if learner.uses_bins and self._binner is None:
            self._learn_bins(table, weights, workers)
        indices = self._class_indices(y, "y")
        data = self._data(table, workers)
        weights = weighted_by_stakes(weights, self.row_stakes(indices, costs))
        k, columns = self.n_classes_, self.n_columns()
        rows = TrainingState(data, indices, k, weights, workers, columns, costs=costs)
        if numbers is not None:
            rows.numbers = numbers
        rows.verified = verified
        rows.given = None if given is None else as_codes(given, self.classes_)
        return rows

    def _learn_tables(self, X: Any, y: np.ndarray) -> None:
        """Learn the classes and the encoder of categories."""
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
        weights = weighted_by_stakes(sample.weights, self.row_stakes(indices))
        return TrainingState(data, indices, self.n_classes_, weights, workers, self.n_columns())

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
        # Our own learners take missing values and sparse input; others say what they take.
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
        """Run the loop, and keep the finished rounds even if it fails."""
        if going_on and run.n_rounds < len(run.stages):
            raise ValueError(
                f"{self.rounds_name()}={run.n_rounds} is below the {len(run.stages)} rounds that "
                "warm_start=True goes on from; raise it, or set warm_start=False."
            )
        try:
            run.run(callbacks)
        finally:
            if run.stages:
                self.stages_, self.history_ = run.stages, run.history
