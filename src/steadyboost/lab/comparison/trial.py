"""One method on one fold."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from steadyboost.lab.comparison.features import Features
from steadyboost.lab.comparison.methods import ComparedMethod
from steadyboost.lab.comparison.result import FoldResult, MethodResult, Setting

SMALLEST = np.finfo(float).eps  # a probability of 0 costs as much as this one
LONGEST = 300  # characters of what a library says
SMALL = 10_000  # rows


@dataclass(frozen=True)
class Fold:
    """Row numbers, and the labels that training sees, as class numbers."""

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Job:
    """What all methods share."""

    features: Features
    codes: np.ndarray
    setting: Setting
    n_jobs: int | None


def try_method(method: ComparedMethod, result: MethodResult, fold: Fold, job: Job) -> None:
    """Add a run to the result, or why there is none; warnings are kept for the reader."""
    with warnings.catch_warnings(record=True) as caught, openmp_limited(job):
        warnings.simplefilter("always")
        try:
            if method.is_ours and not result.runs:
                _compile(_build(method, job), fold, job.features)
            result.runs.append(_measure(_build(method, job), method, fold, job))
        except Exception as error:  # a library may fail in any way of its own; the others go on
            result.failure = f"{type(error).__name__}: {_short(error)}"
    result.warnings.update(_short(warning.message) for warning in caught)


def openmp_limited(job: Job) -> Any:
    """Threads of OpenMP spin while they wait for each other.

    On a small table this costs more than they save, and on a busy machine a hundred times more.
    """
    asked = job.n_jobs if job.n_jobs and job.n_jobs > 0 else None
    return threadpool_limits(1 if job.features.n_rows < SMALL else asked, user_api="openmp")


def _build(method: ComparedMethod, job: Job) -> Any:
    return method.build(job.features, job.setting.seed, job.n_jobs)


def _short(words: Any) -> str:
    return " ".join(str(words).split())[:LONGEST]


def _compile(model: Any, fold: Fold, features: Features) -> None:
    """A short run of our booster, so that the measured one does not wait for the compiler."""
    if "n_estimators" in model.get_params(deep=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(n_estimators=2)
            model.fit(features.rows(fold.train, as_numbers=False), fold.labels)


def _measure(model: Any, method: ComparedMethod, fold: Fold, job: Job) -> FoldResult:
    rows = (job.features.rows(rows, method.wants_numbers) for rows in (fold.train, fold.test))
    X, X_test = rows
    # Some libraries want class numbers without holes, and a small class may be in no training row.
    present, labels = np.unique(fold.labels, return_inverse=True)
    start = time.perf_counter()
    model.fit(X, labels)
    fitted = time.perf_counter()
    answers = present[np.ravel(model.predict(X_test)).astype(int)]
    predicted = time.perf_counter()
    truth, k = job.codes[fold.test], len(job.setting.classes)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (truth, answers), 1)
    loss = _log_loss(model, X_test, truth, present, k)
    return FoldResult(confusion, loss, fitted - start, predicted - fitted)


def _log_loss(
    model: Any, X: Any, truth: np.ndarray, present: np.ndarray, n_classes: int
) -> float | None:
    """Mean of -log of the true class's probability; None of a model that gives none."""
    if not hasattr(model, "predict_proba"):
        return None
    probabilities = np.zeros((len(truth), n_classes))
    probabilities[:, present] = model.predict_proba(X)
    own = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(own, SMALLEST)).mean())
