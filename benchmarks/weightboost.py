"""What WeightBoost's factor costs beside AdaBoost: ``python benchmarks/weightboost.py``.

Both boosters get the same rows, weak learner and rounds, on one thread. Each repeat runs one after
the other, so that the machine's moods hit both alike; ratios are medians over the repeats. Times
are the processor's, which other programs disturb less than those of the clock. A round is the
median of a fit's rounds. Prediction is by the same trees, once with WeightBoost's recursion and
once as a plain vote; *adding* is its share when the answers of the trees are there already.
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
from steadyboost.callbacks import Callback

BOOSTERS = (AdaBoostClassifier, WeightBoostClassifier)
BARS = {"fit": 1.3, "round": 1.3, "prediction": 2.0, "adding": None}
STRETCH = 16_384  # rows that prediction takes at a time
LEARNERS = {"stumps": Stump(), "depth 3": Tree(max_depth=3)}


class Case(NamedTuple):
    """A generated data set of two classes, and the rounds to run on it."""

    rows: int
    columns: int
    rounds: int

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        informative = min(20, self.columns // 2)
        return make_classification(
            self.rows, self.columns, n_informative=informative, flip_y=0.1, random_state=0
        )


CASES = (Case(200_000, 20, 50), Case(4601, 57, 300))  # the second is as large as spambase


class Clock(Callback):
    """The processor's time after each round."""

    def on_begin(self, run: Any) -> None:
        self.times = [time.process_time()]

    def on_round(self, run: Any) -> None:
        self.times.append(time.process_time())


def seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    """The shortest of some calls."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def fit(booster: Any, learner: Any, case: Case, X: np.ndarray, y: np.ndarray) -> Any:
    """A model, the time that it took, and that of its median round."""
    clock = Clock()
    model = booster(learner, n_estimators=case.rounds, n_jobs=1, callbacks=[clock], random_state=0)
    whole = seconds(lambda: model.fit(X, y))
    assert model.n_iter_ == case.rounds, "a booster stopped early"
    return model, [whole, float(np.median(np.diff(clock.times)))]


def plain_vote(model: Any) -> AdaBoostClassifier:
    """The same trees and steps, without the factor."""
    plain = AdaBoostClassifier(n_jobs=1)
    fitted = vars(model).keys() - model.get_params().keys()
    vars(plain).update({name: vars(model)[name] for name in fitted})
    return plain


def add_all(model: Any, votes: list[np.ndarray]) -> None:
    """Add the stages to fresh scores, in stretches as prediction does."""
    for start in range(0, len(votes[0]), STRETCH):
        at = slice(start, start + STRETCH)
        scores = np.zeros((len(votes[0][at]), 1), order="F")
        for stage, vote in zip(model.stages_, votes, strict=True):
            model.add(scores, stage, vote[at])


def predict(model: Any, X: np.ndarray, votes: list[np.ndarray]) -> list[float]:
    """Time of prediction, and of adding alone."""
    model.decision_function(X[:10])  # compile
    return [
        seconds(lambda: model.decision_function(X), 3),
        seconds(lambda: add_all(model, votes), 3),
    ]


def compare(case: Case, learner: Any, repeats: int) -> np.ndarray:
    """(repeats, boosters, figures)."""
    X, y = case.data()
    rng = np.random.default_rng(0)
    votes = [rng.integers(0, 2, case.rows, dtype=np.int32) for _ in range(case.rounds)]
    found = []
    for _ in range(repeats + 1):  # the first one compiles
        (_, theirs), (model, ours) = (fit(booster, learner, case, X, y) for booster in BOOSTERS)
        theirs += predict(plain_vote(model), X, votes)
        ours += predict(model, X, votes)
        found.append([theirs, ours])
    return np.array(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    table = Table("rows", "trees", "what", "AdaBoost", "WeightBoost", "ratio", "bar")
    for case in CASES:
        for name, learner in LEARNERS.items():
            found = compare(case, learner, options.repeats)
            typical = 1e3 * np.median(found, axis=0)
            ratios = np.median(found[:, 1] / found[:, 0], axis=0)
            for (what, bar), ms, ratio in zip(BARS.items(), typical.T, ratios, strict=True):
                cells = (*(f"{value:.2f} ms" for value in ms), f"{ratio:.2f}")
                table.add_row(f"{case.rows:,}", name, what, *cells, f"{bar or ''}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
