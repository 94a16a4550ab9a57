"""A conjunction of tests, grown by entropy and pruned on held-out rows: FindDecRule.

A rule parts the rows into those inside, which pass all its tests, and those outside. Its
potential is the weighted entropy of both parts: of the classes; or, where label sets are asked
for, of whether a label is worth naming, added up over the labels. A missing value passes no test.

For label sets the sums of a part are *paired*: what naming each label gains, then what it costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from steadyboost.trees.attribute_test import histogram_of, set_of
from steadyboost.trees.grower import empty_tree, partition
from steadyboost.trees.jit import inner, kernel
from steadyboost.trees.sharded import Run
from steadyboost.trees.tree import Binned, GrownTree, Sums, one_by_one

AT_MOST, ABOVE, EQUAL = range(3)
SCALE = 2.0**60  # the integers that all weight together becomes
TOLERANCE = 1e-12 * SCALE  # potentials that differ by less are equal


@inner
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


@inner
def _mass_of(sums):
    mass = np.int64(0)
    for c in range(len(sums)):
        mass += sums[c]
    return mass


@inner
def _consider(inside, covered_mass, total, paired, test, outside, best, best_test, best_inside):
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
    if potential > best[0] + TOLERANCE:
        return
    if potential < best[0] - TOLERANCE or left_inside > best[1] + TOLERANCE:
        best[0], best[1] = potential, left_inside
        for j in range(3):
            best_test[j] = test[j]
        for c in range(len(total)):
            best_inside[c] = inside[c]


@kernel
def best_next_test(hist, layout, covered, total, paired, best_test, best_inside):
    """Best test to add to a rule that covers ``covered``; returns the potential then, or inf.

    Writes the test (feature, bin, kind) and the sums of what it leaves inside. Ties go to the
    lowest feature, then to the lowest bin.
    """
    offsets, n_bins, _, categorical = layout
    n_channels, covered_mass = len(total), _mass_of(covered)
    work = np.empty((4, n_channels), dtype=np.int64)
    known, inside, above, outside = work[0], work[1], work[2], work[3]
    best = np.array([np.inf, -np.inf])
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
            _consider(
                inside, covered_mass, total, paired, test, outside, best, best_test, best_inside
            )
            if not categorical[f]:
                test = (f, b, np.int64(ABOVE))
                _consider(
                    above, covered_mass, total, paired, test, outside, best, best_test, best_inside
                )
    return best[0]


@dataclass(frozen=True)
class Condition:
    """A test of a rule: the bins that pass, and by how much it lowered the potential."""

    feature: int
    passing: np.ndarray
    gain: float

    @classmethod
    def of(cls, binned: Binned, found: np.ndarray, gain: float) -> "Condition":
        feature, bin_, kind = found.tolist()
        n_bins = int(binned.n_bins[feature])
        ranges = {
            AT_MOST: range(bin_ + 1),
            ABOVE: range(bin_ + 1, n_bins),
            EQUAL: range(bin_, bin_ + 1),
        }
        return cls(feature, set_of(ranges[kind]), gain)

    def passed(self, binned: Binned, rows: np.ndarray) -> np.ndarray:
        """Those of the rows that pass, ascending as they are."""
        kept = rows.copy()
        n = partition(binned.packed, self.feature, self.passing, kept, np.empty_like(kept))
        return kept[:n]


def pair(sums: Sums) -> Sums:
    """What naming labels gains and what it costs, apart; the mass is dropped."""
    edges = sums.channels[:, :-1]
    channels = np.concatenate([np.maximum(edges, 0), np.maximum(-edges, 0)], axis=1)
    return Sums(sums.labels, sums.weights, channels)


Histogram = Callable[[Sums, np.ndarray], np.ndarray]


def add_tests(
    binned: Binned, sums: Sums, rows: np.ndarray, max_tests: int | None, histogram: Histogram
) -> list[Condition]:
    """Add the test that lowers the potential most, until none does or the inside is pure."""
    paired = len(sums.channels) > 0
    total = sums.total(rows)
    inside, potential = total, potential_of(total, paired)
    tests: list[Condition] = []
    while potential_of(inside, paired) > TOLERANCE and len(tests) != max_tests:
        found, kept = np.empty(3, dtype=np.int64), np.empty_like(total)
        hist = histogram(sums, rows)
        lowest = best_next_test(hist, binned.layout, inside, total, paired, found, kept)
        if lowest >= potential - TOLERANCE:
            break
        tests.append(Condition.of(binned, found, potential - lowest))
        rows = tests[-1].passed(binned, rows)
        inside, potential = kept, lowest
    return tests


def _held_worth(learnt: np.ndarray, held: np.ndarray, paired: bool) -> int:
    """What the best answer to the sums of some rows is worth in other rows."""
    if not paired:
        return int(held[learnt.argmax()])
    k = len(held) // 2
    return int((held[:k] - held[k:])[learnt[:k] > learnt[k:]].sum())


def count_kept(
    binned: Binned,
    sums: Sums,
    tests: Sequence[Condition],
    grown_on: np.ndarray,
    held_out: np.ndarray,
) -> int:
    """How many of the first tests make the fewest held-out errors; the fewest of equals."""
    if len(held_out) == 0:
        return len(tests)
    paired = len(sums.channels) > 0
    totals = sums.total(grown_on), sums.total(held_out)
    worths = []
    for rows in zip(*(_inside(binned, tests, part) for part in (grown_on, held_out)), strict=True):
        learnt, held = (sums.total(part) for part in rows)
        inside = _held_worth(learnt, held, paired)
        outside = _held_worth(totals[0] - learnt, totals[1] - held, paired)
        worths.append(inside + outside)
    return worths.index(max(worths))


def _inside(binned: Binned, tests: Sequence[Condition], rows: np.ndarray) -> list[np.ndarray]:
    """The rows that pass the first 0, 1, 2 ... tests."""
    return list(accumulate(tests, lambda left, test: test.passed(binned, left), initial=rows))


def write_rule(
    binned: Binned, sums: Sums, tests: Sequence[Condition], rows: np.ndarray
) -> GrownTree:
    """A rule as a chain: test j is node 2j, with a leaf for those who fail it on its right.

    All these leaves have the sums of all rows outside, and so the same answer.
    """
    n_nodes = 2 * len(tests) + 1
    tree = empty_tree(n_nodes, sums.n_channels)
    feature, children, left_set, totals, gain, depth = tree
    totals[::2] = [sums.total(left) for left in _inside(binned, tests, rows)]
    totals[1::2] = totals[0] - totals[-1]
    depth[:] = (np.arange(n_nodes) + 1) // 2
    for j, test in enumerate(tests):
        feature[2 * j], left_set[2 * j], gain[2 * j] = test.feature, test.passing, test.gain
        children[2 * j] = 2 * j + 2, 2 * j + 1
    return GrownTree.from_growth(tree, n_nodes)


def grow_rule(
    binned: Binned,
    sums: Sums,
    grown_on: np.ndarray,
    held_out: np.ndarray,
    *,
    max_tests: int | None = None,
    n_shards: int = 1,
    run: Run = one_by_one,
) -> GrownTree:
    """Grow a rule on some rows (ascending), prune it on others, and answer by all of them.

    Without held-out rows it is not pruned.
    """
    parted = pair(sums) if len(sums.channels) else sums

    def histogram(sums: Sums, rows: np.ndarray) -> np.ndarray:
        return histogram_of(binned, sums, rows, n_shards, run)

    tests = add_tests(binned, parted, grown_on, max_tests, histogram)
    n_kept = count_kept(binned, parted, tests, grown_on, held_out)
    rows = np.sort(np.concatenate([grown_on, held_out]))
    return write_rule(binned, sums, tests[:n_kept], rows)
