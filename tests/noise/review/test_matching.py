"""Verdicts find their rows, or are refused."""

import numpy as np
import pandas as pd
import pytest

from steadyboost.noise import Verdict, VerdictError, Verdicts
from steadyboost.noise.review.matching import ReviewedTable, match_verdicts, reviewed_labels
from steadyboost.noise.review.values import cell_text, row_hash

ROWS = [["1", "red"], ["2.50", "?"], ["3", "TRUE"]]
TABLE = ReviewedTable(["1.0", "2.0", "1.0"], lambda row: row_hash(ROWS[row]))


def one(row, verdict="change", given="1", label="2", **more):
    return Verdicts((Verdict(row, verdict, given, label, **more),))


def test_labels_are_spelled_as_in_the_table():
    (change,) = match_verdicts(one(2, hash=row_hash(["3.0", True])), TABLE)
    assert (change.row, change.label, change.is_change) == (2, "2.0", True)


def test_rows_are_in_order_and_unsure_verdicts_left_out():
    entries = (
        Verdict(2, "drop", "1"), Verdict(1, "unsure", "2"), Verdict(0, "keep", "1", "1"),
    )  # fmt: skip
    found = match_verdicts(Verdicts(entries), TABLE)
    assert [(change.row, change.label) for change in found] == [(0, "1.0"), (2, None)]


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        (one(3), "row 4 is beyond the last row, 3"),
        (one(0, hash="0123"), "row 1 has other values"),
        (one(0, given="3"), "row 1 is labelled '1.0', and '3' was reviewed"),
        (one(0, label="7"), "row 1 would become '7', which no row of the table is"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(verdicts, message):
    with pytest.raises(VerdictError, match=message):
        match_verdicts(verdicts, TABLE)


def test_all_misfits_are_counted():
    entries = tuple(Verdict(row, "drop", "1") for row in range(1, 9))
    with pytest.raises(VerdictError, match=r"7 of 8 verdicts do not fit .*\(and 4 more\)"):
        match_verdicts(Verdicts(entries), TABLE)


def test_verdicts_that_are_applied_already_fit_again():
    (change,) = match_verdicts(one(1), TABLE)  # it was 1 and is 2.0 now
    assert change.label == "2.0"


def test_rows_with_an_identifier_may_have_moved_and_changed():
    table = TABLE._replace(ids=["c", "b", "a"])
    (change,) = match_verdicts(one(0, id="a", hash="other"), table)
    assert change.row == 2
    with pytest.raises(VerdictError, match="no row has the identifier 'z'"):
        match_verdicts(one(0, id="z"), table)
    with pytest.raises(VerdictError, match="2 rows have the id 'a'"):
        match_verdicts(one(0, id="a"), TABLE._replace(ids=["a", "b", "a"]))


def test_labels_of_any_type_are_changed():
    y = np.array([1, 2, 1])
    entries = (
        Verdict(0, "change", "1", "2"), Verdict(1, "keep", "2", "2"), Verdict(2, "drop", "1"),
    )  # fmt: skip
    changes = match_verdicts(Verdicts(entries), ReviewedTable([str(label) for label in y]))
    found = reviewed_labels(y, changes)
    assert found.y.tolist() == [2, 2, 1]
    assert found.keep.tolist() == [True, True, False]
    assert found.verified.tolist() == [True, True, False]
    assert found.changed.tolist() == [0]
    assert y.tolist() == [1, 2, 1]
    assert repr(found) == "1 label changed, 1 confirmed, 1 row left out"


def test_a_row_in_memory_has_the_hash_of_its_file(tmp_path):
    text = "a,b,c,d\n1.50,x ,true,?\n-0.0,NA,False,1e3\n"
    (tmp_path / "t.csv").write_text(text)
    frame = pd.read_csv(tmp_path / "t.csv", na_values="?")
    raw = [line.split(",") for line in text.splitlines()[1:]]
    for dtype in (np.float64, np.float32):
        kept = frame.astype({"a": dtype})
        hashes = [row_hash(row) for row in kept.itertuples(index=False)]
        assert hashes == [row_hash(row) for row in raw]
    assert row_hash(raw[0]) != row_hash(raw[1])
    assert row_hash(["a", "b"]) != row_hash(["ab", ""])


def test_texts_that_only_look_like_numbers_stay():
    assert [cell_text(text) for text in ("1_000", "x1", "-", "-0", "12345678")] == [
        "1_000", "x1", "-", "0", "1.23457e+07",
    ]  # fmt: skip
