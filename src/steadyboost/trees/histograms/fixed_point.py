"""Weights in fixed point, as integers: sums of these are exact, in any order."""

import numpy as np

from steadyboost.trees.jit import kernel

LANES = 8  # sums of a label that are taken side by side
FIXED_ROWS = 4096  # small enough to stay in the first-level cache


@kernel
def factors(total):
    """Two factors that make 2**60 of ``total``: one alone might overflow."""
    lift = 2.0**600 if total < 1e-200 else 1.0
    return lift, 2.0**60 / (total * lift) if total > 0 else 0.0


def rounded(total):
    """A total to 40 bits: what it adds up to in another order, as it does on several machines.

    Splits that are equally good stay so then, wherever the sum was taken.
    """
    mantissa, exponent = np.frexp(total)
    return np.ldexp(np.rint(mantissa * 2.0**40), exponent - 40)


@kernel
def to_fixed_point(values, total, out):
    """Integers proportional to ``values``, scaled so that ``total`` becomes 2**60."""
    lift, factor = factors(total)
    for i in range(len(values)):
        out[i] = np.int64(np.rint(values[i] * lift * factor))


@kernel
def fix_weights(weights, labels, total, out, lanes):
    """As to_fixed_point; also adds each label's weight to one of the ``lanes``.

    Neighbouring rows often have the same label, and an addition to a cell must wait for the one
    before: with eight cells per label it seldom has to. Conversion is a loop of its own because
    several numbers are converted at a time then.
    """
    lift, factor = factors(total)
    for start in range(0, len(weights), FIXED_ROWS):
        at = slice(start, start + FIXED_ROWS)
        values, fixed, own = weights[at], out[at], labels[at]
        for i in range(len(own)):
            fixed[i] = np.int64(np.rint(values[i] * lift * factor))
        whole = len(own) - len(own) % LANES
        for i in range(0, whole, LANES):
            for lane in range(LANES):
                lanes[np.uint64(lane), np.uint64(own[i + lane])] += fixed[i + lane]
        for i in range(whole, len(own)):
            lanes[np.uint64(0), np.uint64(own[i])] += fixed[i]


@kernel
def sum_labels(labels, weights, rows, lanes):
    """Add the weight of each label among the listed rows to one of the ``lanes``."""
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        lanes[np.uint64(k & (LANES - 1)), np.uint64(labels[row])] += weights[row]


@kernel
def sum_channels(channels):
    """The sum of all rows."""
    total = np.zeros(channels.shape[1], dtype=channels.dtype)
    for i in range(len(channels)):
        for c in range(len(total)):
            total[c] += channels[np.uint64(i), np.uint64(c)]
    return total


@kernel
def absolute_total(values):
    """Sum of the absolute values; four sums side by side, so that none waits for the last."""
    lanes = np.zeros(4)
    for i in range(len(values)):
        lanes[np.uint64(i & 3)] += abs(values[i])
    return lanes[0] + lanes[1] + lanes[2] + lanes[3]
