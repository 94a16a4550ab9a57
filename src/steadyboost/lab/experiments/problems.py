"""Data sets as in the papers: loaded once per process, and changed as the plan says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from steadyboost.lab import datasets
from steadyboost.lab.datasets import DatasetNotFound

if TYPE_CHECKING:
    import pandas as pd

GENERATORS = ("make_long_servedio", "make_madelon_like")
N_TERMS = 2000  # of the Reuters documents, by chi2-max
TOY_ROWS, TEST_ROWS = 4000, 10_000


class MissingData(Exception):
    """A data set, or the split that a protocol needs, is not available."""


@dataclass(frozen=True)
class Problem:
    """Rows and class numbers; the first ``n_train`` rows are the pre-specified training part."""

    X: Any
    y: np.ndarray
    n_train: int | None = None

    def take(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        return rows_of(self.X, rows), self.y[rows]


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def seed_of(*parts: Any) -> int:
    """A number that depends on all parts, and is the same in every process."""
    text = json.dumps(parts, sort_keys=True)
    return int(np.random.SeedSequence(crc32(text.encode())).generate_state(1)[0])


def is_known(set_: str) -> bool:
    """Whether a data set's name is in the catalog, or that of a generator."""
    from steadyboost.lab.datasets.catalog import CATALOG

    return set_ in CATALOG or set_ in GENERATORS


def why_missing(set_: str) -> str:
    """What to do to have a data set, where no source offers it; else nothing."""
    if set_ in GENERATORS:
        return ""
    record = next(record for record in datasets.available() if record.name == set_)
    return "" if record.source else record.remedy


def load_problem(choice: Mapping[str, Any]) -> Problem:
    """The rows of a data set, from memory where this process has just used it."""
    found = _load(json.dumps(choice, sort_keys=True))
    if isinstance(found, str):
        raise MissingData(found)
    return found


@lru_cache(maxsize=2)
def _load(choice: str) -> Problem | str:
    """A failure is remembered too: to ask the network once for each cell would take long."""
    wanted = json.loads(choice)
    try:
        return _build(wanted["set"], wanted.get("change", {}))
    except DatasetNotFound as error:
        return str(error)


def _build(set_: str, change: dict[str, Any]) -> Problem:
    if "category" in change:
        return _reuters_problem(change["category"])
    X, labels, n_train = _read(set_)
    for name, value in change.items():
        X, labels, n_train = CHANGES[name](X, labels, n_train, value)
    _, y = np.unique(labels, return_inverse=True)
    return Problem(_plain(X), y, n_train)


Table = tuple[Any, np.ndarray, int | None]


def _read(set_: str) -> Table:
    """All rows, those of the training part first where there is one."""
    from steadyboost.lab.datasets.catalog import CATALOG

    info = CATALOG[set_]
    if info.train_rows == info.rows:
        X, y = datasets.load(set_, "train")
        return X, y.to_numpy(dtype=str), len(y)
    if info.train_rows is not None:
        # Without its split a set still serves protocols that part the rows themselves.
        with suppress(DatasetNotFound):
            return _joined(*datasets.load(set_, "train"), *datasets.load(set_, "test"))
    X, y = datasets.load(set_)
    return X, y.to_numpy(dtype=str), None


def _joined(X: pd.DataFrame, y: pd.Series, X_test: pd.DataFrame, y_test: pd.Series) -> Table:
    import pandas as pd

    for column in X.select_dtypes("category"):
        together = [X[column], X_test[column]]
        kinds = pd.api.types.union_categoricals(together).categories
        X[column], X_test[column] = (part.cat.set_categories(kinds) for part in together)
    labels = np.concatenate([y.to_numpy(dtype=str), y_test.to_numpy(dtype=str)])
    return pd.concat([X, X_test], ignore_index=True), labels, len(y)


