"""Encodings, separators, and formats whose columns have types."""

import datetime
import gzip
from pathlib import Path

import pytest

from steadyboost.io import TableError, read_table

pl = pytest.importorskip("polars")
TEXT = "größe,farbe,y\n1.5,weiß,u\n2,grün,v\n"


@pytest.mark.parametrize(
    ("encoding", "is_told"),
    [
        ("utf-8", False),
        ("utf-8-sig", False),
        ("utf-16", True),
        ("utf-16-le", True),
        ("utf-16-be", True),
        ("latin-1", True),
        ("cp1252", True),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_encodings_are_found_out(encoding, is_told, suffix):
    data = TEXT.encode(encoding)
    Path("t.csv" + suffix).write_bytes(gzip.compress(data) if suffix else data)
    table = read_table("t.csv" + suffix, target="y")
    assert table.X.columns == ["größe", "farbe"]
    assert table.X["größe"].to_list() == [1.5, 2]
    assert table.X["farbe"].to_list() == ["weiß", "grün"]
    assert any("pass --encoding" in remark for remark in table.found.remarks) == is_told


def test_an_encoding_can_be_given():
    Path("t.csv").write_bytes("a,y\nж,u\nя,v\n".encode("cp1251"))
    assert read_table("t.csv", target="y").X["a"].to_list() == ["æ", "ÿ"]
    table = read_table("t.csv", target="y", encoding="windows-1251")
    assert table.X["a"].to_list() == ["ж", "я"]
    assert table.found.remarks == []


def test_the_separator_divides_all_lines_alike():
    Path("t.csv").write_text("a, with comma;b;y\n1;2,5;u\n3;4,5;v\n")
    assert read_table("t.csv", target="y").X.columns == ["a, with comma", "b"]
    Path("t.csv").write_text("a b y\n1 2 u\n3 4 v\n")
    assert read_table("t.csv", target="y", separator=" ").X.columns == ["a", "b"]
    Path("t.csv").write_text("a\tb,c\ty\n1\t2\tu\n3\t4\tv\n")
    assert read_table("t.csv", target="y", separator="tab").X.columns == ["a", "b,c"]


@pytest.mark.parametrize("library", ["pandas", "by hand"])
def test_the_index_of_a_data_frame_is_left_out_and_told(library):
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        pd.DataFrame({"a": [1, 2], "b": ["x", "z"], "y": ["u", "v"]}).to_csv("t.csv")
    else:
        Path("t.csv").write_text('"","a","b","y"\n"0",1,x,u\n"1",2,z,v\n')
    table = read_table("t.csv", target="y")
    assert table.X.columns == ["a", "b"]
    assert table.X["b"].to_list() == ["x", "z"]
    assert (
        "the first column has no name and is left out: it looks like an index"
        in table.found.remarks
    )
    model_columns = {"b": "text", "a": "number"}
    assert read_table("t.csv", features=model_columns).found.remarks == []


MOMENTS = [datetime.datetime(2020, 1, 2, 3), None, datetime.datetime(2021, 1, 1)]
FRAME = {"a": [1.5, None, 3.0], "when": MOMENTS, "b": ["x", "z", "x"], "y": ["u", "v", "u"]}


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".jsonl", ".ndjson.gz"])
def test_columns_with_types_are_read_as_they_are(suffix):
    frame, path = pl.DataFrame(FRAME), Path("t" + suffix)
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif "json" in suffix:
        data = frame.write_ndjson().encode()
        path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    else:
        frame.write_ipc(path)
    table = read_table(path, target="y")
    assert table.kinds == {"a": "number", "when": "date", "b": "text"}
    assert table.X["when"].to_list() == MOMENTS
    assert table.labels.tolist() == ["u", "v", "u"]


def test_excel():
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [list(FRAME), *zip(*FRAME.values(), strict=True)]:
        book.active.append(row)
    book.create_sheet("empty")
    book.save("t.xlsx")
    table = read_table("t.xlsx", target="y")
    assert table.kinds == {"a": "number", "when": "date", "b": "text"}
    assert table.X["a"].to_list() == [1.5, None, 3]
    book["empty"].append(["q"])
    book["empty"].append([1])
    book.save("t.xlsx")
    with pytest.raises(TableError, match="several sheets, 'Sheet', 'empty'; save the one"):
        read_table("t.xlsx", target="y")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t.feather", "cannot be read as Feather"),
        ("t.jsonl", "cannot be read as JSON lines"),
        ("t.xlsx", "cannot be read as Excel"),
    ],
)
def test_a_damaged_file_is_told(name, words):
    Path(name).write_bytes(b"\x00nothing")
    with pytest.raises(TableError, match=words) as caught:
        read_table(name)
    assert "\n" not in str(caught.value)


def test_rows_without_a_label_can_be_left_out_and_rows_keep_their_numbers():
    Path("t.csv").write_text("a,w,y\n1,1,u\n2,2,\n3,3,v\n4,-1,u\n")
    with pytest.raises(TableError, match=r"row 2 has no value .* pass --drop-unlabelled"):
        read_table("t.csv", target="y")
    table = read_table("t.csv", target="y", drop_unlabelled=True, keep=["w"])
    assert table.X["a"].to_list() == [1, 3, 4]
    assert table.numbers.tolist() == [1, 3, 4]
    assert table.kept["w"].to_list() == ["1", "3", "-1"]
    assert "left out: 1 row without a value of 'y'" in table.found.sentences()
    with pytest.raises(TableError, match="row 4 of the weights 'w' is -1"):
        read_table("t.csv", target="y", weights="w", drop_unlabelled=True)
