"""A table with gaps, late categories, text labels and weights, in every form that is streamed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

FEATURES = ["a", "b", "c"]


def frame(n=400, seed=0):
    """Numbers with gaps, few whole numbers, and categories of which some appear late."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 9, n),
            "c": np.array(list("uvwxyz"))[rng.integers(0, 6, n)],
            "w": rng.integers(0, 4, n).astype(float),
        }
    )
    table.loc[rng.random(n) < 0.1, "a"] = np.nan
    table.loc[: n // 4, "c"] = "u"
    table.loc[rng.random(n) < 0.1, "c"] = None
    signal = (table.a.fillna(0) > 0).astype(int) + (table.c == "z") + (rng.random(n) < 0.1)
    table["y"] = np.array(["no", "perhaps", "yes", "yes"])[signal]
    return table


def parquet_file(table, folder, name="rows.parquet"):
    path = folder / name
    pa.parquet.write_table(pa.Table.from_pandas(table), path, row_group_size=77)
    return path


def parquet_folder(table, folder):
    inside = folder / "rows"
    inside.mkdir()
    for k, part in enumerate(np.array_split(np.arange(len(table)), 3)):
        parquet_file(table.iloc[part], inside, f"part-{k}.parquet")
    return inside


def dataset(table, folder):
    return pa.dataset.dataset(parquet_file(table, folder), format="parquet")


def lazy_frame(table, folder):
    return pl.scan_parquet(parquet_file(table, folder))


def arrow_table(table, folder):
    return pa.Table.from_pandas(table)


def reader(table, folder):
    """Its rows can be read once only."""
    whole = pa.Table.from_pandas(table)
    return pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=30))


SOURCES = [parquet_file, parquet_folder, dataset, lazy_frame, arrow_table, reader]
