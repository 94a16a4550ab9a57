"""The first seeds of each fuzzer, and that a crash, a hang and a failure are found."""

import pytest

from fuzz import running
from fuzz.running import Process, run, simplest

CASES = {"models": 2000, "fits": 120, "tables": 120, "verdicts": 150}


@pytest.mark.parametrize(("name", "n"), CASES.items())
def test_the_first_seeds_find_nothing(name, n):
    counts, found = run(name, range(n), shrinks=False)
    assert not found, [(one.seed, one.what, one.where) for one in found]
    assert counts["refused"] > 0
    assert sum(counts.values()) == n


class Broken:
    """A fuzzer of numbers, and a process that cannot stand those above nine."""

    def shrink(self, case):
        yield from ({"n": n} for n in (case["n"] // 2, case["n"] - 1))

    def check(self, case):
        return {"finding": "crashes: 9 < n"} if case["n"] > 9 else {"result": "fine"}


def test_a_finding_is_made_simple():
    found = running.Found("broken", 0, {"n": 1000}, "crashes: 9 < n")
    assert simplest(Broken(), Broken(), found).case == {"n": 10}


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("import os; input(); os.abort()", "crashes: exit code"),
        ("import time; input(); time.sleep(60)", "hangs: nothing comes"),
        ("import os, signal; input(); os.kill(os.getpid(), signal.SIGXCPU)", "hangs: more than"),
        ("import sys; sys.exit(3)", "crashes: exit code 3"),
    ],
)
def test_a_process_that_dies_or_hangs_is_a_finding(script, what, monkeypatch):
    monkeypatch.setattr(running, "WAITING", 2)
    process, start = Process("models"), running.subprocess.Popen

    def popen(words, **options):
        return start([words[0], "-c", script], **options)

    monkeypatch.setattr(running.subprocess, "Popen", popen)
    assert process.check({}).get("finding", "").startswith(what)
    process.stop()
