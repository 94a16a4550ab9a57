"""The page of an audit."""

import re

import numpy as np
import pytest
from html_pages import Checker, is_guarded, needs_no_network
from made_up_reports import MadeUpAudit, features

from steadyboost.lab.reports.audit import MOST_ROWS, audit_page


@pytest.fixture(scope="module")
def page():
    return audit_page(MadeUpAudit(), features(200), "pets.csv", "steadyboost audit", "out.csv")


def test_page_is_whole_and_says_what_was_found(page):
    checker = Checker(page)
    assert needs_no_network(page)
    assert is_guarded(page)
    assert checker.ids == ["suspects", "classes", "conflicts"]
    assert "30 of 200 labels are estimated to be wrong" in checker.text
    assert "15.0 % of the labels" in checker.text
    assert "8, 10, 31" in checker.text
    assert "nan" not in checker.text.lower()
    assert checker.counts["svg"] == 4  # two panels, each with one inside that cuts off


def test_suspects_are_all_there_worst_first(page):
    audit = MadeUpAudit()
    body = re.search(r'id="suspects".*?<tbody>(.*?)</tbody>', page, re.S)[1]
    rows = [int(row) for row in re.findall(r'<th scope="row" class="number">(\d+)</th>', body)]
    assert rows == (audit.suspects + 1).tolist()
    assert "Bonn &amp; Köln" in body
    assert "&lt;i&gt;" in body


def test_identifiers_stand_beside_the_rows():
    audit = MadeUpAudit(kept={"tag": np.array([f"p{k}" for k in range(200)])})
    text = Checker(audit_page(audit, None, "pets.csv", "steadyboost audit")).text
    assert f"p{audit.suspects[0]}" in text


def test_classes_have_their_counts(page):
    audit = MadeUpAudit()
    body = re.search(r'id="classes".*?<tbody>(.*?)</tbody>', page, re.S)[1]
    wrong = re.findall(r'<tr>.*?data-value="\d+">.*?data-value="([\d.]+)"', body)
    assert [float(n) for n in wrong] == list(audit.n_wrong_per_class.values())


def test_large_audits_are_cut_and_say_where_the_rest_is():
    audit = MadeUpAudit(n_rows=100_000, n_flips=9_000, conflicts=[[0, 1]] * 1_000)
    page = audit_page(audit, np.zeros((100_000, 300)), "big.csv", "steadyboost audit", "out.csv")
    text = Checker(page).text
    assert len(page) < 2_000_000
    assert page.count("<tr>") < MOST_ROWS + 200
    assert "The 1,000 most suspicious of 9,000 suspects are shown; all are in out.csv." in text
    assert "The first 20 of 300 columns are shown." in text
    assert "The first 100 of 1,000 groups." in text


def test_without_suspects_the_least_certain_rows_are_shown():
    audit = MadeUpAudit(n_flips=0, conflicts=[])
    text = Checker(audit_page(audit, None, "clean.csv", "steadyboost audit")).text
    assert "There are no suspects. These are the 20 least certain rows." in text
    assert "Confused classes" not in text
    assert "Equal rows" not in text


def test_many_classes_have_no_matrices():
    audit = MadeUpAudit(classes=np.array([f"c{k}" for k in range(60)]))
    assert 'class="heat' not in audit_page(audit, None, "many.csv", "steadyboost audit")


SORT_AND_FILTER = """
const count = () => page.querySelector(".filters output").textContent;
const heading = (k) => page.querySelectorAll("#suspects thead th button")[k];
const found = { first: shown("suspects").length };
page.querySelector(".more").click();
found.more = [shown("suspects").length, page.querySelector(".more").hidden];
heading(5).click(); found.ages = column("suspects", 5);
heading(6).click(); heading(6).click(); found.weights = column("suspects", 6);
page.querySelector("td[data-pick]").click();
found.picked = [new Set(column("suspects", 2)).size, new Set(column("suspects", 3)).size, count()];
page.querySelector(".filters button").click(); found.cleared = count();
const search = page.querySelector(".filters input");
search.value = "AACHEN"; search.dispatchEvent(new Event("input"));
found.towns = [...new Set(column("suspects", 7))];
return found;
"""


def test_table_sorts_filters_and_shows_more(browser, page):
    found = browser.look(page, SORT_AND_FILTER)
    assert found["first"] == 25
    assert found["more"] == [30, True]
    ages = [int(age) for age in found["ages"]]
    assert ages == sorted(ages)
    weights = [float(w) for w in found["weights"] if w]
    assert weights == sorted(weights, reverse=True)
    assert "" not in found["weights"][: len(weights)]  # gaps come last
    assert found["picked"][:2] == [1, 1]
    assert found["picked"][2] != found["cleared"] == "30 of 30 rows"
    assert found["towns"] == ["Aachen"]


@pytest.mark.parametrize("width", [390, 1200])
def test_page_fits_phone_and_desk(browser, page, width):
    assert browser.overflow(page, width) <= 0
