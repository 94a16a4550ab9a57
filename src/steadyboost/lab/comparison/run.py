"""Cross-validation of several methods on the same rows and folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_limits

from steadyboost.ensemble.validation import check_labels
from steadyboost.evaluation import mean_auc
from steadyboost.interruptions import interrupted_fits_raise, interrupts_heard
from steadyboost.lab.comparison.methods import ComparedMethod, Features, choose
from steadyboost.lab.comparison.result import Comparison, FoldResult, MethodResult, Setting
from steadyboost.lab.runs import compile_kernels, fit_timed, recorded_warnings
from steadyboost.noise import corrupt

SMALLEST = np.finfo(float).eps  # bound of probabilities, as in scikit-learn's log_loss
LONGEST = 300  # characters of a message of another library
SMALL = 10_000  # rows below which one thread of OpenMP is used


@dataclass(frozen=True)
class Fold:
    """Indices of training and test rows, and the training labels as class indices."""

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Job:
    """The data and settings that all methods share."""

    features: Features
    codes: np.ndarray
    setting: Setting
    n_jobs: int | None


def try_method(method: ComparedMethod, result: MethodResult, fold: Fold, job: Job) -> None:
    """Add a run to the result, or the reason of a failure; warnings are recorded."""
    with recorded_warnings() as messages, openmp_limited(job):
        try:
            model = _build(method, job)
            if not result.runs and method.is_ours and "callbacks" in model.get_params(deep=False):
                X = job.features.rows(fold.train, as_numbers=False)
                compile_kernels(model, X, fold.labels)
            result.runs.append(_measure(model, method, fold, job))
        except Exception as error:  # a library may fail in any way of its own; the others go on
            result.failure = f"{type(error).__name__}: {_short(error)}"
    result.warnings.update(map(_short, messages))


def openmp_limited(job: Job) -> Any:
    """Limit OpenMP to one thread for small tables.

    Its threads spin while they wait for each other, which costs more than they save on few rows,
    and a hundred times more on a busy machine.
    """
    asked = job.n_jobs if job.n_jobs and job.n_jobs > 0 else None
    return threadpool_limits(1 if job.features.n_rows < SMALL else asked, user_api="openmp")


def _build(method: ComparedMethod, job: Job) -> Any:
    return method.build(job.features, job.setting.seed, job.n_jobs)


def _short(words: Any) -> str:
    return " ".join(str(words).split())[:LONGEST]


@interrupts_heard()
def _measure(model: Any, method: ComparedMethod, fold: Fold, job: Job) -> FoldResult:
    rows = (job.features.rows(rows, method.wants_numbers) for rows in (fold.train, fold.test))
    X, X_test = rows
    # Some libraries need consecutive class indices, and a small class may have no training row.
    present, labels = np.unique(fold.labels, return_inverse=True)
    fit_seconds = fit_timed(model, X, labels)
    start = time.perf_counter()
    answers = present[np.ravel(model.predict(X_test)).astype(int)]
    predict_seconds = time.perf_counter() - start
    truth, k = job.codes[fold.test], len(job.setting.classes)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (truth, answers), 1)
    loss, auc = None, None
    if hasattr(model, "predict_proba"):
        probabilities = np.zeros((len(truth), k))
        probabilities[:, present] = model.predict_proba(X_test)
        own = probabilities[np.arange(len(truth)), truth]
        loss = float(-np.log(np.maximum(own, SMALLEST)).mean())
        auc = mean_auc(truth, probabilities)
    return FoldResult(confusion, loss, fit_seconds, predict_seconds, auc)


Tell = Callable[[str, int, int], None]  # what is being done, runs done, runs in all


# A public signature; all but the first three arguments are keywords.
@interrupted_fits_raise()
def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    noise: float = 0.0,
    kind: str = "symmetric",
    folds: int = 5,
    repeats: int = 1,
    categorical_features: Any = "from_dtype",
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Comparison:
    """Compare classifiers by stratified cross-validation.

    All methods use the same folds and the same corrupted labels, which are in the training rows
    only: test labels are as given. A method that fails is listed with the reason. Times exclude
    the compilation that our boosters need once per installation.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        NaN or null is a missing value.
    y : array-like of shape (n_samples,)
        Labels of any type.
    methods : list of str, dict of estimators, or None
        Names such as "SAMME" or "LightGBM", or groups of them: "ours", "peers", "all" and
        "usual", the default (some of ours, and all peers that are installed), each with its
        default parameters. A dict names estimators of your own.
    noise : float in [0, 1), default=0.0
        Share of the training labels to corrupt.
    kind : str, default="symmetric"
        Kind of noise, as in :func:`steadyboost.noise.corrupt`.
    folds : int, default=5
        Number of folds.
    repeats : int, default=1
        Number of repeats, each with other folds.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories, as our boosters take it: by default those of text.
    random_state : int, default=0
        Seed of folds, noise and methods.
    n_jobs : int or None, default=None
        Threads of each method, where it has them.
    tell : callable, optional
        Called to report progress, with a description, the finished runs and all runs.

    Returns
    -------
    Comparison
        Results with significance tests; it writes tables and an HTML page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost.lab.comparison import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, ["SAMME", "RandomForest"], noise=0.2, folds=3)
    >>> sorted(standing.name for standing in found.standings)
    ['RandomForest', 'SAMME']
    """
    features = Features.read(X, categorical_features)
    labels = check_labels(y, features.numbers)
    _check_numbers(noise, folds, repeats, len(labels))
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    _check_classes(classes, counts, folds)
    chosen = choose(methods)
    setting = Setting(
        features.n_rows,
        features.n_columns,
        classes,
        counts,
        noise,
        kind,
        folds,
        repeats,
        random_state,
    )
    drawn = list(_folds(features, codes, setting))
    job = Job(features, codes, setting, n_jobs)
    return Comparison(setting, _run_all(chosen, drawn, job, tell or _silent))


def _check_numbers(noise: float, folds: int, repeats: int, n_rows: int) -> None:
    if not 0 <= noise < 1:
        raise ValueError(f"noise={noise!r} must be a fraction in [0, 1), such as 0.2 for 20 %.")
    if not 2 <= folds <= n_rows:
        raise ValueError(f"folds={folds!r} must be between 2 and the number of rows, {n_rows}.")
    if repeats < 1:
        raise ValueError(f"repeats={repeats!r} must be at least 1.")


def _check_classes(classes: np.ndarray, counts: np.ndarray, folds: int) -> None:
    if len(classes) < 2:
        name = str(classes[0])
        raise ValueError(f"y has the one class {name!r}; a comparison needs at least two.")
    if counts.max() < folds:
        raise ValueError(
            f"y has {len(classes):,} classes, and none has the {folds} rows that folds={folds} "
            "needs; is this the column of the labels?"
        )


def _silent(what: str, done: int, total: int) -> None:
    """Report no progress."""


def _folds(features: Features, codes: np.ndarray, setting: Setting) -> Iterator[Fold]:
    splitter = RepeatedStratifiedKFold(
        n_splits=setting.folds, n_repeats=setting.repeats, random_state=setting.seed
    )
    rng = np.random.default_rng(setting.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of small classes the result tells
        parts = list(splitter.split(codes, codes))
    for train, test in parts:
        labels = codes[train]
        if setting.noise > 0:
            X = features.numbers[train] if setting.kind == "feature_dependent" else None
            labels, _ = corrupt(labels, setting.noise, setting.kind, X=X, random_state=rng)
        yield Fold(train, test, labels)


def _run_all(
    methods: list[ComparedMethod], folds: list[Fold], job: Job, tell: Tell
) -> list[MethodResult]:
    """Run all methods fold by fold, so that the remaining time is known after the first."""
    results = [MethodResult(method.name, method.is_ours) for method in methods]
    total = len(folds) * len(methods)
    for k, fold in enumerate(folds):
        for j, (method, result) in enumerate(zip(methods, results, strict=True)):
            tell(f"{method.name}, fold {k + 1}", k * len(methods) + j, total)
            if not result.failure:
                try_method(method, result, fold, job)
    tell("done", total, total)
    return results
