"""Lazy prediction on Dask collections."""

import copy
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted, validate_data

from steadyboost.distributed.partitions import delayed_partitions, empty_like
from steadyboost.ensemble.validation import n_rows


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
    """What the method returns for no rows; its shape and type are those of made-up scores."""
    scores = np.ones((1, model.n_outputs()), order="F")
    if method == "decision_function":
        return model.decision(scores)[:0]
    proba = model.probabilities(scores)
    return (model._label(proba) if method == "predict" else proba)[:0]


def model_to_send(model: Any) -> Any:
    """A copy of the model without what prediction does not need, for one thread."""
    copied = copy.copy(model)
    copied.callbacks, copied.n_jobs = None, 1
    vars(copied).pop("history_", None)
    return copied


def predicted(
    model: Any, method: str, empty: np.ndarray, arguments: tuple, options: dict[str, Any], X: Any
) -> np.ndarray:
    """The predictions of one partition."""
    return getattr(model, method)(X, *arguments, **options) if n_rows(X) else empty
