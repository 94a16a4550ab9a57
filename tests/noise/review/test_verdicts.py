"""Verdicts, their files, and several reviewers."""

import json

import pytest

from steadyboost.noise import Verdict, VerdictError, Verdicts, merge_verdicts, read_verdicts

ENTRIES = (
    Verdict(3, "change", "cat", 'd"o,g', hash="ab12", reviewer="Ann", time="2024-05-01T10:00:00Z"),
    Verdict(5, "keep", "dog", "dog"),
    Verdict(8, "unsure", "dog"),
    Verdict(9, "drop", "eel\n"),
)


@pytest.mark.parametrize("name", ["verdicts.json", "verdicts.csv"])
def test_files_keep_every_verdict(tmp_path, name):
    made = Verdicts(ENTRIES, target="pet", id="number", table="pets.csv")
    made.save(tmp_path / name)
    found = read_verdicts(tmp_path / name)
    assert found.entries == ENTRIES
    if name.endswith("json"):
        assert found == made
    assert found.counts() == {"keep": 1, "change": 1, "unsure": 1, "drop": 1}


def document(**changes):
    entry = {"row": 1, "verdict": "keep", "given": "a", "label": "a"}
    whole = {"format": "steadyboost-verdicts", "version": 1, "verdicts": [entry | changes]}
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not a file of verdicts"),
        ('{"format": "steadyboost-verdicts", "version": 7}', "version 7"),
        ('{"format": "steadyboost-verdicts", "version": 1}', "must be a list"),
        (document(row=0), "verdict 1 has the row 0; rows are counted from 1"),
        (document(row=True), "verdict 1 has the row True"),
        (document(verdict="maybe"), "'maybe'; it must be one of keep"),
        (document(label=""), "lacks its label"),
        (document(label=3), "label=3, which is not text"),
        (document(label="b"), "'keep', from 'a' to 'b'"),
        (document(verdict="change"), "'change', from 'a' to 'a'"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_verdict_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "verdicts.json"
    path.write_text(text)
    with pytest.raises(VerdictError, match=message) as error:
        read_verdicts(path)
    assert str(path) in str(error.value)


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(VerdictError, match="there is no such file"):
        read_verdicts(tmp_path / "none.json")
    (tmp_path / "v.txt").write_text("")
    with pytest.raises(VerdictError, match=r"end in \.json or \.csv"):
        read_verdicts(tmp_path / "v.txt")
    (tmp_path / "v.csv").write_text("row,verdict\n1,keep\n")
    with pytest.raises(VerdictError, match="lacks the column 'given'"):
        read_verdicts(tmp_path / "v.csv")


def test_a_row_has_one_verdict():
    with pytest.raises(VerdictError, match="row 4 has 2 verdicts"):
        Verdicts((ENTRIES[0], ENTRIES[0]))
    twins = (Verdict(1, "keep", "a", "a", id="x"), Verdict(2, "keep", "a", "a", id="x"))
    with pytest.raises(VerdictError, match="the row with number 'x' has 2 verdicts"):
        Verdicts(twins, id="number")


def reviewer(name, *labels):
    """A reviewer who was shown rows of class "a"; None for not sure."""

    def entry(row, label):
        kind = "unsure" if label is None else "keep" if label == "a" else "change"
        return Verdict(row, kind, "a", label or "", reviewer=name)

    return Verdicts(tuple(entry(row, label) for row, label in enumerate(labels)), target="y")


def test_the_majority_of_those_who_are_sure_decides():
    files = [
        reviewer("Ann", "a", "b", "b", None, "b"),
        reviewer("Bob", "a", "b", "a", None, None),
        reviewer("Cy", "b", "b", "c", None),
    ]
    merged = merge_verdicts(*files)
    assert [entry.label for entry in merged.verdicts] == ["a", "b", "", "", "b"]
    assert [entry.verdict for entry in merged.verdicts][2:4] == ["unsure", "unsure"]
    assert [entry.row for entry in merged.disputed] == [0, 2]
    assert merged.verdicts.target == "y"
    assert [one.reviewers for one in merged.agreements] == [
        ("Ann", "Bob"), ("Ann", "Cy"), ("Bob", "Cy"),
    ]  # fmt: skip


def test_agreement_is_cohens_kappa():
    """By hand: 4 common rows, 3 the same; chance (2 * 1 + 2 * 3) / 16 = 0.5."""
    merged = merge_verdicts(reviewer("", "a", "a", "b", "b"), reviewer("", "a", "b", "b", "b"))
    (found,) = merged.agreements
    assert found.reviewers == ("reviewer 1", "reviewer 2")
    assert (found.rows, found.same, found.kappa) == (4, 0.75, 0.5)
    alone = merge_verdicts(reviewer("", "a"), reviewer("", None)).agreements[0]
    assert alone.rows == 0


def test_reviews_of_different_tables_do_not_merge():
    other = Verdicts((ENTRIES[1],), target="x")
    with pytest.raises(VerdictError, match="different tables: their target is 'x' and 'y'"):
        merge_verdicts(other, reviewer("Ann", "a"))
    with pytest.raises(VerdictError, match="one reviewer"):
        merge_verdicts()
