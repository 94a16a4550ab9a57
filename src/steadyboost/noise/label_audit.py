"""Which labels look wrong."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
)
from sklearn.utils.class_weight import compute_sample_weight

import steadyboost
from steadyboost.ensemble.costs import unweighted_classes
from steadyboost.ensemble.validation import (
    check_labels,
    check_weights,
    class_indices,
)
from steadyboost.ensemble.verified import Checked, as_codes, corrected
from steadyboost.interruptions import interrupted_fits_raise
from steadyboost.noise.audit_input import (
    Folds,
    check_flag,
    check_folds,
    check_groups,
    check_proba,
    classes_of,
    columns_of,
)
from steadyboost.noise.label_errors import (
    LabelErrors,
    is_flagged,
    judge_labels,
)
from steadyboost.noise.label_notes import conflict_note, conflicting, notes_on
from steadyboost.noise.label_table import LabelTable
from steadyboost.noise.noise_model import fit_noise_models
from steadyboost.noise.review.reviewable import Reviewable


@dataclass(frozen=True)
class LabelAudit(Reviewable):
    """What an audit found.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels.
    given, suggested : ndarray of shape (n,)
        Each row's label, and the one to change it to: the given one where it is not flagged.
    scores : ndarray of shape (n,)
        Calibrated probability that the given label is right: low is suspicious; NaN for rows of
        weight 0.
    probabilities : ndarray of shape (n, k)
        Probability of each class by the row's features, from models that have not seen the row.
    transition_matrix : ndarray of shape (k, k)
        Probability that a true class (row) is given as each class (column): rows sum to one, as
        in :func:`~steadyboost.noise.corrupt`. cleanlab's ``noise_matrix`` is its transpose.
    noise_rate : float
        Estimated share of wrong labels.
    noise_rate_interval : tuple of float
        A 90 % interval of that share.
    class_noise_rates : dict of label to tuple of float
        Estimated share of wrong labels among those given as each class, and its 90 % interval.
    conflicts : list of ndarray
        Groups of rows with equal features and different labels.
    notes : list of str
        What to know before the numbers are believed: a model that has learnt nothing, too few
        rows, a rate that cannot be told from zero, class names that are nearly the same.
    X : table or None
        The rows, as they were passed.
    model : classifier or None
        The model that judged, where it was one that cross-fits itself.
    kept : dict of str to ndarray
        Columns by which rows are known, which the table shows: the index of a pandas frame or
        series, if it does not merely count, or identifiers of a file.
    numbers : ndarray of int or None
        Number of each row in its file, from 1, where a command has read the data.
    """

    classes: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    transition_matrix: np.ndarray
    noise_rate: float
    noise_rate_interval: tuple[float, float]
    class_noise_rates: dict[Any, tuple[float, float, float]]
    conflicts: list[np.ndarray]
    notes: list[str]
    X: Any = None
    model: Any = None
    kept: Mapping[str, np.ndarray] = field(default_factory=dict)
    numbers: np.ndarray | None = None

    @cached_property
    def table(self) -> LabelTable:
        """All rows, the least credible label first."""
        names: dict[str, Any] = {"number": self.numbers, "kept": self.kept}
        return LabelTable.ranked(self.given, self.suggested, self.scores, **names)

    @property
    def ranks(self) -> np.ndarray:
        """1 for the least credible label; 0 for rows of weight 0."""
        ranks = np.zeros(len(self.given), dtype=np.int64)
        ranks[self.table.row] = self.table.rank
        return ranks

    @property
    def suspects(self) -> np.ndarray:
        """Positions of the flagged rows, the worst first."""
        return self.table.disputed().row

    def numbers_of(self, rows: Any) -> np.ndarray:
        """The numbers of rows in pages and files, which count from 1, by their positions."""
        places = np.asarray(rows, dtype=np.int64)
        return places + 1 if self.numbers is None else self.numbers[places]

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

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, spreadsheet: bool = False
    ) -> str | None:
        """Write that table, or return it as text if there is no path.

        With ``spreadsheet``, texts that a spreadsheet would calculate get an apostrophe in front.
        """
        return self.table.to_csv(path, spreadsheet=spreadsheet)

    def summary(self) -> str:
        """The count in one sentence."""
        low, high = (100 * end for end in self.noise_rate_interval)
        return (
            f"{len(self.suspects)} suspects; about {self.n_wrong:.0f} of {len(self.given)} labels "
            f"are wrong ({100 * self.noise_rate:.1f} %, 90 % interval {low:.1f} to {high:.1f} %)"
        )

    def __repr__(self) -> str:
        return "\n".join([self.summary(), *self.notes, repr(self.head())])


@dataclass(frozen=True)
class LabelSetAudit:
    """What an audit of sets of labels found: an audit of each label.

    Attributes
    ----------
    audits : list of LabelAudit
        One for each column of the indicator matrix.
    """

    audits: list[LabelAudit]

    @property
    def scores(self) -> np.ndarray:
        """(n, labels): probability that each entry of the indicator matrix is right."""
        return np.column_stack([one.scores for one in self.audits])

    @property
    def row_scores(self) -> np.ndarray:
        """(n,): probability that all entries of a row are right, if they are independent."""
        return self.scores.prod(axis=1)

    @property
    def probabilities(self) -> np.ndarray:
        """(n, labels): probability of each label, from models that have not seen the row."""
        return np.column_stack([one.probabilities[:, -1] for one in self.audits])

    @property
    def noise_rate(self) -> float:
        """Estimated share of wrong entries."""
        return float(np.mean([one.noise_rate for one in self.audits]))

    @property
    def suspects(self) -> np.ndarray:
        """(flagged entries, 2): row and label of each, the worst first."""
        pairs = [(row, label) for label, one in enumerate(self.audits) for row in one.suspects]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return found[np.argsort(self.scores[found[:, 0], found[:, 1]], kind="stable")]

    def __repr__(self) -> str:
        n, k = self.scores.shape
        lines = [f"label {label}: {one.summary()}" for label, one in enumerate(self.audits)]
        return "\n".join([f"Sets of {k} labels, {n} rows", *lines])


@interrupted_fits_raise()
def audit(
    X: Any,
    y: Any,
    estimator: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    flag: Any = "auto",
    precision: float | None = None,
    sample_weight: Any = None,
    verified: Any = None,
    categorical_features: Any = "from_dtype",
    random_state: int | None = None,
    n_jobs: int | None = None,
    callbacks: Any = None,
) -> Any:
    """Judge each label by models that have not seen it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Labels, some of them wrong; or an indicator matrix of 0 and 1, for sets of labels.
    estimator : classifier with ``predict_proba``, default=None
        The model that judges; by default :class:`~steadyboost.SteadyBoostClassifier`.
    cv : int, splitter or "oob", default=5
        Folds for the estimator. "oob" takes what a fitted forest (or
        :class:`~steadyboost.BaggingClassifier`) says of rows outside its bootstraps, in one
        training. SteadyBoostClassifier is cross-fitted in itself: an int is its number of folds,
        and with a splitter or groups it is fitted anew for each fold.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together, for example those of one patient.
    flag : "auto", int or float, default="auto"
        Rows to list as suspects: those whose label is more likely wrong than right, or a number
        or a share (below 1) of the rows, the most suspicious first.
    precision : float, default=None
        Instead of ``flag``: list as many rows as can be expected to be wrong by this share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    verified : array-like of bool or of positions, or dictionary, default=None
        Rows whose label in ``y`` has been checked and is right; or a dictionary from positions to
        right labels, where ``y`` has the labels as they were given. They are never listed, and show
        how often the model is wrong, and so how many of the other labels are. Rows that were
        chosen because their labels looked wrong must be in a dictionary: without the labels that
        they had, nothing would show that the others are the better ones.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        As in :class:`~steadyboost.SteadyBoostClassifier`, where no estimator is given.
    random_state : int or None, default=None
        Random seed, where no estimator is given and for the folds.
    n_jobs : int or None, default=None
        Threads of our estimator; processes of the folds of another.
    callbacks : list of Callback, default=None
        Of our estimator, such as ``[steadyboost.callbacks.Progress()]``, where none is given.

    Returns
    -------
    audit : LabelAudit or LabelSetAudit
        Probabilities that labels are right, suggestions, the number of wrong labels with its
        interval and the transition matrix; of each label, where rows have sets of labels.

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
    check_flag(flag, precision)
    rows = {
        "estimator": estimator, "cv": cv, "groups": groups, "flag": flag, "precision": precision,
        "sample_weight": sample_weight, "verified": verified,
    }  # fmt: skip
    ours = {
        "categorical_features": categorical_features,
        "random_state": random_state,
        "callbacks": callbacks,
        "n_jobs": n_jobs,
    }
    passed = check_labels(y, X, several=True)
    if passed.ndim == 2:
        return _audit_sets(X, passed, {**rows, **ours})
    judgement = _judgement(X, passed, **rows, **ours)
    return judgement._replace(kept=index_columns(X, y)).report()


