"""A round of K trees against K trees of scikit-learn: ``python benchmarks/many_trees.py``.

AdaBoost.MH and soft-max boosting grow a tree of 12 leaves, best first, for each label. A round of
ours (weights, trees, steps and scores) is compared with nothing but the fits of the same trees by
scikit-learn's DecisionTreeClassifier(max_leaf_nodes=12), on the rows and weights of such a round:
all rows for AdaBoost.MH and for the full gradient, the drawn ones for soft-max boosting as in the
paper. Letter (from the folder in STEADYBOOST_DATA, or OpenML), and 200,000 rows of 50 columns in 7
classes. Repeats take turns, so that the machine's moods hit both alike; each repeat fits the trees
of ``--labels`` labels by scikit-learn, and counts them for all.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table
from sklearn.tree import DecisionTreeClassifier

from steadyboost import AdaBoostMHClassifier, BoostingClassifier, SoftmaxBoostClassifier
from steadyboost.callbacks import Callback
from steadyboost.lab.datasets import load

Made = Callable[[int, int], BoostingClassifier]
BARS = {"letter": 50, "synthetic": 300}
MODELS: dict[str, Made] = {
    "AdaBoost.MH": lambda t, j: AdaBoostMHClassifier(n_estimators=t, n_jobs=j),
    "soft-max, all pairs": lambda t, j: SoftmaxBoostClassifier(
        n_samples="all", n_estimators=t, n_jobs=j
    ),
    "soft-max, drawn pairs": lambda t, j: SoftmaxBoostClassifier(
        n_estimators=t, n_jobs=j, random_state=0
    ),
}


class Keep(Callback):
    """Keep the questions of the last round: targets and weights by label."""

    def on_round(self, run):
        self.questions = run.questions


def letter() -> tuple[np.ndarray, np.ndarray]:
    frame, labels = load("letter")
    return frame.to_numpy(dtype=float), np.unique(labels, return_inverse=True)[1]


def synthetic() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 50))
    scores = X[:, :6] @ rng.normal(size=(6, 7)) + rng.normal(size=(len(X), 7))
    return X, scores.argmax(axis=1)


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = time.perf_counter


def seconds(call: Callable[[], object]) -> float:
    start = clock()
    call()
    return clock() - start


def round_time(make: Made, rounds: tuple[int, int], n_jobs: int, data) -> float:
    """Difference in time over the difference in rounds: binning does not count."""
    few, many = (seconds(lambda t=t: make(t, n_jobs).fit(*data)) for t in rounds)
    return (many - few) / (rounds[1] - rounds[0])


def their_time(questions, k: int, which: list[int], X: np.ndarray) -> float:
    """Fits of scikit-learn's trees of some labels, counted for all k."""
    total = 0.0
    for label in which:
        asked = questions[label % len(questions)]
        used = np.flatnonzero(asked.weights)
        rows, targets, weights = X[used], asked.targets[used], asked.weights[used]
        tree = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0)
        total += seconds(lambda: tree.fit(rows, targets, sample_weight=weights))  # noqa: B023
    return total * k / len(which)


def compare(name: str, data, options: argparse.Namespace) -> list[dict[str, object]]:
    k = len(np.unique(data[1]))
    rounds = (2, 22) if name == "letter" else (1, 4)
    kept = {}
    for model, make in MODELS.items():
        keep = Keep()
        make(rounds[1], options.jobs).set_params(callbacks=[keep]).fit(*data)
        kept[model] = keep.questions
    times: dict[str, list[tuple[float, float]]] = {model: [] for model in MODELS}
    for repeat in range(options.repeats):
        which = [repeat * options.labels + j for j in range(options.labels)]
        for model, make in MODELS.items():
            theirs = their_time(kept[model], k, which, data[0])
            times[model].append((round_time(make, rounds, options.jobs, data), theirs))
    return [summary(name, model, k, np.array(pairs)) for model, pairs in times.items()]


def summary(name: str, model: str, k: int, pairs: np.ndarray) -> dict[str, object]:
    ours, theirs = np.median(pairs, axis=0)
    return {
        "data": name,
        "booster": model,
        "trees": k,
        "ms per round": round(1e3 * ours, 2),
        "ms of scikit-learn": round(1e3 * theirs, 1),
        "ratio": round(float(np.median(pairs[:, 1] / pairs[:, 0])), 1),
        "bar": BARS[name],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--labels", type=int, default=1, help="labels that scikit-learn fits")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument(
        "--clock", choices=list(CLOCKS), default="wall", help="cpu where the machine is busy"
    )
    parser.add_argument("--data", nargs="+", choices=list(BARS), default=list(BARS))
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    global clock
    clock = CLOCKS[options.clock]
    sets = {"letter": letter, "synthetic": synthetic}
    figures = [row for name in options.data for row in compare(name, sets[name](), options)]
    table = Table(*figures[0])
    for row in figures:
        table.add_row(*map(str, row.values()))
    Console().print(table)
    if options.output:
        about = {"python": platform.python_version(), "scikit-learn": sklearn.__version__}
        about |= {"cpus": os.cpu_count(), "threads": options.jobs, "clock": options.clock}
        options.output.write_text(json.dumps({"about": about, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
