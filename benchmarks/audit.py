"""Finding wrong labels, beside cleanlab: ``python benchmarks/audit.py``.

Both see the same noisy labels. cleanlab gets the probabilities of LightGBM in five-fold
cross-validation, as its documentation advises. AUROC and the precision at the true number of wrong
labels are of its label quality scores and of our scores; ``find_label_issues`` and our suspects are
compared by F1. ``--large`` takes sets with more than 10,000 training rows, and up to 30,000 of
them. ``--write-docs`` renews the tables of docs/noise.md.
"""

import argparse
import hashlib
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _docs import replace_section
from _noisy_report import DOCS, by_noise, by_set, markdown, noises, show
from _noisy_rivals import is_slow, lightgbm
from _noisy_sets import LARGE, NOISE, SETS, SHARE, problem
from rich.console import Console
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from steadyboost.noise import audit

# Scores (low is suspicious), mask of suspects, estimated share of wrong labels
Found = tuple[np.ndarray, np.ndarray, float]


def ours(X: np.ndarray, y: np.ndarray, seed: int) -> Found:
    found = audit(X, y, random_state=seed, n_jobs=1)
    return found.scores, found.suggested != found.given, found.noise_rate


def cleanlab(X: np.ndarray, y: np.ndarray, seed: int) -> Found:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    proba = cross_val_predict(lightgbm(seed), X, y, cv=folds, method="predict_proba")
    issues = find_label_issues(y, proba, n_jobs=1)
    return get_label_quality_scores(y, proba), issues, issues.mean()


METHODS = {"SteadyBoost audit": ours, "cleanlab, LightGBM": cleanlab}
TITLES = {
    "auroc": ("AUROC", 3),
    "precision": ("Precision at the true number of wrong labels", 3),
    "f1": ("F1 of the suspects", 3),
    "seconds": ("Mean time, s of processor time", 2),
}
LARGE_TITLES = {**TITLES, "share": ("Estimated share of wrong labels", 3)}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at the most")
    parser.add_argument("--large", action="store_true", help="sets and noise of large tables")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/audit")
    parser.add_argument("--fresh", nargs="*", default=[], choices=list(METHODS))
    parser.add_argument("--write-docs", action="store_true")
    parser.set_defaults(share=SHARE, noise=NOISE)
    if parser.parse_args().large:
        parser.set_defaults(**LARGE, cache=parser.get_default("cache") / "large")
    return parser.parse_args()


def measure(task: tuple[str, str, float, int, str], n_rows: int, share: float) -> dict[str, Any]:
    name, kind, rate, seed, method = task
    posed = problem(name, kind, rate, seed, n_rows, share)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, mask, found = METHODS[method](posed.X, posed.y, seed)
    took, wrong = time.process_time() - start, posed.is_wrong
    worst = np.argsort(scores, kind="stable")[: wrong.sum()]
    return {
        "set": name,
        "kind": kind,
        "rate": rate,
        "seed": seed,
        "method": method,
        "rows": len(posed.y),
        "auroc": float(roc_auc_score(wrong, -scores)),
        "precision": float(wrong[worst].mean()),
        "f1": float(f1_score(wrong, mask)),
        "share": float(found),
        "seconds": took,
    }


def kept(task: tuple[str, str, float, int, str], wanted: argparse.Namespace) -> dict[str, Any]:
    """From the cache, if it is there."""
    key = hashlib.sha256(repr((*task, wanted.rows)).encode()).hexdigest()[:24]
    path = wanted.cache / f"{key}.json"
    if path.exists() and task[-1] not in wanted.fresh:
        return json.loads(path.read_text())
    result = measure(task, wanted.rows, wanted.share)
    wanted.cache.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    return result


def tables(frame: pd.DataFrame, large: bool) -> dict[str, tuple[pd.DataFrame, int]]:
    if not large:
        return {title: (by_noise(frame, name), n) for name, (title, n) in TITLES.items()}
    return {
        f"{title}, {noise}": (by_set(own, name), n)
        for name, (title, n) in LARGE_TITLES.items()
        for noise, own in noises(frame)
    }


def main() -> None:
    wanted = options()
    tasks = [
        (name, kind, rate, seed, method)
        for seed in range(wanted.seeds)
        for name in wanted.sets
        for kind, rate in wanted.noise
        for method in METHODS
        if rate > 0 and not (wanted.large and is_slow(method, name))
    ]
    frame = pd.DataFrame([kept(task, wanted) for task in tasks])
    frame["rate"] = frame["rate"].astype(str)
    made = tables(frame, wanted.large)
    for title, (table, digits) in made.items():
        show(Console(), title, table, digits)
    if wanted.write_docs:
        level, section = ("####", "audit-large") if wanted.large else ("###", "audit")
        text = [
            f"{level} {title}\n\n{markdown(table, n, best_of(title))}\n"
            for title, (table, n) in made.items()
        ]
        replace_section(DOCS / "noise.md", section, "\n".join(text))


def best_of(title: str) -> str:
    """Which figure of a column is to be bold."""
    if "share" in title:
        return "none"
    return "lowest" if "time" in title else "highest"


if __name__ == "__main__":
    main()
