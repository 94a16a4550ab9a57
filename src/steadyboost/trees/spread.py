"""Growth over shards on several machines.

Their growers do the same side by side: they meet to add up histograms, once a level, and one judge
chooses the splits for all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.trees.sharded import (
    Family,
    Found,
    Run,
    Shard,
    ShardedGrowth,
    add_up,
    best_of,
)

Meet = Callable[[Sequence[Any], Callable[[list[Any]], Any]], Any]


@dataclass(frozen=True)
class Judge:
    """Chooses the splits of nodes from their histograms, of which each machine has a part."""

    features: np.ndarray
    layout: tuple
    totals: list[np.ndarray]
    rule: tuple

    def __call__(self, parts: list[np.ndarray]) -> list[Found]:
        hists = add_up(parts)
        return [
            best_of(hist, self.features, self.layout, total, self.rule)
            for hist, total in zip(hists, self.totals, strict=True)
        ]


class SpreadGrowth(ShardedGrowth):
    """As that, while other machines grow the same tree over shards of their own."""

    def __init__(
        self,
        shards: Sequence[Shard],
        rule: tuple,
        limits: tuple,
        run: Run,
        meet: Meet,
    ):
        super().__init__(shards, rule, limits, run)
        self.meet, self.features = meet, shards[0].bins[1]

    def found(self, level: Sequence[int], families: Sequence[Family]) -> list[Found]:
        """One meeting for all nodes of a level."""
        self.merge(families, self.features)
        hists = np.stack([self.hists[at] for at in level])
        totals = [self.nodes[at].total for at in level]
        return self.meet([hists], Judge(self.features, self.layout, totals, self.rule))
