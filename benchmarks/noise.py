"""Errors on clean test rows after training on wrong labels: ``python benchmarks/noise.py``.

Every method sees the same splits and the same wrong labels; nothing is tuned on test rows. A result
is kept in the cache as soon as it is there, so that a run can be stopped and taken up again;
``--fresh METHOD`` computes a method anew. ``--large`` takes sets with more than 10,000 training
rows, and up to 30,000 of them. ``--write-docs`` renews the tables and pictures of docs/noise.md.
"""

import argparse
import hashlib
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _noisy_rivals import LARGE_RIVALS, RIVALS, is_slow
from _noisy_sets import HUMAN, LARGE, NOISE, SETS, SHARE, Problem, human_problem, problem
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

Task = tuple[str, str, float, int, str]  # set, kind, rate, seed, method


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SETS, "sentiment_crowd"])
    parser.add_argument("--methods", nargs="+", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at the most")
    parser.add_argument("--large", action="store_true", help="sets and noise of large tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/noise")
    parser.add_argument("--fresh", nargs="*", default=[], help="methods to compute anew")
    parser.add_argument("--write-docs", action="store_true")
    parser.set_defaults(share=SHARE, noise=NOISE)
    if parser.parse_args().large:
        parser.set_defaults(**LARGE, methods=LARGE_RIVALS)
        parser.set_defaults(cache=parser.get_default("cache") / "large")
    return parser.parse_args()


def tasks(wanted: argparse.Namespace) -> list[Task]:
    """Seed by seed, so that an early stop leaves whole tables."""
    made = []
    for seed in range(wanted.seeds):
        for name in wanted.sets:
            human = name == "sentiment_crowd"
            kinds = [("human", labels) for labels in HUMAN] if human else wanted.noise
            methods = [m for m in wanted.methods if not (wanted.large and is_slow(m, name))]
            made += [(name, *kind, seed, method) for kind in kinds for method in methods]
    return made


def pose(name: str, kind: str, rate: Any, seed: int, n_rows: int, share: float) -> Problem:
    if kind == "human":
        return human_problem(rate, seed, Path(os.environ["STEADYBOOST_DATA"]))
    return problem(name, kind, rate, seed, n_rows, share)


def calibration_error(proba: np.ndarray, y: np.ndarray, n_bins: int = 15) -> float:
    """Expected difference between the confidence and the share of right answers."""
    sure, right = proba.max(axis=1), proba.argmax(axis=1) == y
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    gap = np.bincount(bins, weights=right - sure, minlength=n_bins)
    return float(np.abs(gap).sum() / len(y))


def measure(task: Task, n_rows: int, share: float) -> dict[str, Any]:
    """Fit one method to one problem."""
    *where, method = task
    posed = pose(*where, n_rows, share)
    model = RIVALS[method](posed_seed := where[3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(posed.X, posed.y)
        fitted = time.process_time()
        proba = model.predict_proba(posed.X_test)
        predicted = time.process_time()
    names = ("set", "kind", "rate", "seed", "method")
    return {
        **dict(zip(names, task, strict=True)),
        "rows": len(posed.y),
        "error": float(np.mean(proba.argmax(axis=1) != posed.y_test)),
        "log_loss": float(
            log_loss(posed.y_test, np.clip(proba, 1e-6, 1), labels=range(proba.shape[1]))
        ),
        "calibration_error": calibration_error(proba, posed.y_test),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
        "seed": posed_seed,
    }


def kept(task: Task, wanted: argparse.Namespace) -> dict[str, Any]:
    """From the cache, if it is there."""
    key = hashlib.sha256(repr((*task, wanted.rows)).encode()).hexdigest()[:24]
    path = wanted.cache / f"{key}.json"
    if path.exists() and task[-1] not in wanted.fresh:
        return json.loads(path.read_text())
    result = measure(task, wanted.rows, wanted.share)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(json.dumps(result))
    partial.rename(path)
    return result


def main() -> None:
    wanted = options()
    work = Parallel(n_jobs=wanted.jobs, verbose=1, batch_size=1)
    results = work(delayed(kept)(task, wanted) for task in tasks(wanted))
    from _noisy_report import report, report_large

    (report_large if wanted.large else report)(results, wanted.write_docs)


if __name__ == "__main__":
    main()
