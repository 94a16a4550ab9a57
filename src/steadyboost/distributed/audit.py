"""The label audit of distributed rows, as a lazy collection."""

from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import steadyboost
from steadyboost.distributed.partitions import delayed_partitions
from steadyboost.ensemble.validation import n_rows


def audit(X: Any, y: Any, sample_weight: Any = None, **params: Any) -> dd.DataFrame:
    """Judge each label of a Dask collection by models that have not seen it.

    Parameters
    ----------
    X, y, sample_weight : Dask collections
        Rows, labels and weights, as ``fit`` takes them.
    **params : dict
        Parameters of :class:`~steadyboost.SteadyBoostClassifier`, such as ``random_state``.

    Returns
    -------
    labels : dask.dataframe.DataFrame
        A row for each row of ``y``, in its partitions and with its index: the label that was
        ``given``, the ``suggested`` one, the ``score`` (probability that the given label is right;
        NaN for rows of weight 0), and whether it is a ``suspect``.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost.dask import audit
    >>> X, y = load_wine(return_X_y=True)
    >>> y[:5] = 2
    >>> X, y = da.from_array(X, chunks=(60, -1)), da.from_array(y, chunks=60)
    >>> found = audit(X, y, n_estimators=20, random_state=0)
    >>> found[found.suspect].compute().suggested[:5].tolist()
    [0, 0, 0, 0, 0]
    """
    model = steadyboost.SteadyBoostClassifier(**params).fit(X, y, sample_weight)
    return label_frame(model, y)


def label_frame(model: Any, y: Any) -> dd.DataFrame:
    """What a fitted SteadyBoostClassifier found out about the labels it was fitted to.

    Parameters
    ----------
    model : SteadyBoostClassifier
        Fitted to ``y``.
    y : Dask array or series
        The labels.

    Returns
    -------
    labels : dask.dataframe.DataFrame
        As from :func:`audit`.
    """
    parts = delayed_partitions(y, "y")
    sizes = dask.compute(*map(dask.delayed(n_rows), parts))
    if sum(sizes) != len(model.label_scores_):
        raise ValueError(
            f"y has {sum(sizes)} rows, but the model was fitted to {len(model.label_scores_)}; "
            "pass the labels that it was fitted to."
        )
    labels = model.labels_
    order = np.argsort(labels.row)
    rows, suggested, scores = labels.row[order], labels.suggested[order], labels.score[order]
    starts = np.cumsum([0, *sizes])
    bounds = np.searchsorted(rows, starts)
    judge = dask.delayed(judged, pure=False)
    frames = [
        judge(part, rows[a:b] - start, suggested[a:b], scores[a:b])
        for part, start, a, b in zip(parts, starts[:-1], bounds[:-1], bounds[1:], strict=True)
    ]
    meta = judged(y._meta, rows[:0], suggested[:0], scores[:0])
    return dd.from_delayed(frames, meta=meta)


def judged(y: Any, rows: np.ndarray, suggested: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    """The labels of a partition with what was found out about the listed rows."""
    given = y if isinstance(y, pd.Series) else pd.Series(np.asarray(y))
    other, score = given.copy(), np.full(len(given), np.nan)
    other.iloc[rows], score[rows] = suggested, scores
    suspect = (other != given).to_numpy(dtype=bool)
    columns = {"given": given, "suggested": other, "score": score, "suspect": suspect}
    return pd.DataFrame(columns, index=given.index)
