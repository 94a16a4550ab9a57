"""``steadyboost reproduce`` and ``steadyboost data``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steadyboost import cli
from steadyboost.lab.experiments.reading import papers


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEADYBOOST_CACHE", str(tmp_path / "cells"))
    monkeypatch.setenv("COLUMNS", "200")


def call(*args):
    return CliRunner().invoke(cli.app, list(args), prog_name="steadyboost")


def test_without_a_name_all_experiments_are_listed():
    result = call("reproduce")
    assert result.exit_code == 0
    for paper in papers():
        for experiment in paper.experiments:
            assert experiment.name in result.stdout
    assert "cannot be run: no data" in result.stdout


def test_all_outputs_of_a_quick_run(made_up_papers):
    options = ["--quick", "--jobs", "1", "--csv", "--json", "--output", "out"]
    result = call("reproduce", "all", *options, "--html", "page.html", "--docs", "page.md")
    assert result.exit_code == 0, result.stderr
    assert "QUICK VERSION, not the paper's protocol: 999/table-1" in result.stdout
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    page = Path("page.md").read_text(encoding="utf-8")
    assert "`steadyboost reproduce 999/table-1 --quick`. Version" in page
    assert len(list(Path("out").glob("*.csv"))) == 3
    for again in (["--html", "page.html"], ["--docs", "page.md"], ["--json", "--output", "out"]):
        refused = call("reproduce", "all", "--quick", "--cached", *again)
        assert (refused.exit_code, "exists; pass --force" in refused.stderr) == (2, True)
        assert call("reproduce", "all", "--quick", "--cached", *again, "--force").exit_code == 0
    document = json.loads(Path("out/999-table-1.json").read_text(encoding="utf-8"))
    assert document["table"][0]["runs"] == 2


def test_a_second_run_computes_nothing(made_up_papers, monkeypatch):
    args = ("reproduce", "999/table-1", "--repeats", "1", "--jobs", "1")
    first = call(*args)

    def refuse(*_):
        raise AssertionError("ran again")

    monkeypatch.setattr("steadyboost.lab.experiments.run.run_cells", refuse)
    assert call(*args).stdout == first.stdout
    assert isinstance(call(*args, "--fresh").exception, AssertionError)


def test_another_machine_goes_on_from_kept_results(made_up_papers):
    run = ["reproduce", "999/table-1", "--quick", "--jobs", "1", "--keep", "kept"]
    assert call(*run, "--cache", "here").exit_code == 0
    file = Path("kept/999-table-1.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    file.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    assert "3 of 4 runs are there" in call(*run, "--cache", "there", "--cached").stdout
    assert call(*run, "--cache", "there").exit_code == 0
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4


def test_an_interrupt_keeps_what_was_run(made_up_papers, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    run = ["reproduce", "999/table-1", "--jobs", "1", "--keep", "kept"]
    assert call("reproduce", "999/table-1", "--repeats", "1", "--jobs", "1").exit_code == 0
    monkeypatch.setattr("steadyboost.lab.experiments.run.run_cells", interrupt)
    assert call(*run).exit_code == 130
    assert Path("kept/999-table-1.jsonl").exists()


def test_cached_runs_nothing(made_up_papers):
    result = call("reproduce", "999/table-1", "--cached")
    assert result.exit_code == 0
    assert "0 of 12 runs are there." in result.stdout
    assert not Path("cells").exists()


def test_sets_that_were_run_in_part_are_told(made_up_papers):
    assert call("reproduce", "999/table-1", "--repeats", "1", "--jobs", "1").exit_code == 0
    told = " ".join(call("reproduce", "999/table-1", "--cached").stdout.split())
    assert "4 of 12 runs are there (iris 2 of 6, wine 2 of 6)." in told


def test_skipped_sets_are_told(made_up_papers):
    result = call("reproduce", "999/table-1", "--quick", "--cached", "--skip", "iris")
    assert "iris was left out: it was to be skipped." in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["009/table-1"], "no experiment '009/table-1'"),
        (["all", "--html", "page.txt"], "does not end in .html"),
        (["all", "--docs", "nowhere/page.md"], "the folder nowhere does not exist"),
        (["all", "--json", "--output", "file"], "file is not a folder"),
        (["all", "--skip", "moon"], "no experiment uses the data set 'moon'"),
        (["all", "--repeats", "0"], "--repeats"),
    ],
)
def test_bad_usage_is_told_in_one_line(args, words):
    Path("file").touch()
    result = call("reproduce", *args)
    assert result.exit_code == 2
    assert result.stderr.startswith("steadyboost: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_an_interrupt_ends_with_130(made_up_papers, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("steadyboost.lab.experiments.run.run_cells", interrupt)
    result = call("reproduce", "999/table-1", "--jobs", "1")
    assert result.exit_code == 130
    assert "12 cells are left" in result.stderr


def test_runs_that_fail_end_with_1_after_all_is_shown(made_up_papers, monkeypatch):
    def fail(cells, cache, jobs, tell):
        for cell in cells:
            tell(cell, "OSError: no disk")

    monkeypatch.setattr("steadyboost.lab.experiments.run.run_cells", fail)
    result = call("reproduce", "999/table-1", "--jobs", "1", "--html", "page.html")
    assert result.exit_code == 1
    assert "failed: OSError: no disk" in result.stdout
    assert Path("page.html").exists()
    assert result.stderr.endswith("12 runs failed; see below the tables.\n")


def test_data_lists_every_set(monkeypatch):
    monkeypatch.delenv("STEADYBOOST_DATA", raising=False)
    result = call("data")
    assert result.exit_code == 0
    lines = {line.split("│")[1].strip(): line for line in result.stdout.splitlines() if "│" in line}
    assert "scikit-learn" in lines["wine"]
    assert "not available" in lines["wpbc"]
    assert "STEADYBOOST_DATA" in lines["wpbc"]
    assert "000" in lines["wine"]


def test_names_in_brackets_are_shown(monkeypatch):
    monkeypatch.delenv("STEADYBOOST_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("steadyboost.lab.datasets.readers.common_folder", lambda: None)
    words = " ".join(call("data").stdout.split())
    assert "steadyboost[datasets]" in words.replace("│", " ")


def test_data_for_machines():
    sets = {record["name"]: record for record in json.loads(call("data", "--json").stdout)["data"]}
    assert sets["wine"]["classes"] == 3
    assert "000" in sets["wine"]["papers"]