class Judgement(NamedTuple):
    """What was found of given labels, and what is to be listed of it."""

    classes: np.ndarray
    codes: np.ndarray  # of the given labels among the classes
    proba: np.ndarray
    errors: LabelErrors
    listed: "Listed"
    X: Any = None
    model: Any = None
    kept: Mapping[str, np.ndarray] = MappingProxyType({})

    def report(self) -> LabelAudit:
        """With the lists, and what is to be known before they are believed."""
        classes, codes, proba, errors = self[:4]
        found = _listed(classes[codes], classes, proba, errors, self.listed)
        conflicts = [] if self.X is None else conflicting(self.X, codes)
        notes = [*notes_on(classes, codes, proba, errors), *conflict_note(conflicts)]
        told: dict[str, Any] = {"conflicts": conflicts, "notes": notes, "kept": self.kept}
        return LabelAudit(classes, classes[codes], **found, **told, X=self.X, model=self.model)


def _judgement(
    X: Any,
    passed: np.ndarray,
    *,
    estimator: Any,
    cv: Any,
    groups: Any,
    flag: Any,
    precision: float | None,
    sample_weight: Any,
    verified: Any,
    random_state: int | None,
    n_jobs: int | None,
    **ours: Any,
) -> Judgement:
    """Judge labels, one for each row; ``ours`` are parameters of our own estimator."""
    labels, right, given = corrected(verified, passed)
    weights = check_weights(sample_weight, X)
    classes, codes = classes_of(labels, weights)
    folds = Folds(cv, check_groups(groups, len(labels)), random_state, n_jobs)
    check_folds(folds, estimator)
    ours["random_state"] = random_state
    judge = None
    if estimator is None and groups is None and isinstance(cv, Integral):
        rows = {"sample_weight": weights, "verified": verified}
        judge = _cross_fitted(X, passed, rows, cv, n_jobs=n_jobs, **ours)
        proba, errors = judge.out_of_sample_proba_, judge.label_errors_
    else:
        # By its public name: boosters import the functions of this package, not the other way.
        model = steadyboost.SteadyBoostClassifier(**ours) if estimator is None else estimator
        unseen = _unseen(model, X, labels, weights, folds)
        if getattr(model, "class_weight", None) is not None:
            of_class = "balanced" if isinstance(model.class_weight, str) else model.class_weight
            factors = np.ones(len(classes))
            factors[codes] = compute_sample_weight(of_class, labels)
            unseen = unweighted_classes(unseen, factors)
        given = None if given is None else as_codes(given, classes)
        proba, errors = _judged(unseen, codes, weights, Checked.of(codes, right, given))
    return Judgement(classes, codes, proba, errors, Listed(flag, precision, right), X, judge)


