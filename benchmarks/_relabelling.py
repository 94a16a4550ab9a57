"""The protocol of ActiveLab on wall_robot: which rows to have annotated again.

H. W. Goh, J. Mueller (2023): ActiveLab: active learning with re-labeling by multiple annotators.
3,000 rows, 1,100, 900, 300 and 700 of the four classes; two thirds to learn from; 30 annotators of
accuracy 0.8; one to five answers to each row to begin with, and 100 more in each round. Beside the
consensus labels' accuracy, that of the model on the other third is measured.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _noisy_sets import clean_rows
from rich.console import Console
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split

import steadyboost as sb
from steadyboost.noise import consensus, next_to_label

SIZES = (1100, 900, 300, 700)  # of the classes, sorted as in the paper: 4, 2, ... by frequency
N_ANNOTATORS, ACCURACY, MOST, BATCH = 30, 0.8, 5, 100
SHOWN = (0, 5, 10, 19)
K = len(SIZES)


class Rows(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def rows(seed: int) -> Rows:
    """Random rows of each class, as many as the protocol has or as there are."""
    X, y = clean_rows("wall_robot")
    rng = np.random.default_rng(seed)
    by_size = np.argsort(-np.bincount(y), kind="stable")  # the most frequent class first
    wanted = dict(zip(by_size, sorted(SIZES, reverse=True), strict=True))
    drawn = [rng.permutation(np.flatnonzero(y == j))[:size] for j, size in wanted.items()]
    chosen = np.concatenate(drawn)
    train, test = train_test_split(chosen, train_size=2 / 3, random_state=seed, stratify=y[chosen])
    return Rows(X[train], y[train], X[test], y[test])


class Annotators:
    """People who are right with one probability and err towards any class."""

    def __init__(self, y: np.ndarray, seed: int):
        self.y, self.rng = y, np.random.default_rng([seed, 2])
        self.table = np.full((len(y), N_ANNOTATORS), np.nan)

    def ask(self, items: np.ndarray) -> None:
        """One more answer to each item, by someone who has not answered it."""
        for item in items:
            free = np.flatnonzero(np.isnan(self.table[item]))
            right = self.rng.random() < ACCURACY
            wrong = (self.y[item] + self.rng.integers(1, K)) % K
            self.table[item, self.rng.choice(free)] = self.y[item] if right else wrong

    def start(self) -> None:
        counts = self.rng.integers(1, MOST + 1, size=len(self.y))
        for n in range(1, MOST + 1):
            self.ask(np.flatnonzero(counts >= n))


def out_of_sample(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    proba = np.zeros((len(y), K))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model = make().fit(X[train], y[train])
        proba[np.ix_(test, model.classes_)] = model.predict_proba(X[test])
    return proba


def majority(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    votes = np.stack([(table == j).sum(axis=1) for j in range(K)], axis=1)
    return (votes + rng.random(votes.shape) / 10).argmax(axis=1)


class Strategy:
    """What is believed of the rows, and which are asked about next."""

    def __init__(self, data: Rows, seed: int):
        self.data, self.seed = data, seed
        self.rng = np.random.default_rng([seed, 3])
        self.labels: np.ndarray | None = None

    def make(self) -> Any:
        return ExtraTreesClassifier(random_state=self.seed)

    def proba(self, table: np.ndarray) -> np.ndarray:
        y = majority(table, self.rng) if self.labels is None else self.labels
        return out_of_sample(self.make, self.data.X, y, self.seed)

    def round(self, table: np.ndarray) -> np.ndarray:
        """Set ``labels``; the rows to ask about."""
        raise NotImplementedError


class Ours(Strategy):
    def round(self, table: np.ndarray) -> np.ndarray:
        proba = self.proba(table)
        self.labels = consensus(table, proba, classes=range(K)).labels
        return next_to_label(table, proba, batch_size=BATCH, classes=range(K)).item


class OursSteadyBoost(Ours):
    def proba(self, table: np.ndarray) -> np.ndarray:
        model = sb.SteadyBoostClassifier(n_estimators=50, random_state=self.seed)
        return model.fit(self.data.X, annotations=table).out_of_sample_proba_


class ActiveLab(Strategy):
    def round(self, table: np.ndarray) -> np.ndarray:
        from cleanlab.multiannotator import (
            get_active_learning_scores,
            get_label_quality_multiannotator,
        )

        proba = self.proba(table)
        found = get_label_quality_multiannotator(table, proba, verbose=False)
        self.labels = found["label_quality"]["consensus_label"].to_numpy().astype(int)
        scores, _ = get_active_learning_scores(table, proba)
        return np.argsort(scores, kind="stable")[:BATCH]


class Random(Ours):
    """Our consensus of answers to random rows."""

    def round(self, table: np.ndarray) -> np.ndarray:
        super().round(table)
        return self.rng.choice(len(table), BATCH, replace=False)


STRATEGIES: dict[str, type[Strategy]] = {
    "next_to_label, ExtraTrees": Ours,
    "ActiveLab, ExtraTrees": ActiveLab,
    "random rows, our consensus": Random,
    "next_to_label, SteadyBoost": OursSteadyBoost,
}


def run(name: str, seed: int, rounds: int) -> list[dict[str, Any]]:
    data = rows(seed)
    annotators = Annotators(data.y, seed)
    annotators.start()
    strategy, found = STRATEGIES[name](data, seed), []
    for t in range(rounds + 1):
        chosen = strategy.round(annotators.table)
        assert strategy.labels is not None
        right = float(np.mean(strategy.labels == data.y))
        line = {"strategy": name, "seed": seed, "round": t, "consensus": right}
        if t in SHOWN:
            model = strategy.make().fit(data.X, strategy.labels)
            line["test accuracy"] = float(model.score(data.X_test, data.y_test))
            print(line, flush=True)
        found.append(line)
        annotators.ask(chosen)
    return found


def relabel(seeds: int, rounds: int, names: list[str] | None = None) -> None:
    """Accuracies by round, the mean over the seeds."""
    lines = [
        line
        for seed in range(seeds)
        for name in names or list(STRATEGIES)
        for line in run(name, seed, rounds)
    ]
    frame = pd.DataFrame(lines)
    frame = frame[frame["round"].isin(SHOWN)]
    for column in ("consensus", "test accuracy"):
        table = frame.pivot_table(index="strategy", columns="round", values=column, sort=False)
        Console().print(f"\n{column}\n{table.round(4).to_string()}")
