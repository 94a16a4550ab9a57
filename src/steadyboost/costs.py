"""Decisions that mind what mistakes cost.

Every booster takes costs in training, ``model.fit(X, y, cost_matrix=...)``, or at prediction,
``model.predict(X, cost_matrix=...)``.
"""

from steadyboost.ensemble.costs import expected_costs, mean_cost, min_expected_cost

__all__ = ["expected_costs", "mean_cost", "min_expected_cost"]
