"""``steadyboost fit --dask``: a folder of Parquet files in, an ordinary model file out."""

import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import steadyboost as sb
from steadyboost.cli import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files, and this process in place of a cluster."""
    monkeypatch.setattr("steadyboost.distributed.connected", lambda address: nullcontext())
    rng, made = np.random.default_rng(0), tmp_path / "data"
    made.mkdir()
    for k in range(3):
        frame = pd.DataFrame({"a": rng.random(80), "b": rng.choice(["u", "v"], 80)})
        label = np.where(frame["a"] + (frame["b"] == "u") > 0.8, "yes", "no")
        frame.assign(label=label, w=1.0, note=k).to_parquet(made / f"{k}.parquet")
    return made


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments), "--dask", "local"])


def test_a_folder_becomes_a_model(folder, tmp_path):
    path = tmp_path / "model.sb"
    options = ["--booster", "SAMME", "--rounds", 5, "--weights", "w", "--ignore", "note", "--json"]
    said = run(folder, "--target", "label", *options, "--output", path)
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    assert told["data"] == {"partitions": 3, "features": ["a", "b"]}
    model = sb.load(path)
    frame = pd.read_parquet(folder)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert (model.predict(frame[["a", "b"]]) == frame["label"]).mean() > 0.95


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "name the column of the labels"),
        (["--target", "nothing"], "not a column"),
        (["--target", "label", "--ignore", "nothing"], "no column 'nothing'"),
        (["--target", "label", "-b", "samme", "--learner", "C45"], "needs all rows in memory"),
    ],
)
def test_mistakes_are_told_in_one_sentence(folder, tmp_path, options, words):
    said = run(folder, *options, "--output", tmp_path / "model.sb")
    assert said.exit_code != 0
    assert words in said.output