def _audit_sets(X: Any, labels: np.ndarray, options: dict[str, Any]) -> LabelSetAudit:
    """An audit of each column of an indicator matrix.

    Columns of one table tell whether the features determine the labels, and how labels go wrong;
    each of them alone tells little. So all labels are judged by their mean evidence.
    """
    found = []
    for place, column in enumerate(labels.T):
        try:
            found.append(_judgement(X, column, **options))
        except ValueError as problem:
            raise ValueError(f"label {place}: {problem}") from problem
    evidence = np.mean([one.errors.evidence for one in found], axis=0)
    again = [one._replace(errors=one.errors.judge_by(evidence)) for one in found]
    kept = index_columns(X)
    return LabelSetAudit([one._replace(kept=kept).report() for one in again])


def audit_proba(
    pred_probs: Any,
    y: Any,
    *,
    classes: Any = None,
    flag: Any = "auto",
    precision: float | None = None,
    sample_weight: Any = None,
    verified: Any = None,
) -> LabelAudit:
    """Judge each label by out-of-sample probabilities of a model of your own.

    Parameters
    ----------
    pred_probs : array-like of shape (n_samples, n_classes)
        Probabilities of the classes, in their sorted order, from a model that has not seen the
        row (cross-validation, or out of bag).
    y : array-like of shape (n_samples,)
        Labels, some of them wrong.
    classes : array-like of shape (n_classes,), default=None
        The labels of the columns; by default the sorted labels in ``y``, or 0, 1, ... where ``y``
        has integers.
    flag, precision, sample_weight, verified
        As in :func:`audit`.

    Returns
    -------
    audit : LabelAudit
        As from :func:`audit`; without features, no conflicts are looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyboost.noise import audit_proba
    >>> proba = np.tile([[0.95, 0.05], [0.05, 0.95]], (200, 1))
    >>> y = np.tile([0, 1], 200)
    >>> y[:10] = 1 - y[:10]
    >>> sorted(audit_proba(proba, y).suspects.tolist()) == list(range(10))
    True
    """
    check_flag(flag, precision)
    proba = check_proba(pred_probs)
    labels, right, given = corrected(verified, check_labels(y, proba))
    names = columns_of(labels, proba.shape[1], classes)
    codes = class_indices(labels, names, "y")
    weights = check_weights(sample_weight, proba)
    given = None if given is None else as_codes(given, names)
    proba, errors = _judged(proba, codes, weights, Checked.of(codes, right, given))
    listed = Listed(flag, precision, right)
    return Judgement(
        names, codes, proba, errors, listed, kept=index_columns(pred_probs, y)
    ).report()


