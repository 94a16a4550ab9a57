"""Columns that a model cannot learn from are left out, and only these."""

import numpy as np
import pytest

from steadyboost.io import read_table, screened

pl = pytest.importorskip("polars")
N = 60
RNG = np.random.default_rng(0)
WORDS = RNG.choice(["the", "plant", "grew", "well", "in", "shade", "or", "sun"], (N, 9))
COLUMNS = {
    "height": RNG.normal(size=N).round(3),
    "code": RNG.integers(5, size=N),
    "town": RNG.choice(["Bonn", "Ulm"], N),
    "year": 1900 + RNG.permutation(N),
    "row": np.arange(N),
    "customer_id": RNG.permutation(10 * N)[:N],
    "paid": RNG.choice(["a", "b"], N),
    "name": [f"p{i}-{i % 7}" for i in range(N)],
    "review": [" ".join(words) for words in WORDS],
    "nothing": [None] * N,
    "kind": RNG.choice(["u", "v"], N),
}


@pytest.fixture
def table():
    pl.DataFrame({k: list(v) for k, v in COLUMNS.items()}).write_csv("t.csv")
    return read_table("t.csv", target="kind")


def test_identifiers_texts_and_empty_columns_are_left_out_with_a_reason(table):
    found = screened(table)
    assert found.X.columns == ["height", "code", "town", "year", "paid"]
    assert found.found.columns == 5
    lines = [line for line in found.found.sentences() if line.startswith("left out: ")]
    assert [line.split("'")[1] for line in lines] == [
        "row",
        "customer_id",
        "name",
        "review",
        "nothing",
    ]
    assert lines[0].endswith("which identifies the rows; pass --use row to use it")
    assert "free text of 9 words on average" in lines[3]
    assert set(found.found.categorical) == {"town", "paid"}
    assert not found.found.missing


def test_columns_can_be_used_all_the_same(table):
    found = screened(table, {"row", "name"})
    assert {"row", "name"} < set(found.X.columns)


def test_few_rows_say_little():
    pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"], "y": ["u", "v", "u"]}).write_csv("t.csv")
    assert screened(read_table("t.csv", target="y")).X.columns == ["a", "b"]


def test_something_is_left_to_learn_from():
    pl.DataFrame({"id": range(30), "y": ["u", "v"] * 15}).write_csv("t.csv")
    assert screened(read_table("t.csv", target="y")).X.columns == ["id"]
