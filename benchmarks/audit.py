"""Finding wrong labels, beside cleanlab: ``python benchmarks/audit.py``.

Both see the same noisy labels. cleanlab gets the probabilities of LightGBM in five-fold
cross-validation, as its documentation advises. AUROC and the precision at the true number of wrong
labels are of its label quality scores and of our scores; ``find_label_issues`` and our suspects are
compared by F1. ``--write-docs`` renews the tables of docs/noise.md.
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
from _noisy_report import DOCS, by_noise, markdown, show
from _noisy_rivals import lightgbm
from _noisy_sets import NOISE, SETS, problem
from rich.console import Console
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from steadyboost.noise import audit

Found = tuple[np.ndarray, np.ndarray]  # scores (low is suspicious), mask of suspects


def ours(X: np.ndarray, y: np.ndarray, seed: int) -> Found:
    found = audit(X, y, random_state=seed, n_jobs=1)
    return found.scores, found.suggested != found.given


def cleanlab(X: np.ndarray, y: np.ndarray, seed: int) -> Found:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    proba = cross_val_predict(lightgbm(seed), X, y, cv=folds, method="predict_proba")
    return get_label_quality_scores(y, proba), find_label_issues(y, proba, n_jobs=1)


METHODS = {"SteadyBoost audit": ours, "cleanlab, LightGBM": cleanlab}
KINDS = [(kind, rate) for kind, rate in NOISE if rate > 0]


def measure(name: str, kind: str, rate: float, seed: int, method: str, n_rows: int) -> dict:
    posed = problem(name, kind, rate, seed, n_rows)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, mask = METHODS[method](posed.X, posed.y, seed)
    took, wrong = time.process_time() - start, posed.is_wrong
    worst = np.argsort(scores, kind="stable")[: wrong.sum()]
    return {
        "set": name,
        "kind": kind,
        "rate": rate,
        "seed": seed,
        "method": method,
        "auroc": float(roc_auc_score(wrong, -scores)),
        "precision": float(wrong[worst].mean()),
        "f1": float(f1_score(wrong, mask)),
        "seconds": took,
    }


def kept(task: tuple, n_rows: int, cache: Path, fresh: bool) -> dict[str, Any]:
    path = cache / (hashlib.sha256(repr((*task, n_rows)).encode()).hexdigest()[:24] + ".json")
    if path.exists() and not fresh:
        return json.loads(path.read_text())
    result = measure(*task, n_rows)
    cache.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at the most")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/audit")
    parser.add_argument("--fresh", nargs="*", default=[], choices=list(METHODS))
    parser.add_argument("--write-docs", action="store_true")
    wanted = parser.parse_args()
    tasks = [
        (name, kind, rate, seed, method)
        for seed in range(wanted.seeds)
        for name in wanted.sets
        for kind, rate in KINDS
        for method in METHODS
    ]
    results = [kept(task, wanted.rows, wanted.cache, task[-1] in wanted.fresh) for task in tasks]
    frame = pd.DataFrame(results)
    frame["rate"] = frame["rate"].astype(str)
    titles = {
        "auroc": ("AUROC", 3),
        "precision": ("Precision at the true number of wrong labels", 3),
        "f1": ("F1 of the suspects", 3),
        "seconds": ("Mean time, s of processor time", 2),
    }
    made = {title: (by_noise(frame, name), n) for name, (title, n) in titles.items()}
    for title, (table, digits) in made.items():
        show(Console(), title, table, digits)
    if wanted.write_docs:
        text = [
            f"### {title}\n\n{markdown(table, n, highest='time' not in title)}\n"
            for title, (table, n) in made.items()
        ]
        replace_section(DOCS / "noise.md", "audit", "\n".join(text))


if __name__ == "__main__":
    main()
