"""Seconds of compiling, kernel by kernel, in the first fit ever of a booster.

``python benchmarks/compile_times.py`` fits SAMME and SteadyBoost to five hundred rows, each in a
process of its own with an empty cache, and prints a table in Markdown: what each kernel takes by
itself, as a share of all, and the processor's time of the first fit less that of a second one.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

BOOSTERS = ("SAMMEClassifier", "SteadyBoostClassifier")
INFERENCE = "type_inference"  # the pass in which numba compiles what a function calls


class KernelTime(NamedTuple):
    """What a kernel took, summed over the types of arguments that it was compiled for."""

    name: str
    n_types: int
    seconds: float  # of passes over its own code: all but the inference of types


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
    found = [
        kernel.get_metadata(types)["pipeline_times"]["nopython"] for types in kernel.signatures
    ]
    steps = [step for passes in found for step in passes.items()]
    own = (sum(times) for step, times in steps if not step.endswith(INFERENCE))
    return KernelTime(name, len(found), sum(own))


def fit(booster: str) -> tuple[float, list[KernelTime]]:
    """Fit in this process: the processor's seconds of compiling, and what was compiled."""
    from _sets import make_small

    import steadyboost

    X, y = make_small()
    seconds = []
    for _ in range(2):
        model, start = getattr(steadyboost, booster)(n_estimators=10, n_jobs=1), process_time()
        model.fit(X, y)
        seconds.append(process_time() - start)
    found = [time_of(name, kernel) for name, kernel in kernels() if kernel.signatures]
    return seconds[0] - seconds[1], found


def fit_in_new_process(booster: str) -> tuple[float, list[KernelTime]]:
    with TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, "--here", booster],
            env=os.environ | {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    seconds, rows = json.loads(done.stdout)
    return seconds, [KernelTime(*row) for row in rows]


def table(found: list[KernelTime], n_shown: int) -> list[str]:
    """Markdown: the kernels that take longest, and all others in one row."""
    ranked = sorted(found, key=lambda one: -one.seconds)
    rest = ranked[n_shown:]
    others = sum(one.n_types for one in rest), sum(one.seconds for one in rest)
    shown = [*ranked[:n_shown], KernelTime(f"{len(rest)} others", *others)]
    total = sum(one.seconds for one in found)
    return [
        "| kernel | compiled for | share |",
        "| --- | ---: | ---: |",
        *(f"| {k.name} | {k.n_types} | {100 * k.seconds / total:.0f} % |" for k in shown),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("boosters", nargs="*", default=BOOSTERS)
    parser.add_argument("--show", type=int, default=12, help="kernels with a row of their own")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for booster in options.boosters:
        if options.here:
            print(json.dumps(fit(booster)))
            continue
        seconds, found = fit_in_new_process(booster)
        print(f"{booster}: {len(found)} kernels, {seconds:.1f} s of processor time", end="\n\n")
        print(*table(found, options.show), "", sep="\n")


if __name__ == "__main__":
    main()
