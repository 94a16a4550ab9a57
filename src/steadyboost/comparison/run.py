"""Cross-validation of many methods on the same rows, with wrong labels to train on if so asked."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils.validation import check_consistent_length

from steadyboost.comparison.methods import Method, choose
from steadyboost.comparison.result import Comparison, MethodResult, Run, Setting
from steadyboost.comparison.table import Table
from steadyboost.core.inputs import check_labels
from steadyboost.noise import corrupt

Tell = Callable[[str, int, int], None]  # what is being done, runs done, runs in all
SMALLEST = np.finfo(float).eps  # a probability of 0 costs as much as this one


@dataclass(frozen=True)
class Fold:
    """Row numbers, and the labels that training sees, as class numbers."""

    train: np.ndarray
    test: np.ndarray
    labels: np.ndarray


def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    noise: float = 0.0,
    kind: str = "symmetric",
    folds: int = 5,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Comparison:
    """Compare classifiers by stratified cross-validation.

    All methods see the same folds and the same wrong labels, which are in the training rows
    alone: errors are counted on the labels as given. A method that fails is listed with the
    reason, and the others go on. Times do not include the compilation that our boosters need
    once per installation.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Columns of text or categories are categories; NaN or null is a missing value.
    y : array-like of shape (n_samples,)
        Labels of any type.
    methods : list of str, dict of estimators, or None
        Names such as "SAMME" or "LightGBM", or groups of them: "ours", "peers", "all" and
        "usual", the default (some of ours, and all peers that are installed), each with its
        default parameters. A dict names estimators of your own.
    noise : float in [0, 1), default=0.0
        Share of the training labels to make wrong.
    kind : str, default="symmetric"
        Kind of noise, as in :func:`steadyboost.noise.corrupt`.
    folds : int, default=5
        Number of parts, each of which is the test set once.
    repeats : int, default=1
        How many times to cross-validate, each with other folds.
    random_state : int, default=0
        Seed of folds, noise and methods.
    n_jobs : int or None, default=None
        Threads of each method, where it has them.
    tell : callable, optional
        Called with what is being done, the runs done and the runs in all.

    Returns
    -------
    Comparison
        Standings, with tests of the differences; and its tables and its HTML page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost.comparison import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, ["SAMME", "RandomForest"], noise=0.2, folds=3)
    >>> sorted(standing.name for standing in found.standings)
    ['RandomForest', 'SAMME']
    """
    table = Table.read(X)
    labels = check_labels(y, table.numbers)
    _check_numbers(noise, folds, repeats, len(labels))
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has the one class {classes[0]!r}; a comparison needs at least two.")
    chosen = choose(methods, len(classes))
    counts = np.bincount(codes)
    setting = Setting(
        table.n_rows, table.n_columns, classes, counts, noise, kind, folds, repeats, random_state
    )
    drawn = list(_folds(table, codes, setting))
    results = _run_all(chosen, drawn, table, codes, setting, n_jobs, tell or _silent)
    return Comparison(setting, results)


def _check_numbers(noise: float, folds: int, repeats: int, n_rows: int) -> None:
    if not 0 <= noise < 1:
        raise ValueError(f"noise={noise!r} must be a fraction in [0, 1), such as 0.2 for 20 %.")
    if not 2 <= folds <= n_rows:
        raise ValueError(f"folds={folds!r} must be between 2 and the number of rows, {n_rows}.")
    if repeats < 1:
        raise ValueError(f"repeats={repeats!r} must be at least 1.")


def _silent(what: str, done: int, total: int) -> None:
    pass


def _folds(table: Table, codes: np.ndarray, setting: Setting) -> Iterator[Fold]:
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
            features = table.numbers[train] if setting.kind == "feature_dependent" else None
            labels, _ = corrupt(labels, setting.noise, setting.kind, X=features, random_state=rng)
        yield Fold(train, test, labels)


def _run_all(
    methods: list[Method],
    folds: list[Fold],
    table: Table,
    codes: np.ndarray,
    setting: Setting,
    n_jobs: int | None,
    tell: Tell,
) -> list[MethodResult]:
    """Fold by fold, so that the time left can be told after the first."""
    results = [MethodResult(method.name, method.is_ours) for method in methods]
    for k, fold in enumerate(folds):
        for j, (method, result) in enumerate(zip(methods, results, strict=True)):
            done, total = k * len(methods) + j, len(folds) * len(methods)
            tell(f"{method.name}, fold {k + 1}", done, total)
            if not result.failure:
                _run_one(method, result, fold, table, codes, setting, n_jobs)
    tell("done", len(folds) * len(methods), len(folds) * len(methods))
    return results


def _run_one(
    method: Method,
    result: MethodResult,
    fold: Fold,
    table: Table,
    codes: np.ndarray,
    setting: Setting,
    n_jobs: int | None,
) -> None:
    """One method on one fold; what it warns of is kept for the reader."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = method.build(table, setting.seed, n_jobs)
            if method.is_ours and not result.runs:
                _compile(method.build(table, setting.seed, n_jobs), fold, table)
            run = _measure(model, fold, table, codes, len(setting.classes), method.is_ours)
            result.runs.append(run)
        except Exception as error:  # any library may fail in its own way; the others go on
            result.failure = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    # LightGBM's wrapper warns of feature names that nobody gave.
    words = [str(warning.message) for warning in caught]
    result.warnings.update(" ".join(w.split())[:300] for w in words if "feature names" not in w)


def _compile(model: Any, fold: Fold, table: Table) -> None:
    """A short run of our booster, so that the measured one does not wait for the compiler."""
    if "n_estimators" in model.get_params(deep=False):
        model.set_params(n_estimators=2)
        model.fit(table.rows(fold.train, as_numbers=False), fold.labels)


def _measure(
    model: Any, fold: Fold, table: Table, codes: np.ndarray, n_classes: int, is_ours: bool
) -> Run:
    X, X_test = (table.rows(rows, as_numbers=not is_ours) for rows in (fold.train, fold.test))
    # Some libraries want class numbers without holes, and a small class may be in no training row.
    present, labels = np.unique(fold.labels, return_inverse=True)
    start = time.perf_counter()
    model.fit(X, labels)
    fitted = time.perf_counter()
    answers = present[np.ravel(model.predict(X_test)).astype(int)]
    predicted = time.perf_counter()
    truth = codes[fold.test]
    confusion = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(confusion, (truth, answers), 1)
    loss = _log_loss(model, X_test, truth, present, n_classes)
    return Run(confusion, loss, fitted - start, predicted - fitted)


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
