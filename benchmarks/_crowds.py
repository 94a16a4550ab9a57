"""Rows with the answers of several annotators and a clean test part, for ``crowd.py``."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from _noisy_sets import _topics, clean_rows, problem

SETS = (
    *("car", "covertype", "letter", "nursery", "pendigits"),
    *("satimage", "segmentation", "splice", "vowel", "waveform"),
)
N_ANNOTATORS = 30
MOST_ANSWERS = 5  # to a row
WORST, BEST = 0.5, 0.95  # accuracies
N_SPAMMERS, N_MIXING = (
    3,
    6,
)  # two who guess and one who always says the same; who mix up two classes


@dataclass(frozen=True)
class Crowd:
    """Training rows with answers, as (item, annotator, label), and clean test rows."""

    X: np.ndarray
    y: np.ndarray
    answers: pd.DataFrame
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        return np.arange(int(self.y.max()) + 1)

    @property
    def wide(self) -> np.ndarray:
        """(n, annotators): labels, NaN where there is no answer."""
        table = np.full((len(self.y), int(self.answers.annotator.max()) + 1), np.nan)
        table[self.answers.item, self.answers.annotator] = self.answers.label
        return table

    @property
    def actual(self) -> np.ndarray:
        """(annotators,): share of right answers; NaN without answers."""
        right = (self.wide == self.y[:, None]).sum(axis=0)
        given = np.isfinite(self.wide).sum(axis=0)
        return np.where(given > 0, right / np.maximum(given, 1), np.nan)


def matrices(k: int, rng: np.random.Generator) -> np.ndarray:
    """(annotators, k, k): of good and bad ones, spammers, and those who mix up two classes."""
    accuracy = rng.uniform(WORST, BEST, N_ANNOTATORS)[:, None, None]
    identity = np.eye(k)
    made = accuracy * identity + (1 - accuracy) * (1 - identity) / (k - 1)
    made[: N_SPAMMERS - 1] = 1 / k
    made[N_SPAMMERS - 1] = identity[rng.integers(k)]
    for annotator in range(N_SPAMMERS, N_SPAMMERS + N_MIXING):
        one, other = rng.choice(k, 2, replace=False)
        share = rng.uniform(0.3, 0.6)
        for true, given in ((one, other), (other, one)):
            made[annotator, true] *= 1 - share
            made[annotator, true, given] += share
    return made


def answers_to(y: np.ndarray, k: int, rng: np.random.Generator) -> pd.DataFrame:
    """One to five answers to each row; a third of the rows is answered by the last annotator."""
    theta = matrices(k, rng)
    busy = set(rng.choice(len(y), len(y) // 3, replace=False).tolist())
    by = []
    for row in range(len(y)):
        drawn = rng.choice(N_ANNOTATORS - 1, rng.integers(1, MOST_ANSWERS + 1), replace=False)
        if row in busy:
            drawn[0] = N_ANNOTATORS - 1
        by.append(drawn)
    item = np.repeat(np.arange(len(y)), list(map(len, by)))
    annotator = np.concatenate(by)
    upper = theta[annotator, y[item]].cumsum(axis=1)
    label = (rng.random((len(item), 1)) * upper[:, -1:] > upper).sum(axis=1).clip(max=k - 1)
    return pd.DataFrame({"item": item, "annotator": annotator, "label": label})


def made_crowd(name: str, seed: int, n_rows: int) -> Crowd:
    """Rows of a data set, and made-up answers."""
    posed = problem(name, "symmetric", 0.0, seed, n_rows)
    k = len(np.unique(clean_rows(name)[1]))
    answers = answers_to(posed.y, k, np.random.default_rng([seed, 1]))
    return Crowd(posed.X, posed.y, answers, posed.X_test, posed.y_test)


def human_crowd(seed: int) -> Crowd:
    """Sentences with all answers of all people; a random 80 % of the sentences to learn from."""
    folder = Path(os.environ["STEADYBOOST_DATA"])
    X, X_test = _topics(folder)
    true = pd.read_csv(folder / "sentiment_crowd.train.noisy.csv.gz")["y_true"].to_numpy()
    y_test = pd.read_csv(folder / "sentiment_crowd.test.csv.gz")["target"].to_numpy()
    rows = np.random.default_rng(seed).permutation(len(true))[: round(0.8 * len(true))]
    answers = pd.read_csv(folder / "sentiment_crowd.train.answers.csv.gz")
    answers = answers.drop_duplicates(["item", "annotator"])
    place = pd.Series(np.arange(len(rows)), index=rows)
    answers = answers[answers["item"].isin(rows)]
    answers = answers.assign(
        item=place[answers["item"]].to_numpy(),
        annotator=pd.factorize(answers["annotator"], sort=True)[0],
    )
    return Crowd(X[rows], true[rows], answers, X_test, y_test)


def crowd(name: str, seed: int, n_rows: int) -> Crowd:
    return human_crowd(seed) if name == "sentiment_crowd" else made_crowd(name, seed, n_rows)
