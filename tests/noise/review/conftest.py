"""A browser that reviews, and small audits to review."""

import numpy as np
import pandas as pd
import pytest
from review_browser import Reviewer

from steadyboost.noise import audit_proba


@pytest.fixture(scope="session")
def reviewer(tmp_path_factory):
    found = Reviewer(tmp_path_factory.mktemp("reviewer"))
    yield found
    found.close()


N = 300


def made_up(n=N, n_wrong=60, seed=0):
    """An audit by given probabilities, and what is wrong: rows of three classes."""
    rng = np.random.default_rng(seed)
    names = np.array(["cat", "dog", "eel"])
    true = rng.integers(3, size=n)
    given = true.copy()
    wrong = np.sort(rng.choice(n, n_wrong, replace=False))
    given[wrong] = (given[wrong] + 1) % 3
    proba = np.full((n, 3), 0.04)
    proba[np.arange(n), true] = 0.92
    proba += 0.02 * rng.random((n, 3))
    return audit_proba(proba / proba.sum(axis=1, keepdims=True), names[given]), wrong


def animals(n=N):
    """Values to show of the rows."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "kg": rng.normal(20, 5, n).round(2),
            "fur": rng.choice(["short", "long", None], n),
            "note": [f"Seen at the lake, number {k}, {'again and ' * 8}again." for k in range(n)],
        }
    )
