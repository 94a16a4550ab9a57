"""Tables whose wrong labels are known, for ``audit.py``: kinds of noise, published protocols."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _noisy_sets import HUMAN, SETS, human_problem, problem
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier

from steadyboost.noise import corrupt

NOISE = (
    *(("symmetric", rate) for rate in (0.05, 0.1, 0.2, 0.3, 0.4)),
    *(("pair", rate) for rate in (0.1, 0.2, 0.3)),
    ("class matrix", 0.2),
    *(("feature_dependent", rate) for rate in (0.1, 0.2)),
    ("labelling rules", 0.0),
)
N_RULES = 5  # trees of depth 3 that vote
MOST_BY_RULES = 0.5  # rules that are wrong more often than right are no labels
LARGEST_CLASS_RATE = 0.45  # of a random matrix: the true class stays the most frequent one
AQUA_SETS, AQUA_RATES = ("car", "pendigits"), (0.1, 0.4)
AQUA_KINDS = ("symmetric", "pair")  # named uniform and asymmetric there
VALUATION = ("fried", "2dplanes")
VALUATION_ROWS, VALUATION_RATE = 1000, 0.2


class Case(NamedTuple):
    """Which rows, and how their labels are made wrong."""

    suite: str
    set: str
    kind: str
    rate: float
    seed: int
    rows: int


class Table(NamedTuple):
    """Rows, given labels, and which of them are wrong."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray


def cases_of(suite: str, sets: list[str], seed: int, rows: int) -> Iterator[Case]:
    """The cases of a suite for one seed."""
    own = list(sets) or list(SETS)
    if suite == "noise":
        yield from (Case(suite, name, *noise, seed, rows) for name in own for noise in NOISE)
        if not sets:
            yield from (Case(suite, "sentiment_crowd", labels, 0.0, seed, rows) for labels in HUMAN)
    elif suite == "clean":
        yield from (Case(suite, name, "clean", 0.0, seed, rows) for name in own)
    elif suite == "aqua":
        pairs = [(kind, rate) for kind in AQUA_KINDS for rate in AQUA_RATES]
        yield from (Case(suite, name, *noise, seed, 0) for name in AQUA_SETS for noise in pairs)
    else:
        yield from (
            Case(suite, name, "symmetric", VALUATION_RATE, seed, VALUATION_ROWS)
            for name in VALUATION
        )


def table_of(case: Case, folder: Path | None) -> Table | None:
    """The table; None where the labels of a case would mostly be wrong."""
    if case.suite == "valuation":
        X, y = (fried if case.set == "fried" else two_planes)(case.rows, case.seed)
        return Table(X, *corrupt(y, case.rate, random_state=case.seed))
    if case.kind in HUMAN:
        if folder is None:
            return None
        human = human_problem(case.kind, case.seed, folder)
        return Table(human.X, human.y, human.is_wrong)
    rows, share = (case.rows, 0.6) if case.rows else (10**6, 0.8)
    clean = problem(case.set, "symmetric", 0.0, case.seed, rows, share)
    X, y = clean.X, clean.y
    if case.kind == "clean":
        return Table(X, y, np.zeros(len(y), dtype=bool))
    if case.kind == "class matrix":
        given, is_wrong = corrupt(
            y,
            None,
            "class_conditional",
            transition_matrix=random_matrix(y, case.rate, case.seed),
            random_state=case.seed,
        )
    elif case.kind == "labelling rules":
        given = labels_by_rules(clean.X_test, clean.y_test, X, case.seed)
        is_wrong = given != y
        if is_wrong.mean() > MOST_BY_RULES:
            return None
    else:
        own = X if case.kind == "feature_dependent" else None
        given, is_wrong = corrupt(y, case.rate, case.kind, X=own, random_state=case.seed)
    return Table(*compact(X, given, is_wrong))


def compact(X: np.ndarray, y: np.ndarray, is_wrong: np.ndarray) -> Table:
    """Without given labels that occur too rarely to be in each fold; labels are 0, 1, ..."""
    kept = np.bincount(y)[y] >= 5
    return Table(X[kept], np.unique(y[kept], return_inverse=True)[1], is_wrong[kept])


def random_matrix(y: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Each class has its own rate, ``rate`` in the mean over rows, and its own other classes."""
    rng, k = np.random.default_rng(seed), int(y.max()) + 1
    share = np.bincount(y, minlength=k) / len(y)
    rates = rng.uniform(0, 2 * rate, k)
    rates = np.minimum(rates * rate / (share @ rates), LARGEST_CLASS_RATE)
    matrix = np.zeros((k, k))
    for j in range(k):
        others = np.arange(k) != j
        matrix[j, others] = rates[j] * rng.dirichlet(np.full(k - 1, 0.5))
        matrix[j, j] = 1 - rates[j]
    return matrix


def labels_by_rules(X: np.ndarray, y: np.ndarray, to_label: np.ndarray, seed: int) -> np.ndarray:
    """Labels by a few shallow trees that were fitted to another sample, as weak supervision has."""
    rules = RandomForestClassifier(N_RULES, max_depth=3, random_state=seed).fit(X, y)
    return rules.predict(to_label)


def fried(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of ten columns, above or below its mean."""
    X, target = make_friedman1(n, n_features=10, noise=1.0, random_state=seed)
    return X, (target > target.mean()).astype(int)


def two_planes(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Breiman's two planes of ten columns, above or below the mean."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, 10)).astype(float)
    X[:, 0] = rng.choice([-1.0, 1.0], n)
    up = 3 + 3 * X[:, 1] + 2 * X[:, 2] + X[:, 3]
    down = -3 + 3 * X[:, 4] + 2 * X[:, 5] + X[:, 6]
    target = np.where(X[:, 0] == 1, up, down) + rng.normal(size=n)
    return X, (target > target.mean()).astype(int)
