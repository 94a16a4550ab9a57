"""Answers of several annotators, and checked rows, on the command line."""

import csv
from pathlib import Path

import numpy as np
import pytest

from steadyboost import load
from steadyboost.cli.annotators import Sources, read_annotated
from steadyboost.cli.inputs import TextFormat, TrainingSource

N = 160
FAST = ("--jobs", "1", "--seed", "0")


@pytest.fixture
def crowd():
    """``rows.csv`` with three annotators who leave gaps, ``answers.csv`` with the same answers."""
    rng = np.random.default_rng(0)
    size, weight = rng.normal(size=(2, N))
    kind = np.where(size + weight > 0, "tree", "herb")
    answers, lines = [], []
    for row in range(N):
        given = []
        for name, accuracy in (("ann", 0.95), ("bob", 0.9), ("cy", 0.6)):
            other = "herb" if kind[row] == "tree" else "tree"
            label = kind[row] if rng.random() < accuracy else other
            keep = name == "ann" if row % 5 == 0 else True
            given.append(label if keep else "")
            answers += [(row + 1, name, label)] if keep else []
        checked = "yes" if row % 10 == 0 else "no"
        lines.append(
            [size[row], weight[row], *given, kind[row] if checked == "yes" else "", checked]
        )
    write("rows.csv", ["size", "weight", "ann", "bob", "cy", "kind", "checked"], lines)
    write("plain.csv", ["size", "weight"], [line[:2] for line in lines])
    write("answers.csv", ["item", "annotator", "label"], answers)
    return kind


def write(name, head, lines):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *lines])


def columns(*names):
    return ("--annotators", ",".join(names))


def test_fit_learns_from_columns_and_from_a_file(works, crowd):
    ignore = ("--ignore", "kind", "--ignore", "checked")
    by_columns = works(
        "fit", "rows.csv", *columns("ann", "bob", "cy"), *ignore, "-o", "a.sb", *FAST, "--json"
    )
    by_file = works("fit", "plain.csv", "--answers", "answers.csv", "-o", "b.sb", *FAST, "--json")
    assert by_columns["annotators"] == by_file["annotators"]
    assert [one["annotator"] for one in by_file["annotators"]] == ["ann", "bob", "cy"]
    assert by_file["annotators"][2]["accuracy"] < 0.8 < by_file["annotators"][0]["accuracy"]
    one, other = load("a.sb"), load("b.sb")
    X = np.random.default_rng(1).normal(size=(50, 2))
    X = [{"size": a, "weight": b} for a, b in X.tolist()]
    import pandas as pd

    frame = pd.DataFrame(X)
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))


def test_audit_prints_annotators_and_suspects(works, crowd):
    printed = works("audit", "plain.csv", "--answers", "answers.csv", "-o", "suspects.csv", *FAST)
    assert "Estimated to be wrong" in printed
    assert "90 % interval" in printed
    assert "cy" in printed
    assert len(Path("suspects.csv").read_text().split("\n")) == N + 2


def test_checked_rows_judge_annotators(works, crowd):
    found = works(
        "audit", "rows.csv", "--target", "kind", "--verified", "checked",
        *columns("ann", "bob", "cy"), *FAST, "--json",
    )  # fmt: skip
    by = {one["annotator"]: one for one in found["annotators"]}
    assert by["ann"]["n_checked"] == 16
    checked = set(range(1, N + 1, 10))
    assert not checked & {suspect["row"] for suspect in found["suspects"]}


def test_checked_rows_of_labels(works, crowd):
    lines = [[i, 1 - i, kind, int(i % 4 == 0)] for i, kind in enumerate(crowd.tolist())]
    write("labels.csv", ["a", "b", "kind", "checked"], lines)
    found = works("audit", "labels.csv", "-t", "kind", "--verified", "checked", *FAST, "--json")
    assert not {s["row"] for s in found["suspects"]} & set(range(1, N + 1, 4))
    works("fit", "labels.csv", "-t", "kind", "--verified", "checked", "-o", "c.sb", *FAST)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--annotators", "ann,zoe"), 1, "no column 'zoe'"),
        (("--annotators", "ann,ann"), 2, "'ann' more than once"),
        (("--annotators", "ann", "--answers", "answers.csv"), 2, "either"),
        (("--answers", "none.csv"), 2, "no such file"),
        (
            ("--annotators", "bob", "--ignore", "kind"),
            1,
            "rows.csv: there is no answer for rows 1, 6, 11, 16, 21 and 27 more;",
        ),
        (("--annotators", "ann", "--verified", "checked"), 2, "--target"),
        (
            ("--target", "kind", "--verified", "ann", "--drop-unlabelled"),
            1,
            "row 1 of column 'ann'",
        ),
        (("--target", "kind", "--verified", "checked"), 1, "row 2 has no value"),
        (("--annotators", "ann", "-b", "SAMME"), 2, "SAMME"),
    ],
)
def test_what_is_refused(call, crowd, args, code, words):
    found = call("fit", "rows.csv", *args, "-o", "x.sb", *FAST)
    assert found.exit_code == code, (found.stderr, found.exception)
    assert words in found.stderr
    assert not Path("x.sb").exists()


def test_tables_are_read_and_screened_as_without_answers(crowd):
    lines = [f"r{row};{row / 8};{'ab'[row % 2]}".replace(".", ",") for row in range(40)]
    Path("semi.csv").write_text("\n".join(["tag;size;ann", *lines]), encoding="utf-16")
    source = TrainingSource(Path("semi.csv"), None, text=TextFormat(";", ",", "utf-16"))
    found = read_annotated(source, Sources(("ann",)), quiet=True)
    assert found.training.table.X.columns == ["size"]  # the tag identifies rows
    assert found.training.table.X["size"].to_list() == [row / 8 for row in range(40)]
    assert len(found.extra["annotations"][2]) == 40


def test_items_of_a_file_are_rows(call, crowd):
    write("odd.csv", ["item", "annotator", "label"], [["r1", "ann", "herb"]])
    found = call("fit", "plain.csv", "--answers", "odd.csv", "-o", "x.sb", *FAST)
    assert "'r1', not a number" in found.stderr
    write("far.csv", ["item", "annotator", "label"], [[999, "ann", "herb"]])
    found = call("fit", "plain.csv", "--answers", "far.csv", "-o", "x.sb", *FAST)
    assert "row 1 has the item 999; items are numbers of rows, from 1 to" in found.stderr
    lines = [[1, "ann", "herb"], [2, "bob", "herb"], [2, "bob", "tree"]]
    write("twice.csv", ["item", "annotator", "label"], lines)
    found = call("fit", "plain.csv", "--answers", "twice.csv", "-o", "x.sb", *FAST)
    assert "twice.csv: rows 2 and 3 are answers of 'bob' for item 2;" in found.stderr
    write("few.csv", ["item", "annotator", "label"], [[k, "ann", "herb"] for k in range(2, N + 1)])
    found = call("fit", "plain.csv", "--answers", "few.csv", "-o", "x.sb", *FAST)
    assert "plain.csv: there is no answer for row 1;" in found.stderr
