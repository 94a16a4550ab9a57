"""Predictions for a table that is read in batches."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from steadyboost.streaming.labels import LabelReader, Roles, distinct_labels
from steadyboost.streaming.source import Source


def features_of(model: Any, source: Source) -> list[str]:
    """The columns that a model needs: by their names, or all if it was fitted without names."""
    check_is_fitted(model, "stages_")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return source.names
    source.need(names.tolist(), "The feature")
    return names.tolist()


def predict_batches(
    model: Any, method: str, X: Any, *arguments: Any, keep: tuple[str, ...] = (), **options: Any
) -> Iterator[tuple[pa.Table, np.ndarray]]:
    """What a method of a fitted model returns, batch by batch, and the columns to keep.

    Parameters
    ----------
    model : BoostingClassifier
        The model.
    method : str
        Such as "predict" or "predict_proba"; other arguments are passed on to it.
    X : path or stream
        Rows. Columns that the model does not need are left out.
    keep : tuple of str, default=()
        Columns that are returned with the predictions.

    Yields
    ------
    kept : pyarrow.Table
        The columns to keep, of the rows of a batch.
    predictions : ndarray
        For the same rows.
    """
    source = X if isinstance(X, Source) else Source(X, read_once=True)
    features = features_of(model, source)
    source.need(keep, "keep:")
    call = getattr(model, method)
    for batch in source.batches(list(dict.fromkeys([*features, *keep]))):
        rows = table_for(model, batch.select(features))
        yield batch.select(list(keep)), call(rows, *arguments, **options)


def table_for(model: Any, batch: pa.Table) -> Any:
    """Rows as the model was fitted to: an array, if it knows no names of columns."""
    if hasattr(model, "feature_names_in_"):
        return batch
    return np.column_stack([column.to_numpy() for column in batch.columns])


def predicted(model: Any, method: str, X: Any, *arguments: Any, **options: Any) -> np.ndarray:
    """What a method of a fitted model returns for all rows of a stream."""
    found = [own for _, own in predict_batches(model, method, X, *arguments, **options)]
    if not found:
        raise ValueError("X has 0 rows (shape=(0, ...)), while a minimum of 1 is required.")
    return np.concatenate(found)


def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Share of the rows, or of their weight, whose label is predicted."""
    source = Source(X, read_once=True)
    roles = Roles.of(source, y, sample_weight)
    reader, right = LabelReader(roles), []
    keep = tuple(roles.others)
    for kept, labels in predict_batches(model, "predict", source, keep=keep):
        reader.add(kept)
        indices, values = distinct_labels(kept[roles.target], roles.target)
        right.append(values[indices] == labels)
    return float(np.average(np.concatenate(right), weights=reader.labels().weights))
