"""Seconds of compiling, kernel by kernel, in the first fit ever of a booster.

``python benchmarks/compile_times.py`` fits SAMME and SteadyBoost to five hundred rows, each in a
process of its own with an empty cache, and prints a table in Markdown. It wants the machine to
itself: seconds are those that go by.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

BOOSTERS = ("SAMMEClassifier", "SteadyBoostClassifier")
INFERENCE = "type_inference"  # the pass in which numba compiles what a function calls


class KernelTime(NamedTuple):
    """What a kernel took, summed over the types of arguments that it was compiled for."""

    name: str
    n_types: int
    seconds: float  # with the functions that had to be compiled for it
    own_seconds: float  # of passes over its own code: all but the inference of types


def kernels() -> Iterator[tuple[str, Any]]:
    """Every kernel of the package that has been imported, by the file that it is in."""
    seen = set()
    for module in [m for name, m in sys.modules.items() if name.startswith("steadyboost.")]:
        for value in list(vars(module).values()):
            if hasattr(value, "get_metadata") and value.__module__ == module.__name__:
                name = f"{module.__name__.removeprefix('steadyboost.')}.{value.__name__}"
                if name not in seen:
                    seen.add(name)
                    yield name, value


def time_of(name: str, kernel: Any) -> KernelTime:
    found = [kernel.get_metadata(types) for types in kernel.signatures]
    total, inference = 0.0, 0.0
    for passes in (one["pipeline_times"]["nopython"] for one in found):
        seconds = {step: init + run + end for step, (init, run, end) in passes.items()}
        total += sum(seconds.values())
        inference += sum(s for step, s in seconds.items() if step.endswith(INFERENCE))
    return KernelTime(name, len(found), total, total - inference)


def fit(booster: str) -> list[KernelTime]:
    """Fit in this process, and what it compiled."""
    from _sets import make_small

    import steadyboost

    X, y = make_small()
    getattr(steadyboost, booster)(n_estimators=10, n_jobs=1).fit(X, y)
    return [time_of(name, kernel) for name, kernel in kernels() if kernel.signatures]


def fit_in_new_process(booster: str) -> list[KernelTime]:
    with TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, "--here", booster],
            env=os.environ | {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return [KernelTime(*row) for row in json.loads(done.stdout)]


def table(found: list[KernelTime], n_shown: int) -> list[str]:
    """Markdown: the kernels that take longest by themselves, and all others in one row."""
    ranked = sorted(found, key=lambda one: -one.own_seconds)
    lines = ["| kernel | types | with callees, s | by itself, s |", "| --- | ---: | ---: | ---: |"]
    for one in ranked[:n_shown]:
        lines.append(
            f"| `{one.name}` | {one.n_types} | {one.seconds:.2f} | {one.own_seconds:.2f} |"
        )
    rest = ranked[n_shown:]
    n_types, own = sum(one.n_types for one in rest), sum(one.own_seconds for one in rest)
    lines.append(f"| {len(rest)} others | {n_types} |  | {own:.2f} |")
    n_types, own = sum(one.n_types for one in found), sum(one.own_seconds for one in found)
    return [*lines, f"| all {len(found)} | {n_types} |  | {own:.2f} |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("boosters", nargs="*", default=BOOSTERS)
    parser.add_argument("--show", type=int, default=12, help="kernels with a row of their own")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for booster in options.boosters:
        if options.here:
            print(json.dumps(fit(booster)))
        else:
            print(f"{booster}:\n", *table(fit_in_new_process(booster), options.show), "", sep="\n")


if __name__ == "__main__":
    main()
