"""The command ``apply``."""

import json
from pathlib import Path

import pytest

from steadyboost.cli.annotators import AnnotatedTraining
from steadyboost.cli.apply import with_verdicts
from steadyboost.cli.inputs import TrainingSource, read_training

TABLE = b'name;kg;pet\r\na;4,20;"cat"\r\nb;30;"cat"\r\nc;25;"dog"\r\nd;5;"cat"\r\n'


def verdicts(path, *entries, **named):
    named = {"target": "pet"} | named
    document = {"format": "steadyboost-verdicts", "version": 1, **named, "verdicts": entries}
    Path(path).write_text(json.dumps(document))
    return path


CHANGE = {"row": 2, "verdict": "change", "given": "cat", "label": "dog", "id": "b"}
KEEP = {"row": 3, "verdict": "keep", "given": "dog", "label": "dog", "id": "c"}
DROP = {"row": 4, "verdict": "drop", "given": "cat", "id": "d"}


@pytest.fixture
def table():
    Path("pets.csv").write_bytes(TABLE)
    return "pets.csv"


def test_labels_change_and_nothing_else(works, table):
    verdicts("v.json", CHANGE, KEEP, DROP)
    printed = works("apply", table, "v.json", "-o", "clean.csv")
    expected = TABLE.replace(b'30;"cat"', b'30;"dog"').replace(b'd;5;"cat"\r\n', b"")
    assert Path("clean.csv").read_bytes() == expected
    assert Path(table).read_bytes() == TABLE
    assert "1 label changed, 1 confirmed, 1 row left out" in printed
    assert "Table: clean.csv" in printed


def test_labels_that_are_corrected_already_are_not_counted_as_changes(works, complains, table):
    verdicts("v.json", CHANGE, KEEP)
    works("apply", table, "v.json", "-o", "clean.csv")
    printed = works("apply", "clean.csv", "v.json", "-o", "again.csv")
    assert "0 labels changed, 1 confirmed" in printed
    assert "1 label had been changed already." in printed
    assert works("apply", "clean.csv", "v.json", "-o", "third.csv", "--json")["rows"] == []
    assert Path("again.csv").read_bytes() == Path("clean.csv").read_bytes()
    assert "does not end in .csv." in complains(2, "apply", table, "v.json", "-o", "clean.tsv")


def test_report_as_json_and_agreement_of_reviewers(works, table):
    verdicts("ann.json", CHANGE | {"reviewer": "Ann"}, KEEP)
    verdicts(
        "bob.json", CHANGE | {"reviewer": "Bob"}, {"row": 3, "verdict": "drop", "given": "dog"}
    )
    found = works("apply", table, "ann.json", "bob.json", "-o", "clean.csv", "--json")
    assert (found["change"], found["unsure"], found["disputed"]) == (1, 1, [3])
    assert found["rows"] == [{"row": 2, "from": "cat", "to": "dog"}]
    assert found["agreement"][0]["same"] == 0.5
    printed = works("apply", table, "ann.json", "bob.json", "-o", "clean.csv", "--force")
    assert "agree on 50% of 2 common rows" in printed
    assert "Reviewers disagree on 1 row: 3" in printed


def test_rows_by_identifier(works, table):
    lines = TABLE.splitlines(keepends=True)
    Path("moved.csv").write_bytes(b"".join([lines[0], *lines[:0:-1]]))
    verdicts("v.json", CHANGE, id="name")
    works("apply", "moved.csv", "v.json", "-o", "clean.csv")
    assert b'b;30;"dog"' in Path("clean.csv").read_bytes()
    Path("v.csv").write_text("row,id,given,verdict,label\n1,c,dog,change,cat\n")
    works("apply", "moved.csv", "v.csv", "-t", "pet", "--id", "name", "-o", "clean.csv", "--force")
    assert b'c;25;"cat"' in Path("clean.csv").read_bytes()


def test_what_does_not_fit_is_refused_and_nothing_is_written(complains, table):
    for entry, message in (
        (CHANGE | {"row": 9}, "row 9 is beyond the last row"),
        (CHANGE | {"hash": "00"}, "row 2 has other values"),
        (CHANGE | {"given": "eel"}, "row 2 is labelled 'cat', and 'eel' was reviewed"),
        (CHANGE | {"label": "eel"}, "would become 'eel'"),
    ):
        verdicts("v.json", entry)
        assert message in complains(1, "apply", table, "v.json", "-o", "clean.csv")
    verdicts("v.json", CHANGE, target="")
    assert "--target" in complains(2, "apply", table, "v.json", "-o", "clean.csv")
    verdicts("v.json", CHANGE, target="pett")
    assert "did you mean 'pet'" in complains(1, "apply", table, "v.json", "-o", "clean.csv")
    assert not Path("clean.csv").exists()


def test_the_source_is_never_written(complains, table):
    verdicts("v.json", CHANGE)
    Path("link.csv").symlink_to(table)
    for output in (table, "link.csv"):
        said = complains(2, "apply", table, "v.json", "-o", output, "--force")
        assert "is an input" in said
    assert "does not end in .csv" in complains(2, "apply", table, "v.json", "-o", "clean.tsv")
    assert Path(table).read_bytes() == TABLE


def test_an_audit_goes_on_from_verdicts_and_the_labels_that_rows_had(table):
    path = verdicts("v.json", CHANGE, KEEP, DROP)
    source = TrainingSource(Path(table), "pet")
    training = read_training(source, quiet=True)
    found = with_verdicts(AnnotatedTraining(training, {}), source, [Path(path)])
    assert found.extra["verified"] == {1: "dog", 2: "dog"}
    assert found.training.y.tolist() == ["cat", "cat", "dog", "cat"]
    assert found.training.table.weights.tolist() == [1, 1, 1, 0]
    lines = TABLE.splitlines(keepends=True)
    Path(table).write_bytes(b"".join([lines[0], b"e;7;\r\n", *lines[1:]]))
    moved = [entry | {"row": entry["row"] + 1} for entry in (CHANGE, KEEP, DROP)]
    verdicts("v.json", *moved)
    source = source._replace(drop_unlabelled=True)
    training = read_training(source, quiet=True)
    again = with_verdicts(AnnotatedTraining(training, {}), source, [Path(path)])
    assert again.extra["verified"] == found.extra["verified"]
