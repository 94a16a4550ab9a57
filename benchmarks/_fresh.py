"""What a fresh process pays: seconds of an import, or of its first two fits, as JSON.

Arguments: ``import <module> [<name>]`` or ``fit <booster>``. Nothing heavy is imported before the
clock. Fits are pairs: seconds that went by, and seconds of processor time.
"""

import json
import sys
from importlib import import_module
from time import perf_counter, process_time


def time_import(module: str, *names: str) -> list[float]:
    """Seconds of ``import module``, or of ``from module import names``."""
    start = perf_counter()
    loaded = import_module(module)
    for name in names:
        getattr(loaded, name)
    return [perf_counter() - start]


def time_fits(booster: str) -> list[tuple[float, float]]:
    from _sets import make_small

    import steadyboost

    X, y = make_small()
    seconds = []
    for _ in range(2):
        model = getattr(steadyboost, booster)(n_estimators=10, n_jobs=1)
        start, used = perf_counter(), process_time()
        model.fit(X, y)
        seconds.append((perf_counter() - start, process_time() - used))
    return seconds


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(time_import(*arguments) if what == "import" else time_fits(*arguments)))
