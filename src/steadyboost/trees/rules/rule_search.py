"""The next test of a rule, by entropy.

A rule parts the rows into those inside, which pass all its tests, and those outside. Its
potential is the weighted entropy of both parts: of the classes; or, where label sets are asked
for, of whether a label is worth naming, added up over the labels. A missing value passes no test.

For label sets the sums of a part are *paired*: what naming each label gains, then what it costs.
"""

import numpy as np

from steadyboost.trees.jit import kernel

AT_MOST, ABOVE, EQUAL = range(3)
SCALE = 2.0**60  # the integers that all weight together becomes
TOLERANCE = 1e-12 * SCALE  # potentials that differ by less are equal


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
    best = np.empty(2)
    best[0], best[1] = np.inf, -np.inf
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
