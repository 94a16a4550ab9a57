"""Running cells: results are kept, failures told, interrupts survived."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import tiny

from steadyboost.lab.experiments import problems, run
from steadyboost.lab.experiments.cells import Cache, cells_of
from steadyboost.lab.experiments.run import Session, run_cells


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


@pytest.fixture
def work_with(monkeypatch):
    """Puts a function in the place of the work of a cell."""
    return lambda work: monkeypatch.setattr(run, "run_config", work)


def cells():
    return [c for c in cells_of(tiny.experiment()) if c.condition.method != "future"]


def test_an_interrupted_run_goes_on_where_it_stopped(cache, work_with):
    ran = []

    def work(config):
        if len(ran) == 5:
            raise KeyboardInterrupt
        ran.append(config["repeat"])
        return {"n": len(ran)}

    work_with(work)
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells(), cache, 1, lambda cell, why: None)
    assert sum(cell.key in cache for cell in cells()) == 5
    session = Session([tiny.experiment()], cache)
    assert len(session.waiting()) == len(cells()) - 5
    work_with(lambda config: {})
    run_cells(session.waiting(), cache, 1, lambda cell, why: None)
    assert session.waiting() == []
    assert len(Session([tiny.experiment()], cache, fresh=True).waiting()) == len(cells())


def test_a_cell_that_fails_is_told_of_and_not_kept(cache, work_with):
    def work(config):
        raise RuntimeError("out\nof luck")

    work_with(work)
    told = []
    run_cells(cells()[:2], cache, 1, lambda cell, why: told.append(why))
    assert told == ["RuntimeError: out of luck"] * 2
    assert cells()[0].key not in cache


def test_the_same_cell_runs_once(cache, work_with):
    work_with(lambda config: {})
    told = []
    run_cells([*cells(), *cells()], cache, 1, lambda cell, why: told.append(cell.key))
    assert len(told) == len(cells())


COMMAND = "from steadyboost.cli import main; main()"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_leaves_whole_results_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("STEADYBOOST_DATA", raising=False)  # wine and iris come with scikit-learn
    args = ["reproduce", "000/table-4", "--jobs", "2", "--cache", str(tmp_path)]
    left_out = [
        n for s in ("ecoli", "pendigits", "glass", "vehicle", "yeast") for n in ("--skip", s)
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *args, *left_out],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(list(tmp_path.rglob("*.json"))) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to workers too
    _, words = process.communicate(timeout=60)
    assert (process.returncode, "resumes here" in words) == (130, True), words
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    records = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    problems._load.cache_clear()  # of other tests, perhaps from another source
    for record in records[:3]:
        assert run.run_config(record["cell"])["errors"] == record["result"]["errors"]
