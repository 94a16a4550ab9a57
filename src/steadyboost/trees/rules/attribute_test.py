"""The best test of one attribute, by its error or pseudoloss: FindAttrTest.

A categorical column is compared with one of its values, a numeric one with a threshold, and a
missing value is an answer of its own. A side of the test is a vector of channel sums; what its
best answer is worth is an integer, so that the best test is exact, and so are ties.
"""

from collections.abc import Callable, Iterable
from functools import partial, reduce

import numpy as np

from steadyboost.trees.data.binned import BinnedRows
from steadyboost.trees.growth.grower import TreeArrays, add_children
from steadyboost.trees.growth.tree import SHARDING_PAYS, GrownTree
from steadyboost.trees.histograms.build import build_histogram, build_scratch, n_cells
from steadyboost.trees.histograms.row_statistics import FixedPointSums
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import MapFunction, serial_map
from steadyboost.trees.splits.bitset import bitset_of
from steadyboost.trees.splits.criteria import EDGE, ERROR, mass_of

NO_BIN = -1  # the test is only whether the value is missing


@kernel
def worth_of(sums, criterion):
    """What the best answer to these sums gains: its class, or all labels worth naming."""
    worth = np.int64(0)
    if criterion == EDGE:
        for c in range(len(sums) - 1):
            worth += max(sums[c], 0)
        return worth
    for c in range(len(sums)):
        worth = max(worth, sums[c])
    return worth


@kernel
def _test_column(cells, shape, total, criterion, sides):
    """Best test on one column: (worth, bin), -1 and NO_BIN if it has one answer only.

    A column that is constant where it is known can still be asked whether it is missing.
    """
    n_bins, has_missing, categorical = shape
    n_channels = len(total)
    missing, known, yes, no = sides[0], sides[1], sides[2], sides[3]
    for c in range(n_channels):
        missing[c] = cells[n_bins * n_channels + c] if has_missing else 0
        known[c], yes[c] = total[c] - missing[c], 0
    apart = worth_of(missing, criterion)
    best, best_bin = np.int64(-1), np.int64(NO_BIN)
    if mass_of(missing, criterion) > 0 and mass_of(known, criterion) > 0:
        best = apart + worth_of(known, criterion)
    for b in range(n_bins):
        own = cells[b * n_channels : (b + 1) * n_channels]
        if mass_of(own, criterion) == 0:
            continue
        for c in range(n_channels):
            yes[c] = own[c] if categorical else yes[c] + own[c]
            no[c] = known[c] - yes[c]
        if mass_of(no, criterion) == 0:  # all known values pass: not a test
            continue
        worth = apart + worth_of(yes, criterion) + worth_of(no, criterion)
        if worth > best or best_bin == NO_BIN:
            best, best_bin = worth, np.int64(b)
    return best, best_bin


@kernel
def best_test(hist, layout, total, criterion):
    """Best test over all columns: (feature, bin), feature -1 if all are constant.

    ``criterion`` is ERROR or EDGE. Ties go to the lowest feature, then to the lowest bin.
    """
    offsets, n_bins, has_missing, categorical = layout
    n_channels = len(total)
    sides = np.empty((4, n_channels), dtype=np.int64)
    best, best_feature, best_bin = np.int64(-1), np.int64(-1), np.int64(NO_BIN)
    for f in range(len(n_bins)):
        cells = hist[offsets[f] * n_channels : offsets[f + 1] * n_channels]
        shape = (n_bins[f], has_missing[f], categorical[f])
        worth, bin_ = _test_column(cells, shape, total, criterion, sides)
        if worth > best:
            best, best_feature, best_bin = worth, np.int64(f), bin_
    return best_feature, best_bin


def in_shards(
    fill: Callable[[np.ndarray], np.ndarray],
    binned: BinnedRows,
    rows: np.ndarray,
    n: int,
    run: MapFunction,
) -> np.ndarray:
    """The histogram of some rows by ``fill``; of large data in ``n`` shards, added up."""
    if n == 1 or binned.n_read(len(rows), binned.n_features) < SHARDING_PAYS:
        return fill(rows)
    return reduce(np.add, run(fill, np.array_split(rows, n)))


def histogram_of(binned: BinnedRows, sums: FixedPointSums, rows: np.ndarray) -> np.ndarray:
    """Sums of the rows (ascending) by feature, bin and channel."""
    bins, stats = binned.bins(), sums.statistics(counting=False)
    hist = np.empty(n_cells(bins, stats), dtype=np.int64)
    build_histogram(bins, stats, rows, build_scratch(bins, stats, len(rows)), hist)
    return hist


def grow_test(
    binned: BinnedRows, sums: FixedPointSums, n_shards: int = 1, run: MapFunction = serial_map
) -> GrownTree:
    """The best test as a tree: the test alone, or below the question whether it is missing."""
    criterion = ERROR if sums.channels is None else EDGE
    rows = np.arange(binned.n_rows, dtype=np.int32)
    fill = partial(histogram_of, binned, sums)
    hist = in_shards(fill, binned, rows, n_shards, run)
    total = sums.total(rows)
    feature, bin_ = best_test(hist, binned.layout, total, criterion)
    tree = TreeArrays.allocate(5, sums.n_channels)
    tree.totals[0] = total
    if feature < 0:
        return GrownTree.from_growth(tree, 1)
    span = slice(binned.offsets[feature], binned.offsets[feature + 1])
    cells = hist.reshape(-1, sums.n_channels)[span]
    n_nodes = _write_test(tree, binned, cells, int(feature), int(bin_), criterion)
    return GrownTree.from_growth(tree, n_nodes)


def _write_test(
    tree: TreeArrays, binned: BinnedRows, cells: np.ndarray, feature: int, bin_: int, criterion: int
) -> int:
    """Write the nodes of a test; returns how many there are."""
    node, n_bins = 0, int(binned.n_bins[feature])
    missing = cells[n_bins:].sum(axis=0)
    if _mass(missing, criterion) > 0:
        _split(tree, node, feature, {n_bins}, missing, criterion)
        node = 2
    if bin_ != NO_BIN:
        yes = {bin_} if binned.categorical[feature] else set(range(bin_ + 1))
        left = cells[sorted(yes)].sum(axis=0)
        # Rows to be predicted may have missing values where the training rows have none.
        if 2 * _mass(left, criterion) > _mass(tree.totals[node], criterion):
            yes.add(n_bins)
        _split(tree, node, feature, yes, left, criterion)
        node += 2
    return node + 1


def _mass(sums: np.ndarray, criterion: int) -> int:
    return int(sums[-1] if criterion == EDGE else sums.sum())


def _split(
    tree: TreeArrays, node: int, feature: int, bins: Iterable[int], left: np.ndarray, criterion: int
) -> None:
    """Give a node two children; those in ``bins``, with sums ``left``, go to the left one."""
    totals = tree.totals
    tree.feature[node], tree.left_bitset[node] = feature, bitset_of(bins)
    add_children(tree.children, totals, tree.depth, node, node + 1, left)
    sides = worth_of(totals[node + 1], criterion) + worth_of(totals[node + 2], criterion)
    tree.gain[node] = sides - worth_of(totals[node], criterion)
