"""Parameters of the growth of a tree, as users set them and as kernels take them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steadyboost.trees.splits import criteria
from steadyboost.trees.splits.criteria import SplitParams

CRITERIA = {
    "gini": criteria.GINI,
    "entropy": criteria.ENTROPY,
    "error": criteria.ERROR,
    "edge": criteria.EDGE,
    "newton": criteria.NEWTON,
    "max_edge": criteria.MAX_EDGE,
    "norm": criteria.NORM,
}


class GrowthLimits(NamedTuple):
    """Limits of a tree, and whether the node of the largest gain is split next."""

    max_depth: int
    max_leaves: int
    best_first: bool


@dataclass(frozen=True)
class TreeParams:
    """Criterion and limits of a tree; ``None`` is no limit."""

    criterion: str = "gini"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    l2: float = 0.0
    # Of sums in channels: mass times squared deviation that a category has by chance; see
    # ``signal_share``. In batches of Newton trees it is a factor on the gradients' own variance.
    category_noise: float = 0.0

    @property
    def counts_rows(self) -> bool:
        """Whether the rows of a leaf have to be counted."""
        return self.min_samples_leaf > 1

    def capacity(self, n_rows: int) -> int:
        """Maximum number of nodes of the tree."""
        leaves = max(n_rows, 1)
        if self.max_leaf_nodes is not None:
            leaves = min(leaves, self.max_leaf_nodes)
        if self.max_depth is not None and self.max_depth < 31:
            leaves = min(leaves, 2**self.max_depth)
        return 2 * leaves - 1

    def limits(self, n_rows: int) -> GrowthLimits:
        depth = n_rows if self.max_depth is None else self.max_depth
        leaves = n_rows if self.max_leaf_nodes is None else self.max_leaf_nodes
        return GrowthLimits(depth, leaves, self.max_leaf_nodes is not None)

    def split(self, total: np.ndarray, fixed_point_scale: float) -> SplitParams:
        """Minimum mass and count of a side, in fixed point; a mass may be short by rounding.

        ``total`` is the sum of all rows, by channel, and 2**60 stands for ``fixed_point_scale``.
        """
        min_mass = 1
        if self.min_weight_leaf > 0:
            mass = total.sum() if CRITERIA[self.criterion] < criteria.EDGE else total[-1]
            # A leaf that has just the share of the weight may miss it after rounding.
            min_mass = max(1, int(self.min_weight_leaf * mass * (1 - 1e-9)))
        min_count = self.min_samples_leaf if self.counts_rows else 0
        one = 2.0**60 / fixed_point_scale
        l2, noise = (own * one if own else 0.0 for own in (self.l2, self.category_noise))
        return SplitParams(CRITERIA[self.criterion], min_mass, min_count, l2, noise, 0)
