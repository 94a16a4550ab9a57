"""Dask collections: reading them, taking them apart into partitions, and predicting lazily."""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Client, LocalCluster
from sklearn.utils.validation import check_is_fitted, validate_data

from steadyboost.ensemble.validation import n_rows


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
    """Partitions of collections that belong together; ``suffix`` is for names in errors."""
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
    # Not optimised: Dask could then choose other partitions for each collection.
    return np.ravel(np.array(values.to_delayed(optimize_graph=False), dtype=object)).tolist()


def _differ(values: Any, like: Any) -> bool:
    """Whether two arrays of known chunk sizes have different chunks."""
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
    """Merge ``fan`` results at a time, so that no worker holds all of them at once."""
    delayed = list(delayed)
    join = dask.delayed(merge, pure=False)
    while len(delayed) > 1:
        delayed = [join(delayed[k : k + fan]) for k in range(0, len(delayed), fan)]
    return delayed[0]


def read_parquet(path: str | os.PathLike[str], target: str) -> tuple[Any, Any]:
    """Rows and labels of a Parquet file, or of a folder of them, as Dask collections.

    Parameters
    ----------
    path : str or path-like
        The file or the folder.
    target : str
        The column with the labels.

    Returns
    -------
    X : dask.dataframe.DataFrame
        All other columns.
    y : dask.dataframe.Series
        The labels.
    """
    if "://" not in str(path) and not Path(path).exists():
        raise ValueError(f"path={str(path)!r} does not exist; pass a Parquet file or a folder.")
    table = dd.read_parquet(str(path))
    if target not in table.columns:
        raise ValueError(
            f"target={target!r} is not a column of {str(path)!r}; it has {list(table.columns)}."
        )
    return table.drop(columns=[target]), table[target]


@contextmanager
def connected(address: str = "local", **options: Any) -> Iterator[Client]:
    """A Dask client, which is the current one inside the ``with`` block.

    Parameters
    ----------
    address : str, default="local"
        That of a scheduler, or "local" for processes on this machine.
    **options : dict
        For ``distributed.LocalCluster``, such as ``n_workers`` and ``memory_limit``.
    """
    if address != "local":
        with Client(address, direct_to_workers=True) as client:
            yield client
        return
    with (
        LocalCluster(dashboard_address=None, **options) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        yield client


def lazily(model: Any, method: str, X: Any, *arguments: Any, **options: Any) -> da.Array:
    """A method of a fitted model, as a Dask array with the partitions of ``X``."""
    check_is_fitted(model, "stages_")
    validate_data(model, empty_like(X), reset=False, skip_check_array=True)
    empty = empty_result(model, method)
    call = partial(predicted, model_to_send(model), method, empty, arguments, options)
    if not hasattr(X, "chunks"):
        columns = pd.DataFrame(empty) if empty.ndim == 2 else pd.Series(empty)
        return X.map_partitions(lambda part: type(columns)(call(part)), meta=columns).values
    blocks = [
        da.from_delayed(part, shape=(size, *empty.shape[1:]), dtype=empty.dtype)
        for part, size in zip(
            map(dask.delayed(call, pure=False), delayed_partitions(X, "X")),
            X.chunks[0],
            strict=True,
        )
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def empty_result(model: Any, method: str) -> np.ndarray:
    """What the method returns for no rows; shape and type are found with scores of one."""
    scores = np.ones((1, model.n_outputs()), order="F")
    if method == "decision_function":
        return model.decision(scores)[:0]
    proba = model.probabilities(scores)
    return (model._label(proba) if method == "predict" else proba)[:0]


def model_to_send(model: Any) -> Any:
    """A copy of the model for prediction on one thread, without history and callbacks."""
    copied = copy.copy(model)
    copied.callbacks, copied.n_jobs = None, 1
    vars(copied).pop("history_", None)
    return copied


def predicted(
    model: Any, method: str, empty: np.ndarray, arguments: tuple, options: dict[str, Any], X: Any
) -> np.ndarray:
    """The predictions of one partition."""
    return getattr(model, method)(X, *arguments, **options) if n_rows(X) else empty
