"""SteadyBoost's cost beside its rivals': ``python benchmarks/steady.py``.

Twenty columns and a fifth of the labels wrong: 5 classes in 2,000 to 1,000,000 rows, and 26 to 500
classes in 20,000 rows. For each method: time to fit and to predict a row (of processor time), peak
memory over what the data take, size of the kept model, and error on clean rows. Every fit is in a
process of its own, whose kernels are compiled before; repeats take turns, so that the machine's
moods hit all alike. Exponents of growth in rows and in classes are least-squares slopes of
logarithms.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _docs import replace_section
from _noisy_rivals import StoppedLightGBM, catboost, cleanlab, lightgbm, xgboost
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import steadyboost as sb
from steadyboost.noise import corrupt

WRONG = 0.2
TEST_ROWS = 10_000
ROWS, CLASSES = (2_000, 20_000, 200_000, 1_000_000), (26, 100, 500)
FEW_CLASSES, MANY_CLASSES_ROWS = 5, 20_000
METHODS = {
    "SteadyBoost": lambda jobs: sb.SteadyBoostClassifier(n_jobs=jobs, random_state=0),
    "LightGBM": lambda jobs: lightgbm(0).set_params(n_jobs=jobs),
    "LightGBM stopped": lambda jobs: _with_jobs(StoppedLightGBM(0), jobs),
    "XGBoost": lambda jobs: xgboost(0).set_params(n_jobs=jobs),
    "CatBoost": lambda jobs: catboost(0).set_params(thread_count=jobs),
    "RandomForest": lambda jobs: RandomForestClassifier(
        300, min_samples_leaf=5, n_jobs=jobs, random_state=0
    ),
    "cleanlab LightGBM": lambda jobs: cleanlab(0),
}
FIGURES = {
    "fit_seconds": ("Time to fit, s", "{:.1f}"),
    "predict_microseconds": ("Time to predict a row, µs", "{:.1f}"),
    "megabytes": ("Peak memory over the data, MB", "{:.0f}"),
    "file_megabytes": ("Size of the kept model, MB", "{:.1f}"),
    "error": ("Error, %", "{:.1f}"),
}


def _with_jobs(stopped: StoppedLightGBM, jobs: int) -> StoppedLightGBM:
    stopped.model.set_params(n_jobs=jobs)
    return stopped


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--classes", type=int, nargs="*", default=CLASSES)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--longest", type=float, default=1800, help="seconds of one fit")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/steadyboost/steady")
    parser.add_argument("--fresh", nargs="*", default=[], help="methods to measure anew")
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    return parser.parse_args()


def data(n: int, k: int, seed: int) -> tuple[np.ndarray, ...]:
    """Rows with wrong labels to learn from, and clean ones."""
    X, y = make_classification(
        n + TEST_ROWS,
        20,
        n_informative=12,
        n_redundant=4,
        n_classes=k,
        n_clusters_per_class=2,
        flip_y=0.0,
        random_state=seed,
    )
    given, _ = corrupt(y[:n], WRONG, random_state=seed)
    return X[:n], given, X[n:], y[n:]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def file_megabytes(model: Any) -> float:
    """Of our model file, or of a pickle."""
    if not hasattr(model, "save"):
        return len(pickle.dumps(model)) / 2**20
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sb"
        model.save(path)
        return path.stat().st_size / 2**20


def measure(method: str, n: int, k: int, jobs: int, seed: int) -> dict[str, Any]:
    """One fit, in this process."""
    few = data(500, 3, seed)
    METHODS[method](jobs).fit(few[0], few[1]).predict_proba(few[2])  # compiles kernels
    X, y, X_test, y_test = data(n, k, seed)
    before, start = peak_megabytes(), time.process_time()
    model = METHODS[method](jobs)
    model.fit(X, y)
    fitted = time.process_time()
    model.predict_proba(X_test)  # packs the trees, once
    packed = time.process_time()
    proba = model.predict_proba(X_test)
    predicted = time.process_time()
    found = np.unique(y)
    return {
        "method": method,
        "rows": n,
        "classes": k,
        "jobs": jobs,
        "fit_seconds": fitted - start,
        "predict_microseconds": 1e6 * (predicted - packed) / len(X_test),
        "megabytes": peak_megabytes() - before,
        "file_megabytes": file_megabytes(model),
        "error": 100 * float(np.mean(found[proba.argmax(axis=1)] != y_test)),
    }


def kept(task: tuple[str, int, int, int, int], wanted: argparse.Namespace) -> dict[str, Any] | None:
    """From the cache, or measured in a process of its own; None if that takes too long."""
    path = wanted.cache / ("-".join(map(str, task)).replace(" ", "_") + ".json")
    if path.exists() and task[0] not in wanted.fresh:
        return json.loads(path.read_text())
    command = [sys.executable, "-W", "ignore", __file__, "--one", *map(str, task)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=wanted.longest, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(done.stdout)
    return json.loads(done.stdout)


def medians(results: list[dict[str, Any]]) -> dict[tuple[str, int, int, int], dict[str, float]]:
    """By method, rows, classes and threads."""
    keys = {(r["method"], r["rows"], r["classes"], r["jobs"]) for r in results}
    return {
        key: {
            name: float(np.median([r[name] for r in results if _key(r) == key])) for name in FIGURES
        }
        for key in keys
    }


def _key(result: dict[str, Any]) -> tuple[str, int, int, int]:
    return result["method"], result["rows"], result["classes"], result["jobs"]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of the logarithm of time by that of size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(middle: dict, method: str, jobs: int) -> str:
    """Exponents of the time to fit, in rows and in classes."""
    own = {key[1:3]: value for key, value in middle.items() if key[0] == method and key[3] == jobs}
    series = {
        "rows": [(n, own[n, k]) for n, k in sorted(own) if k == FEW_CLASSES],
        "classes": [(k, own[n, k]) for n, k in sorted(own) if n == MANY_CLASSES_ROWS],
    }
    told = []
    for name, found in series.items():
        if len(found) > 1:
            slope = exponent([size for size, _ in found], [one["fit_seconds"] for _, one in found])
            told.append(f"{name} {slope:.2f}")
    return f"{method}: {', '.join(told)}" if told else ""


def report(results: list[dict[str, Any]]) -> str:
    """Tables of medians, and exponents."""
    middle, lines = medians(results), []
    columns = sorted({key[1:] for key in middle}, key=lambda key: (key[2], key[1], key[0]))
    heads = [f"{n:,} × {k}" + f", {j} threads" * (j > 1) for n, k, j in columns]
    for name, (title, form) in FIGURES.items():
        lines += [f"#### {title}", "", "| rows × classes | " + " | ".join(heads) + " |"]
        lines.append("|---" * (len(heads) + 1) + "|")
        for method in METHODS:
            found = [middle.get((method, *column)) for column in columns]
            if any(found):
                cells = [form.format(one[name]) if one else "–" for one in found]
                lines.append(f"| {method} | " + " | ".join(cells) + " |")
        lines.append("")
    jobs = sorted({key[3] for key in middle})
    told = [growth(middle, method, j) for j in jobs for method in METHODS]
    lines.append("Exponents of the time to fit: " + "; ".join(filter(None, told)) + ".")
    return "\n".join(lines)


def main() -> None:
    wanted = options()
    if wanted.one:
        method, *numbers = wanted.one
        print(json.dumps(measure(method, *map(int, numbers))))
        return
    sizes = [(n, FEW_CLASSES) for n in wanted.rows] + [
        (MANY_CLASSES_ROWS, k) for k in wanted.classes
    ]
    tasks = [
        (method, n, k, jobs, seed)
        for n, k in sizes
        for seed in range(wanted.repeats)
        for jobs in wanted.jobs
        for method in wanted.methods
    ]
    text = report([found for task in tasks if (found := kept(task, wanted))])
    print(text)
    if wanted.write_docs:
        replace_section(Path(__file__).parents[1] / "docs/noise.md", "steady", text)


if __name__ == "__main__":
    main()
