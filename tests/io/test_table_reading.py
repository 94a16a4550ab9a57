"""Each format gives the same table."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse

from steadyboost.io import TableError, read_table

PETS = """weight, fur ,legs,tame,born,pet
4.2,short,4,true,2020-01-01,cat
?,long,4,false,,dog
3, short ,,true,2020-01-02,cat
+.5e1,NA,2,true,2020-01-01,bird
"""
FEATURES = ["weight", "fur", "legs", "tame", "born"]


def columns(table):
    frame = table.X
    return {name: frame[name].to_list() for name in frame.columns}


def no_nan(values):
    return [None if value != value else value for value in values]


@pytest.fixture
def pets():
    Path("pets.csv").write_text(PETS)
    return "pets.csv"


def test_numbers_texts_and_gaps_are_told_apart(pets):
    table = read_table(pets, target="pet")
    found = columns(table)
    assert list(found) == FEATURES
    assert no_nan(found["weight"]) == [4.2, None, 3, 5]
    assert no_nan(found["legs"]) == [4, 4, None, 2]
    assert no_nan(found["fur"]) == ["short", "long", "short", None]
    assert found["tame"] == ["true", "false", "true", "true"]
    assert table.labels.tolist() == ["cat", "dog", "cat", "bird"]
    assert table.weights is None


def test_what_was_found_is_reported(pets):
    found = read_table(pets, target="pet", ignore=["born"]).found
    assert (found.rows, found.columns) == (4, 4)
    assert found.categorical == {"fur": 2, "tame": 2}
    assert found.missing == {"weight": 1, "fur": 1, "legs": 1}
    assert found.ignored == ["born"]
    assert found.doubts == []
    assert found.sentences() == [
        "pets.csv: 4 rows, 4 features",
        "categorical: fur (2 values), tame (2 values)",
        "missing values: 3 in weight (1), fur (1), legs (1)",
        "not used: born",
    ]


def test_numbers_can_be_categories_and_keep_how_they_are_written(pets):
    Path("zip.csv").write_text("zip,y\n01,a\n02,b\n,a\n")
    table = read_table("zip.csv", target="y", categorical=["zip"])
    assert no_nan(columns(table)["zip"]) == ["01", "02", None]
    assert table.found.categorical == {"zip": 2}
    assert table.codes == []


@pytest.mark.parametrize("code", ["utf-8", "utf-16", "utf-16-le", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_encodings_and_line_ends_of_any_machine(code, end):
    text = 'größe,"a ""b""",y\n1,p,u\n2.5,"q ""r""",v\n'
    Path("t.csv").write_bytes(text.replace("\n", end).encode(code))
    table = read_table("t.csv", target="y")
    assert columns(table) == {"größe": [1, 2.5], 'a "b"': ["p", 'q "r"']}
    assert table.labels.tolist() == ["u", "v"]


def test_weights_are_apart():
    Path("t.csv").write_text("a,w,y\n1,0.5,u\n2,2,v\n")
    table = read_table("t.csv", target="y", weights="w")
    assert table.weights.tolist() == [0.5, 2]
    assert list(columns(table)) == ["a"]


def test_a_models_columns_come_in_its_order_and_of_its_kinds(pets):
    table = read_table(pets, features={"legs": "text", "weight": "number"})
    found = columns(table)
    assert list(found) == ["legs", "weight"]
    assert no_nan(found["legs"]) == ["4", "4", None, "2"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_seen(separator):
    Path("t.csv").write_text(PETS.replace(",", separator))
    assert read_table("t.csv", target="pet").found.columns == 5


def test_tsv_and_gzip_and_byte_order_mark():
    Path("t.tsv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfa, b\ty\r\n1\tu\r\n2\tv\r\n"))
    table = read_table("t.tsv.gz", target="y")
    assert columns(table) == {"a, b": [1, 2]}
    assert table.labels.tolist() == ["u", "v"]


