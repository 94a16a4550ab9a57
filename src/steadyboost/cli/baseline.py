"""Errors that tell how good a fitted model is: cross-fitted, and of no model at all."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from steadyboost.cli.progress import RoundProgress, Tell
from steadyboost.ensemble.validation import take_rows

if TYPE_CHECKING:
    from steadyboost.cli.inputs import Training

FEWEST_ROWS = 20  # for estimates of errors
CONFIDENCE = 1.64  # standard errors: a one-sided level of 95 %


class CrossFitted(NamedTuple):
    """Answers for training rows by models that have not seen them.

    ``right`` tells whether each is the given label, ``usual`` whether that is the most frequent
    class; rows without an answer are left out.
    """

    right: np.ndarray
    usual: np.ndarray
    most_frequent: str

    @property
    def error(self) -> float:
        return float(1 - self.right.mean())

    @property
    def baseline(self) -> float:
        """The error of always answering the most frequent class."""
        return float(1 - self.usual.mean())

    @property
    def is_better(self) -> bool:
        """Whether the error is clearly below that of the baseline."""
        gain = self.right.astype(float) - self.usual
        return bool(gain.mean() > CONFIDENCE * gain.std() / np.sqrt(len(gain)))

    def sentences(self) -> list[str]:
        lines = [
            f"cross-fitted error {self.error:.1%}; always answering {self.most_frequent!r}: "
            f"{self.baseline:.1%}"
        ]
        if not self.is_better:
            lines.append(
                f"warning: the model is not clearly better than always answering "
                f"{self.most_frequent!r}; the columns may not tell the classes apart, or the rows "
                "are too few"
            )
        return lines


def cross_fitted(model: Any, training: Training, folds: int, tell: Tell) -> CrossFitted | None:
    """Cross-fitted answers of a fitted booster; None where there are too few rows.

    A booster that is cross-fitted in itself has them; clones of others are fitted to each fold.
    """
    y = training.y
    if len(y) < FEWEST_ROWS:
        return None
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    usual = codes == counts.argmax()
    proba = getattr(model, "out_of_sample_proba_", None)
    if proba is not None:
        known = np.isfinite(proba).all(axis=1)
        said = np.where(known, np.nan_to_num(proba).argmax(axis=1), -1)
    elif folds < 2 or counts.max() < 2:
        return None
    else:
        said = _refitted(model, training, codes, min(folds, int(counts.max())), tell)
        known = np.ones(len(y), dtype=bool)
    if not known.any():
        return None
    return CrossFitted((said == codes)[known], usual[known], str(classes[counts.argmax()]))


def _refitted(
    model: Any, training: Training, codes: np.ndarray, folds: int, tell: Tell
) -> np.ndarray:
    """The class index that clones, each fitted without a fold, predict for its rows."""
    table, said = training.table, np.empty(len(codes), dtype=np.int64)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=model.random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        parts = list(splitter.split(codes, codes))
    for fold, (train, test) in enumerate(parts, start=1):
        X, weights = take_rows(train, table.X, table.weights)
        one = clone(model).set_params(
            callbacks=[RoundProgress(tell, f"fold {fold} of {folds}", repeats=0)]
        )
        one.fit(X, training.y[train], weights)
        answers = one.predict(take_rows(test, table.X)[0])
        said[test] = np.searchsorted(model.classes_, answers)
    return said
