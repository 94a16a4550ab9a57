"""The page builder, its tables and its protection against hostile text."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from html_pages import Checker, is_guarded, needs_no_network
from jinja2 import UndefinedError
from scipy.sparse import csr_matrix

from steadyboost.lab.reports import PACKAGE
from steadyboost.lab.reports.audit import feature_names, shortened, values_of
from steadyboost.noise.review.table import shown
from steadyboost.pages.page import (
    Badge,
    Column,
    DataTable,
    Figure,
    HeatCell,
    HeatTable,
    TableCell,
    environment,
    heat_rows,
    made_by,
    picked,
    plain_cell,
    render,
)
from steadyboost.pages.svg import Strip, strips

COLUMNS = (
    Column("name", is_number=False, choices=("one", "two & a half")),
    Column("size", hint="in <metres>", high_first=True),
)
ROWS = [
    [plain_cell("one"), plain_cell("1.0", 1)],
    [plain_cell("two & a half"), TableCell("2.5", 2.5, "hm", is_bold=True)],
]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=\"alert('1')\">"


def macro(name, *arguments):
    """What a macro of the templates makes of some arguments."""
    return str(getattr(environment().get_template("macros.html").module, name)(*arguments))


def page_of(words):
    """A page with the same words everywhere."""
    table = DataTable("standings", [Column(words, hint=words, choices=(words,))], [])
    return render(
        "comparison.html",
        PACKAGE,
        title=words,
        heading=words,
        made_by=made_by(words),
        facts=[(words, words)],
        conclusions=[words],
        standings=table,
        folds=Figure(words, [strips(words, words, [Strip(words, [1.0], "red", words)])], [words]),
        by_class=HeatTable(words, [words], [(words, [HeatCell(words, 0.5, words)])]),
        remarks=[words],
    )


def test_page_is_whole_and_escapes_text():
    page = page_of("T < U & V")
    checker = Checker(page)
    assert needs_no_network(page)
    assert is_guarded(page)
    assert page.count("<script>") == page.count("<style>") == 1
    assert checker.text.count("T < U & V") == 20
    assert "T < U & V · SteadyBoost 0" in checker.text


def test_hostile_text_stays_text():
    page = page_of(HOSTILE)
    checker = Checker(page)
    assert checker.counts["script"] == 1
    assert "img" not in checker.counts
    assert HOSTILE in checker.text
    assert is_guarded(page)


def test_hostile_text_does_nothing_in_a_browser(browser):
    found = browser.look(page_of(HOSTILE), "return page.images.length + page.scripts.length;")
    assert found == 1


def test_a_variable_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError, match="conclusions"):
        render("comparison.html", PACKAGE, title="t", heading="h", made_by="m", facts=[])


def test_nothing_is_shown_of_nothing():
    assert macro("small_print", []).strip() == ""
    assert macro("figure", Figure("none", [])).strip() == ""
    assert strips("none", "%", []) == ""
    assert "<svg" in macro("figure", Figure("one", ["<svg></svg>"]))
    assert macro("badge", Badge("a<", "yes")) == '<span class="badge yes">a&lt;</span>'


def test_table_has_keys_to_sort_by_and_choices_to_filter_by():
    table = macro("data_table", DataTable("t", COLUMNS, ROWS, step=7, search="Find", marked=[1]))
    checker = Checker(table)
    assert checker.ids == ["t"]
    assert (checker.counts["option"], checker.counts["input"], checker.counts["tr"]) == (3, 1, 3)
    assert 'data-step="7"' in table
    assert '<td class="number" data-value="2.5" title="hm"><b>2.5</b></td>' in table
    assert 'title="in &lt;metres&gt;" data-first="descending"' in table
    assert table.count('class="marked"') == 1


def test_table_without_choices_has_no_filters():
    table = DataTable("t", [Column("size")], [[plain_cell(1)]])
    assert "filters" not in macro("data_table", table)


def test_heat_table_colours_what_there_is():
    cells = [HeatCell("9", 0.9, picked("t", {0: "<a>"})), HeatCell("")]
    heat = macro("heat_table", HeatTable("c", ["a", "b"], [("r", cells)]))
    Checker(heat)
    assert 'class="strong" style="background: rgba(var(--heat), 0.900)"' in heat
    assert "&#34;0&#34;: &#34;&lt;a&gt;&#34;" in heat
    assert "<td></td>" in heat


def test_strips_have_a_dot_per_value():
    picture = strips("Error < 1", "%", [Strip("A & B", [1.0, 2.0, 3.0], "red", "2.0")])
    checker = Checker(picture)
    assert checker.counts["circle"] == 3
    assert "A & B" in checker.text


def test_values_are_written_short():
    values = (None, float("nan"), 1 / 3, 7, "a<b")
    assert [shown(value) for value in values] == ["", "", "0.333333", "7", "a<b"]
    assert shortened("x" * 500).endswith("x …")


def test_values_of_every_kind_of_table():
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
        return HeatTable("c", names, heat_rows(["r"], [[0.1] * len(names)], [["1"] * len(names)]))

    assert not heat(["a long name of a class", "b"]).is_upright
    assert heat(["a long name of a class", *"bcdef"]).is_upright
    assert not heat([]).is_upright