def _plain(X: Any) -> Any:
    """An array, where all columns are numbers: quicker to take rows of, cell after cell."""
    if not hasattr(X, "select_dtypes"):
        return X
    only_numbers = X.select_dtypes("number").shape[1] == X.shape[1]
    return X.to_numpy() if only_numbers else X


def _least_class(X: Any, labels: np.ndarray, n_train: int | None, least: int) -> Table:
    """Without the classes of fewer rows."""
    classes, counts = np.unique(labels, return_counts=True)
    return _keep(X, labels, n_train, np.isin(labels, classes[counts >= least]))


def _only_values(X: Any, labels: np.ndarray, n_train: int | None, values: str) -> Table:
    """Without the rows that have any other value."""
    return _keep(X, labels, n_train, X.isin(list(values)).all(axis=1).to_numpy())


def _keep(X: Any, labels: np.ndarray, n_train: int | None, mask: np.ndarray) -> Table:
    kept = np.flatnonzero(mask)
    first = None if n_train is None else int(mask[:n_train].sum())
    return rows_of(X, kept), labels[kept], first


def _sample(X: Any, labels: np.ndarray, n_train: int | None, size: int) -> Table:
    """Some rows, drawn once and for all."""
    rows = np.random.default_rng(size).choice(len(labels), size, replace=False)
    return rows_of(X, rows), labels[rows], None


def _random_train_rows(X: Any, labels: np.ndarray, n_train: int | None, size: int) -> Table:
    """A pre-specified split of our own, drawn once and for all."""
    rows = np.random.default_rng(size).permutation(len(labels))
    return rows_of(X, rows), labels[rows], size


def _train_rows(X: Any, labels: np.ndarray, n_train: int | None, size: int) -> Table:
    return X, labels, size


def _merge(X: Any, labels: np.ndarray, n_train: int | None, names: dict[str, str]) -> Table:
    return X, np.array([names.get(label, label) for label in labels]), n_train


def _order(X: Any, labels: np.ndarray, n_train: int | None, orders: dict[str, list[str]]) -> Table:
    """Columns whose values have an order become numbers: the places of their values in it."""
    places = {name: {v: i for i, v in enumerate(values)} for name, values in orders.items()}
    numbers = {name: [float(own[v]) for v in X[name].astype(str)] for name, own in places.items()}
    return X.assign(**numbers), labels, n_train


def _extra_hands(X: Any, labels: np.ndarray, n_train: int | None, size: int) -> Table:
    """Poker hands drawn in place of UCI's test part: half to train on, half to test on."""
    hands, ranks = datasets.make_poker(2 * size, random_state=0)
    rows = np.concatenate([X.to_numpy().astype(hands.dtype), hands])
    return rows, np.concatenate([labels, ranks.astype(str)]), len(labels) + size


CHANGES: dict[str, Callable[..., Table]] = {
    "least_class": _least_class,
    "only_values": _only_values,
    "sample": _sample,
    "random_train_rows": _random_train_rows,
    "train_rows": _train_rows,
    "merge": _merge,
    "order": _order,
    "extra_hands": _extra_hands,
}


@lru_cache(maxsize=1)
def _reuters() -> tuple[Problem, np.ndarray, list[str]]:
    """Prepared documents, with the membership in all categories."""
    from steadyboost.text import ChiSquaredMax, LtcTransformer

    counts, member, categories = datasets.reuters("train")
    test_counts, test_member, _ = datasets.reuters("test")
    selector = ChiSquaredMax(k=N_TERMS).fit(counts, member)
    weigh = LtcTransformer().fit(selector.transform(counts))
    parts = [weigh.transform(selector.transform(part)).toarray() for part in (counts, test_counts)]
    rows = np.concatenate(parts)
    problem = Problem(rows, np.zeros(len(rows), dtype=int), len(parts[0]))
    return problem, np.concatenate([member, test_member]), categories


def _reuters_problem(category: str) -> Problem:
    problem, member, categories = _reuters()
    return replace(problem, y=member[:, categories.index(category)].astype(int))
