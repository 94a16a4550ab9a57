"""The command ``steadyboost compare``."""

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from steadyboost import cli

SMALL = ("--folds", "2", "--methods", "samme, RandomForest", "--noise", "0.2", "--jobs", "1")


@pytest.fixture(autouse=True)
def iris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = load_iris(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    frame.to_csv("iris.csv", index=False)


def call(*args):
    return CliRunner().invoke(cli.app, ["compare", *args], prog_name="steadyboost")


def test_table_page_and_csv():
    files = ("--html", "page.html", "-o", "table.csv")
    result = call("iris.csv", "--target", "target", *SMALL, *files)
    assert result.exit_code == 0, result.output
    assert "iris.csv: 150 rows" in result.stdout
    assert "SAMME" in result.stdout
    assert "has the fewest errors" in result.stdout
    assert "Page: page.html" in result.stdout
    page = Path("page.html").read_text(encoding="utf-8")
    command = "steadyboost compare iris.csv --target target --methods samme,RandomForest"
    assert f"{command} --noise 0.2 --folds 2 · SteadyBoost" in page
    assert Path("table.csv").read_text(encoding="utf-8").startswith("name,is_ours,error,")


def test_json_for_machines():
    result = call("iris.csv", "--target", "target", *SMALL, "--json")
    document = json.loads(result.stdout)
    assert {method["name"] for method in document["methods"]} == {"SAMME", "RandomForest"}
    assert document["setting"]["noise"] == 0.2
    assert document["data"] == "iris.csv"


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "'--target': name the column of the labels"),
        (("--target", "tarjet"), 1, "did you mean 'target'?"),
        (("--target", "target", "--noise", "1.5"), 2, "at least 0 and below 1"),
        (("--target", "target", "--folds", "1"), 2, "--folds"),
        (("--target", "target", "-m", "samme,nonsense"), 1, "'nonsense', which is not known"),
        (("--target", "target", "--noise", "0.1", "--kind", "odd"), 1, "kind='odd' is unknown"),
        (("--target", "target", "--html", "page.txt"), 2, "does not end in .html"),
        (("--target", "target", "-o", "iris.csv"), 2, "exists; pass --force"),
        (("--target", "sepal length (cm)"), 1, "holds quantities such as"),
    ],
)
def test_errors_are_one_sentence(args, code, words):
    result = call("iris.csv", *args)
    assert result.exit_code == code
    assert result.stderr.startswith("steadyboost: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
