"""Checked rows: what a share of them does to the estimated noise rate and to the error."""

from typing import Any

import numpy as np
import pandas as pd
from _noisy_sets import problem
from rich.console import Console

import steadyboost as sb

RATES = (0.2, 0.4)


def measure(name: str, rate: float, seed: int, n_rows: int, share: float) -> dict[str, Any]:
    """The same labels twice: an expert has put a random share right, and we know which or not."""
    posed = problem(name, "symmetric", rate, seed, n_rows)
    true = problem(name, "symmetric", 0.0, seed, n_rows).y
    n = len(true)
    checked = np.random.default_rng([seed, 4]).permutation(n)[: round(share * n)]
    given = posed.y.copy()
    given[checked] = true[checked]
    actual = float(np.mean(given != true))
    line: dict[str, Any] = {"set": name, "rate": rate, "seed": seed}
    for title, verified in (("unknown", None), ("verified", checked)):
        model = sb.SteadyBoostClassifier(n_jobs=1, random_state=seed)
        model.fit(posed.X, given, verified=verified)
        line[f"off by, {title}"] = abs(model.noise_rate_ - actual)
        wrong = model.predict(posed.X_test) != posed.y_test
        line[f"error, {title}"] = float(np.mean(wrong))
    return line


def checked_rows(sets: list[str], seeds: int, n_rows: int, share: float) -> None:
    lines = []
    for seed in range(seeds):
        for name in sets:
            for rate in RATES:
                if name != "sentiment_crowd":  # its labels are noisy as they are
                    lines.append(measure(name, rate, seed, n_rows, share))
                    print(lines[-1], flush=True)
    frame = pd.DataFrame(lines)
    Console().print(frame.groupby("rate").mean(numeric_only=True).round(4).to_string())
