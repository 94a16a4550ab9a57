"""Labels of a file change, and nothing else."""

import csv
import gzip
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadyboost.io import TableError, read_table
from steadyboost.io.edit import open_table, split_records

CELLS = st.text(st.sampled_from('ab ,;"\n\té'), max_size=6)


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_records_are_those_of_the_csv_module(rows, separator, end, all_quoted):
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows(rows)
    records = list(split_records(text.getvalue(), separator))
    assert len(records) == len(rows)
    assert "".join(separator.join(fields) + own for fields, own in records) == text.getvalue()
    parsed = [[cell[1:-1].replace('""', '"') if cell[:1] == '"' else cell for cell in fields]
              for fields, _ in records]  # fmt: skip
    assert parsed == rows


def edited(path, content, labels, left_out=(), target="pet", name="clean.csv"):
    source, output = path / "pets.csv", path / name
    source.write_bytes(content)
    open_table(source).write(output, target, labels, left_out)
    assert source.read_bytes() == content
    return output.read_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"kg,pet\n4,cat\n3,dog\n", b"kg,pet\n4,cat\n3,cat\n"),
        (b"kg,pet\r\n4,cat\r\n3,dog", b"kg,pet\r\n4,cat\r\n3,cat"),
        (b'kg,pet\r4,cat\r"3",dog\r', b'kg,pet\r4,cat\r"3",cat\r'),
        (b'kg;"pet"\n4,0;"cat"\n"3";"dog"\n', b'kg;"pet"\n4,0;"cat"\n"3";"cat"\n'),
        (b"\xef\xbb\xbfpet\tkg\ncat\t4\n dog \t3\n", b"\xef\xbb\xbfpet\tkg\ncat\t4\n cat \t3\n"),
        (
            "größe;pet\n1,5;cat\n3;dog\n".encode("cp1252"),
            "größe;pet\n1,5;cat\n3;cat\n".encode("cp1252"),
        ),
        (
            "\ufeffü,pet\n1,cat\n3,dog\n".encode("utf-16-be"),
            "\ufeffü,pet\n1,cat\n3,cat\n".encode("utf-16-be"),
        ),
        (b",kg,pet\n0,4,cat\n1,3,dog\n", b",kg,pet\n0,4,cat\n1,3,cat\n"),
        (b'pet,note\ncat,"a\n""b"", c"\ndog,\n', b'pet,note\ncat,"a\n""b"", c"\ncat,\n'),
    ],
)
def test_dialect_order_and_line_ends_stay(tmp_path, old, new):
    assert edited(tmp_path, old, {1: "cat"}) == new


def test_a_label_gets_quotes_where_it_needs_them(tmp_path):
    found = edited(tmp_path, b"kg,pet\n4,cat\n3,dog\n", {0: 'c,"a"', 1: " x"})
    assert found == b'kg,pet\n4,"c,""a"""\n3," x"\n'


def test_rows_are_left_out(tmp_path):
    assert edited(tmp_path, b"kg,pet\n4,cat\n3,dog\n", {}, left_out={0}) == b"kg,pet\n3,dog\n"


def test_compressed_tables(tmp_path):
    content = b"kg,pet\n4,cat\n3,dog\n"
    source, output = tmp_path / "pets.csv.gz", tmp_path / "clean.csv.gz"
    source.write_bytes(gzip.compress(content))
    open_table(source).write(output, "pet", {1: "cat"}, ())
    assert gzip.decompress(output.read_bytes()) == b"kg,pet\n4,cat\n3,cat\n"
    again = output.read_bytes()
    open_table(source).write(output, "pet", {1: "cat"}, ())
    assert output.read_bytes() == again


def test_rows_and_labels_are_those_that_the_reader_sees(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text('kg,name,pet\n4,"x\n,""y""",cat\n?, z ,"dog"\n')
    ours, read = open_table(path), read_table(path, target="pet")
    assert ours.column("pet") == read.labels.tolist()
    assert len(ours) == len(read.X)
    assert ours.row(0, without="pet") == ["4", 'x\n,"y"']
    assert ours.row(1, without="kg") == ["z", "dog"]


def test_parquet_keeps_types(tmp_path):
    frame = pl.DataFrame(
        {"kg": [4.0, None, 2.0], "pet": [1, 2, 1]}, schema_overrides={"pet": pl.Int8}
    )
    frame.write_parquet(tmp_path / "pets.parquet")
    table = open_table(tmp_path / "pets.parquet")
    assert (len(table), table.column("pet"), table.row(1, "pet")) == (3, ["1", "2", "1"], [None])
    table.write(tmp_path / "clean.parquet", "pet", {1: "1"}, {0})
    found = pl.read_parquet(tmp_path / "clean.parquet")
    assert found.schema == frame.schema
    assert found.rows() == [(None, 1), (2.0, 1)]


def test_what_cannot_be_edited_is_refused(tmp_path):
    (tmp_path / "a.arff").write_text("@relation x\n")
    (tmp_path / "short.csv").write_text("a,b\n1\n")
    for name, message in (
        ("a.arff", "convert the table first"),
        ("none.csv", "there is no such file"),
        ("short.csv", "row 1 has 1 fields, the header 2"),
    ):
        with pytest.raises(TableError, match=message):
            open_table(tmp_path / name)
    (tmp_path / "a.csv").write_text("a,pet\n1,x\n")
    with pytest.raises(TableError, match="did you mean 'pet'"):
        open_table(tmp_path / "a.csv").column("pett")
