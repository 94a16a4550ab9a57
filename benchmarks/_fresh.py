"""What a fresh process pays: seconds of an import, or of its first two fits, as JSON.

Arguments: ``import <module> [<name>]`` or ``fit``. Nothing heavy is imported before the clock.
"""

import json
import sys
from importlib import import_module
from time import perf_counter


def time_import(module: str, *names: str) -> list[float]:
    """Seconds of ``import module``, or of ``from module import names``."""
    start = perf_counter()
    loaded = import_module(module)
    for name in names:
        getattr(loaded, name)
    return [perf_counter() - start]


def time_fits() -> list[float]:
    from _models import MODELS, OURS
    from _sets import make_small

    X, y = make_small()
    seconds = []
    for _ in range(2):
        model = MODELS[OURS].build(10, 1)
        start = perf_counter()
        model.fit(X, y)
        seconds.append(perf_counter() - start)
    return seconds


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(time_import(*arguments) if what == "import" else time_fits()))
