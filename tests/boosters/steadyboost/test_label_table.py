"""Tables of labels: order, lines, text."""

import csv
import io

import numpy as np
import pytest

from steadyboost.boosters.steadyboost.label_table import SHOWN, LabelTable

GIVEN = np.array(["cat", "dog", "cat", "a, b", "dog"])
SUGGESTED = np.array(["dog", "dog", "cat", "cat", "cat"])
SCORE = np.array([0.2, 0.9, np.nan, 0.05, 0.2])


@pytest.fixture
def table():
    return LabelTable.ranked(GIVEN, SUGGESTED, SCORE)


def test_the_least_credible_label_comes_first_and_rows_without_score_are_left_out(table):
    assert table.row.tolist() == [3, 0, 4, 1]  # equal scores in the order of the rows
    assert table.rank.tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(table.given, GIVEN[table.row])
    np.testing.assert_array_equal(table.suggested, SUGGESTED[table.row])
    np.testing.assert_array_equal(table.score, SCORE[table.row])
    assert len(table) == 4


def test_some_lines_keep_their_ranks(table):
    assert table.take(table.score > 0.1).rank.tolist() == [2, 3, 4]
    assert table.take([3, 1]).row.tolist() == [1, 0]
    assert table.head(2).row.tolist() == [3, 0]
    assert len(table.head()) == 4
    assert table.disputed().row.tolist() == [3, 0, 4]


def test_it_turns_into_a_frame(table):
    frame = table.to_frame()
    assert list(frame.columns) == ["row", "given", "suggested", "score", "rank", "suspect"]
    assert frame["suspect"].tolist() == [True, True, True, False]
    np.testing.assert_array_equal(frame["row"], table.row)


def test_text_can_be_read_again_to_the_last_digit(table, tmp_path):
    lines = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [line["given"] for line in lines] == table.given.tolist()
    assert [line["suspect"] for line in lines] == ["true", "true", "true", "false"]
    assert [float(line["score"]) for line in lines] == table.score.tolist()
    assert table.to_csv(tmp_path / "labels.csv") is None
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8") == table.to_csv()


def test_it_prints_the_first_lines(table):
    text = repr(table).splitlines()
    assert text[0].split() == ["row", "given", "suggested", "score", "rank"]
    assert text[1].split() == ["3", "a,", "b", "cat", "0.0500", "1"]
    assert len(set(map(len, text))) == 1
    n = SHOWN + 7
    labels = np.zeros(n, dtype=int)
    long = repr(LabelTable.ranked(labels, labels, np.arange(n) / n)).splitlines()
    assert len(long) == SHOWN + 2
    assert long[-1] == "... 7 more"


def test_an_empty_table_has_a_heading(table):
    empty = table.take(table.score > 2)
    assert len(empty) == 0
    assert repr(empty).split() == ["row", "given", "suggested", "score", "rank"]
    assert empty.to_csv() == "row,given,suggested,score,rank,suspect\n"
