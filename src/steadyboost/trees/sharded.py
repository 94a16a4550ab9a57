"""Growth over shards of rows, level by level, with the kernels of the compiled grower.

A shard keeps its rows, their order by node and its own histograms; only sums and splits travel.
Sums are integers, so the tree is the one that :func:`steadyboost.trees.grower.grow` grows on all
rows at once, bit for bit, however the rows are dealt. Two calls per shard and level.

Shards may be on several machines, whose growers do the same side by side: they meet to add up
histograms, once a level, and one judge chooses the splits for all.

Best-first growth looks ahead: on each level it splits every open node that could still be chosen,
and chooses among them at the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from steadyboost.trees.grower import (
    add_children,
    fill_histogram,
    may_split,
    partition,
    settle,
    subtract,
)
from steadyboost.trees.histogram import merge_range
from steadyboost.trees.prediction import rename
from steadyboost.trees.sparse_kernels import column_of
from steadyboost.trees.splitting import SET_WORDS, best_split, gain_of

Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
Meet = Callable[[Sequence[Any], Callable[[list[Any]], Any]], Any]
Found = tuple[float, int, np.ndarray, np.ndarray]  # score, feature, left set and its sums


def add_up(values: list[Any]) -> Any:
    """Their sum, in order."""
    return reduce(add, values)


def one_by_one(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [function(item) for item in items]


@dataclass
class Node:
    """A node while the tree grows; ``left`` is its left child, the right one follows it."""

    total: np.ndarray
    depth: int
    gain: float = -np.inf
    feature: int = -1
    left_set: np.ndarray = field(default_factory=lambda: np.zeros(SET_WORDS, dtype=np.uint32))
    left_sums: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    left: int = -1
    place: int = -1  # in the finished tree


class Shard:
    """Some of the rows of a training set, and their histogram to begin with."""

    def __init__(
        self, bins: tuple, sums: tuple, rows: np.ndarray, scratch: np.ndarray, n_channels: int
    ):
        self.bins, self.sums, self.rows, self.scratch = bins, sums, rows, scratch
        self.n_channels = n_channels
        self.n_cells = int(bins[2][0][-1]) * (n_channels + (len(sums[3]) > 0))
        self.span = {0: (0, len(rows))}
        self.hists: dict[int, np.ndarray] = {}
        self.fill(0)

    def rows_of(self, node: int) -> np.ndarray:
        start, stop = self.span[node]
        return self.rows[start:stop]

    def fill(self, node: int) -> None:
        self.hists[node] = np.empty(self.n_cells, dtype=np.int64)
        fill_histogram(self.bins, self.sums, self.rows_of(node), self.n_channels, self.hists[node])

    def split(self, at: int, node: Node, again: bool, last: bool, node_of_row: np.ndarray) -> None:
        """Send a node's rows to its children; histograms of both if one may split ``again``."""
        rows, parent = self.rows_of(at), self.hists.pop(at)
        column = column_of(self.bins, node.feature)
        start, stop = self.span.pop(at)
        if last:
            settle(*column, node.left_set, rows, node.left, node_of_row)
            return
        middle = start + partition(*column, node.left_set, rows, self.scratch)
        self.span[node.left], self.span[node.left + 1] = (start, middle), (middle, stop)
        if again:
            small = node.left + (middle - start > stop - middle)
            self.fill(small)
            subtract(parent, self.hists[small])
            self.hists[2 * node.left + 1 - small] = parent

    def settle_all(self, places: np.ndarray, node_of_row: np.ndarray) -> None:
        """Write where each row ends, by the places of nodes in the finished tree."""
        for node in self.span:
            node_of_row[self.rows_of(node)] = node
        rename(places, self.rows, node_of_row)


def best_of(
    hist: np.ndarray, features: np.ndarray, layout: tuple, total: np.ndarray, rule: tuple
) -> Found:
    """The best split of a node."""
    left_set, left_sums = np.zeros(SET_WORDS, dtype=np.uint32), np.zeros_like(total)
    score, feature = best_split(hist, features, layout, total, rule, left_set, left_sums)
    return score, feature, left_set, left_sums


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