def test_a_late_row_changes_the_type_of_a_column():
    rows = [f"{i},{i},{i % 2}" for i in range(12_000)] + ["0.5,late,1"]
    Path("t.csv").write_text("a,b,y\n" + "\n".join(rows))
    table = read_table("t.csv", target="y")
    assert columns(table)["a"][-1] == 0.5
    assert columns(table)["b"][-1] == "late"
    assert "'late' in row 12001" in table.found.doubts[0]


def test_many_distinct_values_are_reported():
    Path("t.csv").write_text("id,y\n" + "\n".join(f"n{i},{i % 2}" for i in range(300)))
    (doubt,) = read_table("t.csv", target="y").found.doubts
    assert "300 distinct values; only the 255 most frequent are used" in doubt
    assert doubt.endswith("pass --ignore id")


def test_parquet_is_read_like_csv(pets):
    import polars

    polars.read_csv("pets.csv", null_values=["?", "NA"]).rename({" fur ": "fur"}).with_columns(
        polars.col("born").str.to_date(), polars.col("weight").cast(polars.Float64)
    ).write_parquet("pets.parquet")
    one, other = read_table(pets, target="pet"), read_table("pets.parquet", target="pet")
    assert {k: no_nan(v) for k, v in columns(one).items()} == {
        k: no_nan(v) for k, v in columns(other).items()
    }
    assert one.labels.tolist() == other.labels.tolist()


def test_numbers_of_parquet_can_be_codes():
    import polars

    polars.DataFrame({"zip": [1.0, None, 2.0], "y": ["a", "b", "a"]}).write_parquet("t.parquet")
    assert read_table("t.parquet", target="y", categorical=["zip"]).codes == ["zip"]
    as_text = columns(read_table("t.parquet", features={"zip": "text"}))
    assert no_nan(as_text["zip"]) == ["1", None, "2"]


ARFF = r"""% pets
@RELATION 'pets'
@attribute weight REAL
@attribute 'fur\'s kind' {short, 'very long'}
@attribute "pet" {cat, dog}

@data
4.2, 'very long', cat
?,short,dog  
% the end
"""


def test_arff():
    Path("pets.arff").write_text(ARFF)
    table = read_table("pets.arff", target="pet")
    found = columns(table)
    assert no_nan(found["weight"]) == [4.2, None]
    assert found["fur's kind"] == ["very long", "short"]
    assert table.labels.tolist() == ["cat", "dog"]


def test_texts_that_are_all_numbers_stay_texts_where_arff_says_so():
    Path("t.arff").write_text("@attribute a string\n@data\n" + "".join(f"{k}\n" for k in range(20)))
    table = read_table("t.arff")
    assert columns(table)["a"] == [str(k) for k in range(20)]
    assert table.found.categorical == {"a": 20}
    assert table.found.doubts == []


def test_libsvm_stays_sparse():
    Path("t.libsvm").write_text("# comment\n1 1:0.5 3:2\n-1 qid:3 2:1 # more\n\n1\n")
    table = read_table("t.libsvm")
    assert issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]])
    assert table.labels.tolist() == ["1", "-1", "1"]
    assert read_table("t.libsvm", n_features=9).X.shape == (3, 9)
    assert table.found.sentences() == ["t.libsvm: 3 rows, 3 features"]


def test_without_polars_the_remedy_is_told(no_polars):
    Path("t.csv").write_text(PETS)
    with pytest.raises(TableError, match=r"polars.*pip install 'steadyboost\[tables\]'"):
        read_table("t.csv")


def test_empty_lines_are_rows_without_values():
    """Rows keep their places, so that predictions do too."""
    Path("t.csv").write_text("a,b\n1,2\n\n3,4\n")
    table = read_table("t.csv")
    assert no_nan(columns(table)["a"]) == [1, None, 3]
    assert table.found.missing == {"a": 1, "b": 1}


def test_columns_named_twice_are_there_once():
    Path("twice.csv").write_text("id,a,y\n1,2,u\n2,3,v\n")
    table = read_table("twice.csv", target="y", ignore=["id", "id"])
    assert table.found.ignored == ["id"]
    kept = read_table("twice.csv", features={"a": "number"}, keep=["id", "id"]).kept
    assert kept.columns == ["id"]
