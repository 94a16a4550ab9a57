"""A conjunction of tests, grown by entropy and pruned on held-out rows: FindDecRule."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steadyboost.trees.data.binned import Binned, BinnedRows
from steadyboost.trees.growth.partition import bin_table, partition
from steadyboost.trees.growth.state import TreeArrays
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.histograms.build import subtract
from steadyboost.trees.histograms.row_statistics import FixedPointSums, Run, one_by_one
from steadyboost.trees.rules.attribute_test import histogram_of, in_shards, set_of
from steadyboost.trees.rules.rule_search import (
    ABOVE,
    AT_MOST,
    EQUAL,
    TOLERANCE,
    best_next_test,
    fill_paired,
    potential_of,
    sum_paired,
)


@dataclass(frozen=True)
class Evidence:
    """Rows, and the sums by which a rule on them is judged: of classes, or paired."""

    binned: BinnedRows
    sums: FixedPointSums
    n_shards: int = 1
    run: Run = one_by_one

    @property
    def paired(self) -> bool:
        return self.sums.channels is not None

    def total(self, rows: np.ndarray) -> np.ndarray:
        if not self.paired:
            return self.sums.total(rows)
        out = np.zeros(2 * (self.sums.n_channels - 1), dtype=np.int64)
        sum_paired(self.sums.channels, rows, out)
        return out

    def histogram(self, rows: np.ndarray) -> np.ndarray:
        return in_shards(self._fill, self.binned, rows, self.n_shards, self.run)

    def _fill(self, rows: np.ndarray) -> np.ndarray:
        binned = self.binned
        if not self.paired:
            return histogram_of(binned, self.sums, rows)
        if not isinstance(binned, Binned):
            return histogram_of(binned, self._paired_sums, rows)
        n_cells = int(binned.offsets[-1]) * 2 * (self.sums.n_channels - 1)
        hist = np.zeros(n_cells, dtype=np.int64)
        fill_paired(binned.packed, binned.offsets, rows, self.sums.channels, hist)
        return hist

    @cached_property
    def _paired_sums(self) -> FixedPointSums:
        """Paired sums as channels, for rows that are stored sparsely."""
        assert self.sums.channels is not None
        edges = self.sums.channels[:, :-1]
        gains = np.maximum(edges, 0)
        paired = np.hstack([gains, gains - edges])
        return replace(self.sums, channels=paired, n_channels=paired.shape[1])


@dataclass(frozen=True)
class RuleCondition:
    """A test of a rule: the bins that pass, and by how much it lowered the potential."""

    feature: int
    passing: np.ndarray
    gain: float

    @classmethod
    def of(cls, binned: BinnedRows, found: np.ndarray, gain: float) -> "RuleCondition":
        feature, bin_, kind = found.tolist()
        n_bins = int(binned.n_bins[feature])
        ranges = {
            AT_MOST: range(bin_ + 1),
            ABOVE: range(bin_ + 1, n_bins),
            EQUAL: range(bin_, bin_ + 1),
        }
        return cls(feature, set_of(ranges[kind]), gain)

    def part(self, binned: BinnedRows, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows that pass and those that fail, ascending as they are."""
        rows = rows.copy()
        column, scratch = binned.column(self.feature), np.empty_like(rows)
        n = partition(*column, self.passing, rows, scratch, bin_table(), -1)
        return rows[:n], rows[n:]


def add_tests(evidence: Evidence, rows: np.ndarray, max_tests: int | None) -> list[RuleCondition]:
    """Add the test that lowers the potential most, until none does or the inside is pure."""
    paired, layout = evidence.paired, evidence.binned.layout
    total = evidence.total(rows)
    inside, potential = total, potential_of(total, paired)
    tests: list[RuleCondition] = []
    hist = evidence.histogram(rows)
    while potential_of(inside, paired) > TOLERANCE and len(tests) != max_tests:
        found, kept = np.empty(3, dtype=np.int64), np.empty_like(total)
        lowest = best_next_test(hist, layout, inside, total, paired, found, kept)
        if lowest >= potential - TOLERANCE:
            break
        tests.append(RuleCondition.of(evidence.binned, found, potential - lowest))
        rows, failed = tests[-1].part(evidence.binned, rows)
        hist = _narrowed(hist, evidence, rows, failed)
        inside, potential = kept, lowest
    return tests


