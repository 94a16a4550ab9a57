"""Which rows to have annotated next."""

from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np

from steadyboost.noise.annotations import Annotations, read_annotations
from steadyboost.noise.audit_input import check_proba
from steadyboost.noise.column_table import ColumnTable
from steadyboost.noise.crowd import known_classes, matched_to
from steadyboost.noise.crowd_model import PRIORS, CrowdModel, fit_crowd


@dataclass(frozen=True, repr=False)
class LabelQueue(ColumnTable):
    """Rows to have annotated, the most valuable first.

    Attributes
    ----------
    item : ndarray
        Positions of the rows, or the items' names in a long table.
    value : ndarray of float
        What one more answer is expected to tell of the class, in nats: the mutual information.
    label : ndarray
        The most probable class so far.
    probability : ndarray of float
        Its probability.
    n_answers : ndarray of int
        Number of answers so far.
    """

    item: np.ndarray
    value: np.ndarray
    label: np.ndarray
    probability: np.ndarray
    n_answers: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def take(self, which: Any) -> "LabelQueue":
        """Some of the lines: a mask, a slice or places."""
        return LabelQueue(*(column[which] for column in self.columns().values()))


def next_to_label(
    annotations: Any,
    pred_probs: Any = None,
    *,
    batch_size: int = 100,
    classes: Any = None,
    truth: Any = None,
) -> LabelQueue:
    """The rows about whose class one more answer is expected to tell most.

    Rows with and without answers are compared alike. A row is worth an answer if its class is
    uncertain after what annotators and the model have said, and if an answer can settle it: another
    answer to a row that everybody guesses at is worth little.

    Parameters
    ----------
    annotations, pred_probs, classes, truth
        As in :func:`consensus`; rows may have no answers yet. Where a long table names only some
        of the rows, ``pred_probs`` says how many there are.
    batch_size : int, default=100
        Rows to list, each once.

    Returns
    -------
    queue : LabelQueue
        The rows, the most valuable first; rows of known class are left out.

    Examples
    --------
    >>> from steadyboost.noise import next_to_label
    >>> answers = [["a", "a", "a"], ["a", "b", None], ["b", "b", "b"], ["b", None, None]]
    >>> next_to_label(answers, batch_size=2).item.tolist()
    [1, 3]
    """
    if not isinstance(batch_size, Integral) or isinstance(batch_size, bool) or batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r} must be a number of rows, 1 or more.")
    proba = None if pred_probs is None else check_proba(pred_probs)
    n = None if proba is None else len(proba)
    answers = read_annotations(annotations, n_items=n, classes=classes, gaps=True)
    if proba is not None:
        answers = matched_to(answers, proba)
    known = known_classes(truth, answers)
    model = fit_crowd(answers, proba, known)
    value = expected_information(model)
    if known is not None:
        value[known >= 0] = -np.inf
    return _queue(answers, model, value, int(batch_size))


def expected_information(model: CrowdModel, guesses: float = PRIORS.guesses) -> np.ndarray:
    """(n,): mutual information of each item's class and the next answer of a typical annotator."""
    k = len(model.group)
    guessed = (guesses * model.hard)[:, None, None]
    answer = (1 - guessed) * model.group + guessed / k  # (n, class, answer)
    joint = model.posterior[:, :, None] * answer
    overall = joint.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(joint > 0, np.log(answer / overall[:, None, :]), 0)
    return (joint * ratio).sum(axis=(1, 2))


def _queue(answers: Annotations, model: CrowdModel, value: np.ndarray, size: int) -> LabelQueue:
    order = np.argsort(-value, kind="stable")
    order = order[np.isfinite(value[order])][:size]
    best = model.posterior.argmax(axis=1)
    return LabelQueue(
        answers.items[order],
        value[order],
        answers.classes[best[order]],
        model.posterior[order, best[order]],
        answers.per_item()[order],
    )
