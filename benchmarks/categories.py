"""Columns with many categories: ``python benchmarks/categories.py``.

Tables like those of flights: numbers, and two columns of 100 to 5,000 categories, some of which are
frequent and most of which are rare. The categories say something of the class (``informative``), or
nothing. Every method is fitted with these columns and without them; errors are those on other rows.
Also sets of categorical columns only, from the folder in ``STEADYBOOST_DATA``.
"""

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _docs import replace_section
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import steadyboost as sb
from steadyboost.lab.datasets import load

LEVELS = (100, 1000, 5000)
SETS = ("nursery", "soybean_large", "audiology", "splice")
TEST_ROWS = 10_000
MANY = ["carrier", "airport"]


def steady(seed: int) -> Any:
    return sb.SteadyBoostClassifier(random_state=seed)


def lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, verbose=-1, n_jobs=1)


def catboost(seed: int) -> Any:
    return CatBoost(seed)


class CatBoost:
    """CatBoost, told which columns are categories."""

    def __init__(self, seed: int):
        from catboost import CatBoostClassifier

        self.model = CatBoostClassifier(
            random_state=seed, verbose=0, thread_count=1, allow_writing_files=False
        )

    def _table(self, X: pd.DataFrame) -> pd.DataFrame:
        texts = {name: X[name].astype(object).fillna("?").astype(str) for name in self.names}
        return X.assign(**texts)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "CatBoost":
        self.names = [name for name in X if X[name].dtype.kind not in "fiub"]
        self.model.fit(self._table(X), y, cat_features=self.names)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self._table(X))


METHODS = {"SteadyBoost": steady, "LightGBM": lightgbm, "CatBoost": catboost}


def flights(n: int, levels: int, informative: bool, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Delays by hour, month and distance; categories by Zipf's law, each with an effect or none."""
    rng = np.random.default_rng(seed)
    hour, month = rng.uniform(0, 24, n), rng.integers(1, 13, n)
    distance, wind = rng.gamma(2, 400, n), rng.normal(size=n)
    score = np.sin((hour - 9) / 24 * 2 * np.pi) + 0.3 * (month % 6 == 0) + 0.4 * wind
    score -= 0.0003 * distance
    columns = {"hour": hour, "month": month, "distance": distance, "wind": wind}
    for name, size in zip(MANY, (max(levels // 10, 10), levels), strict=True):
        share = 1 / np.arange(1, size + 1)
        codes = rng.choice(size, size=n, p=share / share.sum())
        if informative:
            score += rng.normal(0, 0.5, size)[codes]
        columns[name] = pd.Categorical.from_codes(codes, [f"{name}{i}" for i in range(size)])
    late = score + rng.logistic(0, 0.7, n) > 0.4
    return pd.DataFrame(columns), late.astype(int)


def judged(method: str, train: Any, test: Any, seed: int) -> tuple[float, float]:
    """Error and AUC on test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method](seed).fit(*train)
        proba = model.predict_proba(test[0])
    answers = model.classes_[proba.argmax(axis=1)]
    auc = roc_auc_score(test[1], proba[:, 1]) if proba.shape[1] == 2 else float("nan")
    return float(np.mean(answers != test[1])), float(auc)


def of_flights(rows: int, seeds: int, methods: list[str]) -> pd.DataFrame:
    lines = []
    for seed in range(seeds):
        for levels in LEVELS:
            for informative in (True, False):
                X, y = flights(rows + TEST_ROWS, levels, informative, seed)
                for columns in ("all", "without"):
                    own = X if columns == "all" else X.drop(columns=MANY)
                    train, test = (own[:rows], y[:rows]), (own[rows:], y[rows:])
                    for method in methods:
                        error, auc = judged(method, train, test, seed)
                        kind = "informative" if informative else "not informative"
                        lines.append((method, columns, f"{levels:,} {kind}", error, auc))
    return pd.DataFrame(lines, columns=["method", "columns", "table", "error", "AUC"])


def of_sets(seeds: int, methods: list[str]) -> pd.DataFrame:
    lines = []
    for seed in range(seeds):
        for name in SETS:
            frame, target = load(name)
            y = np.asarray(target)
            kept = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= 10
            parts = train_test_split(
                frame[kept], y[kept], test_size=0.4, stratify=y[kept], random_state=seed
            )
            X, X_test, y, y_test = parts
            for method in methods:
                error, auc = judged(method, (X[:2000], y[:2000]), (X_test, y_test), seed)
                lines.append((method, "all", name, error, auc))
    return pd.DataFrame(lines, columns=["method", "columns", "table", "error", "AUC"])


def report(frame: pd.DataFrame) -> str:
    """Tables of errors and of AUC."""
    out = []
    for value, scale in (("error", 100), ("AUC", 1)):
        table = frame.pivot_table(
            index=["method", "columns"], columns="table", values=value, sort=False
        )
        heads = [column for column in table if table[column].notna().any()]
        title = "Error, %" if value == "error" else value
        line = "|---" * (len(heads) + 1) + "|"
        out += [f"#### {title}", "", "| | " + " | ".join(heads) + " |", line]
        for (method, columns), cells_of in table[heads].iterrows():
            name = method if columns == "all" else f"{method}, without them"
            cells = [f"{scale * v:.{1 if scale > 1 else 3}f}" if v == v else "" for v in cells_of]
            out.append(f"| {name} | " + " | ".join(cells) + " |")
        out.append("")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--write-docs", action="store_true")
    wanted = parser.parse_args()
    frames = [of_flights(wanted.rows, wanted.seeds, wanted.methods)]
    if "STEADYBOOST_DATA" in os.environ:
        frames.append(of_sets(wanted.seeds, wanted.methods))
    text = report(pd.concat(frames))
    print(text)
    if wanted.write_docs:
        replace_section(Path(__file__).parent.parent / "docs/noise.md", "categories", text)


if __name__ == "__main__":
    main()
