"""What a round of DMCBoost costs, in rounds of SAMME: ``python benchmarks/direct.py``.

Poker hands (525,010 rows, 10 classes), trees of depth 3, two threads. A round of SAMME is the
difference of two fits over the difference of their rounds; the rounds of DMCBoost are timed one by
one, and a fit has their median, as their cost depends on how the scores stand. Phase I is that of
the same fits. Each fit is compared with SAMME just before and after it; medians of repeats.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from steadyboost import DMCBoostClassifier, SAMMEClassifier
from steadyboost.boosters.dmcboost import phases as direct
from steadyboost.callbacks import Callback
from steadyboost.lab.datasets import make_poker

GOALS = {"phase I": 15.0, "phase II, gradient": 6.0, "phase II, line search": 15.0}


class Clock(Callback):
    """Seconds of each call of a method of the search."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {"descend": [], "ascend": [], "apply": []}
        self._patched = {name: getattr(direct.DirectSearch, name) for name in self.seconds}

    def __enter__(self) -> "Clock":
        for name, method in self._patched.items():
            setattr(direct.DirectSearch, name, self._timed(name, method))
        return self

    def __exit__(self, *_: object) -> None:
        for name, method in self._patched.items():
            setattr(direct.DirectSearch, name, method)

    def _timed(self, name: str, method: object) -> object:
        def call(*args: object) -> object:
            start = time.perf_counter()
            result = method(*args)  # type: ignore[operator]
            self.seconds[name].append(time.perf_counter() - start)
            return result

        return call

    def median(self, name: str) -> float:
        """A round: choosing the tree and its step, and adding it."""
        return float(np.median(self.seconds[name][1:]) + np.median(self.seconds["apply"]))


def samme_round(X: np.ndarray, y: np.ndarray, few: int, many: int) -> float:
    seconds = []
    for n_rounds in (few, many):
        start = time.perf_counter()
        SAMMEClassifier(n_estimators=n_rounds, n_jobs=2, random_state=0).fit(X, y)
        seconds.append(time.perf_counter() - start)
    return (seconds[1] - seconds[0]) / (many - few)


def direct_rounds(
    X: np.ndarray, y: np.ndarray, selection: str, rounds: tuple[int, int]
) -> tuple[float, float]:
    """Seconds of a round of either phase; phase I is cut short by its patience."""
    phase_one, phase_two = rounds
    with Clock() as clock:
        seen = iter(range(phase_one))
        descending = direct.DirectSearch.is_descending

        def cut_short(search: direct.DirectSearch) -> bool:
            if search.phase == 1 and next(seen, None) is None:
                search.pending, search.phase = [], 2
                search.return_to_stages()
            return descending(search)

        direct.DirectSearch.is_descending = cut_short  # type: ignore[method-assign]
        try:
            DMCBoostClassifier(
                bottom=0.25, selection=selection, n_estimators=phase_one + phase_two,
                patience=phase_two, n_jobs=2,
            ).fit(X, y)  # fmt: skip
        finally:
            direct.DirectSearch.is_descending = descending  # type: ignore[method-assign]
    return clock.median("descend"), clock.median("ascend")


def measure(
    rows: int, repeats: int, rounds: tuple[int, int]
) -> tuple[dict[str, float], dict[str, float]]:
    """Medians: seconds of a round, and ratios to rounds of SAMME just before and after."""
    X, y = make_poker(rows, random_state=0)
    names = {"gradient": "phase II, gradient", "line_search": "phase II, line search"}
    for selection in names:
        direct_rounds(X[:2000], y[:2000], selection, (3, 3))  # compile
    seconds: dict[str, list[float]] = {name: [] for name in ("SAMME", *GOALS)}
    ratios: dict[str, list[float]] = {name: [] for name in seconds}
    for _ in range(repeats):
        for selection, name in names.items():
            before = samme_round(X, y, 10, 60)
            found = direct_rounds(X, y, selection, rounds)
            base = (before + samme_round(X, y, 10, 60)) / 2
            for one, own in zip(("SAMME", "phase I", name), (base, *found), strict=True):
                seconds[one].append(own)
                ratios[one].append(own / base)
    return tuple({name: float(np.median(of[name])) for name in of} for of in (seconds, ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=525_010)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, nargs=2, default=(20, 20), metavar=("I", "II"))
    parser.add_argument("--output", type=Path, help="where to write the figures as JSON")
    options = parser.parse_args()
    seconds, ratios = measure(options.rows, options.repeats, tuple(options.rounds))
    table = Table("round", "ms", "rounds of SAMME", "goal")
    for name, value in seconds.items():
        goal = f"<= {GOALS[name]:g}" if name in GOALS else ""
        table.add_row(name, f"{1e3 * value:.1f}", f"{ratios[name]:.1f}", goal)
    Console().print(table)
    if options.output:
        record = {"rows": options.rows, "seconds": seconds, "ratios": ratios, "goals": GOALS}
        options.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
