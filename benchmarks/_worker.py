"""A process that fits and predicts one model on demand: a JSON order in, a JSON reply out.

Arguments: name of the model, number of threads.
"""

import gc
import json
import os
import re
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

import numpy as np
import psutil
from _models import MODELS

PREDICT_SECONDS = 0.2  # repeat short predictions for at least this long
TINY_ROWS = 100


def forget_peak() -> None:
    """Have the high-water mark start anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def resident_memory() -> int:
    return psutil.Process().memory_info().rss


def peak_memory() -> int:
    """Most bytes that were resident.

    On Linux ``ru_maxrss`` would count what the parent had when it started this process.
    """
    status = Path("/proc/self/status")
    if found := re.search(r"VmHWM:\s*(\d+)", status.read_text() if status.exists() else ""):
        return 1024 * int(found[1])
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Session:
    """The orders that a worker takes: its public methods."""

    def __init__(self, name: str, threads: int):
        self._model, self._threads = MODELS[name], threads
        self._fitted: Any = None

    def load(self, folder: str) -> dict[str, Any]:
        """Load the library and the data, so that neither is in what a fit needs."""
        self._model.build(1, self._threads)
        self._X, self._y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
        return {"rows": len(self._y)}

    def first_fit(self, rounds: int) -> dict[str, Any]:
        """Peak memory over the data of a fresh process, of which code is what a tiny fit loads."""
        gc.collect()
        forget_peak()
        before = resident_memory()
        self._model.build(rounds, self._threads).fit(*self._some(TINY_ROWS))
        code = resident_memory() - before
        reply = self.fit(rounds)
        return {**reply, "memory": peak_memory() - before, "code": code}

    def _some(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The first rows, and those that it takes to have every class."""
        first_of_class = np.unique(self._y, return_index=True)[1]
        used = np.union1d(np.arange(min(rows, len(self._y))), first_of_class)
        return self._X[used], self._y[used]

    def fit(self, rounds: int) -> dict[str, Any]:
        model = self._model.build(rounds, self._threads)
        gc.collect()
        start = perf_counter()
        model.fit(self._X, self._y)
        return {"seconds": perf_counter() - start, "rounds": self._model.rounds_done(model)}

    def train(self, rounds: int, rows: int) -> dict[str, Any]:
        """Keep a model of some rows to predict with; a first call warms it."""
        X, y = self._some(rows)
        self._fitted = self._model.build(rounds, self._threads).fit(X, y)
        self._fitted.predict_proba(X)
        return {"rounds": self._model.rounds_done(self._fitted)}

    def predict(self, rows: int) -> dict[str, Any]:
        X = self._X[:rows]
        calls, start = 0, perf_counter()
        while calls == 0 or perf_counter() - start < PREDICT_SECONDS:
            self._fitted.predict_proba(X)
            calls += 1
        return {"seconds": (perf_counter() - start) / calls, "rows": len(X)}


def obey(session: Session, order: dict[str, Any]) -> dict[str, Any]:
    try:
        return getattr(session, order.pop("do"))(**order)
    except Exception as error:  # any failure of a peer is a result to report
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def own_output() -> TextIO:
    """The parent's pipe; what libraries print goes to standard error instead."""
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return pipe


def main() -> None:
    name, threads = sys.argv[1:]
    warnings.simplefilter("ignore")
    output = own_output()
    session = Session(name, int(threads))
    for line in sys.stdin:
        print(json.dumps(obey(session, json.loads(line))), file=output)


if __name__ == "__main__":
    main()
