"""Tables that are larger than memory, on one machine: read in batches, kept as bins on disk.

``fit`` of every booster takes the path of a Parquet file or folder, or an Arrow stream, with the
name of the column of the labels in place of ``y``; ``predict`` takes the same. Bins, a byte for
each number, are in a file that is mapped into memory, in the folder that the environment variable
``STEADYBOOST_SCRATCH`` names. Install ``steadyboost[arrow]``.

Examples
--------
>>> import tempfile
>>> from pathlib import Path
>>> import pyarrow as pa
>>> import pyarrow.parquet
>>> from sklearn.datasets import load_wine
>>> from steadyboost import SAMMEClassifier
>>> table = pa.Table.from_pandas(load_wine(as_frame=True).frame)
>>> with tempfile.TemporaryDirectory() as folder:
...     file = Path(folder, "wine.parquet")
...     pa.parquet.write_table(table, file)
...     model = SAMMEClassifier(n_estimators=10).fit(file, "target")
...     labels = model.predict(file)
>>> labels[:3]
array([0, 0, 0])
"""

from steadyboost.streaming.fit import fit
from steadyboost.streaming.predict import predict_batches, predicted, score
from steadyboost.streaming.source import Source

__all__ = ["Source", "fit", "predict_batches", "predicted", "score"]
