"""Imports, the first fit ever (which compiles) and a process's first fit (which does not)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from _child import THREAD_VARIABLES
from _harness import Clock
from _results import Results

FRESH = Path(__file__).with_name("_fresh.py")
IMPORTS = {
    "import steadyboost": ("steadyboost",),
    "import SAMMEClassifier": ("steadyboost", "SAMMEClassifier"),
    "import scikit-learn's AdaBoost": ("sklearn.ensemble", "AdaBoostClassifier"),
}
COMPILED = {"compile": "SAMMEClassifier", "compile SteadyBoost": "SteadyBoostClassifier"}
SECONDS = 60.0  # expected of one repeat


def run_fresh(*arguments: str, **variables: str) -> Any:
    single = dict.fromkeys(THREAD_VARIABLES, "1")
    done = subprocess.run(
        [sys.executable, str(FRESH), *arguments],
        env=os.environ | single | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def measure_once(startup: dict[str, list[float]]) -> None:
    for what, arguments in IMPORTS.items():
        startup.setdefault(what, []).extend(run_fresh("import", *arguments))
    for what, booster in COMPILED.items():
        with TemporaryDirectory() as cache:
            first, second = run_fresh("fit", booster, NUMBA_CACHE_DIR=cache)
            warm, _ = run_fresh("fit", booster, NUMBA_CACHE_DIR=cache)
        startup.setdefault(what, []).append(first[1] - second[1])
        if what == "compile":
            startup.setdefault("first fit of a process", []).append(warm[0])
            startup.setdefault("later fit", []).append(second[0])


def measure_startup(results: Results, clock: Clock) -> None:
    for r in range(results.repeats):
        with clock.step(f"start: fresh processes, repeat {r + 1} of {results.repeats}", SECONDS):
            try:
                measure_once(results.startup)
            except subprocess.CalledProcessError as error:
                problem = f"start: {(error.stderr.splitlines() or [error])[-1]}"
                results.problems.append(problem)
                clock.console.print(f"  [yellow]{problem}[/]", highlight=False)
                return
