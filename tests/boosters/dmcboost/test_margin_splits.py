"""Splits of phase II by line search: on real data, the best of all cuts and labels."""

import os

import numpy as np
import pytest
from reference.margin_splits import best_split
from reference.tree_cases import unpack
from sklearn.datasets import load_digits, load_wine

from steadyboost import DMCBoostClassifier
from steadyboost.boosters.dmcboost import margin_splits
from steadyboost.boosters.dmcboost.margin_splits import MarginSplitScorer
from steadyboost.lab.datasets import load

SEARCHED = 128  # cuts with their labels that are searched at each step, as of 1024 rows
needs_folder = pytest.mark.skipif(
    not os.environ.get("STEADYBOOST_DATA"), reason="needs the folder named by STEADYBOOST_DATA"
)


def some_of(name, n):
    """Rows of a data set, as numbers."""
    pytest.importorskip("pandas")
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    codes = [X[c].cat.codes if X[c].dtype == "category" else X[c].rank() for c in X]
    return np.column_stack(codes)[rows], y.to_numpy()[rows]


def check_nodes(X, y, monkeypatch, every, n_estimators, **params):
    """The margin of each chosen split, and of the best one, at some nodes of a fit."""
    found, search, seen = [], MarginSplitScorer.search, iter(range(10**6))

    def watched(scorer, leaf, others):
        split = search(scorer, leaf, others)
        if split is not None and next(seen) % every == 0:
            scores, y_of, _ = scorer.all.scored
            votes = np.full(len(y_of), -1)
            for other in others:
                votes[other.rows] = other.label
            bins, bottom = unpack(scorer.sample.binned), round(scorer.all.mass)
            best = best_split(scores, y_of, votes, leaf.rows, bins, bottom, scorer.all.scale)
            found.append((-split.key[0] / margin_splits.MARGIN_DIGITS, best))
        return split

    monkeypatch.setattr(MarginSplitScorer, "search", watched)
    params = {"bottom": len(y) // 4, "selection": "line_search", "tol": 1e-9, **params}
    DMCBoostClassifier(n_estimators=n_estimators, patience=5, **params).fit(X, y)
    return np.array(found)


def digits(n):
    X, y = load_digits(return_X_y=True)
    return X[:n, [21, 33, 42]] // 4, y[:n]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("depth", [1, 3])
def test_the_split_of_wine_is_the_best_of_all(depth, monkeypatch):
    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr(margin_splits, "EXACT_WORK", SEARCHED * len(y))
    X = np.column_stack([np.digitize(c, np.quantile(c, [0.2, 0.4, 0.6, 0.8])) for c in X[:, :6].T])
    chosen, best = check_nodes(X, y, monkeypatch, 8, 30, max_depth=depth).T
    assert len(chosen) >= 2
    np.testing.assert_allclose(chosen, best, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_the_split_of_digits_is_the_best_of_all(monkeypatch):
    X, y = digits(150)
    monkeypatch.setattr(margin_splits, "EXACT_WORK", SEARCHED * len(y))
    chosen, best = check_nodes(X, y, monkeypatch, 9, 30, max_depth=2).T
    assert len(chosen) >= 2
    np.testing.assert_allclose(chosen, best, atol=1e-6)


@needs_folder
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["car", "nursery", "vehicle"])
def test_the_split_of_other_data_is_the_best_of_all(name, monkeypatch):
    X, y = some_of(name, 300)
    monkeypatch.setattr(margin_splits, "EXACT_WORK", SEARCHED * len(y))
    X = X if name != "vehicle" else X[:, :4] // 128
    chosen, best = check_nodes(X, y, monkeypatch, 20, 40, max_depth=3).T
    assert len(chosen) >= 2
    np.testing.assert_allclose(chosen, best, atol=1e-6)
