"""An audit and a comparison whose results are known, without training anything."""

from dataclasses import dataclass, field

import numpy as np

from steadyboost.lab.comparison.result import Comparison, FoldResult, MethodResult, Setting


@dataclass
class MadeUpAudit:
    """What a page reads of a ``LabelAudit``; labels go from ``true`` to ``given`` at the flips."""

    n_rows: int = 200
    n_flips: int = 30
    classes: np.ndarray = field(default_factory=lambda: np.array(["<cat>", "dog", "eel & ray"]))
    conflicts: list = field(default_factory=lambda: [[1, 5], [7, 9, 30]])
    kept: dict = field(default_factory=dict)

    def __post_init__(self):
        rng, k = np.random.default_rng(0), len(self.classes)
        true = rng.integers(0, k, self.n_rows)
        flips = rng.choice(self.n_rows, self.n_flips, replace=False)
        given = true.copy()
        given[flips] = (given[flips] + rng.integers(1, k, self.n_flips)) % k
        self.scores = 0.5 + 0.5 * rng.random(self.n_rows)
        self.scores[flips] = 0.4 * rng.random(self.n_flips)
        self.ranks = np.argsort(np.argsort(self.scores)) + 1
        self.given, self.suggested = self.classes[given], self.classes[true]
        self.suspects = flips[np.argsort(self.scores[flips])]
        self.n_wrong, self.noise_rate = self.n_flips, self.n_flips / self.n_rows
        self.noise_rate_interval, self.notes = (0.9 * self.noise_rate, 1.1 * self.noise_rate), []
        counts = np.bincount(given[flips], minlength=k).tolist()
        self.n_wrong_per_class = dict(zip(self.classes.tolist(), counts, strict=True))
        self.transition_matrix = 0.8 * np.eye(k) + 0.2 / k

    def numbers_of(self, rows):
        return np.asarray(rows) + 1


def features(n_rows):
    """A data frame with numbers, text, gaps and what must be escaped."""
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n_rows), "weight": rng.normal(70, 9, n_rows)})
    frame["town"] = rng.choice(["Aachen", "Bonn & Köln", "<i>"], n_rows)
    frame.loc[::7, "weight"] = np.nan
    return frame


def comparison(failure=""):
    """Three methods in four folds; the errors are 10 %, 12 % and about 40 %."""
    setting = Setting(400, 5, np.array(["a", "b<"]), np.array([300, 100]), 0.2, "pair", 4, 1, 0)
    wrongs = {"Good": [10, 10, 10, 10], "Fair": [10, 14, 9, 15], "Poor": [40, 41, 39, 43]}
    results = [_result(name, name != "Fair", counts) for name, counts in wrongs.items()]
    if failure:
        results[0].failure = failure
    return Comparison(setting, results)


def _result(name, is_ours, wrongs):
    runs = [
        FoldResult(
            np.array([[80 - n // 2, n // 2], [n - n // 2, 20 - n + n // 2]]), 0.01 * n, 0.5, 0.1
        )
        for n in wrongs
    ]
    return MethodResult(name, is_ours, runs)
