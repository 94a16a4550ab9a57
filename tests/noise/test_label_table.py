"""Tables of labels: order, lines, text."""

import csv
import io

import numpy as np
import pytest

from steadyboost.noise.label_table import SHOWN, LabelTable, percent

GIVEN = np.array(["cat", "dog", "cat", "a, b", "dog"])
SUGGESTED = np.array(["dog", "dog", "cat", "cat", "cat"])
SCORE = np.array([0.2, 0.9, np.nan, 0.05, 0.2])
COLUMNS = [
    *("row", "given", "suggested", "score", "rank"),
    *("suspect", "expected_precision", "expected_recall"),
]


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
    assert list(frame.columns) == COLUMNS
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
    assert text[0].split() == ["row", "given", "suggested", "P(wrong)", "rank"]
    assert text[1].split() == ["3", "a,", "b", "cat", "95.0", "%", "1"]
    assert len(set(map(len, text))) == 1
    n = SHOWN + 7
    labels = np.zeros(n, dtype=int)
    long = repr(LabelTable.ranked(labels, labels, np.arange(n) / n)).splitlines()
    assert len(long) == SHOWN + 2
    assert long[-1] == "... 7 more"


def test_rows_are_known_by_numbers_and_by_columns_of_the_data():
    kept = {"id": np.array(list("vwxyz")), "score": np.arange(5)}
    table = LabelTable.ranked(GIVEN, SUGGESTED, SCORE, np.arange(11, 16), kept)
    assert table.row.tolist() == [3, 0, 4, 1]
    assert table.to_csv().splitlines()[1].startswith("14,y,3,")
    assert repr(table.head(1)).splitlines()[0].split()[:3] == ["row", "id", "score_"]
    assert table.take([1]).kept["id"].tolist() == ["v"]
    assert table.to_frame().index.names == ["id", "score_"]


def test_an_empty_table_has_a_heading(table):
    empty = table.take(table.score > 2)
    assert len(empty) == 0
    assert repr(empty).split() == ["row", "given", "suggested", "P(wrong)", "rank"]
    assert empty.to_csv() == ",".join(COLUMNS) + "\n"


def test_expected_precision_and_recall_are_sums_of_probabilities(table):
    """Of the four labels, 0.95, 0.8, 0.8 and 0.1 are expected to be wrong: 2.65."""
    np.testing.assert_allclose(
        table.expected_precision, [0.95, 1.75 / 2, 2.55 / 3, 2.65 / 4], rtol=1e-12
    )
    np.testing.assert_allclose(
        table.expected_recall, [0.95 / 2.65, 1.75 / 2.65, 2.55 / 2.65, 1], rtol=1e-12
    )
    assert table.head(2).expected_recall.tolist() == table.expected_recall[:2].tolist()


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1 - 2.5e-7, "99.999975 %"),
        (1.2e-6, "0.00012 %"),
        (0.5, "50.0 %"),
        (0.99987, "99.987 %"),
        (0.0002, "0.020 %"),
        (0, "0.000 %"),
    ],
)
def test_shares_near_the_ends_keep_their_digits(share, text):
    assert percent(share) == text
