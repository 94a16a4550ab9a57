"""The command ``steadyboost audit``."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
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
    assert list(rows[0]) == [
        *("row", "given", "suggested", "score", "rank"),
        *("suspect", "expected_precision", "expected_recall"),
    ]
    assert len(rows) == 200
    differ = [str(row["given"] != row["suggested"]).lower() for row in rows]
    assert [row["suspect"] for row in rows] == differ
    worst = {int(row["row"]) - 1 for row in rows[:20]}
    assert len(worst & wrong) >= 12
    page = Path("page.html").read_text(encoding="utf-8")
    assert (
        "steadyboost audit wrong.csv --target kind --jobs 1 -o suspects.csv --html page.html"
        in page
    )
    assert "Which labels of wrong.csv are wrong?" in page


def test_json_for_machines(works, wrong):
    found = works("audit", "wrong.csv", *KIND, "--categorical", "plot", "--json")
    assert found["rows"] == 200
    assert found["classes"] == ["herb", "shrub", "tree"]
    assert set(found["wrong_per_class"]) == set(found["classes"])
    np.testing.assert_allclose(np.sum(found["transition_matrix"], axis=1), 1)
    listed = {suspect["row"] - 1 for suspect in found["suspects"]}
    assert listed
    assert len(listed & wrong) >= 0.7 * len(listed)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "train.csv has the columns 'height', 'soil', 'plot', 'kind'."),
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


def test_a_review_goes_back_into_its_table(works, wrong):
    """The page's rows and hashes are those of the file, whatever columns are left out."""
    lines = Path("wrong.csv").read_text().split()
    named = [f"{line},{'tag' if k == 0 else f'p{k}'}" for k, line in enumerate(lines)]
    Path("wrong.csv").write_text("\n".join([*named, ""]))
    printed = works("audit", "wrong.csv", *KIND, "--id", "tag", "--review", "review.html")
    assert "Review: review.html" in printed
    page = Path("review.html").read_text(encoding="utf-8")
    text = re.search(r'id="data">(.*?)</script>', page)[1]
    data = json.loads(text)
    assert (data["name"], data["target"], data["id"]) == ("wrong.csv", "kind", "tag")
    assert [column["name"] for column in data["columns"]] == ["height", "soil", "plot", "tag"]
    assert data["evidence"][0]["columns"]
    row, given = data["rows"][0], data["classes"][data["given"][0]]
    label = data["classes"][data["other"][0]]
    entry = {"row": row, "verdict": "change", "given": given, "label": label}
    for named, key in (("", "hash"), ("tag", "id")):
        value = (data["ids"] if key == "id" else data["hashes"])[0]
        verdicts = {"format": data["format"], "version": 1, "target": "kind", "id": named}
        document = verdicts | {"verdicts": [entry | {key: value}]}
        Path("verdicts.json").write_text(json.dumps(document))
        works("apply", "wrong.csv", "verdicts.json", "-o", "clean.csv", "--force")
        clean = Path("clean.csv").read_text().split()
        changed = [
            k for k, pair in enumerate(zip(named_lines(), clean, strict=True)) if pair[0] != pair[1]
        ]
        assert changed == [row]
        assert clean[row].split(",")[3] == label


def named_lines():
    return Path("wrong.csv").read_text().split()


def test_columns_that_a_review_needs_must_be_there(complains, wrong):
    said = complains(1, "audit", "wrong.csv", *KIND, "--id", "tagg", "--review", "review.html")
    assert "no column 'tagg'" in said
    said = complains(1, "audit", "wrong.csv", *KIND, "--id", "soil", "--review", "review.html")
    assert "column 'soil' does not identify the rows: " in said


# Which rows are listed, who stays together, and whose probabilities


@pytest.mark.parametrize(
    ("options", "n"), [(("--flag", "7"), 7), (("--flag", "0.05"), 10), (("--flag", "0"), 0)]
)
def test_the_list_is_as_long_as_told(works, wrong, options, n):
    found = works("audit", "wrong.csv", *KIND, *options, "--json")
    assert len(found["suspects"]) == n


