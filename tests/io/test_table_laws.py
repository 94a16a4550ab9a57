"""Whatever is in a CSV file, it is read as by a slow and obvious reader."""

import csv
import io
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steadyboost.io import TableError, read_table

GAPS = {"", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"}
NUMBERS = [
    "0",
    "1",
    " 2",
    "3 ",
    "-4",
    "+5",
    "1.5",
    ".5",
    "6.",
    "-1e3",
    "007",
    "12345678901234567890",
]
TEXTS = [
    "x",
    " x",
    "true",
    "True",
    "1,5 m",
    'a "b" c',
    "it's",
    "é",
    "on 2020-01-02",
    "1x",
    "0x1A",
    "#",
]
ODD = ["", "?", " ? ", "NA", "nan", "a;b", "1_000", "line\nbreak", "∞", "--", "1 2"]
CELLS = st.sampled_from([*NUMBERS, *TEXTS, *ODD])
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=8)
)


def slow_column(cells):
    """Numbers if all that is there are numbers, else texts without blanks around them."""
    known = [None if cell.strip() in GAPS else cell.strip() for cell in cells]
    try:
        return [None if cell is None else plain_float(cell) for cell in known]
    except ValueError:
        return known


def plain_float(text):
    if "_" in text:  # Python's own notation
        raise ValueError(text)
    return float(text)


def written(rows):
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    lines.writerow([f"c{place}" for place in range(len(rows[0]))] + ["last"])
    lines.writerows([*row, "end"] for row in rows)
    return file.getvalue()


def plain(value):
    if isinstance(value, (int, float)):
        return None if math.isnan(value) else float(value)
    return value


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(rows=TABLES)
def test_reading_agrees_with_its_twin(rows):
    Path("t.csv").write_text(written(rows), encoding="utf-8")
    frame = read_table("t.csv", ignore=["last"]).X
    found = [[plain(v) for v in frame[name].to_list()] for name in frame.columns]
    assert found == [slow_column(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("text", ["1\n2\n", "1.0\n2\n", "01\n2\n", "1e0\n2\n"])
def test_a_column_of_a_kind_keeps_it(text):
    Path("t.csv").write_text("c\n" + text)
    frame = read_table("t.csv", features={"c": "text"}).X
    assert frame["c"].to_list() == text.split()
    frame = read_table("t.csv", features={"c": "number"}).X
    assert frame["c"].to_list() == [1, 2]


BYTES = [
    b",",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"%",
    b"\\",
    b"inf",
]
LINES = [b"a,b,y\n", b"1,2,u\n", b"@relation r\n", b"@attribute a real\n", b"@data\n", b"{0 1}\n"]
MORE = [
    b"@attribute 'b c' {x,'y z'}\n",
    b"1 1:2 3:4\n",
    b"-1 2:0.5 # c\n",
    b"qid:1 ",
    b"0:1 ",
    b"1:",
]
PIECES = st.sampled_from([*BYTES, *LINES, *MORE])


def complaint_about(name):
    try:
        read_table(name)
    except TableError as error:
        return str(error)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.arff", "t.libsvm", "t.parquet", "t.csv.gz"])
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(pieces=st.lists(PIECES, max_size=12))
def test_a_file_of_anything_is_read_or_told_in_one_sentence(name, pieces):
    Path(name).write_bytes(b"".join(pieces))
    complaint = complaint_about(name)
    assert complaint is None or complaint.startswith(name)
    assert "\n" not in (complaint or "")
