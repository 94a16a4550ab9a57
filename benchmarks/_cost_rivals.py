"""Methods that mind costs, for ``costs.py``: what each answers to new rows, by cost matrix."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from steadyboost import SoftmaxBoostClassifier, SteadyBoostClassifier
from steadyboost.costs import mean_cost, min_expected_cost

Rows = tuple[np.ndarray, np.ndarray]
Matrices = dict[str, np.ndarray]
Answers = dict[str, np.ndarray]  # by name of the matrix


def by_expected_cost(make: Callable[[int], Any], train: Rows, X: Any, m: Matrices, seed: int):
    """Train once, without costs; choose answers by expected cost."""
    proba = make(seed).fit(*train).predict_proba(X)
    return {name: min_expected_cost(proba, costs) for name, costs in m.items()}


def most_probable(make: Callable[[int], Any], train: Rows, X: Any, m: Matrices, seed: int):
    """Never mind the costs."""
    answers = make(seed).fit(*train).predict(X)
    return dict.fromkeys(m, answers)


def trained_on_costs(make: Callable[[int], Any], train: Rows, X: Any, m: Matrices, seed: int):
    return {name: make(seed).fit(*train, cost_matrix=costs).predict(X) for name, costs in m.items()}


def printed_algorithm(train: Rows, X: Any, m: Matrices, seed: int) -> Answers:
    """Algorithm 2 of papers/004, with costs over their maximum, as its text asks for."""
    model = SoftmaxBoostClassifier(row_sampling="uniform", random_state=seed)
    return {
        name: model.fit(*train, cost_matrix=costs / costs.max()).predict(X)
        for name, costs in m.items()
    }


def weighted_lightgbm(train: Rows, X: Any, m: Matrices, seed: int) -> Answers:
    """Classes weighted by their stakes, and the threshold that these weights leave to choose."""
    found = {}
    for name, costs in m.items():
        stakes = np.ptp(costs, axis=1)
        weights = dict(enumerate(stakes / stakes.mean()))
        proba = lightgbm(seed, class_weight=weights).fit(*train).predict_proba(X)
        found[name] = min_expected_cost(proba, costs / stakes[:, None])
    return found


def tuned_threshold(train: Rows, X: Any, m: Matrices, seed: int) -> Answers:
    """scikit-learn's cross-validated threshold for these costs; two classes only."""
    found = {}
    for name, costs in m.items():
        scorer = make_scorer(mean_cost, greater_is_better=False, cost_matrix=costs, labels=[0, 1])
        trees = HistGradientBoostingClassifier(random_state=seed)
        model = TunedThresholdClassifierCV(trees, scoring=scorer, random_state=seed)
        found[name] = model.fit(*train).predict(X)
    return found


def lightgbm(seed: int, **params: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed, **params)


def steady(seed: int) -> SteadyBoostClassifier:
    return SteadyBoostClassifier(n_jobs=1, random_state=seed)


def softmax(seed: int, **params: Any) -> SoftmaxBoostClassifier:
    return SoftmaxBoostClassifier(n_jobs=1, random_state=seed, **params)


RIVALS: dict[str, Callable[[Rows, Any, Matrices, int], Answers]] = {
    "SteadyBoost, costs in fit": partial(trained_on_costs, steady),
    "SteadyBoost, costs in predict": partial(by_expected_cost, steady),
    "SteadyBoost, no costs": partial(most_probable, steady),
    "soft-max, costs": partial(
        trained_on_costs, partial(softmax, n_samples=2.0, learning_rate=0.5)
    ),
    "soft-max, costs, defaults": partial(trained_on_costs, softmax),
    "soft-max as printed": printed_algorithm,
    "soft-max, costs in predict": partial(by_expected_cost, softmax),
    "LightGBM, weights + threshold": weighted_lightgbm,
    "LightGBM, costs in predict": partial(by_expected_cost, lightgbm),
    "TunedThresholdClassifierCV": tuned_threshold,
}
BINARY_ONLY = {"TunedThresholdClassifierCV"}
