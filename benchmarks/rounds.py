"""What a round of each booster costs, in rounds of SAMME: ``python benchmarks/rounds.py``.

Letter (from the folder in STEADYBOOST_DATA, or OpenML), stumps, one thread. Each repeat fits every
booster with few and with many rounds, one after the other, so that the machine's moods hit all
alike; a round is the difference in time over the difference in rounds.
"""

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from steadyboost import (
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    ArcX4Classifier,
    BaggingClassifier,
    BoostingClassifier,
    ECOCClassifier,
    GDMCBoostClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Stump,
)
from steadyboost.lab.datasets import load

BOOSTERS: dict[str, tuple[type[BoostingClassifier], dict[str, object]]] = {
    "SAMME": (SAMMEClassifier, {}),
    "AdaBoost.OC": (AdaBoostOCClassifier, {}),
    "MSmoothBoost": (MSmoothBoostClassifier, {"smoothing": 0.5}),
    "AdaBoost.M2": (AdaBoostM2Classifier, {}),
    "GD-MCBoost": (GDMCBoostClassifier, {}),
    "GD-MCBoost, vectors": (GDMCBoostClassifier, {"leaves": "vector"}),
    "ECOC": (ECOCClassifier, {}),
    "Bagging": (BaggingClassifier, {}),
    "Arc-x4": (ArcX4Classifier, {}),
}


def seconds(name: str, n_rounds: int, X: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Time of a fit, and the rounds that it did."""
    booster, params = BOOSTERS[name]
    model = booster(Stump(), n_estimators=n_rounds, random_state=0, **params)
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start, model.n_iter_


def round_time(name: str, few: int, many: int, X: np.ndarray, y: np.ndarray) -> float:
    short, n_short = seconds(name, few, X, y)
    long, n_long = seconds(name, many, X, y)
    return (long - short) / (n_long - n_short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, nargs=2, default=(20, 120), metavar=("FEW", "MANY"))
    options = parser.parse_args()
    frame, labels = load("letter")
    X, y = frame.to_numpy(dtype=float), np.unique(labels, return_inverse=True)[1]
    for name in BOOSTERS:
        seconds(name, 30, X, y)  # compile
    times = np.array(
        [[round_time(b, *options.rounds, X, y) for b in BOOSTERS] for _ in range(options.repeats)]
    )
    table = Table("booster", "ms per round", "rounds of SAMME")
    ratios = np.median(times / times[:, :1], axis=0)
    for name, milliseconds, ratio in zip(
        BOOSTERS, 1e3 * np.median(times, axis=0), ratios, strict=True
    ):
        table.add_row(name, f"{milliseconds:.2f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
