"""Costs of misclassification: checks, stakes for training, and decisions by expected cost.

The *stake* of a row is the cost of its most expensive answer minus that of its cheapest. Training
on costs is training with rows weighted (or drawn) by their stakes and with costs divided by the
stakes, which are from 0 to 1: the expected cost is the same up to a factor. With 0-1 costs every
stake is 1.
"""

from typing import Any, ClassVar

import numpy as np

from steadyboost.ensemble.validation import LARGEST_WEIGHT, SMALLEST_WEIGHT


def check_cost_matrix(cost_matrix: Any, n_classes: int) -> np.ndarray:
    """The matrix as floats, if it has a finite, non-negative cost for each pair of classes."""
    costs = _as_numbers(cost_matrix, "cost_matrix")
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has shape {costs.shape}, but there are {n_classes} classes; pass a "
            f"({n_classes}, {n_classes}) matrix: a row per true class, a column per predicted one."
        )
    _check_values(costs, "cost_matrix")
    return costs


def check_row_costs(costs: Any, shape: tuple[int, int]) -> np.ndarray:
    """Costs of each label in each row as floats, if they are finite and non-negative."""
    costs = _as_numbers(costs, "costs")
    if costs.shape != shape:
        raise ValueError(
            f"costs has shape {costs.shape}, but X and y ask for {shape}; pass a row per row of X "
            "and a column per label, in sorted order."
        )
    _check_values(costs, "costs")
    return costs


def stakes_of(costs: np.ndarray) -> np.ndarray:
    """Stakes by row: the cost of the most expensive answer minus that of the cheapest."""
    return costs.max(axis=-1) - costs.min(axis=-1)


def over_stakes(costs: np.ndarray) -> np.ndarray:
    """Costs scaled by row from 0, the cheapest answer, to 1, the most expensive one."""
    stakes = stakes_of(costs)[..., None]
    return (costs - costs.min(axis=-1, keepdims=True)) / np.where(stakes > 0, stakes, 1)


def weighted_by_stakes(weights: np.ndarray | None, stakes: np.ndarray | None) -> np.ndarray | None:
    """Weights of rows times their stakes; None for either where all are one."""
    if stakes is None:
        return weights
    return stakes if weights is None else weights * stakes