def _narrowed(
    hist: np.ndarray, evidence: Evidence, passed: np.ndarray, failed: np.ndarray
) -> np.ndarray:
    """Histogram of those who passed, from those of the smaller part; ``hist`` may be reused."""
    if len(passed) <= len(failed):
        return evidence.histogram(passed)
    subtract(hist, evidence.histogram(failed), hist)
    return hist


def totals_inside(
    evidence: Evidence, tests: Sequence[RuleCondition], rows: np.ndarray
) -> list[np.ndarray]:
    """Sums of the rows that pass the first 0, 1, 2 ... tests."""
    totals = [evidence.total(rows)]
    for test in tests:
        rows, failed = test.part(evidence.binned, rows)
        totals.append(totals[-1] - evidence.total(failed))
    return totals


def _held_worth(learnt: np.ndarray, held: np.ndarray, paired: bool) -> int:
    """What the best answer to the sums of some rows is worth in other rows."""
    if not paired:
        return int(held[learnt.argmax()])
    k = len(held) // 2
    return int((held[:k] - held[k:])[learnt[:k] > learnt[k:]].sum())


def count_kept(learnt: Sequence[np.ndarray], held: Sequence[np.ndarray], paired: bool) -> int:
    """How many of the first tests make the fewest held-out errors; the fewest of equals.

    ``learnt`` and ``held`` are the totals inside, of the rows to learn from and to judge by.
    """
    worths = [
        _held_worth(a, b, paired) + _held_worth(learnt[0] - a, held[0] - b, paired)
        for a, b in zip(learnt, held, strict=True)
    ]
    return worths.index(max(worths))


def write_rule(tests: Sequence[RuleCondition], inside: Sequence[np.ndarray]) -> GrownTree:
    """A rule as a chain: test j is node 2j, with a leaf for those who fail it on its right.

    All these leaves have the sums of all rows outside, and so the same answer.
    """
    n_nodes = 2 * len(tests) + 1
    tree = TreeArrays.allocate(n_nodes, len(inside[0]))
    tree.totals[::2] = inside
    tree.totals[1::2] = inside[0] - inside[-1]
    tree.depth[:] = (np.arange(n_nodes) + 1) // 2
    for j, test in enumerate(tests):
        node = 2 * j
        tree.feature[node], tree.left_bitset[node] = test.feature, test.passing
        tree.gain[node], tree.children[node] = test.gain, (node + 2, node + 1)
    return GrownTree.from_growth(tree, n_nodes)


def grow_rule(
    evidence: Evidence, grown_on: np.ndarray, held_out: np.ndarray, max_tests: int | None = None
) -> GrownTree:
    """Grow a rule on some rows (ascending), prune it on others, and answer by all of them.

    Without held-out rows it is not pruned.
    """
    tests = add_tests(evidence, grown_on, max_tests)
    learnt = totals_inside(evidence, tests, grown_on)
    held = totals_inside(evidence, tests, held_out)
    n_kept = count_kept(learnt, held, evidence.paired) if len(held_out) else len(tests)
    inside = [a + b for a, b in zip(learnt, held, strict=True)][: n_kept + 1]
    if evidence.paired:
        inside = [_edges_of(sums) for sums in inside]
    return write_rule(tests[:n_kept], inside)


def _edges_of(paired: np.ndarray) -> np.ndarray:
    """Signed edges, and as their mass what naming a wrong label costs."""
    gains, costs = np.split(paired, 2)
    return np.append(gains - costs, costs.sum())
