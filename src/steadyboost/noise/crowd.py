"""What several annotators say together, and how good each of them is."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from steadyboost.ensemble.validation import n_rows
from steadyboost.noise.annotations import (
    LISTED,
    Annotations,
    is_gap,
    plain,
    read_annotations,
)
from steadyboost.noise.audit_input import check_proba
from steadyboost.noise.column_table import ColumnTable
from steadyboost.noise.crowd_model import CrowdModel, fit_crowd

ONE_EACH = 1.2  # answers per item below which annotators can hardly be compared
GUESSES = 0.05  # of accuracy above that of guesses: who is not better hardly helps


@dataclass(frozen=True, repr=False)
class ConsensusTable(ColumnTable):
    """Items and what their answers tell, in the order of the items.

    Attributes
    ----------
    item : ndarray
        Positions of the rows, or the items' names in a long table.
    label : ndarray
        The most probable class.
    probability : ndarray of float
        Its probability.
    n_answers : ndarray of int
        Number of answers.
    agreement : ndarray of float
        Share of the answers that are this label; NaN for an item without answers.
    """

    item: np.ndarray
    label: np.ndarray
    probability: np.ndarray
    n_answers: np.ndarray
    agreement: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def take(self, which: Any) -> "ConsensusTable":
        """Some of the lines: a mask, a slice or places."""
        return ConsensusTable(*(column[which] for column in self.columns().values()))


@dataclass(frozen=True, repr=False)
class AnnotatorTable(ColumnTable):
    """Annotators and how good their answers are.

    Attributes
    ----------
    annotator : ndarray
        Names, or numbers of the columns of an array.
    n_answers : ndarray of int
        Number of answers.
    accuracy, low, high : ndarray of float
        Estimated share of right answers, and the ends of its 90 % interval. With few answers it
        is near that of the group.
    agreement : ndarray of float
        Share of the answers that are the consensus label; NaN without answers.
    n_checked, n_checked_right : ndarray of int
        Answers to items whose class is known (golden questions), and how many of them are right.
    confusion : ndarray of shape (n_annotators, n_classes, n_classes)
        Estimated probability that the annotator gives items of each class (row) each label
        (column).
    classes : ndarray of shape (n_classes,)
        The labels of its rows and columns.
    """

    annotator: np.ndarray
    n_answers: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    agreement: np.ndarray
    n_checked: np.ndarray
    n_checked_right: np.ndarray
    confusion: np.ndarray
    classes: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        return {
            column.name: getattr(self, column.name)
            for column in fields(self)
            if column.name not in ("confusion", "classes")
        }

    def take(self, which: Any) -> "AnnotatorTable":
        """Some of the lines: a mask, a slice or places."""
        columns = {name: column[which] for name, column in self.columns().items()}
        return AnnotatorTable(**columns, confusion=self.confusion[which], classes=self.classes)

    def worst(self) -> "AnnotatorTable":
        """The same lines, the least accurate annotator first."""
        return self.take(np.argsort(self.accuracy, kind="stable"))

    def confusion_of(self, annotator: Any) -> np.ndarray:
        """The matrix of one annotator, by name."""
        found = np.flatnonzero(self.annotator == annotator)
        if not len(found):
            known = self.annotator[:LISTED].tolist()
            raise ValueError(f"annotator={annotator!r} is not known; there are {known} and others.")
        return self.confusion[found[0]]


@dataclass(frozen=True)
class Consensus:
    """What annotators say together.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    probabilities : ndarray of shape (n_items, n_classes)
        Distribution of each item's true class.
    table : ConsensusTable
        The most probable class of each item, with its probability, the number of answers and
        their agreement.
    annotators : AnnotatorTable
        Answers, accuracy with its interval, agreement and confusion matrix of each annotator.
    group_confusion : ndarray of shape (n_classes, n_classes)
        Confusion matrix of a typical annotator.
    class_shares : ndarray of shape (n_classes,)
        Estimated frequencies of the classes.
    notes : list of str
        What to know before the numbers are believed.
    """

    classes: np.ndarray
    probabilities: np.ndarray
    table: ConsensusTable
    annotators: AnnotatorTable
    group_confusion: np.ndarray
    class_shares: np.ndarray
    notes: list[str]

    @property
    def labels(self) -> np.ndarray:
        """The most probable class of each item."""
        return self.table.label

    def __repr__(self) -> str:
        table, who = self.table, self.annotators
        title = (
            f"{len(table)} items, {who.n_answers.sum()} answers of {len(who)} annotators; about "
            f"{(1 - table.probability).sum():.0f} consensus labels are wrong"
        )
        return "\n".join([title, *self.notes, repr(table), repr(who)])


def consensus(
    annotations: Any, pred_probs: Any = None, *, classes: Any = None, truth: Any = None
) -> Consensus:
    """Estimate the true classes of items, and the quality of annotators, from their answers.

    A hierarchical form of the model of Dawid and Skene: each annotator has a confusion matrix that
    shrinks towards that of the group where answers are few; some items are hard, and answers to
    these are mostly guesses; and a classifier's out-of-sample probabilities, where they are
    given, are one more voice, which counts as far as answers confirm it.

    Parameters
    ----------
    annotations : array-like or data frame, or tuple of arrays
        A row for each item and a column for each annotator, with None or NaN where there is no
        answer; or a data frame with the columns item, annotator and label; or these three as a
        tuple of arrays.
    pred_probs : array-like of shape (n_items, n_classes), default=None
        Probabilities of the classes, in their sorted order, from a model that has not seen the
        item. Items of a long table are then positions of its rows.
    classes : array-like of shape (n_classes,), default=None
        The labels in sorted order; by default those that occur.
    truth : array-like of shape (n_items,) or mapping from items to labels, default=None
        Known classes of some items ("golden questions"), None or NaN for others: they stay as they
        are, and annotators are judged by them.

    Returns
    -------
    consensus : Consensus
        Tables of items and annotators, and the distribution of each item's class.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene (1979). Maximum likelihood estimation of observer error-rates
       using the EM algorithm. Applied Statistics 28.

    Examples
    --------
    >>> from steadyboost.noise import consensus
    >>> found = consensus([["cat", "cat", None], ["dog", "cat", "dog"], [None, "dog", "dog"]])
    >>> found.labels.tolist()
    ['cat', 'dog', 'dog']
    >>> found.annotators.n_answers.tolist()
    [2, 3, 2]
    """
    proba = None if pred_probs is None else check_proba(pred_probs)
    n = None if proba is None else len(proba)
    answers = read_annotations(annotations, n_items=n, classes=classes)
    if proba is not None:
        answers = matched_to(answers, proba)
    known = known_classes(truth, answers)
    if answers.n_classes < 2 and classes is None and truth is None:
        raise ValueError(
            f"annotations has one label only, {answers.classes.tolist()}; pass classes= to name "
            "the others."
        )
    return judged(answers, fit_crowd(answers, proba, known), known)


def matched_to(answers: Annotations, proba: np.ndarray) -> Annotations:
    """Answers whose classes are the columns of probabilities."""
    k = proba.shape[1]
    if answers.n_classes == k:
        return answers
    found = answers.classes
    if found.dtype.kind in "iu" and found.min() >= 0 and found.max() < k:
        return answers._replace(classes=np.arange(k), label=found[answers.label])
    raise ValueError(
        f"annotations has {len(found)} labels and pred_probs {k} columns; pass classes= to name "
        "the columns."
    )


def known_classes(truth: Any, answers: Annotations) -> np.ndarray | None:
    """Codes of known classes, -1 where none is known."""
    if truth is None:
        return None
    known = np.full(answers.n_items, -1)
    for place, label in _known_labels(truth, answers):
        at = np.flatnonzero(answers.classes == label)
        if not len(at):
            raise ValueError(
                f"truth has the label {plain(label)!r} for item {plain(answers.items[place])!r}, "
                f"which is not one of the classes {answers.classes[:LISTED].tolist()}; correct it, "
                "or pass classes=."
            )
        known[place] = at[0]
    return known


def _known_labels(truth: Any, answers: Annotations) -> list[tuple[int, Any]]:
    """Places of items, and their labels."""
    if isinstance(truth, Mapping):
        places = {plain(name): place for place, name in enumerate(answers.items)}
        unknown = [item for item in truth if item not in places]
        if unknown:
            raise ValueError(f"truth names item {unknown[0]!r}, which has no answers.")
        return [(places[item], label) for item, label in truth.items()]
    if n_rows(truth) != answers.n_items:
        raise ValueError(
            f"truth has {n_rows(truth)} entries for {answers.n_items} items; pass one for each, "
            "None where it is not known, or a dictionary."
        )
    listed = truth.tolist() if hasattr(truth, "tolist") else list(truth)
    return [(place, label) for place, label in enumerate(listed) if not is_gap(label)]


def judged(answers: Annotations, model: CrowdModel, known: np.ndarray | None) -> Consensus:
    """The tables of a fitted model."""
    best = model.posterior.argmax(axis=1)
    agrees = answers.label == best[answers.item]
    table = ConsensusTable(
        answers.items,
        answers.classes[best],
        model.posterior[np.arange(len(best)), best],
        answers.per_item(),
        _shares(answers.per_item(agrees), answers.per_item()),
    )
    annotators = _annotators(answers, model, agrees, known)
    return Consensus(
        answers.classes,
        model.posterior,
        table,
        annotators,
        model.group,
        model.shares,
        _notes(answers, annotators),
    )


def _annotators(
    answers: Annotations, model: CrowdModel, agrees: np.ndarray, known: np.ndarray | None
) -> AnnotatorTable:
    def count(which: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(answers.annotator, weights=which, minlength=answers.n_annotators)

    truth = np.full(answers.n_items, -1) if known is None else known
    checked = truth[answers.item] >= 0
    right = checked & (truth[answers.item] == answers.label)
    accuracy, low, high = model.accuracy(answers).T
    return AnnotatorTable(
        answers.annotators,
        count(),
        accuracy,
        low,
        high,
        _shares(count(agrees), count()),
        count(checked).astype(int),
        count(right).astype(int),
        model.confusion,
        answers.classes,
    )


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _notes(answers: Annotations, annotators: AnnotatorTable) -> list[str]:
    """What to know before the numbers are believed."""
    notes = []
    if len(answers.item) < ONE_EACH * answers.n_items:
        notes.append(
            "Most items have one answer: without probabilities of a model, annotators can hardly "
            "be compared."
        )
    guesses = annotators.take(annotators.accuracy < 1 / answers.n_classes + GUESSES)
    if len(guesses):
        listed = ", ".join(map(str, guesses.annotator[:LISTED].tolist()))
        more = " and others" if len(guesses) > LISTED else ""
        notes.append(f"Hardly better than chance: the answers of {listed}{more}.")
    return notes
