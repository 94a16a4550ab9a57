"""Rows of all kinds for the tests of exports: numbers, gaps, text and numbers as categories."""

import numpy as np
import pandas as pd

COLOURS = ["red", "green", "blue", "grey", "black", "white", "naïve pink"]


def mixed_frame(n, seed=0):
    """A frame whose columns all matter, with gaps, and codes of three classes."""
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=n), rng.normal(size=n).astype(np.float32)
    colour, month = rng.choice(COLOURS, size=n), rng.integers(1, 13, size=n)
    y = (size > 0).astype(int) + np.isin(colour, COLOURS[1::2]) * (weight > 0)
    y = np.where((month % 3 == 0) & (rng.random(n) < 0.5), 2 - y, y)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, size),
            "colour": np.where(rng.random(n) < 0.1, None, colour),
            "weight": weight,
            "month": month.astype(float),
        }
    )
    return X, y


def unseen_frame(n, seed=1):
    """More rows, some with categories that training did not have."""
    X, _ = mixed_frame(n, seed)
    X.loc[::50, "colour"] = "unheard of"
    X.loc[::70, "month"] = np.nan
    return X


def on_the_edges(model, X):
    """Rows of numbers that lie on the model's cuts, and a rounding error above and below."""
    rng = np.random.default_rng(0)
    rows = np.array(X[rng.integers(len(X), size=3000)], dtype=float)
    for f, cuts in enumerate(model._binner.cuts):
        at = rng.choice(cuts, size=len(rows))
        rows[:, f] = np.where(rng.random(len(rows)) < 0.7, at, rows[:, f])
    rows[1000:2000] = np.nextafter(rows[1000:2000], np.inf)
    rows[2000:] = np.nextafter(rows[2000:], -np.inf)
    return rows
