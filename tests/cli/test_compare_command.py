"""The command ``steadyboost compare``."""

from pathlib import Path

import pytest

SMALL = ("--folds", "2", "--methods", "samme, RandomForest", "--noise", "0.2", "--jobs", "1")
KIND = ("--target", "kind")


def test_table_page_and_csv(works, train):
    files = ("--html", "page.html", "-o", "table.csv")
    printed = works("compare", train, *KIND, *SMALL, *files)
    assert "train.csv: 200 rows" in printed
    assert "SAMME" in printed
    assert "RandomForest °" in printed
    assert "has the lowest error" in printed
    assert "Page: page.html" in printed
    page = Path("page.html").read_text(encoding="utf-8")
    assert "steadyboost compare train.csv --target kind --folds 2 --methods" in page
    assert "--html page.html -o table.csv · SteadyBoost" in page
    assert Path("table.csv").read_text(encoding="utf-8").startswith("name,is_ours,error,")


def test_json_for_machines(works, train):
    found = works("compare", train, *KIND, *SMALL, "--categorical", "plot", "--json")
    assert {method["name"] for method in found["methods"]} == {"SAMME", "RandomForest"}
    assert found["setting"]["noise"] == 0.2
    assert found["setting"]["classes"] == ["herb", "shrub", "tree"]
    assert found["data"] == str(train)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "'--target': name the column of the labels"),
        (("--target", "kynd"), 1, "did you mean 'kind'?"),
        ((*KIND, "--noise", "1.5"), 2, "not in the range [0, 1)"),
        ((*KIND, "--folds", "1"), 2, "--folds"),
        ((*KIND, "-m", "samme,nonsense"), 1, "'nonsense', which is not known"),
        ((*KIND, "--noise", "0.1", "--kind", "odd"), 1, "kind='odd' is unknown"),
        ((*KIND, "--html", "page.txt"), 2, "does not end in .html"),
        ((*KIND, "-o", "there.csv"), 2, "exists; pass --force"),
        (("--target", "height"), 1, "no value in the target column 'height'"),
    ],
)
def test_errors_are_one_sentence(complains, train, args, code, words):
    Path("there.csv").touch()
    assert words in complains(code, "compare", train, *args)
