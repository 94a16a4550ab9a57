"""SteadyBoost's, LightGBM's and XGBoost's trees on the same Dask cluster, and a run out of core.

    python benchmarks/dask.py compare --rows 5000000
    python benchmarks/dask.py out-of-core --rows 20000000 --folder /somewhere/with/space

Models take turns, so that what else the machine does is shared by all of them. The time per tree is
that of more rounds less that of fewer: starting, binning and loading cancel out.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.pop(0)  # this file's own folder, in which it would hide the dask package

import dask
import dask.array as da
import numpy as np
import pandas as pd
from distributed import wait

from steadyboost import SAMMEClassifier, Tree, load
from steadyboost.callbacks import Callback
from steadyboost.dask import connected, read_parquet

N_FEATURES, N_CLASSES, N_PARTS = 20, 5, 10
NAMES = [f"x{f}" for f in range(N_FEATURES)]
FEW, MORE = 5, 55  # trees of the two fits


def made(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose class is that of the largest of five noisy functions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    scores = X[:, :5] + np.sin(2 * X[:, 5:10]) + X[:, 10:15] * X[:, 15:20]
    return X, (scores + rng.gumbel(size=(n, N_CLASSES))).argmax(axis=1)


class Traffic(Callback):
    """Bytes and trips of each round."""

    def on_begin(self, run):
        self.seen = [(run.coordinator.n_bytes, run.coordinator.n_trips, time.perf_counter())]

    def on_round(self, run):
        self.seen.append((run.coordinator.n_bytes, run.coordinator.n_trips, time.perf_counter()))

    def per_round(self) -> dict[str, float]:
        steps = np.diff(np.array(self.seen), axis=0)
        n_bytes, trips, seconds = np.median(steps, axis=0)
        return {"bytes": n_bytes, "trips": trips, "seconds": seconds}


def steadyboost(n_trees: int, X, y, traffic: dict) -> None:
    watch = Traffic()
    SAMMEClassifier(Tree(max_depth=3), n_estimators=n_trees, callbacks=[watch]).fit(X, y)
    traffic.update(watch.per_round())


def lightgbm(n_trees: int, X, y, traffic: dict) -> None:
    from lightgbm import DaskLGBMClassifier

    DaskLGBMClassifier(
        n_estimators=n_trees // N_CLASSES, max_depth=3, num_leaves=8, verbose=-1
    ).fit(X, y)


def xgboost(n_trees: int, X, y, traffic: dict) -> None:
    from xgboost.dask import DaskXGBClassifier

    rounds = n_trees // N_CLASSES
    DaskXGBClassifier(n_estimators=rounds, max_depth=3, tree_method="hist", max_bin=255).fit(X, y)


MODELS = {"SteadyBoost": steadyboost, "LightGBM": lightgbm, "XGBoost": xgboost}


def compare(rows: int, repeats: int) -> dict:
    """Seconds of both fits of each model, best of the repeats."""
    seconds: dict = {name: {FEW: [], MORE: []} for name in MODELS}
    traffic: dict = {}
    with connected("local", n_workers=2, threads_per_worker=1) as client:
        make = dask.delayed(made, nout=2)
        parts = [make(rows // N_PARTS, seed) for seed in range(N_PARTS)]
        shape, n = (rows // N_PARTS, N_FEATURES), rows // N_PARTS
        X = da.concatenate([da.from_delayed(part[0], shape, float) for part in parts]).persist()
        y = da.concatenate([da.from_delayed(part[1], (n,), int) for part in parts]).persist()
        wait([X, y])
        for _ in range(repeats + 1):  # the first warms up
            for name, fit in MODELS.items():
                for n_trees in (FEW, MORE):
                    start = time.perf_counter()
                    fit(n_trees, X, y, traffic)
                    seconds[name][n_trees].append(time.perf_counter() - start)
                    print(
                        f"{name}, {n_trees} trees: {seconds[name][n_trees][-1]:.1f} s", flush=True
                    )
        client.cancel([X, y])
    best = {name: {k: min(v[1:]) for k, v in own.items()} for name, own in seconds.items()}
    return {"rows": rows, "repeats": repeats, "models": best, "traffic": traffic}


def table(results: dict) -> str:
    lines = ["| | per tree | 55 trees in total |", "|---|---|---|"]
    for name, own in results["models"].items():
        per_tree = (own[MORE] - own[FEW]) / (MORE - FEW)
        lines.append(f"| {name} | {1000 * per_tree:.0f} ms | {own[MORE]:.1f} s |")
    traffic = results["traffic"]
    lines += [
        "",
        f"{results['rows']:,} rows, {N_FEATURES} columns, {N_CLASSES} classes, 2 processes of one "
        f"thread. SteadyBoost moved {traffic['bytes'] / 1e6:.2f} MB in {traffic['trips']:.0f} "
        f"trips per round, and a round took {1000 * traffic['seconds']:.0f} ms.",
    ]
    return "\n".join(lines)


def write_parts(folder: Path, rows: int, n_parts: int = 40) -> None:
    """Parquet files, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(n_parts):
        path = folder / f"part-{k:03}.parquet"
        if not path.exists():
            X, y = made(rows // n_parts, k)
            frame = pd.DataFrame(X.astype(np.float32), columns=NAMES)
            frame.assign(y=y).to_parquet(path)


def model_of(folder: Path) -> Path:
    return folder.with_suffix(".sb")


def peak() -> float:
    """GB that this process has held at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def spread_fit(folder: Path, n_trees: int) -> dict:
    start = time.perf_counter()
    with connected("local", n_workers=2, threads_per_worker=1, memory_limit="2GB") as client:
        watch = Traffic()
        model = SAMMEClassifier(Tree(max_depth=3), n_estimators=n_trees, callbacks=[watch])
        model.fit(*read_parquet(folder, "y"))
        seconds = time.perf_counter() - start
        model.save(model_of(folder))
        peaks = sorted(client.run(peak).values())
    return {"seconds": seconds, "GB per worker": peaks, "round": watch.per_round()}


def accuracy(model: SAMMEClassifier) -> float:
    """On rows that neither model has seen."""
    X, y = made(200_000, seed=10**6)
    return float(np.mean(model.predict(pd.DataFrame(X.astype(np.float32), columns=NAMES)) == y))


def local_fit(folder: Path, n_trees: int) -> dict:
    """The same in one process that holds all rows."""
    start = time.perf_counter()
    frame = pd.read_parquet(folder)
    model = SAMMEClassifier(Tree(max_depth=3), n_estimators=n_trees, n_jobs=2)
    model.fit(frame.drop(columns="y"), frame["y"])
    seconds = time.perf_counter() - start
    own, other = accuracy(model), accuracy(load(model_of(folder)))
    return {"seconds": seconds, "GB": peak(), "accuracy": own, "accuracy of the other": other}


def out_of_core(folder: Path, rows: int, n_trees: int) -> dict:
    write_parts(folder, rows)
    found = {"spread": spread_fit(folder, n_trees)}
    print(json.dumps(found, indent=1), flush=True)
    command = [sys.executable, __file__, "local", "--folder", str(folder), "--trees", str(n_trees)]
    found["local"] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["compare", "out-of-core", "local"])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.what == "compare":
        results = compare(options.rows, options.repeats)
        print(table(results))
    elif options.what == "local":
        results = local_fit(options.folder, options.trees)
        print(json.dumps(results))
    else:
        results = out_of_core(options.folder, options.rows, options.trees)
        print(json.dumps(results, indent=1))
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