class ShardedGrowth:
    """One tree in the making over ``shards``; ``run(function, items)`` maps in parallel."""

    def __init__(self, shards: Sequence[Shard], rule: tuple, limits: tuple, run: Run):
        self.shards, self.rule, self.limits, self.run = shards, rule, limits, run
        self.layout = shards[0].bins[2]
        features = shards[0].bins[1]
        self.stretches = [s for s in np.array_split(features, len(shards)) if len(s)]
        self.merged = np.empty(shards[0].n_cells, dtype=np.int64)  # a stretch each, node by node
        self.nodes: list[Node] = []

    def grow(self, tree: tuple, node_of_row: np.ndarray) -> int:
        self.nodes = [Node(tree[3][0].copy(), 0)]
        if self.may_split(0):
            self.search([0])
            while chosen := self.promising():
                self.search(self.split(chosen, node_of_row))
        return self.assemble(tree, node_of_row)

    def may_split(self, at: int) -> bool:
        node = self.nodes[at]
        return may_split(node.total, node.depth, 1, self.rule[0], self.limits)

    def search(self, level: Sequence[int]) -> None:
        """Best split of each node."""
        if not level:
            return
        for at, (score, feature, left_set, left_sums) in zip(level, self.found(level), strict=True):
            node = self.nodes[at]
            node.gain = gain_of(score, node.total, self.rule)
            if feature >= 0 and node.gain > -np.inf:
                node.feature, node.left_set, node.left_sums = feature, left_set, left_sums

    def found(self, level: Sequence[int]) -> list[Found]:
        """What is best in each node: each worker looks over its own stretch of features."""
        stretches = self.run(lambda stretch: self.search_stretch(stretch, level), self.stretches)
        return [max(own, key=lambda found: found[0]) for own in zip(*stretches, strict=True)]

    def merge(self, at: int, stretch: np.ndarray, out: np.ndarray) -> None:
        """Write a node's histogram of some features, over all shards."""
        offsets, n_channels = self.layout[0], len(self.nodes[at].total)
        cells = (offsets[stretch[0]], offsets[stretch[-1] + 1], offsets[-1])
        for k, shard in enumerate(self.shards):
            merge_range(shard.hists[at], cells, n_channels, k == 0, out)

    def search_stretch(self, stretch: np.ndarray, level: Sequence[int]) -> list[Found]:
        found = []
        for at in level:
            self.merge(at, stretch, self.merged)
            found.append(
                best_of(self.merged, stretch, self.layout, self.nodes[at].total, self.rule)
            )
        return found

    def replay(self) -> tuple[list[int], list[int]]:
        """Splits in the compiled grower's order, up to the first with unknown children.

        Also the nodes that are open then: none if the tree is complete.
        """
        nodes = self.nodes
        order: list[int] = []
        open_nodes = [0] if nodes[0].feature >= 0 else []
        nodes[0].place = 0
        while open_nodes and len(order) + 1 < self.limits[1]:
            at = open_nodes[-1]
            if self.limits[2]:
                at = min(open_nodes, key=lambda k: (-nodes[k].gain, nodes[k].place))
            if nodes[at].left < 0:
                return order, open_nodes
            open_nodes.remove(at)
            order.append(at)
            for side in range(2):
                child = nodes[at].left + side
                nodes[child].place = 2 * len(order) - 1 + side
                if nodes[child].feature >= 0:
                    open_nodes.append(child)
        return order, []

    def promising(self) -> list[int]:
        """Nodes to split next: all that can be, or those that best-first growth may still reach."""
        if not self.limits[2]:
            return [at for at, n in enumerate(self.nodes) if n.feature >= 0 and n.left < 0]
        order, open_nodes = self.replay()
        open_nodes.sort(key=lambda k: (-self.nodes[k].gain, self.nodes[k].place))
        reachable = open_nodes[: self.limits[1] - 1 - len(order)]
        return [at for at in reachable if self.nodes[at].left < 0]

    def split(self, chosen: Sequence[int], node_of_row: np.ndarray) -> list[int]:
        """Split nodes on every shard; their children that may be split again."""
        last = {}
        again = {}
        for at in chosen:
            node = self.nodes[at]
            node.left = len(self.nodes)
            self.nodes.append(Node(node.left_sums, node.depth + 1))
            self.nodes.append(Node(node.total - node.left_sums, node.depth + 1))
            again[at] = [c for c in (node.left, node.left + 1) if self.may_split(c)]
            last[at] = node.depth + 1 >= self.limits[0]

        def on_shard(shard: Shard) -> None:
            for at in chosen:
                shard.split(at, self.nodes[at], bool(again[at]), last[at], node_of_row)

        self.run(on_shard, self.shards)
        return [child for at in chosen for child in again[at]]

    def assemble(self, tree: tuple, node_of_row: np.ndarray) -> int:
        """Write the chosen splits as the compiled grower would; returns the number of nodes."""
        feature, _, left_sets, _, gain, _ = tree
        order, _ = self.replay()
        for k, at in enumerate(order):
            node = self.nodes[at]
            feature[node.place], gain[node.place] = node.feature, node.gain
            left_sets[node.place] = node.left_set
            add_children(tree, node.place, 2 * k + 1, node.left_sums)
        places = self.places(set(order))
        self.run(lambda shard: shard.settle_all(places, node_of_row), self.shards)
        return 2 * len(order) + 1

    def places(self, chosen: set[int]) -> np.ndarray:
        """Place of each node in the finished tree; descendants of its leaves share theirs."""
        places = np.empty(len(self.nodes), dtype=np.int32)
        places[0] = 0
        for at, node in enumerate(self.nodes):
            if node.left >= 0:
                for child in (node.left, node.left + 1):
                    places[child] = self.nodes[child].place if at in chosen else places[at]
        return places


class SpreadGrowth(ShardedGrowth):
    """As that, while other machines grow the same tree over shards of their own."""

    def __init__(
        self,
        shards: Sequence[Shard],
        rule: tuple,
        limits: tuple,
        run: Run,
        n_cells: int,
        meet: Meet,
    ):
        super().__init__(shards, rule, limits, run)
        self.n_cells, self.meet, self.features = n_cells, meet, shards[0].bins[1]

    def found(self, level: Sequence[int]) -> list[Found]:
        """One meeting for all nodes of a level."""
        hists = np.zeros((len(level), self.n_cells), dtype=np.int64)  # also where there are no rows
        for at, hist in zip(level, hists, strict=True):
            self.merge(at, self.features, hist)
        totals = [self.nodes[at].total for at in level]
        return self.meet([hists], Judge(self.features, self.layout, totals, self.rule))
