"""Trees whose splits are judged by a line search over all rows.

While a node is split, the rows outside it keep their labels (before the root is split: none). So
what a split is worth depends on the rest of the tree, and a node is looked at when its turn comes:
depth first, the left child first, or, where leaves are limited, all open nodes before each split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steadyboost.boosters.dmcboost.standing import Sample
from steadyboost.trees.growth.partition import bin_table, partition
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.splits.bitset import BITSET_WORDS


@dataclass(frozen=True)
class Found:
    """A split of a node; the smallest ``key`` is the best, its last part decides between equals."""

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


class Judge(Protocol):
    """Finds the best split of a leaf, the labels of all others given."""

    def search(self, leaf: Leaf, leaves: Sequence[Leaf]) -> Found | None: ...

    def take(self, found: Found, parent: Leaf, leaves: Sequence[Leaf]) -> None:
        """Called when a leaf is split, with its two leaves."""
        ...

    def label_all(self, rows: np.ndarray) -> int:
        """The label of a tree that cannot be split."""
        ...


class SearchTree:
    """A tree in the making."""

    def __init__(self, sample: Sample, judge: Judge, max_depth: int | None, leaves: int | None):
        n = sample.binned.n_rows
        self.sample, self.judge = sample, judge
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
        self.splits: dict[int, tuple[Found, int]] = {}

    def grow(self) -> tuple[GrownTree, np.ndarray, np.ndarray]:
        """The tree, the label of each node and the vote of each row."""
        while self.open and len(self.leaves) < self.max_leaves:
            tried = self.open if self.best_first else self.open[-1:]
            found = [(self.look_at(leaf), leaf) for leaf in tried]
            useful = [(split, leaf) for split, leaf in found if split is not None]
            useless = [leaf.place for split, leaf in found if split is None]
            self.open = [leaf for leaf in self.open if leaf.place not in useless]
            if useful:
                self.split(*min(useful, key=lambda pair: (pair[0].key[:-1], pair[1].place)))
        if not self.splits:
            self.labels[0] = self.leaves[0].label = self.judge.label_all(self.leaves[0].rows)
        votes = np.empty(self.sample.binned.n_rows, dtype=np.int32)
        for leaf in self.leaves:
            votes[leaf.rows] = leaf.label
        return self.grown(), np.array(self.labels, dtype=np.int32), votes

    def look_at(self, leaf: Leaf) -> Found | None:
        """The best split, None for a leaf at a limit or of one class."""
        if leaf.depth >= self.max_depth or np.count_nonzero(self.masses[leaf.place]) < 2:
            return None
        return self.judge.search(leaf, self.leaves)

    def split(self, found: Found, leaf: Leaf) -> None:
        column, place = self.sample.binned.column(found.feature), len(self.labels)
        n_left = partition(*column, found.left_bitset, leaf.rows, self.scratch, self.goes_left, -1)
        sides = leaf.rows[:n_left], leaf.rows[n_left:]
        children = [
            Leaf(rows, label, leaf.depth + 1, place + side)
            for side, (rows, label) in enumerate(zip(sides, found.labels, strict=True))
        ]
        at = self.leaves.index(leaf)
        self.leaves[at : at + 1] = children
        self.open = [other for other in self.open if other is not leaf] + children[::-1]
        self.splits[leaf.place] = found, place
        self.judge.take(found, leaf, children)
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
        for place, (found, left) in self.splits.items():
            feature[place], left_bitset[place] = found.feature, found.left_bitset
            children[place] = left, left + 1
            gain[place] = max(purity[left] + purity[left + 1] - purity[place], 0.0)
        total = mass[0].sum()
        return GrownTree(
            feature, children, left_bitset, mass / total, gain / total, max(self.depths)
        )


def search_tree(
    sample: Sample, judge: Judge, max_depth: int | None, max_leaf_nodes: int | None
) -> tuple[GrownTree, np.ndarray, np.ndarray]:
    """Grow a tree by a judge's splits: the tree, the label of each node, the vote of each row."""
    return SearchTree(sample, judge, max_depth, max_leaf_nodes).grow()
