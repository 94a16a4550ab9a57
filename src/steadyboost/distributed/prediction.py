"""Prediction on Dask collections, done when somebody asks for the numbers."""

import copy
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from steadyboost.distributed.partitions import empty_like, promised


def lazily(model: Any, method: str, X: Any, *arguments: Any, **options: Any) -> da.Array:
    """A method of a fitted model, as a Dask array with the partitions of ``X``."""
    check_is_fitted(model, "stages_")
    validate_data(model, empty_like(X), reset=False, skip_check_array=True)
    none = nothing(model, method)
    call = partial(predicted, bare(model), method, none, arguments, options)
    if not hasattr(X, "chunks"):
        columns = pd.DataFrame(none) if none.ndim == 2 else pd.Series(none)
        return X.map_partitions(lambda part: type(columns)(call(part)), meta=columns).values
    blocks = [
        da.from_delayed(promise, shape=(size, *none.shape[1:]), dtype=none.dtype)
        for promise, size in zip(
            map(dask.delayed(call, pure=False), promised(X, "X")), X.chunks[0], strict=True
        )
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def nothing(model: Any, method: str) -> np.ndarray:
    """What the method gives for no rows, from made-up scores."""
    scores = np.ones((1, model.n_outputs()), order="F")
    if method == "decision_function":
        return model.decision(scores)[:0]
    proba = model.probabilities(scores)
    return (model._label(proba) if method == "predict" else proba)[:0]


def bare(model: Any) -> Any:
    """The model without what it does not need to predict; workers have other threads to use."""
    copied = copy.copy(model)
    copied.callbacks, copied.n_jobs = None, 1
    vars(copied).pop("history_", None)
    return copied


def predicted(
    model: Any, method: str, none: np.ndarray, arguments: tuple, options: dict[str, Any], X: Any
) -> np.ndarray:
    """The predictions of one partition."""
    return getattr(model, method)(X, *arguments, **options) if _num_samples(X) else none
