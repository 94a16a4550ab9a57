"""Which labels look wrong."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict

from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.label_table import LabelTable
from steadyboost.boosters.steadyboost.noise_model import fit_noise_model
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import check_labels, check_weights, class_indices
from steadyboost.preprocessing.encoder import as_frame, categories_of


@dataclass(frozen=True)
class LabelAudit:
    """What an audit found.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels.
    given, suggested : ndarray of shape (n,)
        Each row's label, and the likeliest one.
    scores : ndarray of shape (n,)
        Probability that the given label is right: low is suspicious; NaN for rows of weight 0.
    probabilities : ndarray of shape (n, k)
        Distribution of each row's true label by its features, from models that have not seen it.
    transition_matrix : ndarray of shape (k, k)
        Probability that a true class (row) is given as each class (column): rows sum to one, as
        in :func:`~steadyboost.noise.corrupt`. cleanlab's ``noise_matrix`` is its transpose.
    conflicts : list of ndarray
        Groups of rows with equal features and different labels.
    """

    classes: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    transition_matrix: np.ndarray
    conflicts: list[np.ndarray]

    @cached_property
    def table(self) -> LabelTable:
        """All rows, the least credible label first."""
        return LabelTable.ranked(self.given, self.suggested, self.scores)

    @property
    def ranks(self) -> np.ndarray:
        """1 for the least credible label; 0 for rows of weight 0."""
        ranks = np.zeros(len(self.given), dtype=np.int64)
        ranks[self.table.row] = self.table.rank
        return ranks

    @property
    def suspects(self) -> np.ndarray:
        """Rows for which another label is likelier than the given one, the worst first."""
        return self.table.disputed().row

    @property
    def noise_rate(self) -> float:
        """Estimated share of wrong labels."""
        return float(1 - np.nanmean(self.scores))

    @property
    def n_wrong(self) -> float:
        """Estimated number of wrong labels."""
        return float(np.nansum(1 - self.scores))

    @property
    def n_wrong_per_class(self) -> dict[Any, float]:
        """The same, for each given label."""
        wrong = 1 - self.scores
        return {
            label: float(np.nansum(wrong[self.given == label])) for label in self.classes.tolist()
        }

    def head(self, n: int = 10) -> LabelTable:
        """The n least credible labels."""
        return self.table.head(n)

    def to_frame(self) -> Any:
        """All rows as a pandas data frame, the least credible label first; suspects are marked."""
        return self.table.to_frame()

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write that table, or return it as text if there is no path."""
        return self.table.to_csv(path)

    def __repr__(self) -> str:
        n = len(self.given)
        wrong = f"{len(self.suspects)} suspects; about {self.n_wrong:.0f} of {n} labels are wrong"
        return f"{wrong} ({100 * self.noise_rate:.1f} %)\n{self.head()!r}"


