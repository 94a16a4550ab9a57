"""The command ``steadyboost audit``."""

import csv
from pathlib import Path

import numpy as np
import pytest

KIND = ("--target", "kind", "--jobs", "1")


@pytest.fixture
def wrong(train):
    """The rows of a copy of the table, ``wrong.csv``, whose label is not what it was."""
    head, *lines = train.read_text().split()
    flipped = np.random.default_rng(0).choice(len(lines), 20, replace=False)
    for row in flipped:
        values, _, kind = lines[row].rpartition(",")
        lines[row] = f"{values},{'herb' if kind == 'tree' else 'tree'}"
    Path("wrong.csv").write_text("\n".join([head, *lines, ""]))
    return set(flipped.tolist())


def test_suspects_page_and_csv(works, wrong):
    files = ("-o", "suspects.csv", "--html", "page.html")
    printed = works("audit", "wrong.csv", *KIND, *files)
    assert "wrong.csv: 200 rows" in printed
    assert "Estimated to be wrong:" in printed
    assert "Table: suspects.csv" in printed
    with open("suspects.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["row", "given", "suggested", "score", "rank", "suspect"]
    assert len(rows) == 200
    differ = [str(row["given"] != row["suggested"]).lower() for row in rows]
    assert [row["suspect"] for row in rows] == differ
    worst = {int(row["row"]) for row in rows[:20]}
    assert len(worst & wrong) >= 12
    page = Path("page.html").read_text(encoding="utf-8")
    assert "steadyboost audit wrong.csv --target kind · SteadyBoost" in page
    assert "Which labels of wrong.csv look wrong?" in page


def test_json_for_machines(works, wrong):
    found = works("audit", "wrong.csv", *KIND, "--categorical", "plot", "--json")
    assert found["rows"] == 200
    assert found["classes"] == ["herb", "shrub", "tree"]
    assert set(found["wrong_per_class"]) == set(found["classes"])
    np.testing.assert_allclose(np.sum(found["transition_matrix"], axis=1), 1)
    listed = {suspect["row"] for suspect in found["suspects"]}
    assert listed
    assert len(listed & wrong) >= 0.7 * len(listed)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "'--target': name the column of the labels"),
        (("--target", "kynd"), 1, "did you mean 'kind'?"),
        ((*KIND, "--booster", "nonsense"), 2, "nonsense"),
        ((*KIND, "--html", "page.txt"), 2, "does not end in .html"),
        ((*KIND, "-o", "there.csv"), 2, "exists; pass --force"),
    ],
)
def test_errors_are_one_sentence(complains, train, args, code, words):
    Path("there.csv").touch()
    assert words in complains(code, "audit", train, *args)


def test_one_class_is_refused(complains):
    Path("one.csv").write_text("a,kind\n1,x\n2,x\n")
    assert "one.csv: " in complains(1, "audit", "one.csv", "--target", "kind")
