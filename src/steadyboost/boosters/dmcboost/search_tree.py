"""Trees whose splits are scored by a line search over all rows.

While a node is split, the rows outside it keep their labels (before the root is split: none). So
what a split is worth depends on the rest of the tree, and a node is looked at when its turn comes:
depth first, the left child first, or, where leaves are limited, all open nodes before each split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steadyboost.boosters.dmcboost.margin_state import SearchSample
from steadyboost.trees.growth.partition import bin_table, partition
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.splits.bitset import BITSET_WORDS


@dataclass(frozen=True)
class LineSearchSplit:
    """A split of a node; the smallest ``key`` is the best, its last entry breaks ties."""

    key: tuple[float, ...]
    feature: int
    left_bitset: np.ndarray
    labels: tuple[int, int]
    step: float = 0.0


@dataclass(eq=False)
class Leaf:
    """A node that has not been split (yet)."""

    rows: np.ndarray
    label: int
    depth: int
    place: int


class LineSearchScorer(Protocol):
    """Finds the best split of a leaf, given the labels of all other leaves."""

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> LineSearchSplit | None: ...

    def apply(self, split: LineSearchSplit, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        """Update the scorer after a leaf has been split into two."""
        ...

    def label_all(self, rows: np.ndarray) -> int:
        """The label of a tree that cannot be split."""
        ...


class SearchTree:
    """Grows one tree."""

    def __init__(
        self,
        sample: SearchSample,
        scorer: LineSearchScorer,
        max_depth: int | None,
        leaves: int | None,
    ):
        n = sample.binned.n_rows
        self.sample, self.scorer = sample, scorer
        self.max_depth = n if max_depth is None else max_depth
        self.best_first, self.max_leaves = (
            leaves is not None,
            n if leaves is None else leaves,
        )
        self.scratch, self.goes_left = np.empty(n, dtype=np.int32), bin_table()
        self.leaves = [Leaf(np.arange(n, dtype=np.int32), -1, 0, 0)]
        self.open = list(self.leaves)
        self.labels, self.depths = [-1], [0]
        self.masses = [self.sample.mass_of(self.leaves[0].rows)]
        self.splits: dict[int, tuple[LineSearchSplit, int]] = {}

    def grow(self) -> tuple[GrownTree, np.ndarray, np.ndarray]:
        """The tree, the label of each node and the vote of each row."""
        while self.open and len(self.leaves) < self.max_leaves:
            tried = self.open if self.best_first else self.open[-1:]
            candidates = [(self.look_at(leaf), leaf) for leaf in tried]
            useful = [(split, leaf) for split, leaf in candidates if split is not None]
            useless = [leaf.place for split, leaf in candidates if split is None]
            self.open = [leaf for leaf in self.open if leaf.place not in useless]
            if useful:
                self.split(*min(useful, key=lambda pair: (pair[0].key[:-1], pair[1].place)))
        if not self.splits:
            self.labels[0] = self.leaves[0].label = self.scorer.label_all(self.leaves[0].rows)
        votes = np.empty(self.sample.binned.n_rows, dtype=np.int32)
        for leaf in self.leaves:
            votes[leaf.rows] = leaf.label
        return self.grown(), np.array(self.labels, dtype=np.int32), votes

    def look_at(self, leaf: Leaf) -> LineSearchSplit | None:
        """The best split, None for a leaf at a limit or of one class."""
        if leaf.depth >= self.max_depth or np.count_nonzero(self.masses[leaf.place]) < 2:
            return None
        return self.scorer.search(leaf, self.leaves)

    def split(self, split: LineSearchSplit, leaf: Leaf) -> None:
        column, place = self.sample.binned.column(split.feature), len(self.labels)
        n_left = partition(*column, split.left_bitset, leaf.rows, self.scratch, self.goes_left, -1)
        sides = leaf.rows[:n_left], leaf.rows[n_left:]
        children = [
            Leaf(rows, label, leaf.depth + 1, place + side)
            for side, (rows, label) in enumerate(zip(sides, split.labels, strict=True))
        ]
        at = self.leaves.index(leaf)
        self.leaves[at : at + 1] = children
        self.open = [other for other in self.open if other is not leaf] + children[::-1]
        self.splits[leaf.place] = split, place
        self.scorer.apply(split, leaf, children)
        smaller = int(n_left > len(sides[1]))
        mass = self.sample.mass_of(sides[smaller])
        rest = self.masses[leaf.place] - mass
        self.masses += [rest, mass] if smaller else [mass, rest]
        for child in children:
            self.labels.append(child.label)
            self.depths.append(child.depth)

    def grown(self) -> GrownTree:
        n = len(self.labels)
        mass = np.array(self.masses, dtype=float)
        purity = (mass**2).sum(axis=1) / mass.sum(axis=1)
        feature, gain = np.zeros(n, dtype=np.int32), np.zeros(n)
        children = np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1)
        left_bitset = np.zeros((n, BITSET_WORDS), dtype=np.uint32)
        for place, (split, left) in self.splits.items():
            feature[place], left_bitset[place] = split.feature, split.left_bitset
            children[place] = left, left + 1
            gain[place] = max(purity[left] + purity[left + 1] - purity[place], 0.0)
        total = mass[0].sum()
        return GrownTree(
            feature, children, left_bitset, mass / total, gain / total, max(self.depths)
        )


def search_tree(
    sample: SearchSample,
    scorer: LineSearchScorer,
    max_depth: int | None,
    max_leaf_nodes: int | None,
) -> tuple[GrownTree, np.ndarray, np.ndarray]:
    """Grow a tree by a scorer's splits: the tree, the label of each node, the vote of each row."""
    return SearchTree(sample, scorer, max_depth, max_leaf_nodes).grow()
