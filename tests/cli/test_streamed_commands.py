"""``fit`` and ``predict`` of Parquet files in batches say what they say of whole tables."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steadyboost
from steadyboost.cli import streamed
from steadyboost.streaming import source

FIT = ("--target", "kind", "--booster", "samme", "--rounds", "3", "--output", "m.sb", "--json")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(source, "BATCH_ROWS", 64)
    monkeypatch.setattr(source, "MIN_BATCH_ROWS", 16)


def as_parquet(csv, name):
    pl.read_csv(csv, null_values="?").write_parquet(name)
    return name


@pytest.fixture
def rows(train):
    return as_parquet(train, "rows.parquet")


def test_a_streamed_fit_is_the_fit_of_the_whole_table(rows, works):
    told = works("fit", rows, *FIT, "--stream")
    assert told["data"]["rows"] == 200
    whole = works("fit", rows, *FIT, "--force", "--no-stream", "--output", "whole.sb")
    # Streamed rows are not fitted again for a cross-fitted error.
    assert set(told["errors"]) == {"training"}
    assert set(whole["errors"]) == {"cross_fitted", "baseline"}
    X = pl.read_parquet(rows).drop("kind")
    ours, theirs = steadyboost.load("m.sb"), steadyboost.load("whole.sb")
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_folders_and_large_files_are_streamed_by_themselves(rows, works, monkeypatch):
    Path("folder").mkdir()
    Path(rows).rename("folder/rows.parquet")
    told = works("fit", "folder", *FIT[:-1])
    assert told.splitlines()[0] == "folder: 200 rows, 3 features, read in batches"
    assert "read in batches" not in works("fit", "folder/rows.parquet", *FIT[:-1], "--force")
    monkeypatch.setattr(streamed, "STREAM_NUMBERS", 700)
    assert "read in batches" in works("fit", "folder/rows.parquet", *FIT[:-1], "--force")


def test_columns_weights_and_validation_rows(train, test_rows, works):
    rng = np.random.default_rng(0)
    weighted = pl.read_csv(train, null_values="?").with_columns(
        pl.Series("id", np.arange(200)), pl.Series("w", rng.integers(0, 3, 200))
    )
    weighted.write_parquet("rows.parquet")
    pl.read_csv(test_rows, null_values="?").with_columns(id=pl.lit(0)).write_parquet("v.parquet")
    options = ("--ignore", "id", "--weights", "w", "--categorical", "plot", "--stream")
    told = works("fit", "rows.parquet", *FIT, *options, "--validation", "v.parquet")
    model = steadyboost.load("m.sb")
    assert model.feature_names_in_.tolist() == ["height", "soil", "plot"]
    assert model._encoder.is_categorical.tolist() == [False, True, True]
    assert set(told["errors"]) == {"training", "validation"}
    assert told["data"]["ignored"] == ["id"]


@pytest.mark.parametrize("output", ["p.csv", "p.parquet"])
def test_predictions_of_a_stream_are_those_of_the_table(rows, works, output):
    works("fit", rows, *FIT)
    options = ("--proba", "--keep", "kind", "--output", output)
    works("predict", "m.sb", rows, *options)
    read = pl.read_csv if output.endswith(".csv") else pl.read_parquet
    whole = read(output)
    told = works("predict", "m.sb", rows, *options, "--force", "--stream", "--json")
    assert told == {"rows": 200, "output": output}
    assert read(output).equals(whole)


def test_predictions_of_a_stream_are_printed(rows, works):
    works("fit", rows, *FIT)
    assert works("predict", "m.sb", rows, "--stream") == works("predict", "m.sb", rows)


def test_what_cannot_be_streamed_is_told(train, rows, complains):
    assert "is not a Parquet file" in complains(2, "fit", train, *FIT, "--stream")
    ignored = ("--ignore", "nothing")
    assert "has no column 'nothing'" in complains(1, "fit", rows, *FIT, "--stream", *ignored)
    options = ("--stream", "--output", "m.sb")
    assert "--target" in complains(2, "fit", rows, *options)
    assert "not a column" in complains(1, "fit", rows, *options, "--target", "nothing")
    assert not Path("m.sb").exists()
