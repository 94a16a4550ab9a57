"""Runs cases in a process of their own: a crash, a hang or too much memory is a finding, too."""

import atexit
import functools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parents[1]
NAMES = ("models", "fits", "tables", "verdicts")
SECONDS = 60  # of the processor, for a case: how busy the machine is does not matter
WAITING = 1200  # seconds, for a case that waits without working
MEGABYTES = 8000  # of addresses, which libraries reserve and do not use
MOST_STEPS = 60  # to make a finding simpler


@dataclass
class Found:
    """A case that did what must not be."""

    name: str
    seed: int
    case: dict
    what: str
    where: list = field(default_factory=list)


@functools.cache
def scratch():
    """A folder for the files of this process, in memory where that can be had: renaming, syncing
    and removing files takes longer than most cases.
    """
    memory = Path("/dev/shm")
    folder = tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)
    atexit.register(folder.cleanup)
    return Path(folder.name)


class Process:
    """A worker, started again after it has died."""

    def __init__(self, name, seconds=SECONDS, megabytes=MEGABYTES):
        self.name, self.seconds, self.megabytes = name, seconds, megabytes
        self.process = None

    def start(self):
        limits = [str(self.megabytes), str(self.seconds)]
        words = [sys.executable, "-u", "-m", "fuzz.worker", self.name, *limits]
        self.process = subprocess.Popen(
            words, cwd=TESTS, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.lines = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()

    @staticmethod
    def _read(process, lines):
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def check(self, case):
        """What came of a case; a process that has died or hangs is ended.

        One that takes too long is tried again: at first it may have had to compile.
        """
        answer = self._answer(case)
        return self._answer(case) if kind_of(answer.get("finding")) == "hangs" else answer

    def _answer(self, case):
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            line = self.lines.get(timeout=WAITING)
        except queue.Empty:
            self.stop()
            return {"finding": f"hangs: nothing comes for {WAITING} s"}
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        code, self.process = self.process.wait(), None
        if code == -getattr(signal, "SIGXCPU", 0):
            return {"finding": f"hangs: more than {self.seconds} s of the processor"}
        return {"finding": f"crashes: exit code {code}"}

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def run(name, seeds, *, keep=None, shrinks=True):
    """Check the cases of some seeds; counts of results, and findings, made as simple as may be."""
    fuzzer, process = import_module(f"fuzz.{name}"), Process(name)
    counts, found = Counter(), []
    try:
        for seed in seeds:
            case = fuzzer.generate(seed)
            answer = process.check(case)
            counts[answer.get("result", "finding")] += 1
            if "finding" in answer:
                one = Found(name, seed, case, answer["finding"], answer.get("where", []))
                found.append(simplest(fuzzer, process, one) if shrinks else one)
                if keep is not None:
                    keep(found[-1])
    finally:
        process.stop()
    return counts, found


def simplest(fuzzer, process, found):
    """The finding with the simplest case that fails in the same way."""
    for _ in range(MOST_STEPS):
        for case in fuzzer.shrink(found.case):
            answer = process.check(case)
            if kind_of(answer.get("finding")) == kind_of(found.what):
                where = answer.get("where", [])
                found = Found(found.name, found.seed, case, answer["finding"], where)
                break
        else:
            break
    return found


def kind_of(what):
    return what and what.split(":")[0]
