"""The parent's end of a worker process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("_worker.py")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Failed(Exception):
    """A model could not be measured; the message says why."""


class Child:
    """A worker process, which waits except while ``ask`` does."""

    def __init__(self, model: str, threads: int):
        limits = dict.fromkeys(THREAD_VARIABLES, str(threads))
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), model, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | limits,
        )

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps({"do": do, **details}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed(f"the process ended with code {self._process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise Failed(reply["error"])
        return reply

    def ask_rounds(self, do: str, rounds: int, **details: Any) -> dict[str, Any]:
        """As ``ask``, where all the rounds must be done: fewer would pass for speed."""
        reply = self.ask(do, rounds=rounds, **details)
        if reply["rounds"] != rounds:
            raise Failed(f"stopped after {reply['rounds']} of {rounds} rounds")
        return reply

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
