"""Dask collections as partitions: rows, labels, weights and costs that belong together."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed


class DelayedPartition(NamedTuple):
    """One partition, to be computed; None for what was not passed."""

    number: int
    X: Delayed
    y: Delayed
    weights: Delayed | None
    costs: Delayed | None


class DelayedTable(NamedTuple):
    """All partitions, and an empty table with the columns of ``X``."""

    parts: list[DelayedPartition]
    empty: Any


def delayed_table(
    X: Any, y: Any, weights: Any = None, costs: Any = None, *, suffix: str = ""
) -> DelayedTable:
    """Collections with the same partitions; ``suffix`` is that of their names, for errors."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    delayed: list[list[Delayed] | None] = [delayed_partitions(X, f"X{suffix}")]
    names = (f"y{suffix}", f"sample_weight{suffix}", "costs")
    for name, values in zip(names, (y, weights, costs), strict=True):
        delayed.append(None if values is None else delayed_partitions(values, name, like=X))
    n = len(delayed[0] or [])
    for name, own in zip(names, delayed[1:], strict=True):
        if own is not None and len(own) != n:
            raise ValueError(
                f"{name} has {len(own)} partitions, but X{suffix} has {n}; repartition one as the "
                "other."
            )
    columns = [[None] * n if own is None else own for own in delayed]
    parts = [DelayedPartition(k, *own) for k, own in enumerate(zip(*columns, strict=True))]
    return DelayedTable(parts, empty_like(X))


def delayed_partitions(values: Any, name: str, like: Any = None) -> list[Delayed]:
    """Each partition of a collection, with all of its columns."""
    if not is_dask_collection(values):
        raise ValueError(
            f"{name} is of type {type(values).__name__}, but X is a Dask collection; pass one with "
            "the same partitions, such as dask.array.from_array(values, chunks=...)."
        )
    if not hasattr(values, "to_delayed"):
        raise ValueError(f"{name} is of type {type(values).__name__}; pass a Dask array or frame.")
    if getattr(values, "ndim", 1) == 2 and hasattr(values, "numblocks") and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    if _differ(values, like):
        values = values.rechunk({0: like.chunks[0]})
    # As it was written: optimised, each collection could be read in partitions of its own.
    return np.ravel(np.array(values.to_delayed(optimize_graph=False), dtype=object)).tolist()


def _differ(values: Any, like: Any) -> bool:
    """Whether two arrays of known chunks are cut at different rows."""
    if not (hasattr(values, "chunks") and hasattr(like, "chunks")):
        return False
    rows = np.array([*values.chunks[0], *like.chunks[0]], dtype=float)
    return bool(np.isfinite(rows).all()) and values.chunks[0] != like.chunks[0]


def empty_like(X: Any) -> Any:
    """A table of no rows with the columns of a collection."""
    if hasattr(X, "_meta") and hasattr(X._meta, "columns"):
        return X._meta
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; pass rows and columns.")
    return np.empty((0, X.shape[1]))


def tree_reduce(
    delayed: Sequence[Delayed], merge: Callable[[list[Any]], Any], fan: int = 16
) -> Delayed:
    """Merge ``fan`` results at a time, so that no worker has all of them at once."""
    delayed = list(delayed)
    join = dask.delayed(merge, pure=False)
    while len(delayed) > 1:
        delayed = [join(delayed[k : k + fan]) for k in range(0, len(delayed), fan)]
    return delayed[0]
