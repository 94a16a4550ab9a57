"""A conjunction of tests, grown by entropy and pruned on held-out rows: FindDecRule.

A rule divides the rows into those inside, which pass all its tests, and those outside. Its
potential is the weighted entropy of both parts: of the classes; or, where label sets are asked
for, of whether a label is worth naming, added up over the labels. A missing value passes no test.

For label sets the sums of a part are *paired*: what naming each label gains, then what it costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steadyboost.trees.data.binned import Binned, BinnedRows
from steadyboost.trees.growth.grower import TreeArrays
from steadyboost.trees.growth.partition import bin_table, partition
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.histograms.build import subtract
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction, serial_map
from steadyboost.trees.rules.attribute_test import histogram_of, in_shards
from steadyboost.trees.splits.bitset import bitset_of

AT_MOST, ABOVE, EQUAL = range(3)
SCALE = 2.0**60  # the integers that all weight together becomes
TOLERANCE = 1e-12 * SCALE  # potentials that differ by less are equal
BOTH, INSIDE = range(2)  # entries of ``BestTest.potential``


class BestTest(NamedTuple):
    """The best test so far; arrays, because kernels write to it."""

    potential: np.ndarray  # of both parts together, and of the part inside
    test: np.ndarray  # feature, bin, kind
    inside: np.ndarray  # sums of the part inside

    @classmethod
    def allocate(cls, n_channels: int) -> "BestTest":
        """No test: any other is better."""
        sums = np.empty(n_channels, dtype=np.int64)
        return cls(np.array([np.inf, -np.inf]), np.empty(3, dtype=np.int64), sums)


@kernel
def _entropy_of(v, mass):
    """``v ln(mass / v)``, 0 where there is nothing."""
    return v * np.log(mass / np.float64(v)) if v > 0 else 0.0


@kernel
def potential_of(sums, paired):
    """Weighted entropy of one part, in nats."""
    entropy = 0.0
    if paired:
        k = len(sums) // 2
        for c in range(k):
            mass = np.float64(sums[c] + sums[k + c])
            entropy += _entropy_of(sums[c], mass) + _entropy_of(sums[k + c], mass)
        return entropy
    mass = 0.0
    for c in range(len(sums)):
        mass += sums[c]
    for c in range(len(sums)):
        entropy += _entropy_of(sums[c], mass)
    return entropy


@kernel
def _mass_of(sums):
    mass = np.int64(0)
    for c in range(len(sums)):
        mass += sums[c]
    return mass


@kernel
def _consider(inside, covered_mass, total, paired, test, outside, best):
    """Keep a test if it beats the best so far.

    Of two with the same potential, the one that leaves more of it inside can gain more later:
    this decides between a first test and its opposite.
    """
    mass = _mass_of(inside)
    if mass == 0 or mass == covered_mass:
        return
    for c in range(len(total)):
        outside[c] = total[c] - inside[c]
    left_inside = potential_of(inside, paired)
    potential = left_inside + potential_of(outside, paired)
    if potential > best.potential[BOTH] + TOLERANCE:
        return
    lower = potential < best.potential[BOTH] - TOLERANCE
    if lower or left_inside > best.potential[INSIDE] + TOLERANCE:
        best.potential[BOTH], best.potential[INSIDE] = potential, left_inside
        best.test[0], best.test[1], best.test[2] = test
        for c in range(len(total)):
            best.inside[c] = inside[c]


@kernel
def best_next_test(hist, layout, covered, total, paired, best):
    """Find the best test to add to a rule that covers ``covered``.

    Ties go to the lowest feature, then to the lowest bin.
    """
    offsets, n_bins, _, categorical = layout
    n_channels, covered_mass = len(total), _mass_of(covered)
    known, inside = np.empty(n_channels, np.int64), np.empty(n_channels, np.int64)
    above, outside = np.empty(n_channels, np.int64), np.empty(n_channels, np.int64)
    for f in range(len(n_bins)):
        cells = hist[offsets[f] * n_channels : offsets[f + 1] * n_channels]
        for c in range(n_channels):
            known[c], inside[c] = 0, 0
            for b in range(n_bins[f]):
                known[c] += cells[b * n_channels + c]
        for b in range(n_bins[f]):
            own = cells[b * n_channels : (b + 1) * n_channels]
            if _mass_of(own) == 0:
                continue
            for c in range(n_channels):
                inside[c] = own[c] if categorical[f] else inside[c] + own[c]
                above[c] = known[c] - inside[c]
            test = (f, b, np.int64(EQUAL if categorical[f] else AT_MOST))
            _consider(inside, covered_mass, total, paired, test, outside, best)
            if not categorical[f]:
                test = (f, b, np.int64(ABOVE))
                _consider(above, covered_mass, total, paired, test, outside, best)


@kernel
def sum_paired(edges, rows, out):
    """Add what naming each label gains in the rows, then what it costs."""
    k = edges.shape[1] - 1
    for i in rows:
        for c in range(k):
            edge = edges[np.uint64(i), np.uint64(c)]
            gain = max(edge, 0)
            out[np.uint64(c)] += gain
            out[np.uint64(k + c)] += gain - edge


@kernel
def fill_paired(packed, offsets, rows, edges, hist):
    """Histogram of paired sums; it must be zero before."""
    k = edges.shape[1] - 1
    for f in range(len(offsets) - 1):
        shift = np.uint32(8 * (f & 3))
        for i in rows:
            row = np.uint64(i)
            bin_ = np.int64((packed[f >> 2, row] >> shift) & np.uint32(255))
            cell = (offsets[f] + bin_) * 2 * k
            gains, costs = hist[cell : cell + k], hist[cell + k : cell + 2 * k]
            for c in range(k):
                edge = edges[row, np.uint64(c)]
                gain = max(edge, 0)
                gains[np.uint64(c)] += gain
                costs[np.uint64(c)] += gain - edge


@dataclass(frozen=True)
class RuleStatistics:
    """Rows, and the sums by which a rule on them is judged: of classes, or paired."""

    binned: BinnedRows
    sums: FixedPointSums
    n_shards: int = 1
    run: MapFunction = serial_map

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
        return cls(feature, bitset_of(ranges[kind]), gain)

    def part(self, binned: BinnedRows, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows that pass and those that fail, ascending as they are."""
        rows = rows.copy()  # ``partition`` reorders in place
        column, scratch = binned.column(self.feature), np.empty_like(rows)
        n = partition(*column, self.passing, rows, scratch, bin_table(), -1)
        return rows[:n], rows[n:]