def test_a_list_of_a_precision(works, wrong):
    sure, unsure = (
        works("audit", "wrong.csv", *KIND, "--precision", share, "--json")["suspects"]
        for share in (0.95, 0.5)
    )
    assert len(sure) < len(unsure)
    assert np.mean([1 - suspect["score"] for suspect in unsure]) >= 0.5


def test_intervals_and_notes_are_told(works, wrong):
    found = works("audit", "wrong.csv", *KIND, "--json")
    low, high = found["noise_rate_interval"]
    assert low <= found["noise_rate"] <= high
    assert set(found["class_noise_rates"]) == set(found["classes"])
    assert isinstance(found["notes"], list)
    printed = works("audit", "wrong.csv", *KIND, "--flag", "0")
    assert "90 % interval" in printed
    assert "No label is more likely wrong than right; the most suspicious rows:" in printed


def test_rows_of_a_group_stay_together_and_its_name_is_not_learnt(works, wrong):
    table = pd.read_csv("wrong.csv")
    table["person"] = table["kind"] + (np.arange(200) // 2 % 50).astype(str)  # names the label
    table.to_csv("people.csv", index=False)
    found = works("audit", "people.csv", *KIND, "--groups", "person", "--json")
    listed = {suspect["row"] - 1 for suspect in found["suspects"]}
    assert len(listed & wrong) >= 0.5 * len(listed)
    assert found["noise_rate"] > 0.03


def test_probabilities_of_the_table_replace_the_model(works):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    proba = 0.9 * np.eye(3)[y] + 0.1 / 3
    given = np.where(np.arange(300) < 15, (y + 1) % 3, y)
    table = pd.DataFrame(proba, columns=["pa", "pb", "pc"]).assign(
        kind=np.array(list("abc"))[given]
    )
    table.to_csv("proba.csv", index=False)
    for names in (("--proba", "pa,pb,pc"), ("--proba", "pa", "--proba", "pb", "--proba", "pc")):
        found = works("audit", "proba.csv", *KIND, *names, "--json")
        assert {suspect["row"] for suspect in found["suspects"]} == set(range(1, 16))


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--flag", "many"), 2, "--flag many must be auto"),
        (("--flag", "-3"), 1, "flag=-3 must be"),
        (("--precision", "2"), 1, "precision=2.0 must be above 0"),
        (("--groups", "person"), 2, "no column 'person', which --groups names"),
        (("--proba", "height"), 1, "pred_probs has shape (200, 1)"),
        (("--proba", "height,width"), 2, "no column 'width', which --proba names"),
        (("--proba", "height", "--groups", "plot"), 2, "--groups is of no use with --proba"),
    ],
)
def test_wrong_choices_are_one_sentence(complains, train, args, code, words):
    assert words in complains(code, "audit", train, *KIND, *args)


def test_an_audit_goes_on_from_verdicts(works, complains, wrong):
    first = works("audit", "wrong.csv", *KIND, "--json")["suspects"][:4]
    kinds = [("change", one["suggested"]) for one in first[:2]]
    kinds += [("keep", first[2]["given"]), ("drop", "")]
    entries = [
        {"row": one["row"], "verdict": kind, "given": one["given"], "label": label}
        for one, (kind, label) in zip(first, kinds, strict=True)
    ]
    document = {"format": "steadyboost-verdicts", "version": 1, "target": "kind"}
    Path("v.json").write_text(json.dumps(document | {"verdicts": entries}))
    found = works("audit", "wrong.csv", *KIND, "--verified", "v.json", "--json")
    settled = {one["row"] for one in first}
    assert settled.isdisjoint(one["row"] for one in found["suspects"])
    assert found["suspects"]
    entries[0]["given"] = "moss"
    entries[0]["label"] = "fern"
    Path("v.json").write_text(json.dumps(document | {"verdicts": entries}))
    said = complains(1, "audit", "wrong.csv", *KIND, "--verified", "v.json")
    assert "1 of 4 verdicts do not fit the table" in said
    assert "no such file" in complains(1, "audit", "wrong.csv", *KIND, "--verified", "none.json")
