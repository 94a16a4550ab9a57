"""Data sets with wrong training labels and a clean test part, for ``noise.py`` and ``audit.py``."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from steadyboost.lab.datasets import load, make_poker
from steadyboost.noise import corrupt

SETS = (
    *("car", "covertype", "german", "letter", "nursery", "pendigits", "satimage"),
    *("segmentation", "spambase", "splice", "vowel", "waveform", "yeast"),
)
NOISE = (
    *(("symmetric", rate) for rate in (0.0, 0.1, 0.2, 0.3, 0.4)),
    ("pair", 0.3),
    ("feature_dependent", 0.2),
)
LARGE = {  # options of a run with large tables: more than 10,000 rows, where some stand for all
    "sets": ("covertype", "krkopt", "letter", "mnist", "nursery", "poker"),
    "noise": (("symmetric", 0.2), ("pair", 0.3)),
    "seeds": 1,
    "rows": 30_000,
    "share": 0.8,
}
N_HANDS = 40_000  # of poker
HUMAN = ("majority", "one_annotator")  # labels of sentiment_crowd that people gave
SHARE = 0.6  # of the rows, to learn from
MAX_TEST = 5000
N_TOPICS = 100  # columns that text is reduced to


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, some of them with a wrong label, and clean ones to test on."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def _numbers(frame: pd.DataFrame) -> np.ndarray:
    """Categories as codes and gaps as medians: every method gets the same numbers."""
    columns = {}
    for name in frame:
        column = frame[name]
        if column.dtype.kind not in "fiub":
            column = column.astype("category").cat.codes.astype(float).replace(-1.0, np.nan)
        columns[name] = column.astype(float).fillna(column.median())
    return pd.DataFrame(columns).to_numpy()


@cache
def clean_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows as numbers and classes from 0; classes of fewer than 10 rows are left out."""
    X, labels = make_poker(N_HANDS, random_state=0) if name == "poker" else load(name)
    y = np.unique(np.asarray(labels), return_inverse=True)[1]
    common = np.flatnonzero(np.bincount(y)[y] >= 10)  # a class must fit in every part
    return _numbers(pd.DataFrame(X))[common], np.unique(y[common], return_inverse=True)[1]


def problem(
    name: str, kind: str, rate: float, seed: int, n_rows: int, share: float = SHARE
) -> Problem:
    """A share of the rows, at most ``n_rows``, to learn from; of others, 5,000, to test on."""
    X, y = clean_rows(name)
    n_train = min(n_rows, round(share * len(y)))
    n_test = min(MAX_TEST, round((1 - share) * len(y)))
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_train, test_size=n_test, random_state=seed, stratify=y
    )
    noisy, is_wrong = y[train], np.zeros(n_train, dtype=bool)
    if rate > 0:
        own = X[train] if kind == "feature_dependent" else None
        noisy, is_wrong = corrupt(noisy, rate, kind, X=own, random_state=seed)
    return Problem(X[train], noisy, is_wrong, X[test], y[test])


@cache
def _topics(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    text = [pd.read_csv(folder / f"sentiment_crowd.{part}.csv.gz") for part in ("train", "test")]
    words = TfidfVectorizer(min_df=2, sublinear_tf=True)
    reduce = make_pipeline(words, TruncatedSVD(N_TOPICS, random_state=0))
    first = text[0].columns[0]
    return reduce.fit_transform(text[0][first]), reduce.transform(text[1][first])


def human_problem(labels: str, seed: int, folder: Path) -> Problem:
    """Sentences with the labels of a crowd; a random 80 % of them to learn from."""
    X, X_test = _topics(folder)
    given = pd.read_csv(folder / "sentiment_crowd.train.noisy.csv.gz", dtype=str)
    tested = pd.read_csv(folder / "sentiment_crowd.test.csv.gz", dtype=str)["target"]
    classes = np.unique(given["y_true"])
    rows = np.random.default_rng(seed).permutation(len(given))[: round(0.8 * len(given))]
    true, noisy = (
        np.searchsorted(classes, given[name].to_numpy()[rows]) for name in ("y_true", f"y_{labels}")
    )
    return Problem(X[rows], noisy, noisy != true, X_test, np.searchsorted(classes, tested))
