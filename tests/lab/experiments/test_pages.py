"""Numbers on pages are those of the kept results."""

import re
from functools import cache
from pathlib import Path

import pytest

from steadyboost.lab.experiments.cells import Archive, Cache
from steadyboost.lab.experiments.plan import with_repeats
from steadyboost.lab.experiments.reading import find, papers
from steadyboost.lab.experiments.report import make_report, ours_text
from steadyboost.lab.experiments.results import gather

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "benchmarks" / "results" / "cells"
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"^-?\d*\.\d+")
WITH_RUNS = [
    experiment.name
    for paper in papers()
    for experiment in paper.experiments
    if (KEPT / f"{experiment.name.replace('/', '-')}.jsonl").exists()
]


@pytest.fixture(scope="module")
def report_of(tmp_path_factory):
    """The report of an experiment from the kept results alone."""

    @cache
    def make(name, repeats=None):
        experiment = find([name])[0]
        if repeats:
            experiment = with_repeats(experiment, repeats)
        folder = Cache(tmp_path_factory.mktemp("cells"))
        Archive(KEPT).restore(experiment, folder)
        return make_report(gather(experiment, folder, {}, {}))

    return make


def section(name):
    """The text of an experiment on the page, and how many repeats it was made with."""
    text = PAGE.split(f"\n### {name}\n", 1)[1].split("\n### ", 1)[0]
    repeats = re.search(r"--repeats (\d+)", text.split("\n- ", 1)[0])
    return text, int(repeats[1]) if repeats else None


def cells(line):
    return [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.mark.parametrize("name", WITH_RUNS)
def test_tables_are_those_of_the_kept_results(name, report_of):
    text, repeats = section(name)
    report = report_of(name, repeats)
    rows = [cells(line) for line in text.splitlines() if line.startswith("| ")][1:]
    assert [row[0].strip("| ") for row in rows] == report.rows
    compared = 0
    for shown, entries in zip(rows, report.entries, strict=True):
        for cell, entry in zip(shown[1:], entries, strict=True):
            if NUMBER.match(cell):
                assert cell.split(" (")[0] == ours_text(entry, report.experiment.measure)
                compared += 1
    assert compared > 0


# Numbers that the pages of the algorithms repeat: (experiment, repeats, row, column, number)
QUOTED = {
    "softmax-boost": [
        ("004/table-2", None, "letter / sm-boost", "T = 100", "10.6 %"),
        ("004/table-2", None, "letter / AdaBoost.MH", "T = 100", "2.9 %"),
        ("004/table-2", None, "satimage / sm-boost", "T = 100", "10.8 %"),
        ("004/table-2", None, "satimage / AdaBoost.MH", "T = 100", "8.8 %"),
        ("004/table-3", None, "letter / sm-boost", "T = 100", "11.8 %"),
        ("004/table-3", None, "letter / AdaBoost.MH", "T = 100", "13.3 %"),
        ("004/table-3", None, "satimage / sm-boost", "T = 100", "11.8 %"),
        ("004/table-3", None, "satimage / AdaBoost.MH", "T = 100", "12.2 %"),
    ],
    "weightboost": [
        ("001/table-2", 10, "Contraceptive", "WeightBoost", "contraceptive 33.4"),
        ("001/table-2", 10, "Contraceptive", "AdaBoost", "AdaBoost 34.6"),
        ("001/table-2", 10, "Pima", "WeightBoost", "pima 23.4"),
        ("001/table-2", 10, "Pima", "AdaBoost", "25.4 and 24.7"),
        ("001/table-4", 10, "German", "10 % noise / WeightBoost", "26.5 and 25.7"),
        ("001/table-4", 10, "German", "10 % noise / AdaBoost", "28.3 and 30.7"),
        ("001/table-4", 10, "Breast-cancer", "20 % noise / WeightBoost", "11.2 and 4.1"),
        ("001/table-4", 10, "Breast-cancer", "20 % noise / AdaBoost", "14.4 and 5.9"),
    ],
    "epsilon-boost": [
        ("001/table-2", 10, "Ionosphere", "ε-Boost", "6.3 % errors"),
        ("001/table-2", 10, "Ionosphere", "C4.5", "makes 10.6 %"),
    ],
}


@pytest.mark.parametrize("page", QUOTED)
def test_pages_of_algorithms_repeat_the_kept_results(page, report_of):
    text = (ROOT / "docs" / "algorithms" / f"{page}.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    for name, repeats, row, column, quoted in QUOTED[page]:
        report = report_of(name, repeats)
        entry = report.entries[report.rows.index(row)][report.columns.index(column)]
        assert quoted in words, (row, column)
        assert f"{entry.ours.mean:.1f}" == re.search(r"\d+\.\d", quoted)[0], (row, column)
        assert f"steadyboost reproduce {name}" in words
