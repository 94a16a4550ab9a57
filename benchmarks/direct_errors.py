"""DMCBoost beside its rivals on the paper's sets: ``python benchmarks/direct_errors.py``.

The protocol of Zhai, Xia & Wang (2014), section 3: five folds; three parts to train on, one to
choose on, one to test on; wrong labels in the first four. SAMME and AdaBoost.M1 keep the round of
the least error on the fourth part, DMCBoost the bottom. Trees of depth 3. The paper's figures are
those of its Tables 2 (depth 3) and 4 (wrong labels, where the depth was chosen too).
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table

from steadyboost import AdaBoostM1Classifier, DMCBoostClassifier, SAMMEClassifier, Tree
from steadyboost.boosters.dmcboost.classifier import CANDIDATES
from steadyboost.lab.datasets import load
from steadyboost.noise import corrupt

Fold = dict[str, Any]
PAPER = {  # test errors in %: AdaBoost.M1, SAMME, DMCBoost
    ("nursery", 0.0): (9.70, 3.26, 0.02),
    ("waveform", 0.0): (17.8, 16.96, 14.38),
    ("car", 0.2): (None, None, 6.55),
    ("nursery", 0.2): (None, None, 1.6),
    ("car", 0.0): (None, None, None),
}


def folds(name: str, noise: float, seed: int) -> list[Fold]:
    """Five times (train, choose, test); labels of the first two are noisy."""
    X, labels = load(name)
    y = np.unique(np.asarray(labels), return_inverse=True)[1]
    noisy = corrupt(y, rate=noise, random_state=seed)[0] if noise else y
    part = np.random.default_rng(seed).permutation(len(y)) % 5
    made = []
    for k in range(5):
        test, choose = part == k, part == (k + 1) % 5
        train = ~test & ~choose
        made.append(
            {
                "train": (X[train], noisy[train]),
                "choose": (X[choose], noisy[choose]),
                "test": (X[test], y[test]),
            }
        )
    return made


def early_stopped(booster: Any, n_rounds: int, fold: Fold) -> float:
    model = booster(Tree(max_depth=3), n_estimators=n_rounds, random_state=0).fit(*fold["train"])
    X, y = fold["choose"]
    best = int(np.argmin([np.mean(p != y) for p in model.staged_predict(X)]))
    X, y = fold["test"]
    return float(np.mean(list(model.staged_predict(X))[best] != y))


def direct(n_rounds: int, fold: Fold) -> tuple[float, float]:
    """Test error, and the share at the bottom that was chosen."""
    tried = []
    for share in CANDIDATES:
        model = DMCBoostClassifier(bottom=share, n_estimators=n_rounds).fit(*fold["train"])
        degenerate = model.history_["g"][model.n_iter_ - 1] < 0
        tried.append((degenerate, 1 - model.score(*fold["choose"]), share, model))
    _, _, share, model = min(tried, key=lambda entry: entry[:3])
    return 1 - model.score(*fold["test"]), share


def evaluate(fold: Fold, n_rounds: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error, share = direct(n_rounds, fold)
        return {
            "AdaBoost.M1": early_stopped(AdaBoostM1Classifier, n_rounds, fold),
            "SAMME": early_stopped(SAMMEClassifier, n_rounds, fold),
            "DMCBoost": error,
            "bottom": share,
        }


def run(sets: list[tuple[str, float]], n_rounds: int, seed: int, n_jobs: int) -> list[dict]:
    records = []
    for name, noise in sets:
        each: Callable[..., Any] = delayed(evaluate)
        found = Parallel(n_jobs)(each(fold, n_rounds) for fold in folds(name, noise, seed))
        records.append({"set": name, "noise": noise, "folds": found})
    return records


def show(records: list[dict]) -> None:
    table = Table("set", "noise", "AdaBoost.M1", "SAMME", "DMCBoost", "bottom", "paper")
    for record in records:
        means = {k: np.mean([fold[k] for fold in record["folds"]]) for k in record["folds"][0]}
        paper = PAPER.get((record["set"], record["noise"]), ())
        errors = [f"{100 * means[k]:.2f}" for k in ("AdaBoost.M1", "SAMME", "DMCBoost")]
        printed = " / ".join("-" if value is None else f"{value:g}" for value in paper)
        table.add_row(
            record["set"], f"{record['noise']:.0%}", *errors, f"{means['bottom']:.2f}", printed
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=[f"{s}:{n}" for s, n in PAPER])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, help="where to write the figures as JSON")
    options = parser.parse_args()
    sets = [(name, float(noise)) for name, noise in (s.split(":") for s in options.sets)]
    records = run(sets, options.rounds, options.seed, options.jobs)
    show(records)
    if options.output:
        options.output.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
