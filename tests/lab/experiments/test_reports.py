"""Tables, records and pages."""

import csv
import io
import json
import re

import pytest
import tiny
from html_pages import Checker, needs_no_network
from rich.console import Console

from steadyboost.lab.experiments.report import (
    as_csv,
    as_json,
    make_report,
    markdown_page,
    remarks,
    terminal_lines,
    terminal_table,
    title,
)
from steadyboost.lab.experiments.results import Results
from steadyboost.lab.reports.experiments import draw, experiments_page


def shown(report, width=100):
    console = Console(width=width, file=io.StringIO())
    console.print(terminal_table(report))
    for line in terminal_lines(report):
        console.print(line)
    return console.file.getvalue()


def test_terminal_shows_ours_and_the_printed_number(reports):
    text = shown(reports[0])
    assert re.search(r"iris +│ +\d+\.\d ± \d+\.\d", text)
    assert "5.0 ± 1.0" in text
    assert "n/a" in text


def test_terminal_says_what_is_missing_and_why(reports):
    text = shown(reports[0])
    assert "lost & gone was left out: nobody has it." in text
    assert "future was not run: NoSuchClassifier is not available in this version." in text
    assert "cannot be run: NoSuchClassifier is not available" in text
    assert "AdaBoost.M1: an old one." in text


def test_verdicts_are_marked(reports):
    text = shown(reports[0])
    assert "✓ SAMME errs on fewer than all rows." in text
    assert "✗ SAMME is perfect." in text
    assert "– The future is better than SAMME." in text


def test_quick_versions_say_so(tmp_path):
    report = tiny.report_of(tiny.experiment(quick=True), tmp_path)
    assert title(report.experiment).startswith("QUICK VERSION")
    assert "in the quick version" in shown(report)
    assert json.loads(as_json(report))["quick"] is True
    assert 'class="note"' in experiments_page([report], "test")
    assert report.rows == ["iris", "lost & gone"]
    assert report.entries[0][0].printed.mean == 5.0


def test_reports_of_nothing_say_that_it_was_not_run():
    report = make_report(Results(tiny.experiment("figure-1")))
    assert report.is_empty
    assert "…" in shown(report)
    assert remarks(report)[0].startswith("0 of 18 runs")


def test_agreement_counts_printed_numbers_near_ours(reports):
    assert re.match(r"\d of 3 printed numbers lie within two", reports[0].agreement)


def test_failures_are_told(tmp_path):
    broken = tiny.experiment("figure-1", learner={"name": "Tree", "max_depth": -1})
    report = tiny.report_of(broken, tmp_path)
    assert any("SAMME on iris failed: " in line and "max_depth" in line for line in remarks(report))


def test_csv_has_a_line_per_place(reports):
    lines = list(csv.DictReader(io.StringIO(as_csv(reports[0]))))
    assert len(lines) == 9
    assert (lines[0]["data"], lines[0]["method"], lines[0]["runs"]) == ("iris", "SAMME", "3")
    assert (lines[0]["printed_mean"], lines[0]["round"]) == ("5.0", "last")
    assert lines[-1]["reason"] == "nobody has it"


def test_json_has_claims_and_remarks(reports):
    document = json.loads(as_json(reports[0]))
    assert [claim["state"] for claim in document["claims"]] == [
        "reproduces",
        "does not",
        "cannot be run",
    ]
    assert document["remarks"]


def test_markdown_has_numbers_and_verdicts(reports, made_up_papers):
    page = markdown_page(reports, " --repeats 3", "Version 0, today.")
    assert "`steadyboost reproduce 999/table-1 --repeats 3`. Version 0, today." in page
    assert "| [999/table-1](#999table-1) | 1 | 1 |  | 1 |  |" in page
    assert re.search(r"\| iris \| \d+\.\d ± \d+\.\d.* \(5\.0 ± 1\.0\) \|", page)
    assert "- ✗ SAMME is perfect. **Does not, as far as it was run: holds in" in page
    assert "**Cannot be run: NoSuchClassifier" in page
    empty = markdown_page([make_report(Results(tiny.experiment()))], "", "m")
    assert "**Not run yet.**" in empty


def test_markdown_keeps_sections_of_other_experiments(reports, made_up_papers):
    whole = markdown_page(reports, "", "Version 0, today.")
    assert markdown_page(reports[1:2], "", "Version 0, today.", whole) == whole
    first = markdown_page(reports[:1], "", "Version 0, yesterday.")
    assert markdown_page(reports[1:], "", "Version 0, today.", first) == whole.replace(
        "today", "yesterday", 1
    )


def test_markdown_takes_nothing_from_another_page(reports, made_up_papers):
    page = markdown_page(reports, "", "m")
    assert markdown_page(reports, "", "m", "# Notes\n\n### 999/table-1\n\nmine\n") == page


@pytest.fixture
def page(reports, made_up_papers):
    return experiments_page(reports, "steadyboost reproduce 999 · today")


def test_html_is_whole_and_needs_no_network(page):
    checker = Checker(page)
    sections = ["e999-table-1", "e999-figure-1", "e999-figure-2"]
    assert checker.ids == [id_ for name in sections for id_ in (name, f"t{name}")]
    assert checker.links == [f"#{name}" for name in sections]
    assert needs_no_network(page)
    assert page.count("<script>") == page.count("<script") == 1
    assert 'name="viewport"' in page


def test_html_has_tables_and_pictures(page):
    checker = Checker(page)
    assert checker.counts["section"] == checker.counts["table"] == 3
    assert checker.counts["figure"] == 7
    assert "It does &lt;not&gt; exist." in page
    assert "lost &amp; gone" in page
    assert "nan" not in checker.text.lower()


def test_pictures_without_results_have_no_panels():
    for id_ in ("table-1", "figure-1", "figure-2"):
        experiment = tiny.experiment(id_)
        for picture in experiment.pictures:
            assert draw(picture, Results(experiment)).panels == []


def test_panels_are_svg_with_a_name(reports):
    for report in reports:
        for picture in report.experiment.pictures:
            panels = draw(picture, report.results).panels
            assert panels
            assert all(svg.startswith("<svg") and 'aria-label="' in svg for svg in panels)