def audit_fitted(model: Any, X: Any, given: np.ndarray, listed: "Listed") -> LabelAudit:
    """What a fitted SteadyBoostClassifier has found about the labels that it learnt."""
    codes = class_indices(given, model.classes_, "y")
    found = model.out_of_sample_proba_, model.label_errors_
    kept = index_columns(X)
    return Judgement(model.classes_, codes, *found, listed, X, model, kept).report()


def index_columns(*tables: Any) -> dict[str, np.ndarray]:
    """The index of the first pandas object that has one of its own, by the names of its levels."""
    for table in tables:
        index: Any = getattr(table, "index", None)
        if not hasattr(index, "get_level_values"):
            continue
        if index.nlevels == 1 and np.array_equal(index, np.arange(len(index))):
            continue
        unnamed = ["index"] if index.nlevels == 1 else [f"level_{k}" for k in range(index.nlevels)]
        names = zip(index.names, unnamed, strict=True)
        return {
            other if name is None else str(name): np.asarray(index.get_level_values(k))
            for k, (name, other) in enumerate(names)
        }
    return {}


class Listed(NamedTuple):
    """Which rows are to be listed as suspects."""

    flag: Any
    precision: float | None
    verified: np.ndarray | None

    def flags(self, wrong: np.ndarray, judged: np.ndarray) -> np.ndarray:
        """A mask of the judged rows, none of which is verified."""
        flags = is_flagged(wrong, self.flag, self.precision)
        return flags if self.verified is None else flags & ~self.verified[judged]


def _cross_fitted(X: Any, y: np.ndarray, rows: dict[str, Any], cv: Any, **options: Any) -> Any:
    """Our classifier, fitted with so many folds."""
    model = steadyboost.SteadyBoostClassifier(n_folds=int(cv), **options)
    return model.fit(X, y, **rows)


def _unseen(
    estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, folds: Folds
) -> np.ndarray:
    """Probabilities of the classes from models that have not seen the row."""
    params = None if weights is None else {"sample_weight": weights}
    if isinstance(folds.cv, str) and folds.cv == "oob":
        model = clone(estimator).set_params(oob_score=True).fit(X, y, **(params or {}))
        proba = np.asarray(model.oob_decision_function_, dtype=float)
        known = np.isfinite(proba).all(axis=1, keepdims=True)
        return np.where(known, proba, 1 / proba.shape[1])
    cv = folds.cv
    if isinstance(cv, Integral):
        kind = StratifiedKFold if folds.groups is None else StratifiedGroupKFold
        cv = kind(int(cv), shuffle=True, random_state=folds.random_state)
    splits = list(check_cv(cv, y, classifier=True).split(X, y, folds.groups))
    return cross_val_predict(
        estimator, X, y, cv=splits, method="predict_proba", params=params, n_jobs=folds.n_jobs
    )


def _judged(
    proba: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray | None,
    checked: Checked,
) -> tuple[np.ndarray, LabelErrors]:
    """Probabilities of true classes and what they tell; NaN for rows of weight 0.

    A model that was trained on labels that mix up two classes mixes them up as well; the noise
    model takes that out.
    """
    some = np.ones(len(codes), dtype=bool) if weights is None else weights > 0
    mass = np.ones(len(codes)) if weights is None else weights
    own = checked.take(some)
    models = fit_noise_models(proba[None, some], codes[some], mass[some], None, own)
    readings = [model.reading(proba[None, some]) for model in models]
    true = np.full(proba.shape, np.nan)
    true[some] = readings[0].proba
    return true, judge_labels(readings, codes[some], mass[some], proba[some], own)


def _listed(
    given: np.ndarray,
    classes: np.ndarray,
    proba: np.ndarray,
    errors: LabelErrors,
    listed: Listed,
) -> dict[str, Any]:
    """Fields of a LabelAudit that follow from errors, and from what is to be listed."""
    judged = np.flatnonzero(np.isfinite(proba).all(axis=1))
    flags = listed.flags(errors.wrong, judged)
    suggested, scores = given.copy(), np.full(len(given), np.nan)
    scores[judged] = 1 - errors.wrong
    suggested[judged[flags]] = classes[errors.other[flags]]
    pairs = zip(classes.tolist(), errors.class_rates, strict=True)
    return {
        "suggested": suggested,
        "scores": scores,
        "probabilities": proba,
        "transition_matrix": errors.transition,
        "noise_rate": errors.rate.rate,
        "noise_rate_interval": (errors.rate.low, errors.rate.high),
        "class_noise_rates": {label: tuple(own) for label, own in pairs},
    }
