"""The page builder and its tables."""

from html_pages import Checker, needs_no_network

from steadyboost.lab.reports.page import (
    badge,
    facts,
    figure,
    html_page,
    listing,
    made_by,
    paragraph,
)
from steadyboost.lab.reports.strips import Strip, strips
from steadyboost.lab.reports.tables import Column, TableCell, data_table, heat_table, text
from steadyboost.lab.reports.values import feature_names, values_of, written

COLUMNS = (
    Column("name", is_number=False, choices=("one", "two & a half")),
    Column("size", hint="in <metres>", high_first=True),
)
ROWS = [[text("one"), text("1.0", 1)], [text("two & a half"), TableCell("<b>2.5</b>", 2.5, "hm")]]


def test_page_is_whole_and_escapes_text():
    parts = [facts([("1 < 2", "a & b")]), paragraph("x < y", "note"), listing(["a", "<b>"]), ""]
    page = html_page("T < U", "H & I", made_by("cmd <x>"), parts)
    checker = Checker(page)
    assert needs_no_network(page)
    assert page.count("<script>") == page.count("<style>") == 1
    for words in ("T < U", "H & I", "1 < 2", "a & b", "x < y", "<b>", "cmd <x> · SteadyBoost 0"):
        assert words in checker.text


def test_nothing_is_shown_of_nothing():
    assert listing([]) == ""
    assert figure("none", []) == ""
    assert strips("none", "%", []) == ""
    assert "<svg" in figure("one", ["<svg></svg>"])
    assert badge("a<", "yes") == '<span class="badge yes">a&lt;</span>'


def test_table_has_keys_to_sort_by_and_choices_to_filter_by():
    table = data_table("t", COLUMNS, ROWS, step=7, search="Find", marked=[1])
    checker = Checker(table)
    assert checker.ids == ["t"]
    assert (checker.counts["option"], checker.counts["input"], checker.counts["tr"]) == (3, 1, 3)
    assert 'data-step="7"' in table
    assert '<td class="number" data-value="2.5" title="hm"><b>2.5</b></td>' in table
    assert 'title="in &lt;metres&gt;" data-first="descending"' in table
    assert table.count("class=marked") == 1


def test_table_without_choices_has_no_filters():
    assert "filters" not in data_table("t", [Column("size")], [[text(1)]])


def test_heat_table_colours_what_there_is():
    picks = [[{"table": "t", "0": "<a>"}, None]]
    heat = heat_table("c", ["a", "b"], ["r"], [[0.9, None]], [["9", ""]], picks)
    Checker(heat)
    assert 'class="strong" style="background: rgba(var(--heat), 0.900)"' in heat
    assert "&quot;0&quot;: &quot;&lt;a&gt;&quot;" in heat
    assert "<td></td>" in heat


def test_strips_have_a_dot_per_value():
    picture = strips("Error < 1", "%", [Strip("A & B", [1.0, 2.0, 3.0], "red", "2.0")])
    checker = Checker(picture)
    assert checker.counts["circle"] == 3
    assert "A & B" in checker.text


def test_values_are_written_short():
    assert [written(v) for v in (None, float("nan"), 1 / 3, 7, "a<b")] == [
        "",
        "",
        "0.333333",
        "7",
        "a<b",
    ]
    assert written("x" * 500).endswith("x …")


def test_values_of_every_kind_of_table():
    import numpy as np
    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_matrix

    rows = np.array([2, 0])
    columns = {"a": [1, 2, 3], "b": ["x", None, "z"]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert feature_names(frame) == ["a", "b"]
        assert values_of(frame, rows, ["a", "b"]) == [["3", "z"], ["1", "x"]]
    array = np.arange(6.0).reshape(3, 2)
    assert feature_names(array) == ["x0", "x1"]
    assert values_of(array, rows, ["x0"]) == [["4"], ["0"]]
    assert feature_names(csr_matrix(array)) == feature_names(None) == []
    assert values_of(None, rows, []) == [[], []]


def test_long_names_of_many_columns_stand_upright():
    def heat(names):
        return heat_table("c", names, ["r"], [[0.1] * len(names)], [["1"] * len(names)])

    assert 'class="heat"' in heat(["a long name of a class", "b"])
    assert 'class="heat upright"' in heat(["a long name of a class", *"bcdef"])
    assert 'class="heat"' in heat([])