def add_tests(
    evidence: RuleStatistics, rows: np.ndarray, max_tests: int | None
) -> list[RuleCondition]:
    """Add the test that lowers the potential most, until none does or the inside is pure."""
    paired, layout = evidence.paired, evidence.binned.layout
    total = evidence.total(rows)
    inside, potential = total, potential_of(total, paired)
    tests: list[RuleCondition] = []
    hist = evidence.histogram(rows)
    while potential_of(inside, paired) > TOLERANCE and len(tests) != max_tests:
        best = BestTest.allocate(len(total))
        best_next_test(hist, layout, inside, total, paired, best)
        lowest = float(best.potential[BOTH])
        if lowest >= potential - TOLERANCE:
            break
        tests.append(RuleCondition.of(evidence.binned, best.test, potential - lowest))
        rows, failed = tests[-1].part(evidence.binned, rows)
        hist = _narrowed(hist, evidence, rows, failed)
        inside, potential = best.inside, lowest
    return tests


def _narrowed(
    hist: np.ndarray, evidence: RuleStatistics, passed: np.ndarray, failed: np.ndarray
) -> np.ndarray:
    """Histogram of those who passed, from those of the smaller part; ``hist`` may be reused."""
    if len(passed) <= len(failed):
        return evidence.histogram(passed)
    subtract(hist, evidence.histogram(failed), hist)
    return hist


def totals_inside(
    evidence: RuleStatistics, tests: Sequence[RuleCondition], rows: np.ndarray
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
    evidence: RuleStatistics,
    grown_on: np.ndarray,
    held_out: np.ndarray,
    max_tests: int | None = None,
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
