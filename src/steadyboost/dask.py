"""Rows that are spread over machines: Dask arrays and data frames.

``fit`` of every booster takes them where it takes arrays, and ``predict`` answers with a Dask
array. Each worker keeps its partitions as bins, with their scores and weights, and runs the
ordinary loop on them; what travels is sums. Install ``steadyboost[dask]``.

Examples
--------
>>> import dask.array as da
>>> from sklearn.datasets import load_wine
>>> from steadyboost import SAMMEClassifier
>>> X, y = load_wine(return_X_y=True)
>>> X, y = da.from_array(X, chunks=(60, -1)), da.from_array(y, chunks=60)
>>> model = SAMMEClassifier(n_estimators=10).fit(X, y)
>>> model.predict(X).compute()[:3]
array([0, 0, 0])
"""

from steadyboost.distributed import audit, connected, fit, label_frame, lazily, read_parquet

__all__ = ["audit", "connected", "fit", "label_frame", "lazily", "read_parquet"]
