"""The page of a comparison."""

import made_up_reports as made_up
import pytest
from html_pages import Checker, is_guarded, needs_no_network

from steadyboost.lab.reports.comparison import comparison_page


@pytest.fixture(scope="module")
def page():
    return comparison_page(made_up.comparison(), "pets.csv", "steadyboost compare pets.csv")


def test_page_is_whole_and_says_what_was_found(page):
    checker = Checker(page)
    assert needs_no_network(page)
    assert is_guarded(page)
    assert "Good has the lowest error" in checker.text
    assert "20 % of the training labels corrupted (pair)" in checker.text
    assert "The difference to Fair is not significant" in checker.text
    assert checker.counts["circle"] == 3 * 3 * 4
    assert "b<" in checker.text
    assert "nan" not in checker.text.lower()


def test_failures_are_told():
    found = made_up.comparison(failure="ValueError: no <luck>")
    text = Checker(comparison_page(found, "pets.csv", "c")).text
    assert "Good failed: ValueError: no <luck>" in text
    assert "Fair has the lowest error" in text


def test_page_of_nothing_but_failures_is_a_page():
    found = made_up.comparison()
    for result in found.results:
        result.failure = "ValueError: no"
    assert "No method could be run." in Checker(comparison_page(found, "a", "b")).text


SORT_AND_FILTER = """
const heading = (k) => page.querySelectorAll("#standings thead th button")[k];
const found = { start: column("standings", 0) };
heading(1).click(); heading(1).click();
found.worst = column("standings", 0);
found.sort = page.querySelectorAll("#standings thead th")[1].getAttribute("aria-sort");
const from = page.querySelector(".filters select");
from.value = "SteadyBoost"; from.dispatchEvent(new Event("input"));
found.ours = column("standings", 0);
return found;
"""


def test_table_sorts_and_filters(browser, page):
    assert browser.look(page, SORT_AND_FILTER) == {
        "start": ["Good", "Fair", "Poor", "always a"],
        "worst": ["Poor", "always a", "Fair", "Good"],
        "sort": "descending",
        "ours": ["Poor", "Good"],
    }


@pytest.mark.parametrize("width", [390, 1200])
def test_page_fits_phone_and_desk(browser, page, width):
    assert browser.overflow(page, width) <= 0
