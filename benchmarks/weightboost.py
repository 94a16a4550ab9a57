"""What WeightBoost's factor costs beside AdaBoost: ``python benchmarks/weightboost.py``.

Both boosters get the same rows, trees and rounds, on one thread. Each repeat fits and predicts with
one after the other, so that the machine's moods hit both alike; ratios are medians over the
repeats. Times are the processor's, which other programs disturb less than those of the clock.
A round is the difference between many and few rounds; prediction includes the binning of the rows
and the walk through the trees, *adding* is what is left when the votes are there already.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification

from steadyboost import AdaBoostClassifier, Stump, Tree, WeightBoostClassifier

BOOSTERS = (AdaBoostClassifier, WeightBoostClassifier)
FIT_BAR, PREDICT_BAR = 1.3, 2.0
HEADINGS = ("AdaBoost", "WeightBoost", "ratio", "bar")


class Case(NamedTuple):
    """Rows and columns, numbers of rounds whose difference takes well over the timer's noise."""

    rows: int
    columns: int
    few: int
    many: int

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        informative = min(20, self.columns // 2)
        return make_classification(
            self.rows, self.columns, n_informative=informative, flip_y=0.1, random_state=0
        )


CASES = (Case(200_000, 20, 10, 50), Case(4601, 57, 50, 300))
LEARNERS = {"stumps": Stump(), "depth 3": Tree(max_depth=3)}


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def add_all(model: Any, votes: list[np.ndarray], n: int) -> None:
    """Add the stages to fresh scores, in stretches as prediction does."""
    for start in range(0, n, 16_384):
        at = slice(start, start + 16_384)
        scores = np.zeros((len(votes[0][at]), 1), order="F")
        for stage, vote in zip(model.stages_, votes, strict=True):
            model.add(scores, stage, vote[at])


def times(booster: Any, learner: Any, case: Case, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Seconds of a fit, of a round, of prediction, and of adding alone."""

    def fit(n_rounds: int) -> tuple[float, Any]:
        model = booster(learner, n_estimators=n_rounds, n_jobs=1, random_state=0)
        return seconds(lambda: model.fit(X, y))

    short, _ = fit(case.few)
    long, model = fit(case.many)
    assert model.n_iter_ == case.many, "a booster stopped early"
    rng = np.random.default_rng(0)
    votes = [rng.integers(0, 2, case.rows, dtype=np.int32) for _ in model.stages_[: case.few]]
    model.stages_ = model.stages_[: case.few]
    adding = min(seconds(lambda: add_all(model, votes, case.rows))[0] for _ in range(3))
    predicting = min(seconds(lambda: model.decision_function(X))[0] for _ in range(3))
    return [long, (long - short) / (case.many - case.few), predicting, adding]


def compare(case: Case, learner: Any, repeats: int) -> np.ndarray:
    """(repeats, boosters, figures), the first repeat only to compile."""
    X, y = case.data()
    found = [[times(b, learner, case, X, y) for b in BOOSTERS] for _ in range(repeats + 1)]
    return np.array(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    table = Table("rows", "trees", "what", *HEADINGS)
    for case in CASES:
        for name, learner in LEARNERS.items():
            found = compare(case, learner, options.repeats)
            typical = 1e3 * np.median(found, axis=0)
            ratios = np.median(found[:, 1] / found[:, 0], axis=0)
            bars = (FIT_BAR, FIT_BAR, PREDICT_BAR, None)
            whats = ("fit", "round", "prediction", "adding")
            for what, ms, ratio, bar in zip(whats, typical.T, ratios, bars, strict=True):
                cells = (*(f"{value:.2f} ms" for value in ms), f"{ratio:.2f}")
                table.add_row(f"{case.rows:,}", name, what, *cells, f"{bar or ''}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
