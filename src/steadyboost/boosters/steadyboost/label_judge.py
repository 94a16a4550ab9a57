"""What a fit says of the labels that it was fitted to: which are wrong, and what they might be."""

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.soft_labels import rows_of_copies
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import in_range
from steadyboost.ensemble.verified import Checked
from steadyboost.noise.label_errors import is_flagged, judge_labels
from steadyboost.noise.label_table import LabelTable
from steadyboost.noise.noise_model import Reading


class LabelJudge(BoostingClassifier):
    """A classifier that keeps, of each row that it was fitted to, how likely its label is wrong."""

    _given: np.ndarray  # the label of each row, and the one that fits better, as classes' indices
    _suggested: np.ndarray

    def class_factors(self, rows: TrainingState) -> np.ndarray:
        """(k,): how much more rows of each class weigh by class weights and stakes."""
        factors, stakes = np.ones(self.n_classes_), self.row_stakes(rows.y)
        if self.class_weight is not None or stakes is not None:
            by_row = compute_sample_weight(self.class_weight, self.classes_[rows.y])
            by_row = by_row if stakes is None else by_row * stakes
            factors[rows.y] = in_range(by_row, float(by_row.max()))
        return factors

    def judge(
        self, rows: TrainingState, readings: list[Reading], weights: np.ndarray | None
    ) -> None:
        """Keep how likely each given label is wrong, by readings of out-of-sample probabilities.

        Class weights and stakes change the model, not the labels: probabilities and weights are
        those without them.
        """
        n = rows.n_passed
        y, weights, numbers, places = without_copies(rows, weights)
        readings = [own._replace(proba=own.proba[places]) for own in readings]
        known = (of_rows(own, rows, numbers) for own in (rows.verified, rows.given))
        checked = Checked.of(y, *known)
        self.label_errors_ = errors = judge_labels(readings, y, weights, checked=checked)
        self.out_of_sample_proba_ = np.full((n, self.n_classes_), np.nan)
        self.out_of_sample_proba_[numbers] = readings[0].proba
        self.label_scores_ = np.full(n, np.nan)
        self.label_scores_[numbers] = 1 - errors.wrong
        self._given = np.zeros(n, dtype=np.int32)
        self._given[numbers] = y
        self._suggested = self._given.copy()
        self._suggested[numbers] = np.where(
            is_flagged(errors.wrong) & ~checked.verified, errors.other, y
        )
        self.noise_rate_, self.transition_matrix_ = errors.rate.rate, errors.transition
        self.noise_rate_interval_ = np.array([errors.rate.low, errors.rate.high])

    @property
    def labels_(self) -> LabelTable:
        """All training rows, the least credible label first."""
        given, suggested = self.classes_[self._given], self.classes_[self._suggested]
        return LabelTable.ranked(given, suggested, self.label_scores_)

    @property
    def suspects_(self) -> LabelTable:
        """Rows whose label is more likely wrong than right, the worst first."""
        return self.labels_.disputed()


def without_copies(
    rows: TrainingState, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None, Any, Any]:
    """Labels, weights, numbers and places of rows, whose label is the likeliest if soft."""
    row_of = rows_of_copies(rows.numbers)
    if row_of is None:
        return rows.y, weights, rows.numbers, slice(None)
    assert weights is not None
    order = np.lexsort((-weights, row_of))
    best = order[np.flatnonzero(np.diff(row_of[order], prepend=-1))]
    return rows.y[best], np.bincount(row_of, weights=weights), rows.numbers[best], best


def of_rows(known: np.ndarray | None, rows: TrainingState, numbers: Any) -> np.ndarray | None:
    """What is known of each copy of a row, by the numbers of the rows."""
    if known is None:
        return None
    passed = np.zeros(rows.n_passed, dtype=known.dtype)
    passed[rows.numbers] = known
    return passed[numbers]