def weighted_classes(proba: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Class probabilities, along the last axis, if rows are weighted by a factor of their class."""
    if (factors == factors[0]).all():
        return proba
    weighted = proba * factors
    return weighted / weighted.sum(axis=-1, keepdims=True)


def unweighted_classes(proba: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Class probabilities without the class weights that the model was trained with."""
    return weighted_classes(proba, 1 / factors)


def _as_numbers(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers; got {values!r:.100}.") from error


def _check_values(costs: np.ndarray, name: str) -> None:
    bad = np.argwhere(~(np.isfinite(costs) & (costs >= 0)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {costs[row, column]}; costs must be finite and not "
            "negative. Adding a constant to a row changes no decision."
        )
    positive = costs[costs > 0]
    if len(positive) and not SMALLEST_WEIGHT <= positive.min() <= positive.max() <= LARGEST_WEIGHT:
        raise ValueError(
            f"{name} has costs from {positive.min():g} to {positive.max():g}; multiply all by one "
            f"number, so that those above 0 are between {SMALLEST_WEIGHT:.0e} and "
            f"{LARGEST_WEIGHT:.0e}."
        )


def expected_costs(proba: Any, cost_matrix: Any) -> np.ndarray:
    """Expected cost of each answer, given the probabilities of the true class.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Class probabilities.
    cost_matrix : array-like of shape (k, k)
        ``cost_matrix[t, p]`` is the cost of predicting class p where the true class is t.

    Returns
    -------
    costs : ndarray of shape (n, k)
        Expected costs.

    Examples
    --------
    >>> expected_costs([[0.9, 0.1]], [[0, 1], [20, 0]])
    array([[2. , 0.9]])
    """
    proba = _as_numbers(proba, "proba")
    if proba.ndim != 2:
        raise ValueError(
            f"proba has shape {proba.shape}; pass a row per sample and a column per class, as "
            "predict_proba returns them."
        )
    return proba @ check_cost_matrix(cost_matrix, proba.shape[1])


def min_expected_cost(proba: Any, cost_matrix: Any) -> np.ndarray:
    """The class of least expected cost for each row.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Class probabilities.
    cost_matrix : array-like of shape (k, k)
        ``cost_matrix[t, p]`` is the cost of predicting class p where the true class is t. The
        diagonal need not be 0.

    Returns
    -------
    answers : ndarray of shape (n,)
        Indices of classes; of equally cheap ones the first.

    Examples
    --------
    Missing a rare class costs twenty times a false alarm: one in ten is probable enough.

    >>> min_expected_cost([[0.9, 0.1], [0.99, 0.01]], [[0, 1], [20, 0]])
    array([1, 0])
    """
    return expected_costs(proba, cost_matrix).argmin(axis=1)


def mean_cost(y_true: Any, y_pred: Any, cost_matrix: Any, labels: Any = None) -> float:
    """Mean cost of predictions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels.
    cost_matrix : array-like of shape (k, k)
        Costs from true to predicted, in the order of ``labels``.
    labels : array-like of shape (k,), default=None
        The labels, sorted; by default those in ``y_true`` and ``y_pred``.

    Returns
    -------
    cost : float
        The mean.

    Examples
    --------
    >>> mean_cost(["a", "a", "b"], ["a", "b", "a"], [[0, 1], [20, 0]])
    7.0
    """
    both = np.concatenate([y_true, y_pred])
    labels, found = np.unique(both if labels is None else labels), both
    costs = check_cost_matrix(cost_matrix, len(labels))
    at = np.searchsorted(labels, found).clip(max=len(labels) - 1)
    if not (labels[at] == found).all():
        unknown = np.unique(found[labels[at] != found])[:5].tolist()
        raise ValueError(f"y_true or y_pred has labels {unknown}, which are not in labels.")
    true, predicted = np.split(at, 2)
    return float(costs[true, predicted].mean())


class CostSensitive:
    """A booster whose ``fit`` may be passed a cost matrix for all rows.

    Training rows are weighted by the stake of their class. Probabilities are corrected for these
    weights, and the class of least expected cost is predicted.
    """

    n_classes_: int
    classes_: np.ndarray
    cost_matrix_: Any = None  # as it was passed to ``fit``; absent where none was
    scores_know_costs: ClassVar[bool] = False  # whether it minimises the cost itself
    weighs_stakes: ClassVar[bool] = True  # or only answers by expected cost

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def wrong(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def set_cost_matrix(self, cost_matrix: Any) -> None:
        """Keep what was passed to ``fit`` until the classes are known."""
        self.__dict__.pop("cost_matrix_", None)
        if cost_matrix is not None:
            self.cost_matrix_ = cost_matrix

    def check_cost_matrix(self) -> None:
        """Validate what was passed to ``fit``, now that the classes are known."""
        if self.cost_matrix_ is None:
            return
        self.cost_matrix_ = costs = check_cost_matrix(self.cost_matrix_, self.n_classes_)
        unmoved = self.classes_[stakes_of(costs) == 0][:5].tolist()
        if unmoved and len(costs) > 1:
            raise ValueError(
                f"cost_matrix gives all answers the same cost where the truth is one of {unmoved}: "
                "their rows could teach nothing. Make the right answer cheaper than the others."
            )

    def row_stakes(self, y: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray | None:
        """Stakes of rows of these classes; None where all are equal."""
        if self.cost_matrix_ is None or not self.weighs_stakes:
            return None
        stakes = stakes_of(self.cost_matrix_)
        return None if (stakes == stakes[0]).all() else stakes[y]

    @property
    def decision_costs(self) -> np.ndarray | None:
        """The costs that predictions minimise; None if they are the most probable classes."""
        return None if self.scores_know_costs else self.cost_matrix_

    def class_probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities, corrected for the stakes that training rows were weighted by."""
        proba, costs = self.probabilities(scores), self.decision_costs
        if costs is None or not self.weighs_stakes:
            return proba
        return unweighted_classes(proba, stakes_of(costs))

    def answers(self, proba: np.ndarray) -> np.ndarray:
        """Indices of the predicted classes: the most probable, or those of least expected cost."""
        costs = self.decision_costs
        return proba.argmax(axis=1) if costs is None else min_expected_cost(proba, costs)

    def losses(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Loss of each prediction: 1 if it is wrong, or its cost divided by the stake."""
        if self.cost_matrix_ is None:
            return self.wrong(scores, y)
        return over_stakes(self.cost_matrix_)[y, self.answers(self.class_probabilities(scores))]
