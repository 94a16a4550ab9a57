"""Decisions that mind what mistakes cost.

Every booster takes costs at prediction: ``model.predict(X, cost_matrix=...)``.
:class:`~steadyboost.SoftmaxBoostClassifier` can learn with them.
"""

from steadyboost.ensemble.costs import expected_costs, mean_cost, min_expected_cost

__all__ = ["expected_costs", "mean_cost", "min_expected_cost"]