def audit(
    X: Any,
    y: Any,
    estimator: Any = None,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    categorical_features: Any = "from_dtype",
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> LabelAudit:
    """Judge each label by models that have not seen it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels, some of them wrong.
    estimator : classifier with ``predict_proba``, default=None
        Who judges; by default :class:`~steadyboost.SteadyBoostClassifier`.
    cv : int, splitter or "oob", default=5
        Folds for the estimator. "oob" takes what a fitted forest (or
        :class:`~steadyboost.BaggingClassifier`) says of rows outside its bootstraps, in one
        training. SteadyBoostClassifier is cross-fitted in itself: ``cv`` is its number of folds.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        As in :class:`~steadyboost.SteadyBoostClassifier`, where no estimator is given.
    random_state : int or None, default=None
        Source of chance, where no estimator is given and for the folds.
    n_jobs : int or None, default=None
        Threads of our estimator; processes of the folds of another.

    Returns
    -------
    audit : LabelAudit
        Scores, suggestions, the number of wrong labels and the transition matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost.noise import audit, corrupt
    >>> X, y = load_wine(return_X_y=True)
    >>> noisy, is_wrong = corrupt(y, 0.1, random_state=0)
    >>> found = audit(X, noisy, random_state=0)
    >>> bool(is_wrong[found.suspects[:15]].mean() > 0.9)
    True
    """
    labels = _checked(X, y)
    classes = np.unique(labels)
    codes = class_indices(labels, classes, "y")
    weights = check_weights(sample_weight, X)
    if estimator is None:
        options = {"random_state": random_state, "n_jobs": n_jobs}
        found = _by_ourselves(
            X, labels, weights, cv, categorical_features=categorical_features, **options
        )
    else:
        unseen = _unseen(estimator, X, labels, weights, cv, random_state, n_jobs)
        mass = np.ones(len(labels)) if weights is None else weights
        model = fit_noise_model(unseen[None], codes, mass)
        q = model.true_proba(unseen[None])
        posterior = np.where(mass[:, None] > 0, model.by_label(q, codes), np.nan)
        found = q, posterior, model.transition
    q, posterior, matrix = found
    scores = posterior[np.arange(len(codes)), codes]
    judged = np.isfinite(scores)
    suggested = np.where(judged, classes[posterior.argmax(axis=1)], labels)
    return LabelAudit(classes, labels, suggested, scores, q, matrix, conflicting(X, codes))


def _checked(X: Any, y: Any) -> np.ndarray:
    labels = check_labels(y, X)
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y has the classes {classes.tolist()}; an audit needs at least two.")
    if counts.min() < 2:
        rare = classes[counts < 2][:5].tolist()
        raise ValueError(
            f"y has labels that occur once: {rare}; nothing can be learnt of a label without its "
            "only row. Drop or merge these."
        )
    return labels


class _Auditor(SteadyBoostClassifier):
    """Keeps what it says of each row, which a model has no need of."""

    def _judge(self, rows: TrainingState, proba: np.ndarray, posterior: np.ndarray) -> None:
        super()._judge(rows, proba, posterior)
        self.found = np.full((2, len(self.label_scores_), self.n_classes_), np.nan)
        self.found[:, rows.numbers] = proba, posterior


def _by_ourselves(
    X: Any, y: np.ndarray, weights: Any, cv: Any, **options: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if isinstance(cv, bool) or not isinstance(cv, Integral) or cv < 2:
        raise ValueError(
            f"cv={cv!r} must be a number of folds, 2 or more, where no estimator is given."
        )
    model = _Auditor(n_folds=int(cv), **options).fit(X, y, sample_weight=weights)
    return model.found[0], model.found[1], model.transition_matrix_


def _unseen(
    estimator: Any, X: Any, y: np.ndarray, weights: Any, cv: Any, seed: Any, n_jobs: Any
) -> np.ndarray:
    """Probabilities of the classes from models that have not seen the row."""
    params = None if weights is None else {"sample_weight": weights}
    if isinstance(cv, str) and cv == "oob":
        model = clone(estimator).set_params(oob_score=True).fit(X, y, **(params or {}))
        proba = np.asarray(model.oob_decision_function_, dtype=float)
        known = np.isfinite(proba).all(axis=1, keepdims=True)
        return np.where(known, proba, 1 / proba.shape[1])
    if isinstance(cv, Integral):
        cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
    return cross_val_predict(
        estimator, X, y, cv=check_cv(cv, y, classifier=True), method="predict_proba",
        params=params, n_jobs=n_jobs,
    )  # fmt: skip


def conflicting(X: Any, codes: np.ndarray) -> list[np.ndarray]:
    """Groups of rows with equal features and different labels."""
    group = _equal_rows(X)
    n_groups = int(group.max()) + 1
    low, high = np.full(n_groups, codes.max()), np.zeros(n_groups, dtype=codes.dtype)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [members[g] for g in np.flatnonzero(low < high)]


def _equal_rows(X: Any) -> np.ndarray:
    """A number for each row, the same for equal ones."""
    if issparse(X):
        table = X.tocsr().copy()
        table.sum_duplicates()
        table.eliminate_zeros()
        bounds = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        return _numbered(
            (table.indices[a:b].tobytes(), table.data[a:b].tobytes()) for a, b in bounds
        )
    frame = as_frame(X)
    if frame is None:
        table = np.asarray(X)
        columns = [table[:, f] for f in range(table.shape[1])]
    else:
        columns = [categories_of(frame[:, f]) for f in range(len(frame.columns))]
    codes = np.column_stack([_numbered(column.tolist()) for column in columns])
    return _numbered(row.tobytes() for row in codes)


def _numbered(values: Iterable[Any]) -> np.ndarray:
    """The same number for equal values, and one for all gaps."""
    numbers: dict[Any, int] = {}
    known = (None if value != value else value for value in values)
    return np.array([numbers.setdefault(value, len(numbers)) for value in known])
