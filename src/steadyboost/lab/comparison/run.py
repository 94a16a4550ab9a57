"""Cross-validation of many methods on the same rows, with wrong labels to train on if so asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from steadyboost.ensemble.validation import check_labels
from steadyboost.lab.comparison.features import Features
from steadyboost.lab.comparison.methods import ComparedMethod, choose
from steadyboost.lab.comparison.result import Comparison, MethodResult, Setting
from steadyboost.lab.comparison.trial import Fold, Job, try_method
from steadyboost.noise import corrupt

Tell = Callable[[str, int, int], None]  # what is being done, runs done, runs in all


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

    All methods see the same folds and the same wrong labels, which are in the training rows
    alone: errors are counted on the labels as given. A method that fails is listed with the
    reason, and the others go on. Times do not include the compilation that our boosters need
    once per installation.

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
        Share of the training labels to make wrong.
    kind : str, default="symmetric"
        Kind of noise, as in :func:`steadyboost.noise.corrupt`.
    folds : int, default=5
        Number of parts, each of which is the test set once.
    repeats : int, default=1
        How many times to cross-validate, each with other folds.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories, as our boosters take it: by default those of text.
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
    """Nobody wants to be told."""


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
    """Fold by fold, so that the time left can be told after the first."""
    results = [MethodResult(method.name, method.is_ours) for method in methods]
    total = len(folds) * len(methods)
    for k, fold in enumerate(folds):
        for j, (method, result) in enumerate(zip(methods, results, strict=True)):
            tell(f"{method.name}, fold {k + 1}", k * len(methods) + j, total)
            if not result.failure:
                try_method(method, result, fold, job)
    tell("done", total, total)
    return results
