"""Bad files: one sentence that names file, column and row."""

import gzip
from pathlib import Path

import pytest

from steadyboost.io import TableError, read_table

PLAIN = "a,b,y\n1,x,u\n2,y,v\n"


def complaint(name, content, **options):
    data = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(data)
    with pytest.raises(TableError) as caught:
        read_table(name, **options)
    message = str(caught.value)
    assert message.startswith(name)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("", {}, "is empty."),
        ("\na,b\n1,2\n", {}, "begins with an empty line"),
        ("a,b\n", {}, "has no rows"),
        ("a,,c\n1,2,3\n", {}, "column 2 of 3 has no name"),
        ("a,b,a\n1,2,3\n", {}, "column name 'a' appears twice"),
        ("a,b\n1,2\n3,4,5\n", {}, "row 2 has 3 fields, the header 2"),
        ("a,b,y\n1,2,u\n3,4,v,5\n", {"target": "y", "ignore": ["b"]}, "row 2 has 4 fields"),
        ('a,"b"\n1,"2\n2"\n3,"4,5",6\n', {}, "row 2 has 3 fields, the header 2"),
        ("a,b,y\n1,2,u\n3", {"target": "y"}, "row 2 has 1 field, the header 3"),
        (b"a,b\n\xff\xfe,2\n", {"target": "b", "encoding": "utf-8"}, "is not text in utf-8"),
        (PLAIN, {"encoding": "klingon"}, "the encoding 'klingon' is not known"),
        (PLAIN, {"separator": "--"}, "the separator '--' must be one character"),
        (PLAIN, {"decimal": "x"}, "the decimal sign 'x' must be"),
        (PLAIN, {"features": {"b": "date"}}, "row 1 of column 'b' is 'x', not a date"),
        ("a,y\n1,?\n2,\n", {"target": "y", "drop_unlabelled": True}, "no row has a value in"),
        (PLAIN, {"target": "Y"}, "no column 'Y'; did you mean 'y'?"),
        (PLAIN, {"target": "diagnosis"}, "no column 'diagnosis'; there are 'a', 'b', 'y'."),
        (PLAIN, {"ignore": ["c"]}, "no column 'c'"),
        (PLAIN, {"target": "y", "ignore": ["y"]}, "'y' cannot be both the target and ignored"),
        (PLAIN, {"target": "y", "weights": "y"}, "'y' cannot be both the target and the weights"),
        (PLAIN, {"ignore": ["a"], "categorical": ["a"]}, "cannot be both ignored and categorical"),
        (PLAIN, {"weights": "b", "target": "y"}, "row 1 of column 'b' is 'x', not a number."),
        (PLAIN, {"features": {"b": "number"}}, "row 1 of column 'b' is 'x', not a number."),
        (PLAIN, {"features": {"a": "number", "aa": "text"}}, "lacks the column 'aa'"),
        (PLAIN, {"features": {"c": "text", "d": "text"}}, "lacks 2 columns of the model: 'c', 'd'"),
        (
            "a,y\n1,u\n2,\n",
            {"target": "y"},
            "column 'y' (the only such row); pass --drop-unlabelled",
        ),
        ("a,y\n1,u\n2,\n3,?\n", {"target": "y"}, "row 2 has no value in the target column 'y' (2 "),
        ("a,w\n1,1\n2,-3\n", {"weights": "w"}, "row 2 of the weights 'w' is -3"),
        ("a,w\n1,1\n2,\n", {"weights": "w"}, "row 2 of the weights 'w' is missing"),
        ("a,y\n1,u\n-inf,v\n", {"target": "y"}, "row 2 of column 'a' is infinite"),
        ("y\nu\nv\n", {"target": "y"}, "no feature columns"),
    ],
)
def test_csv(content, options, words):
    assert words in complaint("bad.csv", content, **options)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.csv.gz", b"not gzip", "not a valid gzip file"),
        ("bad.csv.gz", gzip.compress(PLAIN.encode() * 99, mtime=0)[:-12], "gzip"),
        ("bad.parquet", "not parquet", "cannot be read as Parquet"),
        (
            "bad.xls",
            "",
            "must end in one of .csv, .tsv, .parquet, .feather, .jsonl, .xlsx, .arff, .libsvm",
        ),
        ("bad.arff", "a,b\n1,2\n", "is not ARFF"),
        ("bad.arff", "@attribute a\n@data\n", "a name and a type"),
        ("bad.arff", "@attribute a real\n@data\n1\n2,3\n", "row 2 has 2 fields, the header 1"),
        ("bad.arff", "@attribute a real\n@data\n1\nx\n", "row 2 of column 'a' is 'x', not a"),
        ("bad.arff", "@attribute a real\n@data\n{0 1}\n", "row 1 is sparse"),
        ("bad.libsvm", "", "has no rows"),
        ("bad.libsvm", "1 1:2\nx 1:2\n", "row 2 begins with 'x'"),
        ("bad.libsvm", "1 1:2\n1 1\n", "row 2 has '1', which is not index:value"),
        ("bad.libsvm", "1 0:2\n", "row 1 has index 0; indices must increase from 1"),
        ("bad.libsvm", "1 2:2 1:3\n", "row 1 has index 1; indices must increase from 1"),
        ("bad.libsvm", "1 1:1\n1 2:inf\n", "row 2 holds a value that is not a finite number"),
    ],
)
def test_other_formats(name, content, words):
    assert words in complaint(name, content)


def test_libsvm_has_no_columns_to_name_and_only_so_many():
    assert "no column 'y'" in complaint("bad.libsvm", "1 1:1\n", target="y")
    assert "index 3, but the model has 2 features" in complaint(
        "bad.libsvm", "1 3:1\n", n_features=2
    )


def test_no_file_and_a_folder():
    Path("folder.csv").mkdir()
    with pytest.raises(TableError, match=r"^nowhere.csv: there is no such file"):
        read_table("nowhere.csv")
    with pytest.raises(TableError, match=r"^folder.csv: is a folder"):
        read_table("folder.csv")


def test_nested_values_are_no_features():
    import polars

    polars.DataFrame({"a": [[1, 2]], "y": ["u"]}).write_parquet("bad.parquet")
    with pytest.raises(TableError, match=r"^bad.parquet: column 'a' holds List"):
        read_table("bad.parquet", target="y")


def test_a_name_that_is_longer_than_fields_may_be(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f"{'n' * 140_000},y\n1,a\n2,b\n")
    with pytest.raises(TableError, match="field larger than field limit"):
        read_table(path, target="y")


@pytest.mark.parametrize("text", ["a,y\n1,a\x00\n", "a,y\x00\n1,a\n"])
def test_nul_bytes_are_no_text(text, tmp_path):
    path = tmp_path / "nul.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=r"NUL byte|no column 'y'"):
        read_table(path, target="y")


def test_an_index_beyond_all_features(tmp_path):
    path = tmp_path / "far.svm"
    path.write_text("1 1:1\n0 2000000000:1\n")
    with pytest.raises(TableError, match="index 2000000000, but at most"):
        read_table(path)
