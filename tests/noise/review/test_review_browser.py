"""The review page, worked with in Chromium."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_review_page import HOSTILE

from conftest import N, animals, made_up
from steadyboost.noise import audit_proba, read_verdicts

IDS = [f"a{k}" for k in range(N)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    found, _ = made_up()
    path = tmp_path_factory.mktemp("page") / "review.html"
    found.review(path, table=animals(), name="pets.csv", target="pet")
    return path


@pytest.fixture
def at_work(reviewer, page):
    reviewer.open(page)
    assert reviewer.text("#done").startswith("0 judged")
    return reviewer


def first_labels():
    """Given and suggested labels by rank."""
    found, _ = made_up()
    rows = found.table.row
    return found.given[rows], found.suggested[rows], rows


def verdicts(browser):
    """Verdicts by row, as they are exported."""
    return {one.row: one for one in read_verdicts(browser.downloaded("#save-json"))}


def test_the_page_asks_for_nothing_and_tells_no_error(at_work, page):
    assert set(at_work.requests()) == {page.as_uri()}
    assert at_work.errors() == []


def test_every_key(at_work):
    given, suggested, rows = first_labels()
    at_work.press("a", "k", "n", "x", "ENTER")
    found = verdicts(at_work)
    assert [found[row].verdict for row in rows[:5]] == [
        "change",
        "keep",
        "unsure",
        "drop",
        "change",
    ]
    assert [found[rows[k]].label for k in (0, 1, 4)] == [suggested[0], given[1], suggested[4]]
    assert at_work.text("#done").startswith("5 judged: 2 changed, 1 kept, 1 not sure, 1 left out")
    at_work.press("u", "u")
    assert set(verdicts(at_work)) == set(rows[:3].tolist())
    assert f"row {rows[3] + 1}" in at_work.text("#card header")
    at_work.press("ARROW_RIGHT", "j", "ARROW_LEFT", "SPACE")
    assert "6 of 300" in at_work.text("#card header")
    at_work.press("l")
    assert at_work.run("return document.getElementById('card').hidden")
    at_work.press("l", "/")
    assert at_work.run("return document.activeElement.id") == "f-text"
    at_work.press("?")
    assert "Keys" in at_work.text("#dialog")
    at_work.click("#dialog button")
    at_work.press("u", "u", "u", "u")
    assert "nothing to undo" in at_work.text("#message")


def test_numbers_choose_classes_by_probability(at_work):
    found, _ = made_up()
    rows = found.table.row
    for rank, key in enumerate("123"):
        at_work.press(key)
        order = np.argsort(-found.probabilities[rows[rank]])
        label = verdicts(at_work)[rows[rank]].label
        assert label == found.classes[order[rank]]
    at_work.press("4")  # there is no fourth class
    assert len(verdicts(at_work)) == 3


def test_typing_in_a_field_is_no_verdict(at_work):
    at_work.driver.find_element("id", "reviewer").send_keys("Anna k")
    at_work.driver.find_element("id", "f-text").send_keys("xan")
    assert at_work.text("#done").startswith("0 judged")


def test_buttons_do_what_keys_do(at_work):
    audit, _ = made_up()
    rows = audit.table.row
    at_work.click("[data-action=accept]")
    at_work.click("[data-action=keep]")
    at_work.click(".classes button", nth=2)
    found = verdicts(at_work)
    assert [found[row].verdict for row in rows[:2]] == ["change", "keep"]
    third = audit.classes[np.argsort(audit.probabilities[rows[2]])[0]]
    assert found[rows[2]].label == third
    at_work.click("[data-action=undo]")
    assert len(verdicts(at_work)) == 2


def test_filters_and_search(at_work):
    found, _ = made_up()
    frame, rows = animals(), found.table.row

    def listed():
        return int(at_work.text("#found").split()[0])

    given, other = found.given[rows[0]], found.suggested[rows[0]]
    at_work.fill("#f-given", found.classes.tolist().index(given))
    assert listed() == (found.given == given).sum()
    at_work.fill("#f-other", found.classes.tolist().index(other))
    assert f"{given} → {other}?" in at_work.text(".question")
    at_work.click("#filters button")
    at_work.waits_for("#found", "300 of 300")
    at_work.fill("#f-status", "flagged")
    assert listed() == len(found.suspects)
    at_work.click("#filters button")
    at_work.waits_for("#found", "300 of 300")
    at_work.fill("#f-column", 0)
    at_work.fill("#f-text", "> 20")
    assert listed() == (frame["kg"] > 20).sum()
    at_work.fill("#f-column", 1)
    at_work.fill("#f-text", "= long")
    assert listed() == (frame["fur"] == "long").sum()
    at_work.fill("#f-column", "")
    at_work.fill("#f-text", "NUMBER 7,")
    assert listed() == 1
    assert "row 8" in at_work.text("#card header")
    at_work.fill("#f-text", "nowhere")
    assert "No row matches" in at_work.text("#card")
    at_work.press("a")
    assert at_work.text("#done").startswith("0 judged")
    at_work.fill("#f-text", "")
    at_work.press("a")
    at_work.fill("#f-status", "open")
    assert listed() == N - 1
    at_work.fill("#f-status", "change")
    assert f"row {rows[0] + 1}" in at_work.text("#card header")


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_files_go_out_and_in(at_work, page, kind):
    at_work.driver.find_element("id", "reviewer").send_keys('Ann, "A"')
    at_work.press("a", "k", "n", "x", "1")
    path = at_work.downloaded(f"#save-{kind}")
    assert path.name.startswith("pets-verdicts") and path.suffix == f".{kind}"  # noqa: PT018
    found = read_verdicts(path)
    assert {one.reviewer for one in found} == {'Ann, "A"'}
    audit, _ = made_up()
    assert len(audit.apply(found, table=animals()).changed) == found.counts()["change"]
    at_work.open(page)
    at_work.press("n")
    at_work.driver.find_element("id", "import").send_keys(str(path))
    at_work.waits_for(
        "#message", "4 verdicts imported; 1 row kept the earlier verdict; 0 verdicts not fitting"
    )
    again = verdicts(at_work)
    for one in found:
        kept = again[one.row]
        assert kept.decision == (
            ("unsure", "") if one.row == first_labels()[2][0] else one.decision
        )
    at_work.press("u")
    assert len(verdicts(at_work)) == 1


def test_files_that_do_not_fit_are_told(at_work, tmp_path):
    entry = {"row": 1, "verdict": "drop", "given": "zebra"}
    entries = [entry, {**entry, "row": 999}, {**entry, "verdict": "odd"}]
    document = {"format": "steadyboost-verdicts", "version": 1, "verdicts": entries}
    for name, text, message in (
        ("other.json", json.dumps(document), "0 verdicts imported; 0 rows kept the earlier "
         "verdict; 3 verdicts not fitting"),
        ("bad.json", "{", "bad.json cannot be read"),
        ("list.json", "[]", "no file of verdicts"),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        at_work.driver.find_element("id", "import").send_keys(str(tmp_path / name))
        at_work.waits_for("#message", message)


def test_verdicts_outlive_the_page(at_work, page):
    at_work.press("a", "k")
    before = {row: one.decision for row, one in verdicts(at_work).items()}
    at_work.open(page, fresh=False)
    assert at_work.text("#done").startswith("2 judged")
    assert {row: one.decision for row, one in verdicts(at_work).items()} == before
    assert "3 of 300" in at_work.text("#card header")


def test_the_rest_of_a_mix_up_goes_in_bulk_after_a_sample(at_work):
    found, _ = made_up()
    pairs = pd.Series(list(zip(found.given, found.suggested, strict=True)))[found.suspects]
    (given, other), n = pairs.value_counts().index[0], pairs.value_counts().iloc[0]
    assert at_work.text("#mixups tbody tr").split("\t")[0].strip() == f"{given} → {other}"
    button = "#mixups tbody tr button:not(.link)"
    assert at_work.run(f"return document.querySelector('{button}').disabled")
    at_work.click("#mixups button.link")
    at_work.press("a", "a", "a", "a", "k")
    assert "4/5" in at_work.text("#mixups tbody tr")
    at_work.click(button)
    said = at_work.text("#dialog")
    assert f"Accept {n - 5} suggestions {given} → {other}?" in said
    assert "You checked 5 of them, and the suggestion was right for 4." in said
    at_work.click("#dialog button", nth=1)
    assert at_work.text("#done").startswith("5 judged")
    at_work.click(button)
    at_work.click("#dialog button")
    assert at_work.text("#done").startswith(f"{n} judged: {n - 1} changed, 1 kept")
    at_work.press("u")
    assert at_work.text("#done").startswith("5 judged")


def test_progress_says_how_far_to_go(at_work):
    found, _ = made_up()
    at_work.fill("#curve input[type=range]", 10)
    expected = (1 - found.scores[found.table.row[:10]]).sum()
    assert f"The first 10 rows: {expected:.0f} of about {found.n_wrong:.0f}" in at_work.text(
        "#curve"
    )
    assert "No label has been decided yet." in at_work.text("#curve")
    at_work.press("a", "a", "a", "k", "n")
    assert "So far 3 of 4 labels were wrong (75.0 %)" in at_work.text("#curve")
    assert "go on." in at_work.text(".advice")
    at_work.fill("#curve input[type=number]", 2)
    at_work.press(*"k" * 30)
    assert "you may stop here." in at_work.text(".advice")


def test_the_list_takes_the_same_verdicts(at_work):
    _, _, rows = first_labels()
    at_work.press("l", "a", "ARROW_DOWN", "k")
    assert {row: one.verdict for row, one in verdicts(at_work).items()} == {
        rows[0]: "change", rows[2]: "keep",
    }  # fmt: skip
    assert "changed" in at_work.text(".line")
    at_work.click(".line", nth=5)
    at_work.click("#list-actions [data-action=drop]")
    assert verdicts(at_work)[rows[5]].verdict == "drop"
    assert "open" in at_work.text(".line.current")


def test_a_hundred_thousand_rows(reviewer, tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    proba, small = rng.dirichlet([0.3] * 3, n), made_up()[0]
    given = small.classes[proba.argmax(axis=1)]
    rows = {"given": given, "suggested": given, "scores": rng.random(n), "probabilities": proba}
    found = replace(small, **rows)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(3), "b": rng.integers(9, size=n)})
    found.review(tmp_path / "large.html", table=frame)
    reviewer.open(tmp_path / "large.html")
    assert "100,000 of 100,000 rows" in reviewer.text("#found")
    reviewer.press("l")
    assert reviewer.run("return document.querySelectorAll('.line').length") < 100
    reviewer.run("const s = document.getElementById('scroller'); s.scrollTop = s.scrollHeight;")
    end = "return [...document.querySelectorAll('.line')].at(-1).innerText"
    reviewer.waits_for("#spacer", "100,000")
    assert reviewer.run(end).startswith("100,000")
    assert str(found.table.row[-1] + 1) in reviewer.run(end)
    assert reviewer.run("return document.querySelectorAll('.line').length") < 100
    reviewer.press("a", "l")
    assert reviewer.text("#done").startswith("1 judged")


@pytest.mark.parametrize("is_list", [False, True])
def test_it_fits_a_phone_with_its_buttons_at_hand(at_work, page, is_list):
    at_work.phone()
    at_work.driver.get(page.as_uri())
    if is_list:
        at_work.click("#show-list")
    assert at_work.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    for scroll in (0, 600):
        at_work.run("window.scrollTo(0, arguments[0])", scroll)
        script = (
            "const box = [...document.querySelectorAll('[data-action=accept]')].at(-1)"
            ".getBoundingClientRect(); return [box.top >= 0, box.bottom <= innerHeight]"
        )
        assert at_work.run(script) == [True, True]
    before = at_work.text("#done")
    at_work.click(f"{'#list-actions' if is_list else '#card'} [data-action=accept]")
    assert at_work.text("#done") != before


def test_nothing_in_the_data_runs(reviewer, tmp_path):
    names = np.array(["<b>bold</b>", HOSTILE])
    proba = np.tile([[0.9, 0.1], [0.1, 0.9]], (20, 1))
    given = names[np.tile([0, 1], 20)]
    given[0] = names[1]
    frame = pd.DataFrame({HOSTILE: [HOSTILE] * 40, "x": ["javascript:alert(3)"] * 40})
    found = audit_proba(proba, given, classes=np.sort(names))
    found.review(
        tmp_path / "bad.html",
        table=frame,
        name=HOSTILE,
        ids=[f"{HOSTILE}{k}" for k in range(40)],
        id_name=HOSTILE,
    )
    reviewer.open(tmp_path / "bad.html")
    reviewer.press("a", "l")
    assert (
        reviewer.run("return document.images.length + document.querySelectorAll('b b').length") == 0
    )
    assert reviewer.run("return document.scripts.length") == 2
    assert "<b>bold</b>" in reviewer.text("#spacer")
    assert reviewer.errors() == []
    found = read_verdicts(reviewer.downloaded("#save-csv"))
    assert found[0].id.startswith(HOSTILE)


def test_an_index_without_a_name_is_not_shown(reviewer, tmp_path):
    found, _ = made_up()
    frame = animals()
    frame.insert(0, "", [f"place {k}" for k in range(len(frame))])
    found.review(tmp_path / "index.html", table=frame)
    reviewer.open(tmp_path / "index.html")
    assert "place" not in reviewer.text("#card")
    names = "return [...document.querySelectorAll('#f-column option')].map((o) => o.textContent)"
    assert reviewer.run(names) == ["all", *animals().columns]
    reviewer.press("l")
    assert "place" not in reviewer.text(".line")


@pytest.mark.parametrize(
    ("written", "asked"), [("{:,.2f}", "> 1,500"), ("{:.2f}", "> 1500.0"), (None, "> 1.500,0")]
)
def test_numbers_are_compared_as_they_are_written(reviewer, tmp_path, written, asked):
    """With thousands separators, decimal points, or decimal commas."""
    found, _ = made_up()
    income = np.random.default_rng(0).normal(2000, 700, N).round(2)
    texts = [(written or "{:,.2f}").format(value) for value in income]
    if written is None:
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    found.review(tmp_path / "income.html", table=pd.DataFrame({"income": texts}))
    reviewer.open(tmp_path / "income.html")
    reviewer.fill("#f-column", 0)
    reviewer.fill("#f-text", asked)
    assert int(reviewer.text("#found").split()[0]) == (income > 1500).sum()
