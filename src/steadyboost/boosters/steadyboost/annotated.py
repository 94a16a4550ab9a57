"""Fitting to the answers of several annotators: consensus, model, consensus, model.

The consensus of the answers is what the first model learns, as soft labels. What the model says of
rows that it has not seen is one more voice in the next consensus, from which the next model learns.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from steadyboost.ensemble.soft_labels import SoftLabels
from steadyboost.ensemble.validation import label_array, n_rows
from steadyboost.ensemble.verified import check_verified
from steadyboost.noise.annotations import Annotations, read_annotations
from steadyboost.noise.crowd import AnnotatorTable, Consensus, ConsensusTable, judged
from steadyboost.noise.crowd_model import CrowdModel, fit_crowd

N_MODELS = 2  # a third changes next to nothing
LEAST_SHARE = 0.01  # of a soft label: less is not worth a copy of the row


def read_answers(annotations: Any, X: Any, truth: dict[int, Any] | None) -> Annotations:
    """Checked annotations of the rows of X; right labels are among the classes."""
    answers = read_annotations(annotations, n_items=n_rows(X))
    if not truth:
        return answers
    classes = np.union1d(answers.classes, np.array(list(truth.values())))
    return answers._replace(
        classes=classes, label=np.searchsorted(classes, answers.classes)[answers.label]
    )


def right_labels(verified: Any, y: Any, n: int) -> dict[int, Any] | None:
    """The labels of checked rows, by position; None where no row is checked."""
    mask = check_verified(verified, n)
    if y is not None and len(y) != n:
        raise ValueError(f"y has {len(y)} labels for {n} rows of X.")
    if mask is None:
        return None
    if isinstance(verified, Mapping):
        return dict(verified)
    if y is None:
        raise ValueError("verified marks rows whose label in y is right, but y is None; pass y.")
    rows = np.flatnonzero(mask)
    return dict(zip(rows.tolist(), label_array(y)[rows].tolist(), strict=True))


def fit_to_answers(
    answers: Annotations,
    known: np.ndarray | None,
    fit: Callable[[SoftLabels], tuple[np.ndarray, np.ndarray]],
) -> Consensus:
    """Alternate between the consensus and a model; the consensus with the last model's voice.

    ``fit`` fits to soft labels and returns out-of-sample probabilities and their classes.
    """
    crowd = fit_crowd(answers, None, known)
    for _ in range(N_MODELS):
        proba, classes = fit(softened(crowd, answers))
        crowd = fit_crowd(answers, as_voice(proba, classes, answers.classes), known)
    return judged(answers, crowd, known)


def softened(crowd: CrowdModel, answers: Annotations) -> SoftLabels:
    """The consensus as soft labels, without classes that hardly count.

    The row where a class counts most keeps it: the model must know all classes.
    """
    kept = crowd.posterior >= LEAST_SHARE
    kept[crowd.posterior.argmax(axis=0), np.arange(answers.n_classes)] = True
    soft = np.where(kept, np.maximum(crowd.posterior, np.finfo(float).tiny), 0)
    return SoftLabels(soft / soft.sum(axis=1, keepdims=True), answers.classes)


def as_voice(proba: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Probabilities of all classes; equal ones for rows that were not trained on."""
    voice = np.zeros((len(proba), len(classes)))
    voice[:, np.searchsorted(classes, known)] = proba
    return np.where(np.isfinite(voice).all(axis=1, keepdims=True), voice, 1 / len(classes))


def of_one_annotator(answers: Annotations, model: Any) -> tuple[ConsensusTable, AnnotatorTable]:
    """Tables where each row has one answer of the same annotator: what the noise model tells."""
    ones = np.ones(answers.n_items)
    table = ConsensusTable(
        answers.items,
        answers.classes[answers.label],
        model.label_scores_,
        answers.per_item(),
        ones,
    )
    low, high = model.noise_rate_interval_
    annotator = AnnotatorTable(
        answers.annotators,
        np.array([answers.n_items]),
        np.array([1 - model.noise_rate_]),
        np.array([1 - high]),
        np.array([1 - low]),
        np.ones(1),
        np.zeros(1, dtype=int),
        np.zeros(1, dtype=int),
        model.transition_matrix_[None],
        answers.classes,
    )
    return table, annotator
