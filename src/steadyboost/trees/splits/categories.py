"""The order in which the categories of a column are tried as subsets."""

import numpy as np

from steadyboost.trees.jit import kernel
from steadyboost.trees.splits.criteria import EDGE, NEWTON, mass_of


@kernel
def _share_deviations(hist, n_bins, total, criterion, order, mass, deviation):
    """Bins with mass, and by how much their channel means deviate from the node's."""
    n_channels, n_used = len(total), deviation.shape[1]
    total_mass = np.float64(max(mass_of(total, criterion), 1))
    n = 0
    for b in range(n_bins):
        sums = hist[b * n_channels : (b + 1) * n_channels]
        m = np.float64(mass_of(sums, criterion))
        if m > 0:
            order[n], mass[n] = b, m
            for c in range(n_used):
                deviation[n, c] = sums[c] / m - total[c] / total_mass
            n += 1
    return n


@kernel
def _dot(a, b):
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@kernel
def _main_direction(mass, deviation, n):
    """First principal component by power iteration, from the bin that deviates most."""
    n_used = deviation.shape[1]
    start, largest = 0, -1.0
    for k in range(n):
        size = mass[k] * _dot(deviation[k], deviation[k])
        if size > largest:
            start, largest = k, size
    direction = deviation[start].copy()
    for _ in range(10 if n_used > 2 else 0):  # with two classes all bins lie on one line
        step = np.empty(n_used)
        step[:] = 0.0
        for k in range(n):
            along = mass[k] * _dot(deviation[k], direction)
            for c in range(n_used):
                step[c] += along * deviation[k, c]
        norm = np.sqrt(_dot(step, step))
        if norm > 0:
            for c in range(n_used):
                direction[c] = step[c] / norm
    return direction


@kernel
def order_categories(hist, n_bins, total, criterion, order):
    """Write the bins with mass, along the first principal component of their channel means.

    For two classes this is Breiman's order by the share of one class, in which the best of all
    2^(n-1) subsets is a prefix; for more it is the heuristic of Coppersmith, Hong & Hosking (1999).
    """
    n_channels = len(total)
    n_used = n_channels if criterion < EDGE else (1 if criterion == NEWTON else n_channels - 1)
    mass = np.empty(n_bins)
    deviation = np.empty((n_bins, n_used))
    n = _share_deviations(hist, n_bins, total, criterion, order, mass, deviation)
    if n == 0:
        return 0
    direction = _main_direction(mass, deviation, n)
    for k in range(n):  # stable insertion sort: there are at most 256 bins
        key, item = _dot(deviation[k], direction), order[k]
        j = k - 1
        while j >= 0 and mass[j] > key:
            mass[j + 1], order[j + 1] = mass[j], order[j]
            j -= 1
        mass[j + 1], order[j + 1] = key, item
    return n
