"""What it costs to take one class for another."""

from typing import Any

import numpy as np


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


def expected_costs(proba: Any, cost_matrix: Any) -> np.ndarray:
    """Expected cost of each answer, given the probabilities of the true class.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Class probabilities.
    cost_matrix : array-like of shape (k, k)
        ``cost_matrix[t, p]`` is the cost of answering class p where the truth is class t.

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
    """The cheapest answer to each row, by its class probabilities.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Class probabilities.
    cost_matrix : array-like of shape (k, k)
        ``cost_matrix[t, p]`` is the cost of answering class p where the truth is class t. The
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
