"""Rows of collections for boosters that have to see all of them: their bins, in one place.

Workers encode and bin their partitions. One byte per number is sent, once, to a file on the disk of
the process that called ``fit``; see :mod:`steadyboost.preprocessing.scratch`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import Delayed

from steadyboost.distributed.preprocessing import Partition
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.base import Data
from steadyboost.preprocessing.scratch import mapped_array
from steadyboost.trees.data.binned import Binned, BinnedRows

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier


def gathered_rows(
    booster: "BoostingClassifier",
    backend: Any,
    tasks: Sequence[Delayed],
    n_passed: Sequence[int],
    workers: Workers,
) -> TrainingState:
    """The rows of all partitions, of which ``n_passed`` each were passed to ``fit``."""
    sizes, found = backend.gather(tasks)
    n, starts = sum(sizes), np.cumsum([0, *n_passed])
    packed: np.ndarray | None = None
    rest: list[Partition] = []  # bins of dense rows are on disk already, those of sparse ones here
    numbers, start = [], 0
    for partition in filter(None, found):
        numbers.append(partition.rows + starts[partition.number])
        if isinstance(partition.binned, Binned):
            if packed is None:
                n_words = len(partition.binned.packed)
                packed = mapped_array((n_words, n), np.uint32, f"the bins of {n:,} rows")
            packed[:, start : start + len(partition.y)] = partition.binned.packed
            partition = partition._replace(binned=partition.binned.take(np.arange(0)))
        start += len(partition.y)
        rest.append(partition)
    binned = all_binned(packed, [partition.binned for partition in rest])
    y, weights, costs = (
        _concatenated([getattr(partition, name) for partition in rest])
        for name in ("y", "weights", "costs")
    )
    data = Data(None, binned, booster._encoder.n_values)
    k, columns = booster.n_classes_, booster.n_columns()
    rows = TrainingState(data, y, k, weights, workers, columns, costs=costs)
    rows.numbers, rows.n_passed = np.concatenate(numbers), int(starts[-1])
    return rows


def all_binned(packed: np.ndarray | None, parts: list[BinnedRows]) -> BinnedRows:
    """The bins of all rows, from words that are in one place, or from those of the parts."""
    joined = type(parts[0]).joined(parts)
    if packed is None:
        return joined
    return Binned(packed, joined.n_bins, joined.has_missing, joined.categorical)


def _concatenated(arrays: list[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)
