"""Reading annotations: wide and long, from any library, and errors that name item and annotator."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from steadyboost.noise.annotations import read_annotations

WIDE = [["cat", None, "dog"], ["dog", "dog", None], [None, None, "cat"]]
LONG = {
    "item": [0, 0, 1, 1, 2],
    "annotator": ["a", "c", "a", "b", "c"],
    "label": ["cat", "dog", "dog", "dog", "cat"],
}
NUMBERS = np.array([[1, np.nan, 2], [2, 2, np.nan], [np.nan, np.nan, 1]])


def triples(found):
    columns = (
        found.items[found.item],
        found.annotators[found.annotator],
        found.classes[found.label],
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


WIDE_FORMS = {
    "list": WIDE,
    "array": np.array(WIDE, dtype=object),
    "pandas": pd.DataFrame(WIDE),
    "categories": pd.DataFrame(WIDE).astype("category"),
    "polars": pl.DataFrame(WIDE, orient="row"),
    "masked": np.ma.array(
        [["cat", "", "dog"], ["dog", "dog", ""], ["", "", "cat"]],
        mask=[[0, 1, 0], [0, 0, 1], [1, 1, 0]],
    ),
}


@pytest.mark.parametrize("form", WIDE_FORMS)
def test_wide_tables_of_any_kind(form):
    found = read_annotations(WIDE_FORMS[form])
    assert [(i, l) for i, _, l in triples(found)] == [
        (0, "cat"), (0, "dog"), (1, "dog"), (1, "dog"), (2, "cat")
    ]  # fmt: skip
    assert found.annotator.tolist() == [0, 2, 0, 1, 2]
    assert found.votes().tolist() == [[1, 1], [0, 2], [1, 0]]


@pytest.mark.parametrize(
    "table",
    [NUMBERS, pd.DataFrame(NUMBERS), pl.DataFrame(NUMBERS), pd.DataFrame(NUMBERS).astype("Int64")],
    ids=["array", "pandas", "polars", "Int64"],
)
def test_numbers_with_gaps_are_whole_again(table):
    found = read_annotations(table)
    assert found.classes.tolist() == [1, 2]
    assert found.classes.dtype.kind == "i"
    assert found.label.tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("answers", [["b", "a"], [["b"], ["a"]], pd.Series(["b", "a"])])
def test_one_answer_for_each_row(answers):
    found = read_annotations(answers)
    assert found.is_plain
    assert found.classes[found.label].tolist() == ["b", "a"]
    assert not read_annotations([["b", None], [None, "a"]]).is_plain


def test_names_of_annotators_are_those_of_the_columns():
    found = read_annotations(pd.DataFrame(WIDE, columns=["ann", "bob", "cy"]))
    assert found.annotators.tolist() == ["ann", "bob", "cy"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "tuple"])
def test_long_tables(kind):
    table = {
        "pandas": pd.DataFrame(LONG).sample(frac=1, random_state=0),
        "polars": pl.DataFrame(LONG).reverse(),
        "tuple": tuple(np.array(column) for column in LONG.values()),
    }[kind]
    expected = [(0, "a", "cat"), (0, "c", "dog"), (1, "a", "dog"), (1, "b", "dog"), (2, "c", "cat")]
    assert triples(read_annotations(table)) == expected
    assert triples(read_annotations(table, n_items=3)) == expected


def test_items_of_a_long_table_may_have_names():
    found = read_annotations((["x", "a", "x"], [1, 1, 2], [0, 1, 0]))
    assert found.items.tolist() == ["a", "x"]
    assert found.votes().tolist() == [[0, 1], [2, 0]]


def test_some_items():
    found = read_annotations(WIDE).take(np.array([2, 0]))
    assert triples(found) == [(2, 2, "cat"), (0, 0, "cat"), (0, 2, "dog")]
    assert found.item.tolist() == [0, 1, 1]


def long(**changed):
    return pd.DataFrame({**LONG, **changed})


@pytest.mark.parametrize(
    ("annotations", "options", "message"),
    [
        (long(annotator=["a", "a", "a", "b", "c"]), {}, "two answers of annotator 'a' for item 0"),
        (long(item=[0, 0, 1, 1, 7]), {"n_items": 3}, "item 7 in an answer of annotator 'c'"),
        (long(item=["r", 0, 1, 1, 2]), {"n_items": 3}, "item 'r' in an answer of annotator 'a'"),
        (long(label=["cat", "dog", "dgo", "dog", "cat"]), {"classes": ["cat", "dog"]},
         "label 'dgo' of annotator 'a' for item 1"),
        (long(label=["cat", None, "dog", "dog", "cat"]), {}, "no label in line 1"),
        (long(), {"n_items": 5}, r"no answer for 2 items: \[3, 4\]"),
        ([["a", None], [None, None]], {}, r"no answer for 1 items: \[1\]"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), {}, "annotator 'x' in 2 columns"),
        (WIDE, {"n_items": 4}, "3 rows for 4 rows of data"),
        ([[None, None]], {}, "no answers"),
        ([], {}, "shape"),
        (np.zeros((0, 3)), {}, "empty"),
        (np.zeros((2, 2, 2)), {}, "shape"),
        (([0, 1], ["a"], [1, 1]), {}, "same length"),
        ([["a", 1], ["b", 2]], {}, "mixes types of labels"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_by_name(annotations, options, message):
    with pytest.raises(ValueError, match=message):
        read_annotations(annotations, **options)


def test_gaps_may_be_allowed():
    assert read_annotations([["a", None], [None, None]], gaps=True).per_item().tolist() == [1, 0]
